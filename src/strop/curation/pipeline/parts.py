"""The part of a split that a task is in, and how it is stored."""

from strop.core.task import Split, Task


def part_of(task: Task) -> str:
    """The name of the task's part; empty for none."""
    return str(task.metadata.get("split") or task.split or "")


def in_part(task: Task, part: str) -> Task:
    """The task in that part. Whatever is not called train is held out: no training reads it."""
    side: Split = "train" if part == "train" else "held-out"
    metadata = {key: value for key, value in task.metadata.items() if key != "split"}
    if part != side:
        metadata["split"] = part
    return task.model_copy(update={"split": side, "metadata": metadata})
