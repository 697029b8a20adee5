"""The state of one answer until its verdict."""

import secrets
from dataclasses import dataclass, field
from typing import Literal

from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Trust, Verdict
from strop_verify.verification.rust.calls import ValueCalls
from strop_verify.verification.rust.diagnostics import steady
from strop_verify.verification.rust.literals import SECRET
from strop_verify.verification.rust.scan import Scan
from strop_verify.verification.rust.second_look import Rounds
from strop_verify.verification.rust.trusted_tests import Trusted

MOST_OUTPUT = 16_000
"""Maximum characters kept of each stage's output."""


@dataclass
class RustAnswer:
    """An answer, what its text shows, and the findings so far."""

    number: int
    task: Task
    check: RustCheck
    answer: str
    scan: Scan
    trusted: Trusted | None
    """Rewritten tests (strict mode); None in cargo mode and for answers with their own tests."""
    module: str = field(default_factory=lambda: f"zq{secrets.token_hex(6)}")
    """Name of the answer's module in a shared crate; random, so that no answer calls another's functions."""
    calls: ValueCalls | None = None
    """How the tests call the answer, if it runs as a separate program."""
    rounds: Rounds | None = None
    """What to alter in a second look; None if the tests have none."""
    learning: bool = False
    """Whether this is a reference, from which `rounds` are derived."""
    crates: frozenset[str] = frozenset()
    """Names of the check's crates that the answer or the tests use."""
    doubtful: frozenset[str] = frozenset()
    """Types whose equality may come from a macro of those crates."""
    worldly: bool = False
    """Whether the task's tests use files or processes."""
    broken_tests: bool = False
    """Whether brackets in the task's tests are not closed."""
    build: bool | None = None
    lint: bool | None = None
    test: bool | None = None
    output_of: dict[str, str] = field(default_factory=dict)
    """Output by stage."""
    taking_over: str = ""
    """Why the answer could take over tests that share its process."""
    refused: str = ""
    """Why strict mode fails it, whatever the tests' result."""
    unsafe: bool = False
    again: bool = False
    """Whether another answer of its crate may have caused the error, so that it must be judged alone."""
    outcome: Outcome | None = None
    detail: str = ""
    tests: list[TestResult] = field(default_factory=list)
    output: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    @property
    def integration(self) -> bool:
        """Whether the tests are a separate crate that uses the answer by name."""
        return bool(self.check.tests and self.check.crate)

    @property
    def crate(self) -> str:
        """Name of the answer's crate when it stands alone."""
        return self.check.crate.replace("-", "_") or "answer"

    @property
    def trust(self) -> Trust:
        """How well the tests of a pass are separated from the answer."""
        if self.calls is not None:
            return "value"
        return "typed" if self.trusted is not None and self.task.reference else "same-process"

    def shown(self, text: str) -> str:
        """The text for the verdict: without random names, thread numbers and libtest's times."""
        for name, shown in (
            (f"{self.module}::", ""), (self.module, "zq0000"), (f"zt{self.module[2:]}", "zt0000"), (f"_{SECRET}", ""),
        ):  # fmt: skip
            text = text.replace(name, shown)
        return steady(text)

    def reset(self) -> None:
        """Forgets the findings, so that the answer can be judged another way; keeps the cost."""
        self.build = self.lint = self.test = None
        self.output_of, self.tests = {}, []
        self.unsafe = self.again = False
        self.outcome, self.detail, self.output = None, "", ""

    def fail(self, stage: Literal["build", "test"], text: str = "", *, anew: bool = False) -> None:
        """Fails a stage and those that depend on it. `anew`: see `say`."""
        self.test = False
        if stage == "build":
            self.build = self.lint = False
        self.say(stage, text, anew=anew)

    def say(self, stage: str, text: str, *, anew: bool = False) -> None:
        """Adds to a stage's output; `anew` replaces it, as when the same text is compiled again."""
        if text:
            before = "" if anew else self.output_of.get(stage, "")
            self.output_of[stage] = (before + self.shown(text))[: 4 * MOST_OUTPUT]

    def spend(self, seconds: float, cpu_seconds: float, peak_bytes: int) -> None:
        """Adds this answer's share of a run's cost."""
        self.seconds += seconds
        self.cpu_seconds += cpu_seconds
        self.peak_bytes = max(self.peak_bytes, peak_bytes)

    def verdict(self) -> Verdict:
        """The findings as a verdict."""
        outcome, detail = self._conclusion()
        return Verdict(
            outcome=outcome,
            stages=[self._stage(name) for name in ("build", "lint", "test")],
            tests=self.tests,
            output=self.shown(self.output)[:MOST_OUTPUT],
            detail=self.shown(detail)[:300],
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            peak_bytes=self.peak_bytes,
            trust=self.trust if outcome is Outcome.PASSED else None,
        )

    def _conclusion(self) -> tuple[Outcome, str]:
        if self.outcome is not None:
            return self.outcome, self.detail
        if self.refused and self.build:
            return Outcome.FAILED, self.refused
        if not self.build:
            return Outcome.FAILED, f"does not build: {_first_line(self.output_of.get('build', ''))}"
        if not self.test:
            told = _first_line(self.output_of.get("test", ""))
            return Outcome.FAILED, self.detail or told or "a test failed"
        return Outcome.PASSED, ""

    def _stage(self, name: str) -> Stage:
        text, passed = self.output_of.get(name, ""), bool(getattr(self, name))
        return Stage(name=name, passed=passed, output=text[:MOST_OUTPUT], truncated=len(text) > MOST_OUTPUT)


def _first_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error")), lines[0] if lines else "")
