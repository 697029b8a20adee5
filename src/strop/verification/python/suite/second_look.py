"""Whether a passed suite depends on what its tests say where they compare objects of the answer; asking side.

A class may call all its instances equal, or those that it expects to be compared. So each test that compares such
objects is run again in fresh processes with the plain values of one of its calls altered: where the reference's objects
then compare otherwise and fail the test, an answer that still passes it is *failed*. It cannot tell the runs apart.

What the reference does with altered calls is found by trying; tests that it fails in another way, or not each time, or
whose calls the answer gets in another order, say nothing. Not covered: tasks without a reference; lies in one of more
than `ROUNDS` comparisons of a test; objects made before
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
ROUNDS = 4
"""Most times that a test is run again, each with another call altered."""


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


def sensitive(check: PytestCheck, run: Run, seconds: float) -> list[dict[str, Alteration]]:
    """Rounds: by test id, alterations with which the reference's objects compare otherwise, and the test fails for it.

    `run` judges the reference in a fresh process. No round begins after `seconds`. Raises what `run` raises.
    """
    until = time.monotonic() + seconds
    usual = run(list(check.tests), {})
    if len(usual.tests) < len(set(check.tests)) or any(
        r.outcome is not Outcome.PASSED for r in usual.tests.values()
    ):
        return []
    waiting = {name: _to_alter(usual, name) for name in usual.tests if name in usual.compared}
    found: list[dict[str, Alteration]] = []
    while len(found) < ROUNDS and any(waiting.values()) and time.monotonic() < until:
        numbers = {name: left.pop(0) for name, left in waiting.items() if left}
        shown: dict[str, Alteration] = {}
        for sign in (1, -1):
            asked = {
                name: Alteration(number, usual.calls[name][number], sign * (1 + secrets.randbelow(3)))
                for name, number in numbers.items()
                if name not in shown
            }
            shown |= _failed(usual, run, asked)
        if sure := _failed(usual, run, shown):
            found.append(sure)
    return found


def _to_alter(usual: SuiteReport, test: str) -> list[int]:
    """Numbers of calls: the last one (of a class, if any) before each comparison, in any order, then the first ones."""
    last, first, start = [], [], 0
    for end in usual.before[test]:
        numbers = range(start, end)
        chosen = [n for n in numbers if usual.calls[test][n].startswith("C")] or list(numbers)
        last += chosen[-1:]
        first += chosen[:1]
        start = end
    secrets.SystemRandom().shuffle(last)
    return list(dict.fromkeys(last + first))


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
