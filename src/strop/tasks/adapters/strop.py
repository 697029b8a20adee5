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


ADAPTER = Adapter(
    name="strop",
    about="Strop's own task lines",
    read=_read,
    fits=_fits,
    write=_write,
    holds_all=True,
    as_json=("check", "metadata"),
)
