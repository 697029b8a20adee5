"""What a row holds and a task does not: kept in `metadata.original`, so that writing gives the row back."""

import json
from collections.abc import Collection
from typing import Any

from strop.core.task import Task
from strop.tasks.rows import Row


def with_original(task: Task, row: Row, known: Collection[str], **more: Any) -> Task:
    """The task with the row's columns that are not `known`, and with `more`, in its metadata.

    Values that JSON cannot hold (dates, bytes) are kept as their text; without anything to keep the task is unchanged.
    """
    kept = {str(name): plain(value) for name, value in row.items() if name not in known}
    kept |= {name: plain(value) for name, value in more.items()}
    return task.model_copy(update={"metadata": {**task.metadata, "original": kept}}) if kept else task


def original(task: Task) -> dict[str, Any]:
    """The fields kept by `with_original`; empty for a task that comes from elsewhere."""
    kept = task.metadata.get("original")
    return dict(kept) if isinstance(kept, dict) else {}


def plain(value: Any) -> Any:
    """The value as JSON would hold it."""
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (ValueError, RecursionError):
        return str(value)
