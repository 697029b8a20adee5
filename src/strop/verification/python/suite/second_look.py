"""Whether a passed suite depends on what its tests say where they compare objects of the answer; asking side.

A class may call all its instances equal, or those that it expects to be compared. So each test that compares such
objects is run again in a fresh process with the plain values of one of its calls altered: where the reference's objects
then compare otherwise and fail the test, an answer that still passes it is *failed*. It cannot tell the runs apart.

What the reference does with altered calls is found by trying; tests that it fails in another way, or not each time, or
whose calls the answer gets in another order, say nothing. Not covered: tasks without a reference; objects made before
the tests begin or by calls without plain values; an answer that draws by lot, for its whole process, whether it lies:
it passes, at most, in one case of four.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from strop.core.checks import PytestCheck
from strop.core.verdict import Outcome
from strop.verification.python.suite.check import SuiteReport

Run = Callable[[list[str], dict[str, "Alteration"]], SuiteReport]
"""Runs these tests of the reference; see `sensitive`."""
TOO_EQUAL = "its objects compare alike whatever the test makes them of; the reference's do not"
_WAYS = (("C", -1, 1), ("C", -1, -1), ("", -1, 1), ("C", 0, 1))
"""What is tried in turn: calls of classes (or all), which of them, in which direction."""


@dataclass(frozen=True)
class Alteration:
    """The call of a test that gets other values."""

    number: int
    """Among the calls with plain values of this test."""
    call: str
    """Its kind and values, as `SuiteCalls.made` has them."""
    amount: int

    def wire(self) -> list[int | str]:
        """As the runner takes it."""
        return [self.number, self.call, self.amount]


def sensitive(check: PytestCheck, run: Run, seconds: float) -> dict[str, Alteration]:
    """By test id, alterations with which the reference's objects compare otherwise, and the test fails for it.

    `run` judges the reference in a fresh process. No run begins after `seconds`. Raises what `run` raises.
    """
    until = time.monotonic() + seconds
    usual = run(list(check.tests), {})
    tests = {name: result for name, result in usual.tests.items() if name in usual.compared}
    if len(usual.tests) < len(set(check.tests)) or any(
        r.outcome is not Outcome.PASSED for r in usual.tests.values()
    ):
        return {}
    found: dict[str, Alteration] = {}
    tried: set[tuple[str, int, str, bool]] = set()
    for kind, which, sign in _WAYS:
        if time.monotonic() > until:
            return {}
        asked: dict[str, Alteration] = {}
        for name in (name for name in tests if name not in found):
            numbers = [n for n, call in enumerate(usual.calls.get(name, [])) if call.startswith(kind)]
            if numbers:
                number = numbers[which]
                call = usual.calls[name][number]
                if (key := (name, number, call, sign > 0)) not in tried:
                    tried.add(key)
                    asked[name] = Alteration(number, call, sign * (1 + secrets.randbelow(3)))
        found |= _failed(usual, run, asked)
    return _failed(usual, run, found) if time.monotonic() <= until else {}


def _failed(usual: SuiteReport, run: Run, asked: dict[str, Alteration]) -> dict[str, Alteration]:
    """Those after which the test fails because objects compared otherwise."""
    if not asked:
        return {}
    now = run(list(asked), asked)
    return {
        name: alteration
        for name, alteration in asked.items()
        if name in now.altered
        and now.tests[name].outcome is Outcome.FAILED
        and now.tests[name].message == "assertion failed"
        and now.compared.get(name) != usual.compared[name]
    }


def lies(report: SuiteReport) -> list[str]:
    """Tests that an answer passed with calls altered as `sensitive` said."""
    return [name for name in sorted(report.altered) if report.tests[name].outcome is Outcome.PASSED]
