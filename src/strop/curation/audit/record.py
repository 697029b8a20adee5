"""An audit's findings and settings."""

from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import Field

from strop.config.section import Section
from strop.config.tasks import SandboxConfig
from strop.core.records import Record
from strop.core.verdict import Trust

Severity = Literal["fatal", "warning"]
Code = Literal[
    "no-statement", "no-reference", "reference-fails", "flaky", "empty-passes", "constant-passes", "exit-passes",
    "cheat-passes", "broken-passes", "leak-answer", "leak-tests", "weak-tests", "few-tests", "repeated-tests",
    "special-judge", "slow", "heavy", "unverifiable",
]  # fmt: skip
CODES: tuple[Code, ...] = get_args(Code)
"""Every code; docs/audit.md says what each means."""


class Finding(Record):
    """One thing that is wrong with a task, or may be."""

    code: Code
    severity: Severity
    """`fatal`: not to be trained on. `warning`: worth a look."""
    text: str
    """One line without measured numbers, so that a repeated audit gives the same text."""


def fatal(code: Code, text: str) -> Finding:
    """A reason not to train on the task."""
    return Finding(code=code, severity="fatal", text=text)


def warning(code: Code, text: str) -> Finding:
    """Something worth a look."""
    return Finding(code=code, severity="warning", text=text)


@dataclass(frozen=True, slots=True)
class Probe:
    """An answer that must not pass."""

    code: Code
    """What is wrong with the task when it passes."""
    name: str
    """The answer in words."""
    answer: str


class TaskAudit(Record):
    """What an audit says of one task."""

    task_id: str
    source: str = ""
    ok: bool
    """Whether there is no fatal finding."""
    findings: list[Finding] = Field(default_factory=list)
    trust: Trust | None = Field(default=None, exclude_if=lambda value: value is None)
    """Of the reference's pass; left out where it was not run or did not pass."""

    @property
    def reasons(self) -> list[str]:
        """The fatal findings, `code: text` each."""
        return [f"{f.code}: {f.text}" for f in self.findings if f.severity == "fatal"]

    @property
    def codes(self) -> set[str]:
        """The codes of all findings."""
        return {f.code for f in self.findings}


class AuditOptions(Section):
    """How closely to look, as a pipeline says it; docs/audit.md says what each code means."""

    runs: int = Field(default=5, ge=1)
    """Runs of a reference in which no source of chance is seen."""
    # 5 runs miss a failure of every second run once in 32.
    chance_runs: int = Field(default=24, ge=1)
    """Runs of a reference that touches one."""
    min_tests: int = Field(default=5, ge=1)
    """Fewest different tests."""
    # DeepCoder keeps no task with fewer than 5 (Together AI, "DeepCoder", 2025).
    mutants: int = Field(default=12, ge=0)
    """Most faulty versions of a reference that are tried; 0 turns it off."""
    weak_below: float = Field(default=0.5, ge=0, le=1)
    """Share of faulty versions that the tests must notice."""
    # Below it `weak-tests` is fatal. Equivalent versions, which no test can notice, lower the share of sound tests.
    doubt_below: float = Field(default=0.75, ge=0, le=1)
    """The same for a warning."""
    quick: bool = False
    """Stop looking at a task after the stage that found something fatal."""
    ignore: tuple[Code, ...] = ()
    """Codes that are not looked for."""


class AuditSettings(AuditOptions):
    """The same, and the verifier's limits."""

    cpu_seconds: float = Field(default=SandboxConfig().cpu_seconds, gt=0)
    """CPU time for one answer."""
    memory_bytes: int = Field(default=512 * 2**20, gt=0)
    cpu_share: float = Field(default=1 / 3, gt=0, le=1)
    """Part of the CPU limit that the reference may use."""
    memory_share: float = Field(default=0.5, gt=0, le=1)
    """Part of the memory limit that the reference may use."""
