"""Reads what `verification.python.codec` writes, from hostile senders: as values, or as trees that need no hashes.

Standard library only: jailed workers import this without site-packages.
"""

import gc
import math
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from struct import error as StructError
from typing import Any

from strop_verify.verification.python.codec import (
    BYTES,
    DICT,
    DOUBLE,
    FLOAT,
    FROZENSET,
    INT,
    INTS,
    LIST,
    LONG,
    MAX_DEPTH,
    MAX_NODES,
    NAN,
    NONE,
    PACKABLE,
    PACKED,
    SET,
    STR,
    TAGGED,
    TRUE,
    TUPLE,
    WIDTHS,
    Malformed,
    width_of,
)  # fmt: skip

MAX_TAGGED_DEPTH = 2 * MAX_DEPTH
"""`MAX_DEPTH` for tagged values, whose parts may be `MAX_DEPTH` deep at any depth (`codec.tagged`)."""
_UNTIMED = 20_000
"""Maximum parts read between two checks of the clock, not counting those of a single container."""
_LARGE = 1 << 16
"""Size from which a message is read without garbage collection, in bytes; its values hold no cycles."""
_Make = dict[int, Callable[[list[Any]], Any]]
"""Functions that build a container from its items, by the container's kind."""


class DecodeTimeout(Malformed):
    """Reading took longer than allowed."""


@dataclass(slots=True)
class Unbuilt:
    """A "set", "frozenset" or "dict" that was not built, so that no hostile value is hashed."""

    kind: str
    items: list[Any]
    """The items; for a dict, keys and values in turn."""

    @property
    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Keys and values of a dict."""
        return zip(self.items[::2], self.items[1::2], strict=True)


def decode(data: bytes, special: Callable[[str, list[Any]], Any] | None = None) -> Any:
    """The value of hostile bytes. Raises Malformed for anything that `encode` does not make.

    `special` makes the value of a tag from its name and its parts; without it tags are malformed.

    Builds sets and dicts, whose keys a hostile sender can make collide: call it only in a process with a CPU limit. The
    trainer's process compares trees instead (`strop_verify.verification.python.compare`).
    """
    if special is None:
        return _whole(data, _BUILT, MAX_DEPTH)
    make = special

    def of_tag(items: list[Any]) -> Any:
        if not items or type(items[0]) is not str:
            raise Malformed("a tag without a name")
        return make(items[0], items[1:])

    # keys may be equal here: objects can change after being hashed
    loose: _Make = {TUPLE: tuple, SET: set, FROZENSET: frozenset, DICT: _dict, TAGGED: of_tag}
    return _whole(data, loose, MAX_TAGGED_DEPTH)


def tree(data: bytes, until: float = math.inf) -> Any:
    """Like `decode`, for any process: sets and dicts stay `Unbuilt`. Only duplicate keys that are strings are refused.

    Raises DecodeTimeout when `time.monotonic()` passes `until`, at most about half a second late.
    """
    if len(data) <= _LARGE:
        return _whole(data, _UNBUILT, MAX_DEPTH, until)
    with _uncollected():
        return _whole(data, _UNBUILT, MAX_DEPTH, until)


def fields(data: bytes, until: float = math.inf) -> dict[str, Any]:
    """The fields of a message, each a tree. Raises Malformed, and DecodeTimeout like `tree`."""
    found: dict[str, Any] = {}
    try:
        at = 1
        for _ in range(data[0]):
            end = at + 1 + data[at]
            name = data[at + 1 : end].decode("ascii")
            if name in found:
                raise Malformed("a duplicate name")
            if (code := data[end]) <= TRUE:
                found[name], at = _ATOMS[code], end + 1
            elif code == BYTES and (size := data[end + 1]) < min(LONG, len(data) - end - 1):
                at = end + 2 + size
                found[name] = data[end + 2 : at]
            elif len(data) <= _LARGE:
                found[name], at = _read(data, end, _UNBUILT, MAX_DEPTH, until)
            else:
                with _uncollected():
                    found[name], at = _read(data, end, _UNBUILT, MAX_DEPTH, until)
    except _BROKEN as error:
        raise _malformed(error) from None
    if at != len(data):
        raise Malformed("bytes after the message")
    return found


@contextmanager
def _uncollected() -> Iterator[None]:
    """Turns garbage collection off for a large message: it takes seconds in a process with many objects."""
    collects = gc.isenabled()
    if collects:
        gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _dict(items: list[Any]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


def _distinct(build: Callable[[list[Any]], Any], count: int = 1) -> Callable[[list[Any]], Any]:
    def made(items: list[Any]) -> Any:
        found = build(items)
        if len(found) * count != len(items):
            raise Malformed("a duplicate key")
        return found

    return made


def _unbuilt_dict(items: list[Any]) -> Unbuilt:
    texts = [key for key in items[::2] if type(key) is str]
    if len(set(texts)) != len(texts):
        raise Malformed("a duplicate key")
    return Unbuilt("dict", items)


_BUILT: _Make = {
    TUPLE: tuple, SET: _distinct(set), FROZENSET: _distinct(frozenset), DICT: _distinct(_dict, 2),
}  # fmt: skip
_UNBUILT: _Make = {
    TUPLE: tuple,
    SET: lambda items: Unbuilt("set", items),
    FROZENSET: lambda items: Unbuilt("frozenset", items),
    DICT: _unbuilt_dict,
}


_ATOMS = (*range(NONE), None, False, True)
"""Values of one byte, by that byte."""
_BROKEN = (LookupError, TypeError, ValueError, OverflowError, StructError, RecursionError, MemoryError)


def _malformed(error: BaseException) -> Malformed:
    return error if isinstance(error, Malformed) else Malformed(f"not a value: {type(error).__name__}")


def _whole(data: bytes, make: _Make, levels: int, until: float = math.inf) -> Any:
    try:
        value, end = _read(data, 0, make, levels, until)
    except _BROKEN as error:
        raise _malformed(error) from None
    if end != len(data):
        raise Malformed("bytes after the value")
    return value


def _read(data: bytes, at: int, make: _Make, levels: int, until: float) -> tuple[Any, int]:
    """The value at an offset, and where it ends. `outer`: open containers around `items`, which is full at `count`."""
    end, left, pause = len(data), MAX_NODES, MAX_NODES
    outer: list[tuple[int, list[Any], int]] = []
    kind, count = LIST, 1
    items: list[Any] = []
    item: Any
    while True:
        code = data[at]
        at += 1
        if code <= TRUE:
            items.append(_ATOMS[code])
        elif code >= STR:
            size = data[at]
            at += 1
            if size == LONG:
                size, at = int.from_bytes(data[at : at + 4], "little"), at + 4
                if size < LONG:
                    raise Malformed("a size that has a shorter form")
            if size > end - at:
                raise Malformed("a size beyond the end")
            if code == STR:
                items.append(str(data[at : at + size], "utf-8", "surrogatepass"))
                at += size
            elif code == BYTES:
                items.append(data[at : at + size])
                at += size
            elif code == INT:
                item = int.from_bytes(data[at : at + size], "little", signed=True)
                if 0 <= item < 128 or item.bit_length() // 8 + 1 != size:
                    raise Malformed("an int that has a shorter form")
                items.append(item)
                at += size
            else:
                left -= size + 1
                if left < pause or len(outer) >= levels:
                    if left < 0 or len(outer) >= levels:
                        raise Malformed("too deep or too large")
                    if time.monotonic() > until:
                        raise DecodeTimeout("out of time")
                    pause = max(0, left - _UNTIMED)
                if code == INTS:
                    code, start = data[at], at + 2
                    if code not in PACKABLE:
                        raise Malformed("ints of an unknown kind")
                    at = start + size * data[at + 1]
                    item = _unpacked(data[start:at], size, data[start - 1])
                    items.append(item if code == LIST else make[code](item))
                else:
                    if code != LIST and code not in make:
                        raise Malformed("an unknown kind")
                    outer.append((kind, items, count))
                    kind, items, count = code, [], 2 * size if code == DICT else size
        elif code == FLOAT:
            items.append(_float(data, at))
            at += 8
        else:
            items.append(complex(_float(data, at), _float(data, at + 8)))
            at += 16
        while len(items) == count:
            if not outer:
                return items[0], at
            item = items
            if count >= PACKED and kind in PACKABLE and width_of(items):
                raise Malformed("ints that are not packed")
            if kind != LIST:
                item = make[kind](items)
            kind, items, count = outer.pop()
            items.append(item)


def _float(data: bytes, at: int) -> float:
    value: float = DOUBLE.unpack_from(data, at)[0]
    if value != value and data[at : at + 8] != NAN:
        raise Malformed("a nan in another form")
    return value


def _unpacked(data: bytes, size: int, width: int) -> list[int]:
    items = array(WIDTHS[width], data).tolist()
    if not len(items) == size >= PACKED or width_of(items) != WIDTHS[width]:
        raise Malformed("ints that are packed in another form")
    return items
