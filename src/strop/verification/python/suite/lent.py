"""Containers that the tests took out of an object of the answer, and may change: `a.items.append(3)`.

What an attribute or an item gives is a copy, as every value. While the tests hold it, both sides send what was done to
theirs with their next message, so that each finds the other's changes there before any of its code goes on. Changes
are made in place, and what is equal in a container stays the same object. Larger ones are copies alone.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from strop.verification.python.codec import Malformed, Unencodable, tagged
from strop.verification.python.functions import decoded
from strop.verification.python.values import MUTABLE

MOST_BYTES = 1 << 14
"""Of a container that is lent."""
MOST = 50
"""Containers that are lent at a time."""
_Encode = Callable[[Any], bytes]


class Lender:
    """In the answer's process: containers that the tests hold, by id, each with its bytes of last time."""

    def __init__(self, encode: _Encode, decode: Callable[[bytes], Any]) -> None:
        self.encode, self.decode = encode, decode
        self.lent: dict[int, tuple[Any, bytes]] = {}

    def lend(self, value: Any, data: bytes) -> dict[str, int]:
        """What the reply that gives this value says besides."""
        if not isinstance(value, MUTABLE) or len(data) > MOST_BYTES or len(self.lent) >= MOST:
            return {}
        self.lent[id(value)] = (value, self.encode(value))  # no longer with what is new to the tests
        return {"n": id(value)}

    def take(self, message: dict[str, Any]) -> dict[str, Any]:
        """Does what the tests did; gives the message."""
        for number, data in zip(*message.get("p", ()), strict=True):
            value = self.lent[number][0]
            become(value, self.decode(data), self.encode)
            self.lent[number] = (value, self.encode(value))
        for number in message.get("d", ()):
            self.lent.pop(number, None)
        return message

    def changes(self) -> dict[str, Any]:
        """What a message to the tests says besides: which containers changed, and to what."""
        changed = {}
        for number, (value, before) in self.lent.items():
            if (data := self.encode(value)) != before:
                changed[number] = data
                self.lent[number] = (value, self.encode(value))
        return {"c": [list(changed), list(changed.values())]} if changed else {}


class Holder:
    """In the tests' process: what was lent, by number, and its bytes of last time."""

    def __init__(self, encode: _Encode, decode: Callable[[bytes], Any], fault: Callable[[str], None]) -> None:
        self.encode, self.decode, self.fault = encode, decode, fault
        self.held: dict[int, list[Any]] = {}
        """The container alone in a list."""
        self.before: dict[int, bytes] = {}

    def hold(self, number: Any, value: Any) -> Any:
        """The local container of that number, with the content of `value`. Raises Malformed."""
        if type(number) is not int or not isinstance(value, MUTABLE):
            raise Malformed("nothing that can be lent")
        (held,) = self.held.setdefault(number, [value])
        if type(held) is not type(value):
            raise Malformed("another container")
        become(held, value, self.encode)
        self.before[number] = self.encode(held)
        return held

    def own(self, value: Any) -> bytes:
        """The bytes that stand for the answer's own container, if it is one that was lent; else none."""
        number = next((number for number, (held,) in self.held.items() if held is value), None)
        return b"" if number is None else tagged("lent", number)

    def take(self, message: dict[str, Any]) -> list[bytes]:
        """Does what a hostile answer says that it did; gives the bytes. Raises Malformed."""
        if "c" not in message:
            return []
        changed = message["c"]
        if type(changed) is not list or len(changed) != 2 or type(changed[0]) is not list:
            raise Malformed("bad changes")
        values = decoded(changed[1], self.decode)
        if len(values) != len(changed[0]):
            raise Malformed("bad changes")
        for number, value in zip(changed[0], values, strict=True):
            if type(number) is not int or number not in self.held:
                raise Malformed("a change of nothing that was lent")
            self.hold(number, value)
        return changed[1]  # type: ignore[no-any-return]

    def changes(self) -> dict[str, Any]:
        """What a message to the answer says besides; what the tests hold no longer is given up."""
        changed: dict[int, bytes] = {}
        for number, (value,) in self.held.items():
            try:
                data = self.encode(value)
            except Unencodable as error:
                self.fault(f"in a container of the answer: {error}")
                continue
            if data != self.before[number]:
                changed[number] = self.before[number] = data
        value = None
        dropped = [number for number, alone in self.held.items() if not _in_use(alone)]
        for number in dropped:
            del self.held[number], self.before[number]
        found: dict[str, Any] = {"p": [list(changed), list(changed.values())]} if changed else {}
        return found | ({"d": dropped} if dropped else {})


def _in_use(values: Iterable[Any], alone: int = 0) -> bool:
    """Whether containers in `values`, or in those, are known elsewhere too. `alone`: the count of one that is not."""
    for value in values:
        if isinstance(value, (*MUTABLE, tuple)):
            if sys.getrefcount(value) > (alone or _ALONE):
                return True
            inner = value.values() if isinstance(value, dict) else value
            if not isinstance(value, bytearray) and _in_use(inner):
                return True
    return False


_ALONE = next(count for count in range(1, 10) if not _in_use([[]], count))


def become(old: Any, new: Any, encode: _Encode) -> None:
    """Makes a container equal to another of its exact type; what is equal in both stays the old object."""
    if type(old) is not type(new) or old is new:
        return
    if isinstance(old, dict):
        for key, value in dict.items(new):
            new[key] = _kept(old[key], value, encode) if key in old else value
        old.clear()
        old.update(new)
    elif isinstance(old, set):
        old.intersection_update(new)
        old.update(new)
    elif isinstance(old, bytearray):
        old[:] = new
    else:
        items = _items(list(old), list(new), encode)
        old.clear()
        old.extend(items)


def _items(old: list[Any], new: list[Any], encode: _Encode) -> list[Any]:
    left: dict[bytes, deque[Any]] = {}
    for value in old:
        left.setdefault(encode(value), deque()).append(value)
    same = [left[data].popleft() if left.get(data := encode(value)) else _NONE for value in new]
    rest = [value for values in left.values() for value in values]
    if same.count(_NONE) == len(rest):
        again = iter(rest)
        return [_kept(next(again), n, encode) if s is _NONE else s for s, n in zip(same, new, strict=True)]
    return [n if s is _NONE else s for s, n in zip(same, new, strict=True)]


_NONE = object()


def _kept(old: Any, new: Any, encode: _Encode) -> Any:
    """The old container with the content of the new one, if they are of one type; else the new value."""
    if type(old) is not type(new) or not isinstance(old, MUTABLE):
        return new
    become(old, new, encode)
    return old
