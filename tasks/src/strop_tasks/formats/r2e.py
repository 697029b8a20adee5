"""R2E-Gym: bug-fixing commits, each with an issue written by a model. Tasks are converted, but name no tests to judge
them by.

Jain et al., "R2E-Gym: Procedural Environments and Hybrid Verifiers for Scaling Open-Weights SWE Agents",
arXiv:2504.07164. Fields as the card of rasdani/R2E-Gym-Subset-Oracle-4k-context-1k-patch, a copy of
R2E-Gym/R2E-Gym-Subset, lists them. The fields of `parsed_commit_content` are those that the R2E task set of
PrimeIntellect's verifiers reads, after r2egym's `ParsedCommit`: `file_diffs` of `header` (`file.path`, `misc_line`:
git's line of a new or deleted file), `is_binary_file`, `old_file_content`, `new_file_content`; `old_commit_hash`, which
is `HASH^`; `commit_date`, if present. The adapter has not been run on the original rows.

1. The answer starts from the parent of `commit_hash`. `reference` is the commit's change to files that are not tests
   by R2E's rule, recomputed from the files' texts; `check.patch` is its change to tests. Binary files are left out of
   both.
2. For a commit that changes no test, the tests of `execution_result_content` go to `r2e_tests/`, where R2E runs them.
3. `expected_output_json` names tests without their files, and whether each should pass; it is kept in
   `metadata.original`. The check names only R2E's command, no tests.
4. `prompt`, which asked a model for the issue, and the logs of `execution_result_content` are dropped, since a row
   would take megabytes.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_tasks.formats.fields import date_of, has, items, mapping, name_of, text
from strop_tasks.formats.swe import issue_task
from strop_verify.core.checks import WorkspaceCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.edits.changes import EditError
from strop_verify.edits.diff_writer import write_diff

_TEST = re.compile(r"(?:^|/)(?:[Tt]ests?/|test_[^/]*$)|_test\.py$")
_MARKS = re.compile(r"\A\s*\[ISSUE\]\s*|\s*\[/ISSUE\]\s*\Z")
_HEAVY = ("parsed_commit_content", "execution_result_content", "prompt")
_Sides = tuple[str | None, str | None]
"""A file's text before and after; None means no file."""


def _changed(commit: Row, where: str) -> Iterator[tuple[str, _Sides]]:
    for diff in items(commit, "file_diffs", where):
        if not isinstance(diff, Mapping):
            raise UserError(f"{where}: field 'file_diffs' must hold objects")
        header = mapping(diff, "header", where)
        kind = text(header, "misc_line", where, "")
        old, new = (text(diff, f"{side}_file_content", where, "") for side in ("old", "new"))
        if not diff.get("is_binary_file"):
            sides = None if kind.startswith("new ") else old, None if kind.startswith("deleted ") else new
            yield text(mapping(header, "file", where), "path", where), sides


def _diff(changes: Mapping[str, _Sides], where: str) -> str:
    before, after = ({p: t for p, sides in changes.items() if (t := sides[n]) is not None} for n in (0, 1))
    try:
        return write_diff(before, after) if before != after else ""
    except EditError as error:
        raise UserError(f"{where}: its commit has no diff: {error}") from error


def _read(row: Row, where: str) -> Iterator[Task]:
    name, fix = text(row, "repo_name", where), text(row, "commit_hash", where)
    commit = mapping(row, "parsed_commit_content", where)
    changes = dict(_changed(commit, where))
    tests = {path: sides for path, sides in changes.items() if _TEST.search(path)}
    patch = _diff({path: sides for path, sides in changes.items() if path not in tests}, where)
    if not tests:
        ran = mapping(row, "execution_result_content", where, {})
        names, codes = (items(ran, f"test_file_{each}", where, []) for each in ("names", "codes"))
        tests = {f"r2e_tests/{path}": (None, str(code)) for path, code in zip(names, codes, strict=False)}
    check = WorkspaceCheck(
        image=text(row, "docker_image", where, ""),
        repository=name,
        commit=text(commit, "old_commit_hash", where, f"{fix}^"),
        patch=_diff(tests, where),
        argv=["bash", "run_tests.sh"],
    )
    asked: dict[str, Any] = {key: value for key, value in row.items() if key not in _HEAVY}
    asked["instance_id"] = name_of(row.get("instance_id"), f"{name}-{fix}")
    asked["problem_statement"] = _MARKS.sub("", text(row, "problem_statement", where, ""))
    yield issue_task(asked, where, patch, check, **date_of(commit.get("commit_date")))


R2E = Adapter(
    name="r2e",
    about="R2E-Gym: commits of repositories with an issue, as records",
    read=_read,
    fits=lambda row: has(
        row, repo_name=str, commit_hash=str, parsed_commit_content=str, problem_statement=str
    ),
)
