"""Finds the plain value to replace an object of an answer that does not cross: what it is, holds or counts as.

Runs in the candidate's process, after tests have failed with the object itself. An answer passes with such a value only
if it also passes with the object in one process (`verification.plain`), so a bad value can only cost a pass.
"""

from array import array
from collections import UserDict, UserList, UserString
from collections.abc import Callable, Mapping, Set
from itertools import islice
from typing import Any

_MOST = 1 << 16
"""Maximum number of items taken from an object."""
BASES: dict[Any, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: bytes.__bytes__,
    tuple: lambda value: tuple(tuple.__iter__(value)),
    list: lambda value: list(list.__iter__(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
}
"""How a value of a derived class becomes one of the builtin class."""


def nearest(value: Any) -> Any:
    """A value of a builtin class; None if there is none."""
    kind = type(value)
    if issubclass(kind, type) or hasattr(kind, "__next__"):
        return None
    try:
        made = next((made for base, made in BASES.items() if issubclass(kind, base)), _held)
        return made(value)
    except Exception:
        return None


def _held(value: Any) -> Any:
    if isinstance(value, UserList | UserDict | UserString):
        return value.data
    if isinstance(value, array | memoryview):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(islice(value.items(), _MOST))
    if isinstance(value, Set):
        return set(islice(value, _MOST))
    if hasattr(value, "__iter__") or hasattr(value, "__getitem__"):
        items = list(islice(iter(value), _MOST + 1))
        return items if len(items) <= _MOST else None
    if hasattr(value, "__index__"):
        return int(value.__index__())
    return float(value.__float__()) if hasattr(value, "__float__") else None
