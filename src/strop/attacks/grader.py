"""The target: our own verifier, as training opens it, behind the same small interface that another grader has."""

import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from typing import Any, Protocol

from strop.core.checks import CommandCheck
from strop.core.task import Task
from strop.core.verdict import Outcome
from strop.sandbox.limits import Limits
from strop.verification.rust.compiler import COMPILE

LIMITS = Limits(cpu_seconds=2.0, wall_seconds=5.0)
"""Bounds of one answer: small, so that floods and sleepers end soon."""
_BUILDS = 2
"""Compilations of one Rust answer: one that checks and lints, one of its tests."""
PATIENCE = 30.0
"""Seconds beyond an answer's deadline that are waited for a verdict before the grader counts as hung."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What a grader said of one answer."""

    outcome: str
    """One of strop.core.verdict.Outcome, "hung" when nothing came."""
    passed: bool
    detail: str
    text: str
    """Everything that it gave back, for finding leaks."""
    seconds: float


class Grader(Protocol):
    """Gives one grade at a time."""

    name: str

    def grade(self, task: Task, answer: str) -> Grade:
        """Never raises for what an answer does."""

    def deadline(self, task: Task) -> float:
        """Seconds within which `grade` must return for this task."""

    def close(self) -> None:
        """Ends every process."""


class Ours:
    """A verifier of Strop with one worker. `open_it` makes one; it is called again when a verifier has hung."""

    def __init__(self, name: str, open_it: Callable[[], Any], limits: Limits = LIMITS) -> None:
        self.name = name
        self._open = open_it
        self._limits = limits
        self._verifier: Any = None

    def grade(self, task: Task, answer: str) -> Grade:
        """One verdict, waited for with patience."""
        if self._verifier is None:
            self._verifier = self._open()
        began = time.monotonic()
        future = self._verifier.submit(task, answer)
        try:
            verdict = future.result(timeout=self.deadline(task) + PATIENCE)
        except TooLate:
            self.close()
            return Grade("hung", False, "no verdict came", "", time.monotonic() - began)
        seconds, detail = time.monotonic() - began, verdict.detail or _failed_stage(verdict)
        return Grade(verdict.outcome.value, verdict.passed, detail, verdict.model_dump_json(), seconds)

    def deadline(self, task: Task) -> float:
        """Wall time of the answer; what is built has the time of its build too."""
        wall = self._limits.wall_seconds
        if task.check.answer == "crate":
            return wall + _BUILDS * COMPILE.cpu_seconds
        if commands := task.check.maybe(CommandCheck):
            return wall * len(commands.steps)
        return wall * (1 if task.language == "python" else 2)

    def close(self) -> None:
        """Ends the verifier's processes."""
        if self._verifier is not None:
            self._verifier.close()
            self._verifier = None


def _failed_stage(verdict: Any) -> str:
    failed = next((stage for stage in verdict.stages if not stage.passed), None)
    return f"{failed.name}: {failed.output[:200]}" if failed else ""


SCORED = frozenset(o.value for o in Outcome if o is not Outcome.ERROR)
"""Outcomes that say something about the answer."""
