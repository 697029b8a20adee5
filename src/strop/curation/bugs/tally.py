"""What a build of bugs made, kept and dropped, and why: the manifest beside the tasks."""

from collections import Counter, defaultdict
from typing import Any

from strop.core.task import Task


class Tally:
    """Counts of one build. A bug of several faults counts under each of its operators."""

    def __init__(self) -> None:
        self.originals = 0
        """Tasks or functions that faults were put into."""
        self.unusable: Counter[str] = Counter()
        """Tasks or functions left out, by reason."""
        self.tried: Counter[str] = Counter()
        """Bugs judged, by operator."""
        self.dropped: dict[str, Counter[str]] = defaultdict(Counter)
        """Judged and not kept, by operator and reason."""
        self.kept: Counter[str] = Counter()
        self.tasks = 0
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        """Kept tasks by faults at once, split, level and who wrote the statement, where a model was asked for it."""

    def keep(self, task: Task) -> None:
        """Counts a task that was made."""
        self.tasks += 1
        self.kept.update(task.metadata["bug"])
        self.counts["faults"][str(len(task.metadata["bug"]))] += 1
        self.counts["splits"][str(task.split)] += 1
        self.counts["levels"][str(task.level)] += 1

    def drop(self, operators: tuple[str, ...], reason: str) -> None:
        """Counts a bug that is no task."""
        for name in operators:
            self.dropped[name][reason] += 1

    def manifest(self) -> dict[str, Any]:
        """All counts, sorted by name."""
        return {
            "tasks": self.tasks,
            "originals": self.originals,
            "unusable": _sorted(self.unusable),
            **{name: _sorted(self.counts[name]) for name in ("faults", "splits", "levels", "issues")},
            "operators": {
                name: {
                    "tried": self.tried[name],
                    "kept": self.kept[name],
                    "dropped": _sorted(self.dropped[name]),
                }
                for name in sorted(self.tried)
            },
        }


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items()))
