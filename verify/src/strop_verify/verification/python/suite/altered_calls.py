"""The tests' side of running a suite again with altered calls: records calls, and alters one in each test.

A test that compares the answer's objects, or what their methods and attributes return, relies on their honesty. If the
reference's objects return something else when a call gets other plain values, an answer whose objects do not is lying.
"""

import hashlib
from collections import OrderedDict, defaultdict, deque
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from strop_verify.verification.python.codec import Unencodable, encode
from strop_verify.verification.python.values import ValueEncoder

MOST = 10_000
"""Maximum entries of `said`, and of calls, recorded per test."""
_NUMBERS = (int, float, Decimal, Fraction)
_DAYS = (date, datetime, timedelta)
_DICTS = (dict, OrderedDict, defaultdict)
COLLECTION = ""
"""The test id for what happens while the files are imported, before the first test."""


class SuiteCalls:
    """Records a test's calls with only plain values, and what objects return. `alter`: see `Alteration`, by test id.

    Without `noting`, records only whether an object returned anything.
    """

    def __init__(self, alter: dict[str, list[Any]] | None, *, noting: bool) -> None:
        self.alter = alter or {}
        self.noting = noting
        self.early: dict[int, int] = {}
        """Numbers of the objects that arrived during collection, each with its position among them."""
        self.altered_early = False
        self.begin(COLLECTION)

    def begin(self, test: str) -> None:
        """Starts the record of the next test."""
        self.said: list[str] = []
        """What objects returned: a digest of each plain value, and for each object its position among them."""
        self._came: dict[int, int] = {}
        self.made: list[str] = []
        """For each call its kind (C: of a class, f: another) and a digest of its values."""
        self.before: list[int] = []
        """For each entry of `said`, except new objects, how many of the calls came before it."""
        self.altered = False
        self._wanted = self.alter.get(test)

    def end_collection(self) -> list[str]:
        """Ends the record of the collection; returns its calls."""
        self.early, self.altered_early = dict(self._came), self.altered
        return self.made

    def told(self, data: bytes, *, objects: bool) -> None:
        """Records the bytes of a value that an object of the answer returned, unless the value holds `objects`."""
        if not self.noting:
            self.said = self.said or ["told"]
        elif len(self.said) < MOST and not objects:
            self._note(hashlib.sha256(data).hexdigest()[:8])

    def came(self, number: int) -> None:
        """Records which object of the answer arrived: for `is`, and `==` of lists, a known one equals itself."""
        if not self.noting:
            self.said = self.said or ["came"]
            return
        known, early = number in self._came, self.early.get(number)
        place = self._came.setdefault(number, len(self._came))
        if len(self.said) < MOST:
            self._note(f"object {place}" if early is None else f"early object {early}", tells=known)

    def _note(self, word: str, *, tells: bool = True) -> None:
        self.said.append(word)
        if tells:
            self.before.append(len(self.made))

    def passed_on(self, args: tuple[Any, ...], kwargs: Any, *, of_class: bool) -> tuple[tuple[Any, ...], Any]:
        """The arguments for a call: altered ones if this call is the chosen one."""
        if not self.noting or len(self.made) >= MOST:
            return args, kwargs
        try:
            values = encode(list(args), ValueEncoder) + encode(kwargs, ValueEncoder)
        except Unencodable:
            return args, kwargs
        if not _alterable([args, kwargs]):
            return args, kwargs
        self.made.append(("C" if of_class else "f") + hashlib.sha256(values).hexdigest()[:16])
        if self._wanted is None or self._wanted[:2] != [len(self.made) - 1, self.made[-1]]:
            return args, kwargs
        self.altered = True
        return other(args, self._wanted[2]), other(kwargs, self._wanted[2])

    def report(self) -> dict[str, Any]:
        """The fields that the running test's frame adds."""
        found: dict[str, Any] = {"said": "\n".join(self.said) if self.noting else ""} if self.said else {}
        if self.noting:
            altered = self.altered or self.altered_early
            found |= {"calls": self.made, "before": self.before, "altered": altered}
        return found


def other(value: Any, amount: int) -> Any:
    """The value with every number and date shifted by `amount`, and every ASCII letter and digit of its texts shifted
    within its alphabet.
    """
    kind = type(value)
    if kind in _NUMBERS:
        return value + amount
    if kind in _DAYS:
        with suppress(OverflowError):
            return value + timedelta(days=amount)
    if kind is str:
        return "".join(_moved(character, amount) for character in value)
    if kind in _DICTS:
        same = value.copy()
        same.update([(key, other(inner, amount)) for key, inner in value.items()])
        return same
    if kind is deque:
        return deque((other(inner, amount) for inner in value), value.maxlen)
    if kind is range:
        return range(value.start + amount, value.stop + amount, value.step)
    if kind in (list, tuple, set, frozenset):
        return kind(other(inner, amount) for inner in value)
    return value


def _moved(character: str, amount: int) -> str:
    for first, size in (("0", 10), ("a", 26), ("A", 26)):
        if 0 <= (place := ord(character) - ord(first)) < size:
            return chr(ord(first) + (place + amount) % size)
    return character


def _alterable(value: Any) -> bool:
    kind = type(value)
    if kind in _DICTS:
        return any(map(_alterable, value.values()))
    if kind in (list, tuple, set, frozenset, deque):
        return any(map(_alterable, value))
    return kind in _NUMBERS or kind in _DAYS or kind is range or (kind is str and other(value, 1) != value)
