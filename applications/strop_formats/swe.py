"""Issues of repositories, answered by a diff: SWE-bench and SWE-Gym, and the bugs of SWE-smith. Tasks are carried, not
played: their verdict is *error*.

SWE-bench: Jimenez et al., "SWE-bench: Can Language Models Resolve Real-World GitHub Issues?", arXiv:2310.06770. Pan et
al., "Training Software Engineering Agents and Verifiers with SWE-Gym", arXiv:2412.21139. See also the cards of
princeton-nlp/SWE-bench and SWE-Gym/SWE-Gym. Fields: `repo`, `instance_id`, `base_commit`, `patch`, `test_patch`,
`problem_statement`, `hints_text`, `created_at`, `version`, `FAIL_TO_PASS`, `PASS_TO_PASS`, `environment_setup_commit`;
further ones (`difficulty`, `image_name`, ...) are kept.

1. The tests are lists, or JSON text of lists, as in the set.
2. `reference` is the gold diff. `hints_text` is kept and not asked: it was written after the issue.
3. `metadata.original` has the fields that the task has no place for: what an environment is built from, and hints.

SWE-smith: Yang et al., "SWE-smith: Scaling Data for Software Engineering Agents", arXiv:2504.21798; the cards of
SWE-bench/SWE-smith and its kin for other languages. Fields: `instance_id`, `patch`, `FAIL_TO_PASS`, `PASS_TO_PASS`,
`image_name`, `repo`, `problem_statement`; further ones are kept.

4. Where the set has stripped the end of a diff's last line, it is put back: git refuses a diff without it.
5. `patch` puts the bug in. So `metadata["bug_patch"]` is that diff, and `reference` its reverse.
6. The start is the image's repository with the bug in it; the set has a branch for each instance, named after it. So
   `check.commit` is the instance's name, unless the row has a `base_commit`.
7. `problem_statement` is empty in parts of the set: such tasks have nothing to ask.
"""

from collections.abc import Iterator
from typing import Any

from strop.core.checks import WorkspaceCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.edits.languages import language_of
from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row, decoded, plain
from strop_formats.fields import date_of, has, text
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


_HELD = {"instance_id", "problem_statement", "patch", "repo", "test_patch", *_TESTS}
"""Fields that a task holds elsewhere."""


def _task(row: Row, where: str, patch: str, check: WorkspaceCheck, **metadata: Any) -> Task:
    name = text(row, "instance_id", where)
    kept = {str(field): plain(value) for field, value in row.items() if field not in _HELD}
    return Task(
        id=name,
        family="swe",
        language=language_of(patch),
        statement=text(row, "problem_statement", where, ""),
        reference=patch,
        check=check,
        topic=check.repository,
        source=name,
        metadata={**date_of(row.get("created_at")), **metadata, "original": kept},
    )


def _read_swe_bench(row: Row, where: str) -> Iterator[Task]:
    patch = ended(text(row, "patch", where, ""))
    image = row.get("image_name") or row.get("docker_image") or ""
    check = WorkspaceCheck(
        image=image if isinstance(image, str) else "",
        repository=text(row, "repo", where),
        commit=text(row, "base_commit", where),
        patch=ended(text(row, "test_patch", where, "")),
        **_tests_of(row, where),
    )
    yield _task(row, where, patch, check)


SWE_BENCH = Adapter(
    name="swe-bench",
    about="SWE-bench, SWE-Gym: issues of repositories, as records",
    read=_read_swe_bench,
    fits=lambda row: (
        has(row, instance_id=str, base_commit=str, patch=str, problem_statement=str) and "test_patch" in row
    ),
)


def _read_swe_smith(row: Row, where: str) -> Iterator[Task]:
    name, bug = text(row, "instance_id", where), text(row, "patch", where)
    try:
        fix = reverse(bug)
    except ValueError as error:
        raise UserError(f"{where}: field 'patch' is no diff that can be reversed: {error}") from error
    check = WorkspaceCheck(
        image=text(row, "image_name", where),
        repository=text(row, "repo", where),
        commit=text(row, "base_commit", where, name),
        **_tests_of(row, where),
    )
    yield _task(row, where, fix, check, bug_patch=bug)


SWE_SMITH = Adapter(
    name="swe-smith",
    about="SWE-smith: bugs put into repositories, as records",
    read=_read_swe_smith,
    fits=lambda row: (
        has(row, instance_id=str, image_name=str, patch=str, repo=str) and "test_patch" not in row
    ),
)
