"""Instances of SWE-smith: bugs that were put into a repository, to be taken out again by a diff.

Reference: Yang et al., "SWE-smith: Scaling Data for Software Engineering Agents", arXiv:2504.21798; the cards of
SWE-bench/SWE-smith and its kin for other languages. Fields: `instance_id`, `patch`, `FAIL_TO_PASS`, `PASS_TO_PASS`,
`image_name`, `repo`, `problem_statement`; further ones are kept.

1. `patch` puts the bug in. So `metadata["bug_patch"]` is that diff, and `reference` its reverse.
2. The start is the image's repository with the bug in it; the set has a branch for each instance, named after it. So
   `check.commit` is the instance's name, unless the row has a `base_commit`.
3. `problem_statement` is empty in parts of the set: such tasks have nothing to ask.
"""

from collections.abc import Iterator
from typing import Any

from strop.core.checks import WorkspaceCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, text
from strop.tasks.adapters.swe_patch import language_of, reverse
from strop.tasks.adapters.swe_rows import day_of, kept_of, row_of, tests_of
from strop.tasks.rows import Row

_HELD = ("instance_id", "problem_statement", "patch", "repo", "image_name")


def _read(row: Row, where: str) -> Iterator[Task]:
    name, bug = text(row, "instance_id", where), text(row, "patch", where)
    try:
        fix = reverse(bug)
    except ValueError as error:
        raise UserError(f"{where}: field 'patch' is no diff that can be reversed: {error}") from error
    kept = kept_of(row, _HELD)
    if "problem_statement" in row and row["problem_statement"] is None:
        kept["problem_statement"] = None
    yield Task(
        id=name,
        family="swe",
        language=language_of(bug),
        statement=text(row, "problem_statement", where, ""),
        reference=fix,
        check=WorkspaceCheck(
            image=text(row, "image_name", where),
            repository=text(row, "repo", where),
            commit=text(row, "base_commit", where, name),
            **tests_of(row, where),
        ),
        topic=text(row, "repo", where),
        source=name,
        metadata={**day_of(row), "bug_patch": bug, "original": kept},
    )


def _write(task: Task) -> dict[str, Any]:
    kept, check = row_of(task, "swe-smith")
    bug = task.metadata.get("bug_patch")
    if not isinstance(bug, str):
        raise UserError(f"task {task.id!r} has no diff of its bug: the format swe-smith cannot hold it")
    held: dict[str, Any] = {"patch": bug, "repo": check.repository, "image_name": check.image}
    if task.statement or "problem_statement" not in kept:
        kept["problem_statement"] = task.statement
    return {**kept, **held, "instance_id": task.id}


def _fits(row: Row) -> bool:
    return has(row, instance_id=str, image_name=str, patch=str, repo=str) and "test_patch" not in row


ADAPTER = Adapter(
    name="swe-smith",
    about="SWE-smith: bugs put into repositories, as records",
    read=_read,
    fits=_fits,
    write=_write,
)
