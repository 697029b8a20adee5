"""Strop's own task lines, see docs/formats.md."""

from collections.abc import Iterator
from typing import Any

from strop.core.task import Task
from strop.tasks.adapters.base import Adapter
from strop.tasks.rows import Row, own_task


def _read(row: Row, where: str) -> Iterator[Task]:
    yield own_task(row, where)


def _fits(row: Row) -> bool:
    check = row.get("check")
    return isinstance(check, dict) and isinstance(check.get("kind"), str)


def _write(task: Task) -> dict[str, Any]:
    return task.model_dump(mode="json")


def _sample() -> list[dict[str, Any]]:
    checks: list[dict[str, Any]] = [
        {"kind": "cases", "entry_point": "double", "cases": [{"args": [2], "expected": 4, "shown": True}]},
        {"kind": "stdio", "cases": [{"stdin": "2\n", "stdout": "4\n"}]},
        {"kind": "asserts", "entry_point": "double", "code": "assert double(2) == 4"},
        {"kind": "label", "choices": ["yes", "no"], "expected": "no"},
        {"kind": "pytest", "files": {"test_a.py": "def test_a(): ..."}, "tests": ["test_a.py::test_a"]},
        {"kind": "rust", "tests": "#[test]\nfn t() {}"},
        {"kind": "command", "path": "a.c", "steps": [{"stage": "test", "argv": ["./a"], "stdout": "4"}]},
        {"kind": "workspace", "repository": "a/b", "commit": "0" * 40, "failing": ["t::one"]},
    ]
    tasks = [Task.model_validate({"statement": "Double it.", "check": check}) for check in checks]
    return [_write(task) for task in tasks]


ADAPTER = Adapter(
    name="strop",
    about="Strop's own task lines",
    read=_read,
    fits=_fits,
    write=_write,
    sample=_sample,
    holds_all=True,
    as_json=("check", "metadata"),
)
