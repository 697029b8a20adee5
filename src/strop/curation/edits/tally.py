"""What a build of edit tasks is asked for, and what became of what it looked at."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from strop.core.task import Task


class LeftOut(Exception):
    """Why something makes no task: a few words, which are counted."""


@dataclass(frozen=True)
class Wish:
    """Settings of a build."""

    format: str
    """How the edit is to be written."""
    seed: int = 0
    context: int = 1
    """Files to show that the edit leaves alone, at most."""
    max_files: int = 5
    """Files that an edit changes, at most."""
    max_chars: int = 60_000
    """Of all files that are shown."""


@dataclass
class Tally:
    """Counts of one build."""

    considered: int = 0
    """Commits, rows or programs that were looked at."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Those that make no task, by reason."""
    tasks: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    changed: Counter[int] = field(default_factory=Counter)
    """Tasks by how many files their oracle changes."""

    def keep(self, task: Task) -> Task:
        """Counts a task that was made, and gives it back."""
        self.tasks += 1
        self.languages[task.language] += 1
        self.changed[len(getattr(task.check, "oracle", ()))] += 1
        return task

    def manifest(self) -> dict[str, Any]:
        """All counts, sorted."""
        return {
            "tasks": self.tasks,
            "considered": self.considered,
            "left_out": dict(sorted(self.left_out.items())),
            "languages": dict(sorted(self.languages.items())),
            "files_changed": {str(count): self.changed[count] for count in sorted(self.changed)},
        }
