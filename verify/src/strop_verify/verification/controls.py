"""Controls: tests of a pass that are run again with something altered in them, to see whether it was earned.

An altered test must end otherwise, and one of which nothing is altered as before. An answer for which that does not
hold calls its objects equal whatever they are, changes what a test expects, or reports what did not happen. What is
altered is drawn by a secret (`draws`), so that no answer can tell the runs apart; and it counts only where a yardstick
(the task's reference, or the project without the edit) ends otherwise for it too.

    python.suite.second_look.SuiteControls  plain values of a call of a suite; what objects say must differ
    rust.second_look.LiteralControls        a literal of a Rust test; what objects compare must differ
    project.controls.PytestControls         what a project's tests expect, in their text (`control_tests`)
    project.controls.CargoControls          the same in Rust (`rust_control_tests`)
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from strop_verify.core.verdict import Outcome, TestResult

SECOND_LOOK_LIMITS = 4
"""Wall limits that the altered runs of an answer may take together; one run of a reference alone may take as much."""
ENDLESS = 3
"""Runs of a reference that do not come to an end, after which there are no more."""
Ran = TypeVar("Ran")
Found = TypeVar("Found")
Results = Mapping[str, TestResult]
"""By test."""


class Controls(ABC, Generic[Ran, Found]):
    """The controls of one answer. How it is altered and run is each toolchain's own."""

    @abstractmethod
    def confirm(self, first: Ran) -> Found:
        """What they say of a run that passed."""


@dataclass
class ControlTests:
    """Control tests in files of their own, or in place of a project's."""

    files: dict[str, str] = field(default_factory=dict)
    """Path to text."""
    must: dict[str, bool] = field(default_factory=dict)
    """By control, whether it must pass."""
    of: dict[str, str] = field(default_factory=dict)
    """By control the test that it is made of, or another word that is the same in each draw."""

    def add(self, control: str, of: str, passes: bool) -> None:
        """One more of them."""
        self.must[control], self.of[control] = passes, of

    @property
    def true(self) -> dict[str, str]:
        """A test to its control that must pass."""
        return {self.of[control]: control for control, passes in self.must.items() if passes}

    @property
    def false(self) -> dict[str, bool]:
        """Those that must fail, as `must` has them."""
        return {control: passes for control, passes in self.must.items() if not passes}

    def blamed(self, odd: Collection[str], alike: "ControlTests", usual: Results) -> str:
        """The first odd one whose like, drawn for the yardstick, ended there as it must; "" if there is none."""
        fine = {alike.about(control) for control in alike.must}
        fine -= {alike.about(control) for control in wrongly_ended(usual, alike.must)}
        return next((control for control in odd if self.about(control) in fine), "")

    def about(self, control: str) -> tuple[str, bool]:
        """What tells a control from the others of its draw, and is the same in each draw."""
        return self.of[control], self.must[control]


def wrongly_ended(results: Results, must: Mapping[str, bool]) -> list[str]:
    """Controls that did not end as they must. One that took too long or had no memory says nothing."""
    wrong = {control: Outcome.FAILED if passes else Outcome.PASSED for control, passes in must.items()}
    return [c for c in wrong if c not in results or results[c].outcome is wrong[c]]
