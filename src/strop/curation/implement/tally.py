"""What a build read, left out and made, and why: the manifest beside the tasks."""

from collections import Counter
from typing import Any

from strop.core.task import Task


class Tally:
    """Counts of one build."""

    def __init__(self) -> None:
        self.files = 0
        """Files that were parsed."""
        self.skipped: Counter[str] = Counter()
        """Files and rows left out, by reason."""
        self.functions = 0
        """Functions with a docstring."""
        self.filtered: Counter[str] = Counter()
        """Functions refused, by the name of the first filter that did."""
        self.unusable: Counter[str] = Counter()
        """Functions that passed the filters and make no task, by reason."""
        self.tasks = 0
        self.splits: Counter[str] = Counter()

    def keep(self, task: Task) -> None:
        """Counts a task that was made."""
        self.tasks += 1
        self.splits[str(task.split)] += 1

    def manifest(self) -> dict[str, Any]:
        """All counts, sorted by name."""
        return {
            "tasks": self.tasks,
            "files": self.files,
            "skipped": _sorted(self.skipped),
            "functions": self.functions,
            "filtered": _sorted(self.filtered),
            "unusable": _sorted(self.unusable),
            "splits": _sorted(self.splits),
        }


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items()))
