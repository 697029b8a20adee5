"""Keeps the identity of containers: a call's arguments, numbered alike in both processes, and repeats in a reply.

If such a container is in a call's result, or in another container after the call, its number crosses, so that the tests
get their own list back and not a copy. Standard library only, as `verification.python.codec`.
"""

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterable
from operator import is_
from typing import Any

from strop_verify.verification.python.codec import MAX_DEPTH, Unencodable

_DICTS = frozenset({dict, Counter, OrderedDict, defaultdict})
_CHANGE = _DICTS | {list, set, deque, bytearray}
_LEAVES = frozenset({int, float, str, bool, bytes, complex, type(None), range})


class Number:
    """Stands for the container with that number."""

    def __init__(self, number: int) -> None:
        self.number = number


def containers(values: Iterable[Any]) -> list[Any]:
    """Mutable containers at any depth, outer ones first, each as often as it occurs."""
    found: list[Any] = []
    waiting = [values]
    for value in waiting:
        kind = type(value)
        if kind in _CHANGE and value is not values:
            found.append(value)
        inner = _inner(value)
        if not _LEAVES.issuperset(map(type, inner)):
            waiting += [part for part in inner if type(part) not in _LEAVES]
    return found


def _inner(value: Any) -> Collection[Any]:
    if type(value) in _DICTS:
        return dict.values(value)
    return value if isinstance(value, list | tuple | deque) else ()


class NamedContainers:
    """In the answer's process: containers that a reply refers to by number, first arguments, then repeated ones."""

    def __init__(self, arguments: list[Any]) -> None:
        self.found = containers(arguments)
        self.new: list[Any] = []
        """The contents of the containers held more than once, inner ones first."""
        self._numbers = {id(container): number for number, container in enumerate(self.found)}
        self._repeated: set[int] = set()

    def expect(self, values: list[Any]) -> None:
        """Finds containers that these values together hold more than once."""
        seen: set[int] = set()
        waiting = [value for value in values if type(value) not in _LEAVES]
        for value in waiting:
            if id(value) in seen:
                self._repeated.add(id(value))
            elif not _LEAVES.issuperset(map(type, inner := _inner(value))) or type(value) in _CHANGE:
                seen.add(id(value))
                waiting += [part for part in inner if type(part) not in _LEAVES]

    def numbered(self, value: Any, depth: int = MAX_DEPTH) -> Any:
        """The value, with numbers in place of these containers. Raises Unencodable for a value that holds itself."""
        kind = type(value)
        if kind in _LEAVES:
            return value
        number = self._numbers.get(id(value))
        if number is None:
            value, place = self.inside(value, depth), id(value)
            if place not in self._repeated or kind not in _CHANGE:
                return value
            number = self._numbers[place] = len(self.found) + len(self.new)
            self.new.append(value)
        return Number(number)

    def inside(self, value: Any, depth: int = MAX_DEPTH) -> Any:
        """Like `numbered`, but keeps the value itself."""
        inner = _inner(value)
        if _LEAVES.issuperset(map(type, inner)):
            return value
        if depth <= 0:
            raise Unencodable("the value is too deep, cyclic or too large")
        parts = [self.numbered(part, depth - 1) for part in inner]
        if all(map(is_, parts, inner)):
            return value
        if type(value) in _DICTS:
            copy = value.copy()
            dict.update(copy, zip(value, parts, strict=True))
            return copy
        if type(value) is deque:
            return deque(parts, value.maxlen)
        return parts if type(value) is list else tuple.__new__(type(value), parts)
