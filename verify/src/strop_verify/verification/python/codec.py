"""Values across the trust boundary: a small binary format of exact builtin types, in both directions.

int, float (also nan and infinities), str, bool, None, list, tuple, dict, set, frozenset, bytes and complex cross; so do
Counter, defaultdict and OrderedDict, as the dict that they equal. Anything else, including a subclass with its own
`__eq__`, is *unencodable*: what arrives on the trusted side is plain data whose methods are Python's own. In asserts
and suites further values cross as tagged ones: `verification.python.values`.

A value is one byte for its kind, then its content. A *size* is one byte, or 255 and four bytes if it is 255 or more.
All numbers are little-endian.

    0 to 127                the int of that value
    NONE, FALSE, TRUE
    FLOAT 8 bytes, COMPLEX 16 bytes; there is one nan
    STR size UTF-8, including lone surrogates; BYTES size bytes
    INT size bytes          two's complement, in bit_length // 8 + 1 bytes
    LIST, TUPLE, SET, FROZENSET size values; DICT size keys and values in turn
    INTS size kind width bytes
                            one of the first four, of `PACKED` or more ints, each in the width that the largest needs
    TAGGED size values      other values, in asserts and suites; the first is the tag

A message is the number of its fields, then for each the length of its name in one byte, the name and a value.

Bytes have one meaning, and a value one form except for the order of sets. Nothing is read recursively, and a size that
the remaining bytes cannot hold is refused. Standard library only: jailed workers import this without site-packages.
"""

from array import array
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import chain
from struct import Struct
from typing import Any, ClassVar

MAX_DEPTH = 100
"""Maximum nesting of containers that crosses."""
MAX_NODES = 1 << 21
"""Maximum number of nested values in one value; shared ones count each time."""
PACKED = 16
"""Minimum number of ints that are packed."""

NONE, FALSE, TRUE, FLOAT, COMPLEX, STR, BYTES, INT = range(128, 136)
LIST, TUPLE, SET, FROZENSET, DICT, INTS, TAGGED = range(136, 143)
CODES: dict[type, int] = {list: LIST, tuple: TUPLE, set: SET, frozenset: FROZENSET}
CODES |= dict.fromkeys((dict, Counter, OrderedDict, defaultdict), DICT)
PACKABLE = (LIST, TUPLE, SET, FROZENSET)
LONG = 255
_TEXTS, _NUMBERS = ([bytes((code, size)) for size in range(LONG)] for code in (STR, INT))
DOUBLE = Struct("<d")
NAN = DOUBLE.pack(float("nan"))
WIDTHS = {1: "b", 2: "h", 4: "i", 8: "q"}
"""Type code of `array` by width of an int, in bytes."""


class Unencodable(ValueError):
    """The value holds something that does not cross; the message names its type."""


class Malformed(ValueError):
    """The bytes were not made by this codec."""


class Oversize(Malformed):
    """More bytes than the receiver takes: the answer's fault, but not a forgery."""


def encode(value: Any, encoder: Callable[[], "Encoder"] | None = None) -> bytes:
    """The bytes of a value, written by an `Encoder` or what `encoder` returns.

    Raises Unencodable for types that do not cross, for cycles and for too many values.
    """
    kind = type(value)
    if kind is int and 0 <= value < 128:
        return bytes((value,))
    if kind is bytes:
        data: bytes = value
        return _head(BYTES, len(data)) + data
    if kind is str:
        data = value.encode("utf-8", "surrogatepass")
        return _head(STR, len(data)) + data
    return (encoder or Encoder)().whole(value)


class Encoder:
    """Writes values and counts them, so that shared parts cannot expand without bound."""

    codes: ClassVar[dict[type, int]] = CODES

    def __init__(self) -> None:
        self.out = bytearray()
        self.left = MAX_NODES

    def whole(self, value: Any) -> bytes:
        """The bytes of a value. Raises Unencodable."""
        self.put((value,), MAX_DEPTH)
        return bytes(self.out)

    def beyond(self, value: Any, why: str, depth: int) -> None:
        """Writes a value that has no form here; only subclasses can. Raises Unencodable."""
        raise Unencodable(why)

    def tag(self, parts: Collection[Any], depth: int) -> None:
        """Writes a tag and its parts as a tagged value."""
        self.left -= len(parts) + 1
        if self.left < 0:
            raise Unencodable("the value is too large")
        self.out += _head(TAGGED, len(parts))
        self.put(parts, depth - 1)

    def put(self, values: Iterable[Any], depth: int) -> None:
        """Writes values nested at most `depth` deep."""
        out, codes = self.out, self.codes
        for value in values:
            kind = type(value)
            if kind is str:
                data = value.encode("utf-8", "surrogatepass")
                out += _TEXTS[len(data)] if len(data) < LONG else _head(STR, len(data))
                out += data
            elif kind is int:
                if 0 <= value < 128:
                    out.append(value)
                else:
                    size = value.bit_length() // 8 + 1
                    out += _NUMBERS[size] if size < LONG else _head(INT, size)
                    out += value.to_bytes(size, "little", signed=True)
            elif (code := codes.get(kind)) is not None:
                if code == DICT:
                    value = dict.copy(value)
                elif code != TUPLE and code != FROZENSET:
                    value = tuple(value)  # other threads may change the original meanwhile
                size = len(value)
                self.left -= size + 1
                if depth <= 0 or self.left < 0:
                    self.beyond(value, "the value is too deep, cyclic or too large", depth)
                elif code == DICT:
                    out += _head(DICT, size)
                    self.put(chain.from_iterable(dict.items(value)), depth - 1)
                elif size >= PACKED and (width := width_of(value)):
                    packed = array(width, value)
                    out += _head(INTS, size) + bytes((code, packed.itemsize))
                    out += packed.tobytes()
                else:
                    out += _head(code, size)
                    self.put(value, depth - 1)
            elif value is None:
                out.append(NONE)
            elif kind is bool:
                out.append(TRUE if value else FALSE)
            elif kind is float:
                out.append(FLOAT)
                out += DOUBLE.pack(value) if value == value else NAN
            elif kind is bytes:
                out += _head(BYTES, len(value))
                out += value
            elif kind is complex:
                out.append(COMPLEX)
                for part in (value.real, value.imag):
                    out += DOUBLE.pack(part) if part == part else NAN
            else:
                name = f"{getattr(kind, '__name__', '?')!s:.80}"
                self.beyond(value, f"a value of type {name} does not cross", depth)


def tagged(kind: str, *parts: Any) -> bytes:
    """The bytes of a tagged value; each part has the limits of a whole value. Raises Unencodable."""
    return _head(TAGGED, 1 + len(parts)) + b"".join(map(encode, (kind, *parts)))


def message(named: dict[str, Any]) -> bytes:
    """The bytes of a message. Raises Unencodable."""
    parts = [bytes((len(named),))]
    for name, value in named.items():
        parts += _name(name), encode(value)
    return b"".join(parts)


@lru_cache(maxsize=64)
def _name(name: str) -> bytes:
    return bytes((len(name),)) + name.encode("ascii")


def _head(code: int, size: int) -> bytes:
    return bytes((code, size)) if size < LONG else bytes((code, LONG)) + size.to_bytes(4, "little")


def width_of(items: Collection[Any]) -> str:
    """The type code of `array` with which ints are packed; empty if the items are not packed."""
    if type(next(iter(items))) is not int or set(map(type, items)) != {int}:
        return ""
    bits = max(max(items), ~min(items)).bit_length()
    return next((code for width, code in WIDTHS.items() if bits < 8 * width), "")
