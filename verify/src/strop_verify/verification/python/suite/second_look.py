"""Runs a passed suite again with altered calls if its tests rely on the answer's objects; the trainer's side.

A class may call all its instances equal, or those that it expects to be compared; a method may always return the value
by which both sides are compared; a single object may stand for all. So a suite that gets values from objects is run
again in fresh processes, each time with the plain values of one call of each test altered. If the reference's objects
then return something else and fail the test, an answer that still passes it is *failed*. All tests run each time, so
that the answer cannot tell the runs apart. One run alters nothing and must pass: it catches an answer that decides at
random, once per process, whether to lie.

`find_rounds` tries altered calls on the reference, once per task and in at most `RUNS` runs. Tests that it fails in
another way or not every time, or whose calls the answer gets in another order, are ignored. Not covered: tasks without
a reference; a lie in one of many values of a test, if no run alters that one; objects made by calls without plain
values. An answer that lies at random passes in at most one case of 28, or in one of nine if it also decides at random
whether to use up the limits of such a run.
"""

import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from strop_verify.core.verdict import Outcome
from strop_verify.verification.controls import ENDLESS, Controls, wrongly_ended
from strop_verify.verification.python.child import Findings
from strop_verify.verification.python.suite.altered_calls import COLLECTION
from strop_verify.verification.python.suite.check import SuiteReport

TOO_EQUAL = (
    "its objects compare alike, or return the same, whatever values they are made of; the reference's do not"
)
NOT_AGAIN = "it passed once, but failed when run again"
UNSEEN = "it took too long when run again"
ROUNDS = 8
"""Maximum runs of an answer with altered calls; one more run alters nothing."""
FEWEST = 3
"""Minimum runs of an answer with altered calls: if fewer are found, some are repeated."""
RUNS = 48
"""Maximum runs of a reference."""
_ENOUGH = 4
"""Calls to try per test: the last before each value and, if these are fewer than this, first ones too."""


@dataclass(frozen=True)
class Alteration:
    """A call of a test that gets other values."""

    number: int
    """Its position among this test's calls with plain values."""
    call: str
    """Its kind and the digest of its values, as in `SuiteCalls.made`."""
    amount: int

    def wire(self) -> list[int | str]:
        """The form that the runner takes."""
        return [self.number, self.call, self.amount]


_Altered = dict[str, Alteration]
Run = Callable[[Mapping[str, Alteration]], SuiteReport]
"""Runs an answer with a call altered in each of these tests, in a fresh process."""


@dataclass(frozen=True)
class Round:
    """One run: what is altered, by test or in `COLLECTION`, and the tests that must then fail."""

    alterations: _Altered
    tests: frozenset[str]

    def passed_falsely(self, report: SuiteReport) -> list[str]:
        """The tests that an answer passed although they must fail."""
        ended = sorted(self.tests & report.altered & report.tests.keys())
        return wrongly_ended(report.tests, dict.fromkeys(ended, False))

    def failed_unaltered(self, report: SuiteReport) -> list[str]:
        """The tests that an answer failed in a run that alters nothing."""
        return [name for name in sorted(self.tests & set(report.tests)) if _failed(report, name)]


class SuiteControls(Controls[Findings, Findings]):
    """Runs an answer in the rounds found for its reference, at least one. `seconds`: time limit for all of them."""

    def __init__(self, run: Run, rounds: list[Round], rng: random.Random, seconds: float) -> None:
        self._run, self._rounds, self._rng, self._seconds = run, rounds, rng, seconds

    def confirm(self, first: Findings) -> Findings:
        """Fails one of the results in `first` if that test ends the wrong way in a run.

        A run that uses up its limits shows nothing; the next ones still do.
        """
        began = time.monotonic()
        for one, altered in second_look_runs(self._rounds, self._rng):
            report = self._run(one.alterations)
            first.cpu += report.findings.cpu
            bad = one.passed_falsely(report) if altered else one.failed_unaltered(report)
            number = next((n for n, result in enumerate(first.results) if result.id in bad), None)
            if number is not None:  # a suite may have tests that do not count
                first.fail(number, TOO_EQUAL if altered else NOT_AGAIN)
                break
            if time.monotonic() - began > self._seconds:
                first.fail(len(first.results) - 1, UNSEEN, Outcome.TIMED_OUT)
                break
        return first


def second_look_runs(rounds: list[Round], rng: random.Random) -> list[tuple[Round, bool]]:
    """All rounds in random order, some repeated if there are few; the second run is one without alterations (False)."""
    chosen = rng.sample(rounds, len(rounds))
    chosen += rng.choices(rounds, k=max(0, FEWEST - len(chosen)))
    every = frozenset[str]().union(*(one.tests for one in rounds))
    first, *others = ((one, True) for one in chosen)
    return [first, (Round({}, every), False), *others]


def find_rounds(run: Run, rng: random.Random) -> list[Round]:
    """Rounds in which the reference's objects return something else and tests therefore fail. Raises what `run` raises.

    A test for which no round is found is tried again with values altered in the other direction: an ordering may hold
    in one direction and not in the other.
    """
    search, endless = _Search(rng), 0
    course = search.tries()
    asked = next(course)
    for _ in range(RUNS):
        report = run(asked)
        endless += Outcome.TIMED_OUT in report.findings.outcomes
        try:
            asked = course.send(report)
        except StopIteration:
            break
        if endless == ENDLESS:
            break
    return search.rounds


class _Search:
    """Chooses what to alter next, and keeps the rounds found so far."""

    def __init__(self, rng: random.Random) -> None:
        self.rounds: list[Round] = []
        self._rng = rng

    def tries(self) -> "Generator[_Altered, SuiteReport]":
        """Yields what to alter, and receives the reference's report on it."""
        usual = yield {}
        if not usual.findings.passed:
            return
        tries = {name: self._drawn(self._to_alter(usual, name)) for name in usual.tests if name in usual.said}
        early = self._drawn(self._shuffled(range(len(usual.calls.get(COLLECTION, ())))))
        yield from self._each(usual, tries, early)
        seen = frozenset[str]().union(*(one.tests for one in self.rounds))
        blind = {name: _turned(left) for name, left in tries.items() if name not in seen}
        yield from self._each(usual, blind, [] if self.rounds else _turned(early))

    def _each(
        self, usual: SuiteReport, tries: "Mapping[str, _Tries]", early: "_Tries"
    ) -> "Generator[_Altered, SuiteReport]":
        """Alters one call of each test at a time, or one from before the first test; keeps at most ROUNDS rounds."""
        waiting, first = {name: list(left) for name, left in tries.items()}, list(early)
        while len(self.rounds) < ROUNDS and any((*waiting.values(), first)):
            if first and (len(self.rounds) % 2 or not any(waiting.values())):
                chosen = {COLLECTION: first.pop(0)}
            else:
                chosen = {name: left.pop(0) for name, left in waiting.items() if left}
            asked = {
                name: Alteration(number, usual.calls[name][number], amount)
                for name, (number, amount) in chosen.items()
            }
            shown = _sensitive(usual, (yield asked), asked)
            if shown.tests:
                sure = _sensitive(usual, (yield shown.alterations), shown.alterations)
                self.rounds += [sure] if sure.tests else []

    def _to_alter(self, usual: SuiteReport, test: str) -> list[int]:
        """Numbers of calls: the last (of a class, if any) before each value, shuffled; then first ones, if few."""
        last, first, start = list[int](), list[int](), 0
        for end in sorted(set(usual.before[test])):
            numbers = range(start, end)
            chosen = [n for n in numbers if usual.calls[test][n].startswith("C")] or list(numbers)
            last += chosen[-1:]
            first += chosen[:1]
            start = end
        return list(dict.fromkeys(self._shuffled(last) + first))[: max(_ENOUGH, len(last))]

    def _drawn(self, numbers: list[int]) -> "_Tries":
        return [(number, self._rng.choice((-3, -2, -1, 1, 2, 3))) for number in numbers]

    def _shuffled(self, numbers: "range | list[int]") -> list[int]:
        return self._rng.sample(numbers, len(numbers))


_Tries = list[tuple[int, int]]
"""Numbers of calls, and by how much they are altered."""


def _turned(tries: _Tries) -> _Tries:
    return [(number, -amount) for number, amount in tries]


def _sensitive(usual: SuiteReport, now: SuiteReport, asked: Mapping[str, Alteration]) -> Round:
    """The round of those alterations that make tests fail because objects returned something else."""
    tests = {
        name for name in now.altered if _failed(now, name) and now.said.get(name) != usual.said.get(name)
    }
    kept = {name: one for name, one in asked.items() if name in tests or (name == COLLECTION and tests)}
    return Round(kept, frozenset(tests))


def _failed(report: SuiteReport, name: str) -> bool:
    result = report.tests[name]
    return result.outcome is Outcome.FAILED and result.message == "assertion failed"
