"""When tasks were published: `metadata["date"]`, YYYY-MM-DD; a time of day after it is ignored.

LiveCodeBench (arXiv 2403.07974, section 3) uses date windows to keep tasks that a model may have been trained on out of
an evaluation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from strop.core.task import Task


@dataclass(frozen=True)
class InWindow:
    """What a window left of some tasks."""

    tasks: list[Task]
    undated: int
    """Tasks left out because they have no date."""
    outside: int
    """Tasks left out because they are of another day."""

    @property
    def left_out(self) -> str:
        """One line: how many were left out, and why; "" when none was."""
        found = [f"{self.outside} of other days"] if self.outside else []
        return ", ".join([*found, f"{self.undated} without a date"] if self.undated else found)


def date_of(task: Task) -> str:
    """The day on which the task was published, as YYYY-MM-DD; "" when it names none that can be read."""
    text = task.metadata.get("date")
    try:
        return date.fromisoformat(text[:10]).isoformat() if isinstance(text, str) else ""
    except ValueError:
        return ""


def in_window(tasks: Iterable[Task], first: str | None, last: str | None) -> InWindow:
    """The tasks of the days `first` to `last`, YYYY-MM-DD and included; None is open, and without either all are in."""
    listed = list(tasks)
    if first is None and last is None:
        return InWindow(listed, 0, 0)
    dated = [(task, day) for task in listed if (day := date_of(task))]
    kept = [task for task, day in dated if (first is None or first <= day) and (last is None or day <= last)]
    return InWindow(kept, len(listed) - len(dated), len(dated) - len(kept))
