"""Controls: the tests of a pass are run again with something altered, to see whether the pass was earned.

Altered tests must change their result, unaltered ones must not. Otherwise the answer's objects equal anything, or it
changes what a test expects, or reports what did not happen. What to alter is drawn with a secret (`secret_rng`), so
that no answer can tell the runs apart. An alteration counts only if it also changes the result of a baseline: the
task's reference, or the project without the edit.

    python.suite.second_look.SuiteControls  plain values in a call of a suite; what objects return must differ
    rust.second_look.LiteralControls        a literal of a Rust test; how objects compare must differ
    project.controls.PytestControls         what a project's tests expect, in their text (`control_tests`)
    project.controls.CargoControls          the same in Rust (`rust_control_tests`)
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from strop_verify.core.verdict import Outcome, TestResult

SECOND_LOOK_LIMITS = 4
"""Time limit as a multiple of the wall limit: for an answer's altered runs together, and for each reference run."""
ENDLESS = 3
"""Number of a reference's runs that may time out; after that no more are started."""
Ran = TypeVar("Ran")
Found = TypeVar("Found")
Results = Mapping[str, TestResult]
"""Results by test id."""


class Controls(ABC, Generic[Ran, Found]):
    """The controls of one answer; each toolchain alters and runs tests in its own way."""

    @abstractmethod
    def confirm(self, first: Ran) -> Found:
        """The finding about `first`, a run that passed."""


@dataclass
class ControlTests:
    """Control tests, in separate files or in place of a project's."""

    files: dict[str, str] = field(default_factory=dict)
    """Text by path."""
    must: dict[str, bool] = field(default_factory=dict)
    """Whether each control must pass."""
    of: dict[str, str] = field(default_factory=dict)
    """The test that each control is made from, or another label that is the same in every draw."""

    def add(self, control: str, of: str, passes: bool) -> None:
        """Adds a control made from the test `of`."""
        self.must[control], self.of[control] = passes, of

    @property
    def true(self) -> dict[str, str]:
        """The controls that must pass, by test."""
        return {self.of[control]: control for control, passes in self.must.items() if passes}

    @property
    def false(self) -> dict[str, bool]:
        """The part of `must` that must fail."""
        return {control: passes for control, passes in self.must.items() if not passes}

    def blamed(self, odd: Collection[str], alike: "ControlTests", usual: Results) -> str:
        """The first failing control whose counterpart `alike` ended correctly on the baseline; "" if none."""
        fine = {alike.about(control) for control in alike.must}
        fine -= {alike.about(control) for control in wrongly_ended(usual, alike.must)}
        return next((control for control in odd if self.about(control) in fine), "")

    def about(self, control: str) -> tuple[str, bool]:
        """Identifies a control within its draw and in other draws."""
        return self.of[control], self.must[control]


def wrongly_ended(results: Results, must: Mapping[str, bool]) -> list[str]:
    """Controls that are missing or ended the wrong way. Time-outs and lack of memory do not count."""
    wrong = {control: Outcome.FAILED if passes else Outcome.PASSED for control, passes in must.items()}
    return [c for c in wrong if c not in results or results[c].outcome is wrong[c]]
