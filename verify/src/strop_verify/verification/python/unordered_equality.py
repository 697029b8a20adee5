"""Checks whether two lists hold the same items in any order, in the trainer's process, on trees of hostile values.

Only the outermost list or tuple is unordered; items match as in `verification.python.compare`. Results that do not have
as many parts as the expected value are refused by counting, so the expected value bounds the work. Without tolerance,
items become text keys and are counted, in linear time. With it, items that differ only in their numbers are paired by a
maximum matching, since "close" is not transitive; more than 200 such items are paired in the order of their numbers.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from strop_verify.verification.python.compare import matches
from strop_verify.verification.python.decoder import Unbuilt

MOST_MATCHED = 200
"""Maximum size of a group of items that is paired by a maximum matching."""


def matches_in_any_order(expected: Any, tree: Any, tolerance: float = 0.0) -> bool:
    """Like `compare.matches`, with the items of an outermost list or tuple in any order."""
    if type(tree) not in (list, tuple) or not isinstance(expected, list | tuple):
        return matches(expected, tree, tolerance)
    most = _parts(expected, math.inf)
    if len(tree) != len(expected) or _parts(tree, most) != most:
        return False
    if tolerance <= 0:
        ours, theirs = (Counter(_key(_canonical(item)) for item in items) for items in (expected, tree))
        return ours == theirs
    return _close(list(expected), list(tree), tolerance)


def _parts(value: Any, most: float) -> int:
    """Counts the values nested in a value, including itself; stops one container after `most`."""
    count, waiting = 1, [value]
    while waiting and count <= most:
        inner = waiting.pop()
        if isinstance(inner, Unbuilt):
            inner = inner.items
        elif isinstance(inner, dict):
            inner = [part for pair in inner.items() for part in pair]
        if isinstance(inner, list | tuple):
            count += len(inner)
            waiting += inner
    return count


def _close(expected: list[Any], items: list[Any], tolerance: float) -> bool:
    groups: dict[str, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for item in expected:
        groups[_shape(_canonical(item))][0].append(item)
    for item in items:
        groups[_shape(_canonical(item))][1].append(item)
    return all(len(a) == len(b) and _pair(a, b, tolerance) for a, b in groups.values())


def _pair(expected: list[Any], items: list[Any], tolerance: float) -> bool:
    if len(expected) > MOST_MATCHED:
        expected = sorted(expected, key=lambda item: _numbers(_canonical(item)))
        items = sorted(items, key=lambda item: _numbers(_canonical(item)))
        return all(matches(e, i, tolerance) for e, i in zip(expected, items, strict=True))
    fits = [[n for n, item in enumerate(items) if matches(e, item, tolerance)] for e in expected]
    return _perfect(fits)


def _perfect(fits: Sequence[Sequence[int]]) -> bool:
    """Whether each row of `fits` (the columns that it may take) can get a different column; by augmenting paths."""
    owner: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column in fits[row]:
            if column not in seen:
                seen.add(column)
                if column not in owner or place(owner[column], seen):
                    owner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))


def _key(canonical: Any) -> str:
    return json.dumps(canonical, separators=(",", ":"))


def _shape(canonical: Any) -> str:
    """The key without its numbers."""
    return _key(_map_numbers(canonical, lambda _: "#"))


def _canonical(value: Any) -> Any:
    """Nested lists of text and null, equal for a value and a tree that match exactly: ["n", digits], ["s", text]..."""
    if value is None:
        return value
    if isinstance(value, str):
        return ["s", value]
    if isinstance(value, complex) and not value.imag:
        value = value.real
    if isinstance(value, int | float):
        return ["n", _number(value)]
    if isinstance(value, list | tuple):
        return ["l", *(_canonical(item) for item in value)]
    if isinstance(value, dict):
        return _object((str(key), _canonical(item)) for key, item in value.items())
    if isinstance(value, Unbuilt) and value.kind == "dict" and all(type(k) is str for k, _ in value.pairs):
        return _object((key, _canonical(item)) for key, item in value.pairs)
    return ["?"]  # sets, bytes, complex and dicts with other keys match nothing


def _object(pairs: Iterable[tuple[str, Any]]) -> Any:
    return ["d", *(["k", *pair] for pair in sorted(pairs, key=itemgetter(0)))]


def _number(value: Any) -> str:
    """Text that is equal for equal numbers, whatever their type."""
    return hex(int(value)) if isinstance(value, int) or value.is_integer() else repr(value)


def _map_numbers(canonical: Any, change: Callable[[str], Any]) -> Any:
    if not isinstance(canonical, list):
        return canonical
    if len(canonical) == 2 and canonical[0] == "n":
        return ["n", change(canonical[1])]
    return [_map_numbers(part, change) for part in canonical]


def _numbers(canonical: Any) -> list[float]:
    found: list[float] = []

    def take(text: str) -> None:
        try:
            found.append(float(int(text, 16)) if "0x" in text else float(text))
        except OverflowError:
            found.append(float("-inf" if text.startswith("-") else "inf"))

    _map_numbers(canonical, take)
    return found
