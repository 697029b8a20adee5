"""The tests' side of running a suite again with altered calls: notes what is called, alters one call in each test.

A test that compares objects of the answer can only be as good as their `__eq__`. Where the reference's objects do not
compare as before once one call of the test gets other plain values, an answer whose objects still do is lying.
"""

import hashlib
from typing import Any

from strop.verification.python.codec import Unencodable, dumps, encode

MOST = 10_000
"""Comparisons, and calls, of one test that are noted."""


class SuiteCalls:
    """What a test calls with plain values alone, and how its objects compare. `alter`: see `Alteration`, by test id.

    Without `noting`, only the comparisons are kept.
    """

    def __init__(self, alter: dict[str, list[Any]] | None, *, noting: bool) -> None:
        self.alter = alter or {}
        self.noting = noting
        self.begin("")

    def begin(self, test: str) -> None:
        """The next test begins."""
        self.said = ""
        """A letter a comparison of two objects: 1 where it held, else 0."""
        self.again = False
        """Whether an object came back that was known before: `==` of lists does not ask such a one."""
        self.made: list[str] = []
        """For each call its kind (C: of a class, f: another) and a digest of its values."""
        self.before: list[int] = []
        """For each comparison, how many of those came before it."""
        self.altered = False
        self._wanted = self.alter.get(test)

    def compared(self, said: bool) -> None:
        """Two objects of the answer were compared."""
        if len(self.said) < MOST:
            self.said += "1" if said else "0"
            self.before.append(len(self.made))

    def passed_on(self, args: tuple[Any, ...], kwargs: Any, *, of_class: bool) -> tuple[tuple[Any, ...], Any]:
        """What a call is to be made with."""
        if not self.noting or len(self.made) >= MOST:
            return args, kwargs
        try:
            values = dumps([encode(list(args)), encode(kwargs)])
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
        """What the running test's frame says of it."""
        found: dict[str, Any] = {"c": self.said} if self.said else {}
        if self.again:
            found["again"] = True
        if self.noting:
            found |= {"calls": self.made, "before": self.before, "altered": self.altered}
        return found


def other(value: Any, amount: int) -> Any:
    """The value with every number moved by `amount`, and every ASCII letter and digit of texts within its alphabet."""
    kind = type(value)
    if kind is int or kind is float:
        return value + amount
    if kind is str:
        return "".join(_moved(character, amount) for character in value)
    if kind is dict:
        return {key: other(inner, amount) for key, inner in value.items()}
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
    if kind is dict:
        return any(map(_alterable, value.values()))
    if kind in (list, tuple, set, frozenset):
        return any(map(_alterable, value))
    return kind is int or kind is float or (kind is str and other(value, 1) != value)
