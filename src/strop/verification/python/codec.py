"""Values across the trust border: tagged JSON of exact builtin types, in both directions.

int, float (nan and infinities too), str, bool, None, list, tuple, dict, set, frozenset, bytes and complex cross; so do
Counter, defaultdict and OrderedDict, as the dict that they are equal to. Anything else, also a subclass with an
`__eq__` of its own, is *unencodable*: what arrives on the trusted side is plain data whose methods are Python's own.

The wire form is a JSON value: None, bool, str, list and finite numbers stand for themselves; the rest is
{"t": type name, "v": ...}. Standard library only: jailed workers import this without site-packages.
"""

import json
import re
from array import array
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from datetime import date, datetime, time, timedelta
from itertools import accumulate
from typing import Any

MAX_DEPTH = 100
"""Deepest nesting of containers that crosses."""
MAX_NODES = 1_000_000
"""Most values in one value, shared ones counted each time."""

MAX_LEVELS = 4 * MAX_DEPTH
"""Deepest nesting of brackets in a message: a dict takes three of a value's levels."""

_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?')
"""Strings, also one that is not closed: no step is taken twice, so hostile bytes are read in linear time."""
_STEP = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_STEP = bytes(set(range(256)) - set(b"[{]}"))
_PLAIN_INT = 10**17
_SELF = (str, int, float, bool, type(None))
"""Types that are their own wire form."""
_DICTS = (dict, Counter, OrderedDict, defaultdict)


class Unencodable(ValueError):
    """The value holds something that does not cross; the message names its type."""


class Malformed(ValueError):
    """The bytes or the wire form were not made by this codec."""


class Oversize(Malformed):
    """More bytes than the receiver takes; the answer's fault, but no forgery."""


def encode(value: object) -> Any:
    """The wire form of a value. Raises Unencodable for types that do not cross, cycles and oversize."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    return Encoder().encode(value, MAX_DEPTH)


class Encoder:
    """Counts what it has encoded, so that shared parts cannot blow up without bound."""

    def __init__(self) -> None:
        self.left = MAX_NODES

    def encode(self, value: Any, depth: int) -> Any:
        """The wire form of a value nested at most `depth` deep. Raises Unencodable."""
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return value if -_PLAIN_INT < value < _PLAIN_INT else {"t": "int", "v": hex(value)}
        if kind is float:
            return value if value - value == 0 else {"t": "float", "v": repr(value)}
        if kind is bytes:
            return {"t": "bytes", "v": value.hex()}
        if kind is complex:
            return {"t": "complex", "v": [self.encode(p, depth) for p in (value.real, value.imag)]}
        if kind not in (list, tuple, set, frozenset, *_DICTS):
            raise Unencodable(f"a value of type {getattr(kind, '__name__', '?')!s:.80} does not cross")
        self.left -= len(value) + 1
        if depth <= 0 or self.left < 0:
            raise Unencodable("the value is too deep, cyclic or too large")
        if kind in _DICTS:
            pairs = [[self.encode(part, depth - 1) for part in pair] for pair in dict.items(value)]
            return {"t": "dict", "v": pairs}
        items = [self.encode(item, depth - 1) for item in value]
        return items if kind is list else {"t": kind.__name__, "v": items}


def decode(wire: Any, special: Callable[[str, Any], Any] | None = None) -> Any:
    """The value of a wire form. Raises Malformed for anything that `encode` does not make.

    `special` makes the value of a tag that this codec does not know, from the tag and what is below it.

    Builds sets and dicts, whose keys a hostile sender can make collide: do it only in a process with a CPU limit. The
    trainer's process compares wire forms instead (`strop.verification.python.compare`).
    """
    try:
        return _decode(wire, MAX_DEPTH, special)
    except (TypeError, ValueError, KeyError, RecursionError, OverflowError) as error:
        raise Malformed(f"not a wire form: {type(error).__name__}") from None


def _decode(wire: Any, depth: int, special: Callable[[str, Any], Any] | None) -> Any:
    shape = type(wire)
    if shape in _SELF:
        return wire
    if depth < 0:
        raise Malformed("too deep")
    if shape is list:
        return [_decode(item, depth - 1, special) for item in wire]
    if set(wire) != {"t", "v"}:
        raise Malformed("bad tag")
    kind, inner = wire["t"], wire["v"]
    if kind in ("int", "float", "bytes", "complex"):
        return scalar(kind, inner)
    if type(inner) is not list:
        raise Malformed("bad items")
    if kind == "dict":
        return {_key(_decode(k, depth - 1, special)): _decode(v, depth - 1, special) for k, v in inner}
    if kind in ("tuple", "set", "frozenset"):
        items = [_decode(item, depth - 1, special) for item in inner]
        return tuple(items) if kind == "tuple" else set(items) if kind == "set" else frozenset(items)
    if special is None:
        raise Malformed("unknown tag")
    return special(kind, inner)


def scalar(kind: str, inner: Any) -> int | float | bytes | complex:
    """The value of a tag without nested values. Raises Malformed (or TypeError, ValueError)."""
    if kind == "int" and isinstance(inner, str):
        return int(inner, 16)
    if kind == "float":
        return _not_finite({"t": kind, "v": inner})
    if kind == "bytes" and isinstance(inner, str):
        return bytes.fromhex(inner)
    if kind == "complex" and isinstance(inner, list) and len(inner) == 2:
        real, imag = (p if isinstance(p, float) else _not_finite(p) for p in inner)
        return complex(real, imag)
    raise Malformed("bad scalar")


def _not_finite(tagged: Any) -> float:
    known = isinstance(tagged, dict) and tagged.get("v") in ("nan", "inf", "-inf")
    if not known or tagged.get("t") != "float":
        raise Malformed("bad float")
    return float(tagged["v"])


def _key(value: Any) -> Hashable:
    hash(value)
    return value  # type: ignore[no-any-return]


def dumps(message: Any) -> bytes:
    """A message as UTF-8 JSON. Lone surrogates survive, NaN never occurs."""
    return "".join(_chunks(message, 0)).encode("ascii")


def loads(data: bytes, levels: int = MAX_LEVELS) -> Any:
    """A message from hostile bytes: at most `levels` deep, every number finite. Raises Malformed for others."""
    if data.count(b"[") + data.count(b"{") > levels and _levels(data) > levels:
        raise Malformed("too deep")
    try:
        text = data.decode("utf-8")
        message, end = _scan(text, 0)
    except (ValueError, RecursionError, MemoryError, StopIteration) as error:
        raise Malformed(f"not a message: {type(error).__name__}") from None
    if end != len(text):
        raise Malformed("more than a message")
    return message


def _levels(data: bytes) -> int:
    """How deep brackets are nested, without recursion; those in strings do not count."""
    steps = array("b", _STRINGS.sub(b"", data).translate(_STEP, _NO_STEP))
    return max(accumulate(steps), default=0)


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise Malformed("a number beyond all floats in a message")
    return value


def _no_constant(name: str) -> float:
    raise Malformed(f"{name} in a message")


def _encoder() -> Callable[[Any, int], Iterable[str]]:
    """The C encoder, made once: `JSONEncoder` makes one a message. Messages are trees, so none looks for cycles."""
    encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda message, level: encoder.iterencode(message)
    quote = json.encoder.encode_basestring_ascii
    made: Callable[[Any, int], Iterable[str]] = make(
        None, encoder.default, quote, None, ":", ",", False, False, False
    )
    return made


_chunks = _encoder()
_decoder: Any = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
_scan = _decoder.scan_once

_DATES: dict[type, tuple[str, ...]] = {
    date: ("year", "month", "day"),
    datetime: ("year", "month", "day", "hour", "minute", "second", "microsecond"),
    time: ("hour", "minute", "second", "microsecond"),
    timedelta: ("days", "seconds", "microseconds"),
}
_DATE_KINDS = {kind.__name__: kind for kind in _DATES}


def wire_of_date(value: Any) -> dict[str, Any] | None:
    """The wire form of an exact date, time, timedelta or naive datetime, which cross in suites; None for others."""
    fields = _DATES.get(type(value))
    if fields is None or getattr(value, "tzinfo", None) is not None:
        return None
    return {"t": type(value).__name__, "v": [getattr(value, field) for field in fields]}


def date_of_wire(kind: str, inner: Any) -> Any:
    """The date of a wire form, None for other tags. Raises TypeError, ValueError or OverflowError for a bad one."""
    if kind not in _DATE_KINDS:
        return None
    if len(inner) != len(_DATES[_DATE_KINDS[kind]]) or not all(type(part) is int for part in inner):
        raise ValueError("bad date")
    return _DATE_KINDS[kind](*inner)
