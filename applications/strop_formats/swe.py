"""Issues of repositories, answered by a diff: SWE-bench and SWE-Gym, and the bugs of SWE-smith. Tasks are carried, not
played: their verdict is *error*.

SWE-bench: Jimenez et al., "SWE-bench: Can Language Models Resolve Real-World GitHub Issues?", arXiv:2310.06770. Pan et
al., "Training Software Engineering Agents and Verifiers with SWE-Gym", arXiv:2412.21139. See also the cards of
princeton-nlp/SWE-bench and SWE-Gym/SWE-Gym. Fields: `repo`, `instance_id`, `base_commit`, `patch`, `test_patch`,
`problem_statement`, `hints_text`, `created_at`, `version`, `FAIL_TO_PASS`, `PASS_TO_PASS`, `environment_setup_commit`;
further ones (`difficulty`, `image_name`, ...) are kept.

1. The tests are lists, or JSON text of lists, as in the set; writing keeps the form.
2. `reference` is the gold diff. `hints_text` is kept and not asked: it was written after the issue.

SWE-smith: Yang et al., "SWE-smith: Scaling Data for Software Engineering Agents", arXiv:2504.21798; the cards of
SWE-bench/SWE-smith and its kin for other languages. Fields: `instance_id`, `patch`, `FAIL_TO_PASS`, `PASS_TO_PASS`,
`image_name`, `repo`, `problem_statement`; further ones are kept.

3. Where the set has stripped the end of a diff's last line, it is put back: git refuses a diff without it.
4. `patch` puts the bug in. So `metadata["bug_patch"]` is that diff, and `reference` its reverse.
5. The start is the image's repository with the bug in it; the set has a branch for each instance, named after it. So
   `check.commit` is the instance's name, unless the row has a `base_commit`.
6. `problem_statement` is empty in parts of the set: such tasks have nothing to ask.
"""

import json
from collections.abc import Collection, Iterator
from typing import Any

from strop.core.checks import WorkspaceCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.edits.languages import language_of
from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row, decoded, plain
from strop_formats.fields import date_of, has, original, text
from strop_formats.swe_patch import ended, reverse

_TESTS = {"FAIL_TO_PASS": "failing", "PASS_TO_PASS": "passing"}
"""Fields with test ids, and those of the check that hold them."""


def _tests_of(row: Row, where: str) -> dict[str, list[str]]:
    """The check's lists of tests. Raises UserError, also where both are empty."""
    found = {ours: _names(row, theirs, where) for theirs, ours in _TESTS.items()}
    if not any(found.values()):
        raise UserError(f"{where}: the task has no tests: FAIL_TO_PASS and PASS_TO_PASS are empty")
    return found


def _names(row: Row, name: str, where: str) -> list[str]:
    value = decoded(row, name, where)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(test, str) for test in value):
        raise UserError(f"{where}: field {name!r} must hold a list of test ids, or JSON text of one")
    return list(value)


def _task(row: Row, where: str, patch: str, check: WorkspaceCheck, **metadata: Any) -> Task:
    name = text(row, "instance_id", where)
    return Task(
        id=name,
        family="swe",
        language=language_of(patch),
        statement=text(row, "problem_statement", where, ""),
        reference=patch,
        check=check,
        topic=check.repository,
        source=name,
        metadata={**date_of(row.get("created_at")), **metadata},
    )


def _kept_of(row: Row, held: Collection[str]) -> dict[str, Any]:
    """What the task does not hold of a row; lists of tests that are no lists but text, as that text."""
    names = [name for name in row if name not in held and not isinstance(row.get(name), list | tuple)]
    return {name: plain(row[name]) for name in names if name in _TESTS} | {
        str(name): plain(value) for name, value in row.items() if name not in held and name not in _TESTS
    }


def _row_of(task: Task, name: str) -> tuple[dict[str, Any], WorkspaceCheck]:
    """What was kept, with the lists of tests in their own form. Raises UserError for a task of another family."""
    check, kept = task.check.maybe(WorkspaceCheck), original(task)
    if task.family != "swe" or check is None:
        raise UserError(f"task {task.id!r} is no issue of a repository: the format {name} cannot hold it")
    for theirs, ours in _TESTS.items():
        tests, before = getattr(check, ours), kept.get(theirs)
        if isinstance(before, str):
            same = (json.loads(before) if before.strip() else []) == tests
            kept[theirs] = before if same else json.dumps(tests)
        elif theirs not in kept or tests:
            kept[theirs] = tests
    return kept, check


_BENCH = ("instance_id", "problem_statement", "patch", "repo", "base_commit", "test_patch")


def _read_swe_bench(row: Row, where: str) -> Iterator[Task]:
    patch = ended(text(row, "patch", where, ""))
    test_patch = ended(text(row, "test_patch", where, ""))
    image = row.get("image_name") or row.get("docker_image") or ""
    absent = [field for field in _BENCH if row.get(field) is None]
    kept = {**_kept_of(row, _BENCH), **{field: None for field in absent if field in row}}
    mended = {"patch": patch, "test_patch": test_patch}
    kept |= {field: row[field] for field, whole in mended.items() if row.get(field) not in (None, whole)}
    check = WorkspaceCheck(
        image=image if isinstance(image, str) else "",
        repository=text(row, "repo", where),
        commit=text(row, "base_commit", where),
        patch=test_patch,
        **_tests_of(row, where),
    )
    yield _task(row, where, patch, check, original=kept)


def _write_swe_bench(task: Task) -> dict[str, Any]:
    kept, check = _row_of(task, "swe-bench")
    held = {
        "problem_statement": task.statement,
        "patch": task.reference,
        "test_patch": check.patch,
        "repo": check.repository,
        "base_commit": check.commit,
    }
    return {
        **held,
        **{k: v for k, v in kept.items() if v is not None or not held.get(k)},
        "instance_id": task.id,
    }


SWE_BENCH = Adapter(
    name="swe-bench",
    about="SWE-bench, SWE-Gym: issues of repositories, as records",
    read=_read_swe_bench,
    fits=lambda row: (
        has(row, instance_id=str, base_commit=str, patch=str, problem_statement=str) and "test_patch" in row
    ),
    write=_write_swe_bench,
)


_SMITH = ("instance_id", "problem_statement", "patch", "repo", "image_name")


def _read_swe_smith(row: Row, where: str) -> Iterator[Task]:
    name, bug = text(row, "instance_id", where), text(row, "patch", where)
    try:
        fix = reverse(bug)
    except ValueError as error:
        raise UserError(f"{where}: field 'patch' is no diff that can be reversed: {error}") from error
    kept = _kept_of(row, _SMITH)
    if "problem_statement" in row and row["problem_statement"] is None:
        kept["problem_statement"] = None
    check = WorkspaceCheck(
        image=text(row, "image_name", where),
        repository=text(row, "repo", where),
        commit=text(row, "base_commit", where, name),
        **_tests_of(row, where),
    )
    yield _task(row, where, fix, check, bug_patch=bug, original=kept)


def _write_swe_smith(task: Task) -> dict[str, Any]:
    kept, check = _row_of(task, "swe-smith")
    bug = task.metadata.get("bug_patch")
    if not isinstance(bug, str):
        raise UserError(f"task {task.id!r} has no diff of its bug: the format swe-smith cannot hold it")
    held: dict[str, Any] = {"patch": bug, "repo": check.repository, "image_name": check.image}
    if task.statement or "problem_statement" not in kept:
        kept["problem_statement"] = task.statement
    return {**kept, **held, "instance_id": task.id}


SWE_SMITH = Adapter(
    name="swe-smith",
    about="SWE-smith: bugs put into repositories, as records",
    read=_read_swe_smith,
    fits=lambda row: (
        has(row, instance_id=str, image_name=str, patch=str, repo=str) and "test_patch" not in row
    ),
    write=_write_swe_smith,
)
