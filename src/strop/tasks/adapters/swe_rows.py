"""What instances of SWE-bench and its kin have in common: lists of tests as JSON text or lists, dates, what is kept."""

import json
import re
from collections.abc import Collection
from typing import Any

from strop.core.checks import WorkspaceCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters.fields import decoded
from strop.tasks.adapters.leftovers import original, plain
from strop.tasks.rows import Row

TESTS = {"FAIL_TO_PASS": "failing", "PASS_TO_PASS": "passing"}
"""Fields with test ids, and those of the check that hold them."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def tests_of(row: Row, where: str) -> dict[str, list[str]]:
    """The check's lists of tests. Raises UserError, also where both are empty."""
    found = {ours: _names(row, theirs, where) for theirs, ours in TESTS.items()}
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


def kept_of(row: Row, held: Collection[str]) -> dict[str, Any]:
    """What the task does not hold of a row; lists of tests that are no lists but text, as that text."""
    names = [name for name in row if name not in held and not isinstance(row.get(name), list | tuple)]
    return {name: plain(row[name]) for name in names if name in TESTS} | {
        str(name): plain(value) for name, value in row.items() if name not in held and name not in TESTS
    }


def day_of(row: Row) -> dict[str, str]:
    """`{"date": "YYYY-MM-DD"}` from `created_at`, a text or a date; empty where it says none."""
    match = _DAY.match(str(row.get("created_at") or ""))
    return {"date": match[0]} if match else {}


def row_of(task: Task, name: str) -> tuple[dict[str, Any], WorkspaceCheck]:
    """What was kept, with the lists of tests in their own form. Raises UserError for a task of another family."""
    check, kept = task.check.maybe(WorkspaceCheck), original(task)
    if task.family != "swe" or check is None:
        raise UserError(f"task {task.id!r} is no issue of a repository: the format {name} cannot hold it")
    for theirs, ours in TESTS.items():
        tests, before = getattr(check, ours), kept.get(theirs)
        if isinstance(before, str):
            same = (json.loads(before) if before.strip() else []) == tests
            kept[theirs] = before if same else json.dumps(tests)
        elif theirs not in kept or tests:
            kept[theirs] = tests
    return kept, check
