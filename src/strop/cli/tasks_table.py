"""What an import says at its end: what came in and how strong its checks are, what was left out and why."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from strop.core.text import printable

if TYPE_CHECKING:
    from strop.core.task import Task

_CAUSES = 12
"""Most causes that are listed."""
_WHERE = re.compile(r"^\S*?(?::\[?\d+\]?|\[\w+\]:\d+)?: ")
"""The place at the start of a line about a row."""
_VALUE = re.compile(r"(['\"])(?:\\.|(?!\1).)*\1|\d+")
"""What differs from row to row in lines of one cause."""


class ImportTable:
    """Counts tasks and rows that are left out as they go by; holds a few words of each kind, never a task."""

    def __init__(self) -> None:
        self.kinds: Counter[tuple[str, str, str, str]] = Counter()
        self.tests: Counter[tuple[str, str, str, str]] = Counter()
        self.causes: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.notes: Counter[str] = Counter()
        self.noted: dict[str, str] = {}

    def came_in(self, task: "Task") -> None:
        """Counts a task that is written."""
        from strop.sandbox.limits import Limits

        check = task.check
        kind = (task.family, task.language, check.kind, check.strength())
        self.kinds[kind] += 1
        self.tests[kind] += check.different_tests()
        most = 16 * Limits().output_bytes
        if check.effective().largest_output() > most:
            self._note(
                task,
                f"have an expected output of more than {most >> 20} MiB, which no program may print: none can pass",
            )
        if not task.reference.strip() and not check.rewards_alone and check.answer != "label":
            self._note(task, "have no reference: nobody has shown that they can be solved")
        if uncrossed := check.effective().uncrossed():
            self._note(task, f"need what does not cross to the answer's process: {uncrossed[0]}")
        if "warning" in task.metadata:
            self._note(task, str(task.metadata["warning"]))

    def left_out(self, line: str) -> None:
        """Counts a row by the cause in its line."""
        cause = _WHERE.sub("", line, count=1)
        key = _VALUE.sub("*", cause)
        self.causes[key] += 1
        self.first.setdefault(key, line)

    def _note(self, task: "Task", text: str) -> None:
        self.notes[text] += 1
        self.noted.setdefault(text, task.id)

    def lines(self) -> Iterator[str]:
        """The table, one row a line, then what is to be known of some tasks, then the causes with their first line."""
        head = ("tasks", "family", "language", "check", "a pass means", "different tests a task")
        rows = [head]
        for kind, count in self.kinds.most_common():
            rows.append((str(count), *kind, f"{self.tests[kind] / count:.3g}"))
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        for row in rows:
            cells = [row[0].rjust(widths[0]), *(c.ljust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
            yield printable("  ".join(cells).rstrip())
        for text, count in self.notes.most_common():
            yield printable(f"{count} of them {text} (first: {self.noted[text][:80]})")
        for key, count in self.causes.most_common(_CAUSES):
            line = self.first[key]
            yield printable(f"{count} left out: {line[:200]}" + (" ..." if count > 1 else ""))
        if len(self.causes) > _CAUSES:
            rest = sum(self.causes.values()) - sum(c for _, c in self.causes.most_common(_CAUSES))
            yield f"{rest} left out for {len(self.causes) - _CAUSES} further causes (--verbose prints all)"
