"""Checks that a passed test depends on the data of an answer's objects.

A type may keep too little of its data, or have an equality that always holds: then all its objects are equal, and tests
that compare two of them pass. Its texts may be equal in the same way. So each test that compares objects of the answer,
or two values obtained through it, runs again in fresh processes with one literal of the test altered. If each of
`AMOUNTS` alterations of that literal makes the reference's objects compare differently, at least one of them must do so
for the answer's, and again when that run is repeated. An answer cannot tell the runs apart: the program is the same,
and only the harness knows what is altered.

To catch answers whose comparisons are random, `AGAIN` runs between the others alter nothing and must pass. Such an
answer passes in at most one case of 30. An answer that ends its process in a run has not compared differently there.

Not covered: tasks without a reference; comparisons outside assertions; literals of a test beyond `ROUNDS`, selected at
random for each task; objects made without literals of the test; the slowest tests of a task, if the reference's runs
would take more CPU time than `SHARE` of the limit.
"""

import random
import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from strop_verify.verification.controls import Controls

TOO_EQUAL = "its objects compare alike, whatever data the test gives them; the reference's do not"
NOT_AGAIN = "its tests passed once, but not when repeated"
UNSEEN = "its tests took too long to be repeated with altered literals"
ROUNDS = 4
"""Maximum number of literals of a test that are altered for an answer."""
_TRIED = 12
"""Maximum number of literals of a test that are altered for the reference."""
AMOUNTS = 3
AGAIN = 5
"""Number of runs of an answer without alterations."""
SHARE = 0.25
"""Maximum CPU time of the reference's runs, as a share of the wall limit, estimated from its first run."""
_FARTHEST = 9


class Altered(NamedTuple):
    """A literal of a test, and by how much to alter it."""

    number: int
    amounts: tuple[int, ...]


class RanTest(NamedTuple):
    """The harness's report of a test."""

    passed: bool
    compared: str
    """A letter for each comparison of the answer's objects; 1 if it held."""
    met: tuple[int, ...]
    """Numbers of the literals that the test evaluated."""
    seconds: float = 0.0
    """CPU time."""

    def like(self, other: "RanTest | None") -> bool:
        """Whether both reports are the same except for the time."""
        return other is not None and self[:3] == other[:3]


Run = Callable[[Mapping[str, tuple[int, int]]], dict[str, RanTest]]
"""Runs tests in a fresh process, each with a literal's number and an amount; returns the tests that finished."""
Rounds = Mapping[str, tuple[Altered, ...]]
"""What to alter, by test."""
_Asked = Mapping[str, Altered]


def read_report(output: bytes, tokens: Mapping[str, str]) -> dict[str, RanTest]:
    """A harness's report by test. `tokens`: the tests' tokens, in order."""
    found = {}
    lines = output.decode(errors="replace").splitlines()
    for (name, token), line in zip(tokens.items(), lines, strict=False):
        word, compared, met, millis = (*line.split(" "), "", "", "")[:4]
        numbers = tuple(int(n) for n in met.split(",") if n.isdigit())
        seconds = int(millis) / 1000 if millis.isdigit() else 0.0
        found[name] = RanTest(word == token, compared.strip("-"), numbers, seconds)
    return found


def sensitive(usual: Mapping[str, RanTest], run: Run, rng: random.Random, seconds: float) -> Rounds:
    """Literals that change how the reference's objects compare. `seconds`: the tests' wall limit."""
    quick = _quick(usual, SHARE * seconds / (AGAIN + 2 * ROUNDS))
    again = run(dict.fromkeys(quick, (0, 0)))
    waiting = {
        test: rng.sample(ran.met, min(_TRIED, len(ran.met)))
        for test, ran in quick.items()
        if ran.like(again.get(test))
    }
    found: dict[str, tuple[Altered, ...]] = {}
    while True:
        asked = {
            test: Altered(left.pop(), tuple(rng.sample(range(1, _FARTHEST + 1), AMOUNTS)))
            for test, left in waiting.items()
            if left and len(found.get(test, ())) < ROUNDS
        }
        if not asked:
            break
        chosen = asked
        for step in range(AMOUNTS):
            chosen = _differing(usual, run, chosen, step)
        for test, altered in chosen.items():
            found[test] = (*found.get(test, ()), altered)
    return found


def _quick(usual: Mapping[str, RanTest], seconds: float) -> dict[str, RanTest]:
    """The fastest passed tests that compare objects, within `seconds` in total."""
    found = set[str]()
    shown = [(test, ran) for test, ran in usual.items() if ran.passed and ran.compared]
    for test, ran in sorted(shown, key=lambda one: one[1].seconds):
        seconds -= ran.seconds
        if seconds < 0:
            break
        found.add(test)
    return {test: ran for test, ran in usual.items() if test in found}


class LiteralControls(Controls[Mapping[str, RanTest], str]):
    """Runs an answer again. `rounds` are the reference's, by the same test names.

    An answer whose runs have not all started by `until`, in the time of `time.monotonic`, fails.
    """

    def __init__(self, run: Run, rounds: Rounds, rng: random.Random, until: float) -> None:
        self._run, self._rounds, self._rng, self._until = run, rounds, rng, until
        self._left = AGAIN

    def confirm(self, first: Mapping[str, RanTest]) -> str:
        """Why an answer with these passed tests fails; empty if it does not."""
        rounds = {test: altered for test, altered in self._rounds.items() if first[test].compared}
        if not any(rounds.values()):
            return ""
        for number in range(ROUNDS):
            asked = {test: altered[number] for test, altered in rounds.items() if number < len(altered)}
            for step in range(AMOUNTS):
                if asked and time.monotonic() > self._until:
                    return UNSEEN
                if self._lapses(rounds, self._rng.randrange(2)):
                    return NOT_AGAIN
                differing = _differing(first, self._run, asked, step)
                confirmed = _differing(first, self._run, differing, step)
                asked = {test: altered for test, altered in asked.items() if test not in confirmed}
            if asked:
                return TOO_EQUAL
        return NOT_AGAIN if self._lapses(rounds, self._left) else ""

    def _lapses(self, tests: Collection[str], count: int) -> bool:
        """Whether one of up to `count` runs without alteration, if any are left, does not pass."""
        for _ in range(min(count, self._left)):
            self._left -= 1
            now = self._run(dict.fromkeys(tests, (0, 0)))
            if not all(test in now and now[test].passed for test in tests):
                return True
        return False


def _differing(usual: Mapping[str, RanTest], run: Run, asked: _Asked, step: int) -> dict[str, Altered]:
    """The tests that compare differently in a run with this alteration."""
    now = run({test: (a.number, a.amounts[step]) for test, a in asked.items()}) if asked else {}
    return {t: a for t, a in asked.items() if t in now and now[t].compared != usual[t].compared}
