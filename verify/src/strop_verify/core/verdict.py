"""The outcome of verification, with its stages and per-test results."""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from strop_verify.core.records import Record


class Outcome(StrEnum):
    """The outcome of verification. `ERROR` is the grader's failure, never the model's, and is never a zero.

    `UNJUDGED`: nothing was asked, because the task leaves it to rewards.
    """

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    NO_ANSWER = "no answer"
    TAMPERED = "tampered"
    UNJUDGED = "unjudged"
    ERROR = "error"


class TestResult(Record):
    """One test of a verdict."""

    __test__: ClassVar[bool] = False  # pytest collects classes by their name

    id: str
    outcome: Outcome
    message: str = ""
    """Why it failed, cut to a few hundred characters; never the expected value."""
    seconds: float = 0.0
    given: str = Field(default="", exclude_if=lambda value: not value)
    """Its input to the answer, recorded for a failed test that may be shown; else empty, and left out."""
    expected: str = Field(default="", exclude_if=lambda value: not value)
    """What it expected, recorded for the same tests only."""


Trust = Literal["value", "typed", "same-process"]
"""How far a pass is separate from what was judged.

value         the tests ran in another process and saw only values of the language's own types
typed         types of the answer took part: as proxies of another process, or directly, compared with the reference's
same-process  the tests ran in the answer's process
"""


class Stage(Record):
    """One stage of a verdict: did it run, did it pass, what did it print."""

    name: Literal["build", "lint", "test"]
    passed: bool
    seconds: float = 0.0
    output: str = ""
    truncated: bool = False


class Verdict(Record):
    """The result of verifying one answer.

    `seconds` is wall time spent on this answer, `cpu_seconds` CPU time, `peak_bytes` the largest resident set seen
    (0 = not measured).
    """

    outcome: Outcome
    stages: list[Stage] = Field(default_factory=list)
    tests: list[TestResult] = Field(default_factory=list)
    output: str = ""
    """What the candidate printed, capped; hostile text."""
    detail: str = ""
    """One line: the cause of anything but *passed* and *unjudged*."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    trust: Trust | None = Field(default=None, exclude_if=lambda value: value is None)
    """Left out if not known."""
    score: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """How good the answer is, in [0, 1], if the check grades beyond right and wrong; else left out."""
    numbers: dict[str, float] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """Further measurements of the check, by name; left out if there are none."""

    @property
    def passed(self) -> bool:
        """Every test passed and nothing else went wrong."""
        return self.outcome is Outcome.PASSED

    @property
    def scored(self) -> bool:
        """False for *error*: every score is then None, and the rollout is excluded from baseline and loss."""
        return self.outcome is not Outcome.ERROR

    @property
    def judged(self) -> bool:
        """Whether it says if the answer is right: false for *error* and *unjudged*."""
        return self.outcome not in (Outcome.ERROR, Outcome.UNJUDGED)

    @property
    def fraction(self) -> float:
        """Share of tests passed, in [0, 1]; 0 when there are none."""
        return sum(t.outcome is Outcome.PASSED for t in self.tests) / len(self.tests) if self.tests else 0.0

    def stage(self, name: str) -> Stage | None:
        """The stage of that name, or None when it did not run."""
        return next((s for s in self.stages if s.name == name), None)
