"""What a build made, kept and dropped, and why: the manifest beside the tasks."""

from collections import Counter, defaultdict
from typing import Any

from strop.code.mutate.operators import KINDS
from strop.core.task import Task


class Tally:
    """Counts of one build."""

    def __init__(self) -> None:
        self.originals = 0
        """Tasks that faults were put into."""
        self.unusable: Counter[str] = Counter()
        """Tasks left out, by reason."""
        self.made: Counter[str] = Counter()
        """Faults that could be made, by operator."""
        self.tried: Counter[str] = Counter()
        self.dropped: dict[str, Counter[str]] = defaultdict(Counter)
        """Judged and not kept, by operator and reason."""
        self.kept: Counter[str] = Counter()
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        """Kept tasks by kind, error code, split, level and topic."""

    def keep(self, task: Task) -> None:
        """Counts a task that was made."""
        self.kept[task.metadata["operator"]] += 1
        for name in ("kind", "error_code"):
            self.counts[name][task.metadata[name] or "none"] += 1
        self.counts["split"][str(task.split)] += 1
        self.counts["level"][str(task.level)] += 1

    def drop(self, operator: str, reason: str) -> None:
        """Counts a fault that is no task."""
        self.dropped[operator][reason] += 1

    def manifest(self) -> dict[str, Any]:
        """All counts, sorted by name; kinds in their own order."""
        kinds = self.counts["kind"]
        return {
            "tasks": sum(self.kept.values()),
            "originals": self.originals,
            "unusable": _sorted(self.unusable),
            "kinds": {kind: kinds[kind] for kind in KINDS if kinds[kind]},
            "error_codes": _sorted(self.counts["error_code"]),
            "splits": _sorted(self.counts["split"]),
            "levels": _sorted(self.counts["level"]),
            "operators": {
                name: {
                    "made": self.made[name],
                    "tried": self.tried[name],
                    "kept": self.kept[name],
                    "dropped": _sorted(self.dropped[name]),
                }
                for name in sorted(self.made)
            },
        }


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items()))
