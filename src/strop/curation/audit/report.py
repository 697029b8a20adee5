"""What an audit of many tasks comes to: counts by code, the unfit ones by name, a table."""

from collections import Counter
from typing import TYPE_CHECKING

from strop.core.text import printable
from strop.core.verdict import Trust
from strop.curation.audit.record import CODES, Finding, TaskAudit

if TYPE_CHECKING:
    from rich.table import Table

_SAID = 160
"""Characters of a finding in the terminal."""


class Summary:
    """Takes audits one by one; keeps counts and a few examples, so memory does not grow."""

    def __init__(self, show: int) -> None:
        """`show`: unfit tasks that are kept by name."""
        self.tasks = self.unfit = self.warned = 0
        self.listed: list[TaskAudit] = []
        self._show = show
        self.trusts: Counter[Trust] = Counter()
        """How often references pass with which trust."""
        self._counts: Counter[tuple[str, str]] = Counter()
        self._examples: dict[tuple[str, str], str] = {}

    def add(self, audit: TaskAudit) -> None:
        """One more audit."""
        self.tasks += 1
        if audit.trust:
            self.trusts[audit.trust] += 1
        self.unfit += not audit.ok
        self.warned += audit.ok and bool(audit.findings)
        if not audit.ok and len(self.listed) < self._show:
            self.listed.append(audit)
        for kind in dict.fromkeys((f.code, f.severity) for f in audit.findings):
            self._counts[kind] += 1
            self._examples.setdefault(kind, audit.source or audit.task_id)

    @property
    def found(self) -> bool:
        """Whether anything was found."""
        return bool(self._counts)

    def table(self) -> "Table":
        """One row a code and severity: tasks, their share, the first of them."""
        from rich.table import Table
        from rich.text import Text

        table = Table(header_style="bold")
        for column in ("code", "severity", "tasks", "share", "such as"):
            table.add_column(column, justify="right" if column in ("tasks", "share") else "left")
        for code, severity in sorted(self._counts, key=lambda k: (k[1], CODES.index(k[0]))):
            count = self._counts[code, severity]
            example = Text(printable(self._examples[code, severity])[:60])
            table.add_row(code, severity, str(count), f"{count / self.tasks:.1%}", example)
        return table

    def lines(self) -> list[str]:
        """A line for every fatal finding of the listed tasks: id, source, code, description."""
        found = [line(audit, f) for audit in self.listed for f in audit.findings if f.severity == "fatal"]
        more = self.unfit - len(self.listed)
        return [*found, f"... and {more} more unfit tasks"] if more and self.listed else found

    def verdict(self) -> str:
        """The whole in one line."""
        fit = self.tasks - self.unfit
        trusts = "".join(f"; trust {name}: {count}" for name, count in self.trusts.most_common())
        fits = f"{fit} fit ({self.warned} of them with warnings), {self.unfit} not fit"
        return f"{self.tasks} tasks audited: {fits}{trusts}"


def line(audit: TaskAudit, finding: Finding) -> str:
    """One finding as a line for the terminal."""
    text = " ".join(finding.text.split())
    text = text if len(text) <= _SAID else text[: _SAID - 3] + "..."
    return printable("\t".join((audit.task_id, audit.source or "-", finding.code, text)))
