"""Whether a passed test depends on what an answer's objects were made of.

A type may keep too little of its data, or write an equality that always holds: then all its objects are equal, and
tests that compare two of them pass. So may their texts be. So each test that compares objects of the answer, or two
values that it got by it, is run again in fresh processes with one literal of the test altered. Where the reference's
objects then compare otherwise, by each of `AMOUNTS` alterations of that literal, those of the answer must too, by one
of them at least. An answer cannot tell the runs apart: the program is the same, and only the harness knows what is
altered.

Not covered: tasks without a reference; comparisons outside of assertions; literals beyond `ROUNDS` of a test, drawn by
lot for each task; objects made without literals of the test.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

TOO_EQUAL = "its objects compare alike whatever the test makes them of; the reference's do not"
ROUNDS = 4
"""Most literals of a test that are altered for an answer."""
_TRIED = 12
"""Most literals of a test that are altered for the reference."""
AMOUNTS = 3
_FARTHEST = 9


class Altered(NamedTuple):
    """A literal of a test."""

    number: int
    amounts: tuple[int, ...]


class Ran(NamedTuple):
    """What the harness reported of a test."""

    passed: bool
    compared: str
    """A letter for each comparison of the answer's objects, 1 where it held."""
    met: tuple[int, ...]
    """Numbers of the literals that the test came by."""


Run = Callable[[Mapping[str, tuple[int, int]]], dict[str, Ran]]
"""Runs tests in a fresh process, each with the number and amount of an alteration; those that came to an end."""
Rounds = Mapping[str, tuple[Altered, ...]]
"""What to alter, by test."""


def read_report(output: bytes, tokens: Mapping[str, str]) -> dict[str, Ran]:
    """A harness's report by test. `tokens`: what the tests were given, in order."""
    found = {}
    for (name, token), line in zip(
        tokens.items(), output.decode(errors="replace").splitlines(), strict=False
    ):
        word, compared, met = (*line.split(" "), "", "")[:3]
        numbers = tuple(int(n) for n in met.split(",") if n.isdigit())
        found[name] = Ran(word == token, compared.strip("-"), numbers)
    return found


def sensitive(usual: Mapping[str, Ran], run: Run, seconds: float) -> Rounds:
    """Literals by which the reference's objects compare otherwise. No run begins after `seconds`."""
    until, draw = time.monotonic() + seconds, secrets.SystemRandom()
    again = run(dict.fromkeys(usual, (0, 0)))
    waiting = {
        test: draw.sample(ran.met, min(_TRIED, len(ran.met)))
        for test, ran in usual.items()
        if ran.passed and ran.compared and again.get(test) == ran
    }
    found: dict[str, tuple[Altered, ...]] = {}
    while time.monotonic() < until:
        asked = {
            test: Altered(left.pop(), tuple(draw.sample(range(1, _FARTHEST + 1), AMOUNTS)))
            for test, left in waiting.items()
            if left and len(found.get(test, ())) < ROUNDS
        }
        if not asked:
            break
        chosen = asked
        for step in range(AMOUNTS):
            now = _altered(run, chosen, step)
            chosen = {t: a for t, a in chosen.items() if t in now and now[t].compared != usual[t].compared}
        for test, altered in chosen.items():
            found[test] = (*found.get(test, ()), altered)
    return found


def lies(usual: Mapping[str, Ran], run: Run, rounds: Rounds, seconds: float) -> str:
    """A test that compares objects alike whatever is altered, or nothing. No run begins after `seconds`."""
    until = time.monotonic() + seconds
    for number in range(ROUNDS):
        asked = {
            test: altered[number]
            for test, altered in rounds.items()
            if number < len(altered) and usual[test].compared
        }
        for step in range(AMOUNTS):
            if time.monotonic() > until:
                return ""
            now = _altered(run, asked, step)
            asked = {t: a for t, a in asked.items() if t in now and now[t].compared == usual[t].compared}
        if asked:
            return min(asked)
    return ""


def _altered(run: Run, asked: Mapping[str, Altered], step: int) -> dict[str, Ran]:
    return run({test: (a.number, a.amounts[step]) for test, a in asked.items()}) if asked else {}
