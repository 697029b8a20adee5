"""An audit's findings and settings, and summaries of many audits: counts by code, unfit tasks by name, a table."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import Field

from strop_verify.core.records import Record
from strop_verify.core.section import Section
from strop_verify.core.text import printable
from strop_verify.core.verdict import Trust
from strop_verify.verification.config import SandboxConfig

if TYPE_CHECKING:
    from rich.table import Table

Severity = Literal["fatal", "warning"]
Code = Literal[
    "no-statement", "no-reference", "reference-fails", "flaky", "empty-passes", "constant-passes", "exit-passes",
    "cheat-passes", "broken-passes", "leak-answer", "leak-tests", "weak-tests", "few-tests", "repeated-tests",
    "special-judge", "slow", "heavy", "unverifiable",
]  # fmt: skip
CODES: tuple[Code, ...] = get_args(Code)  # every code; docs/audit.md says what each means


class Finding(Record):
    """One actual or possible fault of a task."""

    code: Code
    severity: Severity
    """`fatal`: not to be trained on. `warning`: worth a look."""
    text: str
    """One line. It holds no measured numbers, so a repeated audit gives the same text."""
    answer: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """A wrong answer that passes, if the finding is about one."""


def fatal(code: Code, text: str, answer: str | None = None) -> Finding:
    """A reason not to train on the task."""
    return Finding(code=code, severity="fatal", text=text, answer=answer)


def warning(code: Code, text: str, answer: str | None = None) -> Finding:
    """A finding worth a look."""
    return Finding(code=code, severity="warning", text=text, answer=answer)


@dataclass(frozen=True, slots=True)
class Probe:
    """An answer that must not pass."""

    code: Code
    """The task's fault if it passes."""
    name: str
    """The answer in words."""
    answer: str


class TaskAudit(Record):
    """The audit of one task."""

    task_id: str
    source: str = ""
    ok: bool
    """Whether there is no fatal finding."""
    findings: list[Finding] = Field(default_factory=list)
    trust: Trust | None = Field(default=None, exclude_if=lambda value: value is None)
    """Trust of the reference's pass; left out if it was not run or did not pass."""

    @property
    def reasons(self) -> list[str]:
        """The fatal findings, `code: text` each."""
        return [f"{f.code}: {f.text}" for f in self.findings if f.severity == "fatal"]

    @property
    def codes(self) -> set[str]:
        """The codes of all findings."""
        return {f.code for f in self.findings}


class AuditOptions(Section):
    """Settings of an audit in a pipeline; docs/audit.md explains the codes."""

    runs: int = Field(default=5, ge=1)
    """Runs of a reference without a visible source of nondeterminism."""
    # 5 runs miss a failure of every second run once in 32.
    chance_runs: int = Field(default=24, ge=1)
    """Runs of a reference with a visible source of nondeterminism."""
    min_tests: int = Field(default=5, ge=1)
    """Minimum number of different tests."""
    # DeepCoder keeps no task with fewer than 5 (Together AI, "DeepCoder", 2025).
    mutants: int = Field(default=12, ge=0)
    """Maximum faulty versions of a reference to try; 0 turns it off."""
    weak_below: float = Field(default=0.5, ge=0, le=1)
    """Share of faulty versions that the tests must catch."""
    # Below it `weak-tests` is fatal. Equivalent versions, which no test can catch, lower the share of sound tests.
    doubt_below: float = Field(default=0.75, ge=0, le=1)
    """Share of faulty versions below which the tests get a warning."""
    quick: bool = False
    """Stop looking at a task after the stage that found something fatal."""
    ignore: tuple[Code, ...] = ()
    """Finding codes to ignore."""


class AuditSettings(AuditOptions):
    """The audit's options together with the verifier's limits."""

    cpu_seconds: float = Field(default=SandboxConfig().cpu_seconds, gt=0)
    """CPU time for one answer."""
    memory_bytes: int = Field(default=512 * 2**20, gt=0)
    """Memory for one answer, in bytes."""
    cpu_share: float = Field(default=1 / 3, gt=0, le=1)
    """Share of the CPU limit that the reference may use."""
    memory_share: float = Field(default=0.5, gt=0, le=1)
    """Share of the memory limit that the reference may use."""


_SAID = 160  # characters of a finding in the terminal


class Summary:
    """Collects audits one by one; keeps counts and a few examples, so memory does not grow."""

    def __init__(self, show: int) -> None:
        """`show`: maximum number of unfit tasks to keep by name."""
        self.tasks = self.unfit = self.warned = 0
        self.listed: list[TaskAudit] = []
        self._show = show
        self.trusts: Counter[Trust] = Counter()  # passing references by trust
        self.counts: Counter[tuple[str, str]] = Counter()  # tasks by code and severity
        self._examples: dict[tuple[str, str], str] = {}

    def add(self, audit: TaskAudit) -> None:
        """Counts an audit, and keeps it for the list if its task is unfit."""
        self.tasks += 1
        if audit.trust:
            self.trusts[audit.trust] += 1
        self.unfit += not audit.ok
        self.warned += audit.ok and bool(audit.findings)
        if not audit.ok and len(self.listed) < self._show:
            self.listed.append(audit)
        for kind in dict.fromkeys((f.code, f.severity) for f in audit.findings):
            self.counts[kind] += 1
            self._examples.setdefault(kind, audit.source or audit.task_id)

    def table(self) -> "Table":
        """One row per code and severity: tasks, their share, an example."""
        from rich.table import Table
        from rich.text import Text

        table = Table(header_style="bold")
        for column in ("code", "severity", "tasks", "share", "such as"):
            table.add_column(column, justify="right" if column in ("tasks", "share") else "left")
        for (code, severity), count in sorted(
            self.counts.items(), key=lambda k: (k[0][1], CODES.index(k[0][0]))
        ):
            example = Text(printable(self._examples[code, severity])[:60])
            table.add_row(code, severity, str(count), f"{count / self.tasks:.1%}", example)
        return table

    def lines(self) -> list[str]:
        """A line for every fatal finding of the listed tasks: id, source, code, description."""
        found = [line(audit, f) for audit in self.listed for f in audit.findings if f.severity == "fatal"]
        more = self.unfit - len(self.listed)
        return [*found, f"... and {more} more unfit tasks"] if more and self.listed else found

    def verdict(self) -> str:
        """The summary in one line."""
        fit = self.tasks - self.unfit
        trusts = "".join(f"; trust {name}: {count}" for name, count in self.trusts.most_common())
        fits = f"{fit} fit ({self.warned} of them with warnings), {self.unfit} not fit"
        return f"{self.tasks} tasks audited: {fits}{trusts}"


def line(audit: TaskAudit, finding: Finding) -> str:
    """One finding as a line for the terminal."""
    text = " ".join(finding.text.split())
    text = text if len(text) <= _SAID else text[: _SAID - 3] + "..."
    return printable("\t".join((audit.task_id, audit.source or "-", finding.code, text)))
