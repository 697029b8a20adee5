import contextlib
import math
import struct
import sys
import tracemalloc
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale import some

from strop_verify.verification.python import decoder
from strop_verify.verification.python.codec import (
    BYTES,
    COMPLEX,
    DICT,
    FALSE,
    FLOAT,
    FROZENSET,
    INT,
    INTS,
    LIST,
    MAX_DEPTH,
    MAX_NODES,
    NONE,
    PACKED,
    SET,
    STR,
    TAGGED,
    TRUE,
    TUPLE,
    Malformed,
    Unencodable,
    encode,
    message,
    tagged,
)
from strop_verify.verification.python.compare import is_whole, matches, same_output, shown
from strop_verify.verification.python.decoder import Unbuilt, decode, fields, tree
from strop_verify.verification.python.wire import MAX_FRAME, FrameReader, frame

SIZE = 1 << 20
"""Values of a hostile message; the answer's whole channel takes 4 MiB."""
READERS: dict[str, Callable[[bytes], Any]] = {
    "decode": decode,
    "tree": tree,
    "fields": fields,
    "special": lambda data: decode(data, lambda kind, parts: (kind, parts)),
}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**400, max_value=10**401)
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary()
    | st.complex_numbers(allow_nan=False)
)
keys = st.recursive(
    scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=3
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(
            st.integers(-(2**70), 2**70) | st.integers(-300, 300), min_size=PACKED - 2, max_size=PACKED + 2
        )
        | st.tuples(inner, inner)
        | st.dictionaries(keys, inner, max_size=3)
        | st.sets(keys, max_size=3)
        | st.frozensets(keys, max_size=3)
    ),
    max_leaves=12,
)


def typed(value: Any) -> Any:
    """A value with the types of all its parts, so that 1, True and 1.0 differ."""
    if isinstance(value, list | tuple):
        return type(value), [typed(v) for v in value]
    if isinstance(value, dict):
        return dict, [(typed(k), typed(v)) for k, v in value.items()]
    if isinstance(value, set | frozenset):
        return type(value), len(value), value
    return type(value), repr(value)


@given(values)
def test_round_trip(value: Any) -> None:
    data = encode(value)
    assert typed(decode(data)) == typed(value)
    assert again(tree(data)) == data
    assert typed(fields(message({"v": data, "i": 3}))["v"]) == typed(data)


def again(value: Any) -> bytes:
    """The bytes of a tree, by a second writer that knows the format as the docstring of `codec` tells it."""
    kind = type(value)
    if kind is Unbuilt:
        code = {"set": SET, "frozenset": FROZENSET, "dict": DICT}[value.kind]
        return container(code, value.items, len(value.items) // (2 if code == DICT else 1))
    if kind in (list, tuple):
        return container(LIST if kind is list else TUPLE, value, len(value))
    if kind is int and 0 <= value < 128:
        return bytes([value])
    if kind is int:
        size = (value if value >= 0 else -value).bit_length() // 8 + 1
        return sized(INT, size) + (value % 256**size).to_bytes(size, "little")
    if kind is str or kind is bytes:
        data = value.encode("utf-8", "surrogatepass") if kind is str else value
        return sized(STR if kind is str else BYTES, len(data)) + data
    if kind is float or kind is complex:
        parts = [value] if kind is float else [value.real, value.imag]
        return bytes([FLOAT if kind is float else COMPLEX]) + b"".join(struct.pack("<d", p) for p in parts)
    return bytes([NONE if value is None else TRUE if value else FALSE])


def container(code: int, items: Any, size: int) -> bytes:
    if code != DICT and size >= PACKED and all(type(item) is int for item in items):
        for width in (1, 2, 4, 8):
            if all(-(2 ** (8 * width - 1)) <= item < 2 ** (8 * width - 1) for item in items):
                packed = b"".join((item % 256**width).to_bytes(width, "little") for item in items)
                return sized(INTS, size) + bytes([code, width]) + packed
    return sized(code, size) + b"".join(map(again, items))


def sized(code: int, size: int) -> bytes:
    return bytes([code, size] if size < 255 else [code, 255, *size.to_bytes(4, "little")])


codes = st.one_of(
    st.sampled_from([NONE, FALSE, TRUE, 0, 1, 127, 255]).map(lambda code: bytes([code])),
    st.tuples(st.integers(STR, TAGGED), st.integers(0, 4)).map(bytes),
    st.tuples(st.just(INTS), st.integers(0, 20), st.integers(LIST, DICT), st.integers(0, 9)).map(bytes),
    st.floats().map(lambda value: bytes([FLOAT]) + struct.pack("<d", value)),
    st.binary(max_size=12),
)


@given(st.lists(codes, max_size=12).map(b"".join))
def test_bytes_have_one_value_and_values_one_form(data: bytes) -> None:
    for read in (tree, decode):
        try:
            found = read(data)
        except Malformed:
            continue
        if read is tree:
            assert again(found) == data
        elif bytes([SET]) not in data and bytes([FROZENSET]) not in data:
            assert encode(found) == data
        else:
            assert sorted(encode(found)) == sorted(data)


@given(st.binary())
def test_bytes_that_are_no_message(data: bytes) -> None:
    for read in READERS.values():
        with contextlib.suppress(Malformed):
            read(data)


@given(values, st.data())
def test_cut_and_changed_messages_raise_only_malformed(value: Any, draw: st.DataObject) -> None:
    for data in (encode(value), message({"i": 0, "v": encode(value), "x": ["E", "text"]})):
        place, other = draw.draw(st.integers(0, len(data) - 1)), draw.draw(st.binary(max_size=4))
        changed = data[:place] + other + data[place + draw.draw(st.integers(0, 5)) :]
        for read in READERS.values():
            with contextlib.suppress(Malformed):
                read(changed)
        reader = FrameReader(1 << 16)
        with contextlib.suppress(Malformed):
            reader.feed(len(changed).to_bytes(4, "big") + changed)
            reader.next()
        if len(changed) < len(data) and data.startswith(changed):
            with pytest.raises(Malformed):
                tree(changed)


BAD = {
    "an int that is a byte": bytes([INT, 1, 5]),
    "an int of nothing": bytes([INT, 0]),
    "an int with a zero": bytes([INT, 3, 0, 1, 0]),
    "an int with ones": bytes([INT, 2, 0xFE, 0xFF]),
    "a long form of a size": bytes([STR, 255, 3, 0, 0, 0]) + b"abc",
    "another nan": bytes([FLOAT]) + struct.pack("<Q", 0x7FF8000000000001),
    "a signed nan": bytes([COMPLEX]) + struct.pack("<dQ", 0.0, 0xFFF8000000000000),
    "ints that are not packed": bytes([LIST, PACKED, *range(PACKED)]),
    "few ints packed": bytes([INTS, PACKED - 1, LIST, 1, *range(PACKED - 1)]),
    "ints packed too wide": bytes([INTS, PACKED, LIST, 2]) + bytes(2 * PACKED),
    "ints of no width": bytes([INTS, PACKED, LIST, 0]),
    "ints of an odd width": bytes([INTS, PACKED, LIST, 3]) + bytes(3 * PACKED),
    "ints in a dict": bytes([INTS, PACKED, DICT, 1]) + bytes(PACKED),
    "too few ints": bytes([INTS, PACKED, LIST, 1]) + bytes(PACKED - 1),
    "overlong UTF-8": bytes([STR, 2, 0xC0, 0x80]),
    "no UTF-8": bytes([STR, 1, 0xFF]),
    "two values": bytes([NONE, NONE]),
    "no value": b"",
    "half a float": bytes([FLOAT, 0, 0]),
    "an unknown kind": bytes([TAGGED + 1, 0]),
    "the last byte": bytes([255, 0]),
    "a tag where none are": tagged("ref", 1),
    "a key twice": bytes([DICT, 2, STR, 1, 97, NONE, STR, 1, 97, NONE]),
    "a dict cut": bytes([DICT, 1, NONE]),
}


@pytest.mark.parametrize("name", BAD)
def test_what_the_codec_does_not_write_is_malformed(name: str) -> None:
    for read in (decode, tree):
        with pytest.raises(Malformed):
            read(BAD[name])
        with pytest.raises(Malformed):
            read(bytes([LIST, 1]) + BAD[name])


@pytest.mark.parametrize(
    "data",
    [
        bytes([DICT, 2, 1, NONE, 1, NONE]),
        bytes([DICT, 2, 1, NONE, TRUE, NONE]),
        bytes([SET, 2, 1, TRUE]),
        bytes([FROZENSET, 2, NONE, NONE]),
        bytes([INTS, PACKED, SET, 1]) + bytes(PACKED),
        bytes([SET, 1, LIST, 0]),
        bytes([DICT, 1, DICT, 0, NONE]),
    ],
)
def test_keys_are_distinct_and_have_hashes(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0",
        b"\1",
        b"\1\1i",
        b"\2\1i\0\1i\0",
        b"\1\1\xff\0",
        b"\1\1i\0\0",
        encode({"i": 1}),
        b"\1\1i" + bytes([DICT]),
    ],
)
def test_what_is_no_message_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        fields(data)
    reader = FrameReader()
    reader.feed(len(data).to_bytes(4, "big") + data)
    with pytest.raises(Malformed):
        reader.next()


def test_tags() -> None:
    data = encode([1]).replace(b"\x01\x01", b"\x01" + tagged("ref", 7, {"m": [1]}))
    assert decode(data, lambda kind, parts: (kind, parts)) == [("ref", [7, {"m": [1]}])]
    for bad in (bytes([TAGGED, 0]), bytes([TAGGED, 1, 5])):
        with pytest.raises(Malformed):
            decode(bad, lambda kind, parts: None)


def test_nan_and_infinities_cross() -> None:
    back = decode(encode([math.nan, math.inf, -math.inf, -0.0, complex(-math.nan, math.inf)]))
    assert math.isnan(back[0]) and back[1:3] == [math.inf, -math.inf] and math.copysign(1, back[3]) == -1
    assert math.isnan(back[4].real) and back[4].imag == math.inf
    assert len(decode(encode({float("nan"), float("nan")}))) == 2


def test_lone_surrogates_cross() -> None:
    for text in ("\ud800", "\udc00\ud800", "\ud83d\ude00", "\U0001f600", "a\udfff"):
        assert decode(encode({text: [text]})) == {text: [text]}


def test_dicts_of_collections_cross_as_dicts() -> None:
    assert decode(encode(Counter("aab"))) == {"a": 2, "b": 1}
    assert type(decode(encode(OrderedDict(a=1)))) is dict


def test_what_does_not_cross() -> None:
    class Always(int):
        def __eq__(self, other: object) -> bool:
            return True

    cyclic: list[Any] = []
    cyclic.append(cyclic)
    bomb: list[Any] = [0]
    for _ in range(60):
        bomb = [bomb, bomb]
    for value in (
        Always(1),
        object(),
        lambda: 1,
        deque(),
        range(3),
        bytearray(b"x"),
        cyclic,
        bomb,
        [Always(1)],
        [Always(1)] * PACKED,
        type,
        [0] * MAX_NODES,
        Unbuilt("dict", []),
    ):
        with pytest.raises(Unencodable):
            encode(value)


def test_depth_and_number_of_values_are_bounded() -> None:
    deep = b"\0"
    for _ in range(MAX_DEPTH + 1):
        assert again(tree(deep)) == encode(decode(deep)) == deep
        deep = bytes([LIST, 1]) + deep
    for read in (tree, decode):
        with pytest.raises(Malformed, match="too deep"):
            read(deep)
        with pytest.raises(Malformed, match="too large"):
            read(sized(LIST, MAX_NODES) + bytes([NONE]) * MAX_NODES)
    assert len(decode(sized(LIST, MAX_NODES - 1) + bytes([NONE]) * (MAX_NODES - 1))) == MAX_NODES - 1


HOSTILE = {
    "opened": bytes([LIST, 1]) * SIZE,
    "opened dicts": bytes([DICT, 1, 0]) * SIZE,
    "tuples within the limit": bytes([TUPLE, 1]) * MAX_DEPTH + b"\0",
    "empty lists": sized(LIST, SIZE // 8) + bytes([LIST, 0]) * (SIZE // 8),
    "empty tuples": sized(LIST, SIZE // 8) + bytes([TUPLE, 0]) * (SIZE // 8),
    "empty dicts": sized(LIST, SIZE // 8) + bytes([DICT, 0]) * (SIZE // 8),
    "empty sets": sized(TUPLE, SIZE // 8) + bytes([SET, 0]) * (SIZE // 8),
    "small dicts": sized(LIST, SIZE // 8) + bytes([DICT, 1, 0, 0]) * (SIZE // 8),
    "small lists": sized(LIST, SIZE // 8) + bytes([LIST, 1, 0]) * (SIZE // 8),
    "empty texts": sized(TUPLE, SIZE // 2) + bytes([STR, 0]) * (SIZE // 2),
    "zeros": sized(LIST, SIZE - 6) + bytes(SIZE),
    "packed zeros": sized(INTS, SIZE // 2) + bytes([LIST, 1]) + bytes(SIZE // 2),
    "a set of ints": sized(INTS, SIZE // 8)
    + bytes([SET, 4])
    + struct.pack(f"<{SIZE // 8}i", *range(SIZE // 8)),
    "one giant int": sized(INT, SIZE) + b"\x01" * SIZE,
    "half of giant ints": (sized(INT, 4000) + b"\x01" * 4000) * 200,
    "sizes that are lies": (bytes([STR, 255]) + b"\xff\xff\xff\x7f") * 100_000,
    "a list that is a lie": sized(LIST, MAX_NODES - 1) + b"\0",
    "a giant list that is a lie": bytes([LIST, 255, 255, 255, 255, 255]),
    "ints that are a lie": sized(INTS, MAX_NODES - 1) + bytes([LIST, 8]),
    "half a pair": sized(STR, 3 * (SIZE // 3)) + b"\xed\xa0\x80" * (SIZE // 3),
    "one wide character": sized(STR, SIZE + 4) + b"a" * SIZE + "\U0001f600".encode(),
    "keys": sized(DICT, SIZE // 8)
    + b"".join(bytes([STR, 3]) + n.to_bytes(3, "big").hex().encode()[:3] + b"\0" for n in range(SIZE // 8)),
    "bytes": b"\xff" * SIZE,
    "nothing": b"",
}


def steps(read: Callable[[bytes], Any], data: bytes) -> int:
    """Lines of the codec that reading takes."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace if frame.f_code.co_filename == decoder.__file__ else None

    sys.settrace(trace)
    try:
        with contextlib.suppress(Malformed):
            read(data)
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("name", some(sorted(HOSTILE), 4))
def test_hostile_messages_cost_in_proportion_to_their_length(name: str) -> None:
    data = HOSTILE[name]
    part, few = data[: SIZE // 16], data[: SIZE // 256]
    for read, most in ((tree, 64), (decode, 128)):
        with contextlib.suppress(Malformed):
            read(data)
        assert steps(read, few) <= 24 * len(few) + 40
        tracemalloc.start()
        try:
            with contextlib.suppress(Malformed):
                read(part)
            assert tracemalloc.get_traced_memory()[1] < most * len(part) + 2**16
        finally:
            tracemalloc.stop()


@given(st.binary(max_size=64), st.integers(min_value=1, max_value=64))
def test_streams_that_are_no_frames(data: bytes, limit: int) -> None:
    reader = FrameReader(limit)
    with contextlib.suppress(Malformed):
        reader.feed(data)
        while reader.next() is not None:
            pass
    assert len(reader.buffer) <= limit


def test_frames() -> None:
    reader = FrameReader()
    for part in (b"", *(bytes([b]) for b in frame({"i": 1, "v": b"x"}) + frame({"u": "no"}))):
        reader.feed(part)
        while (found := reader.next()) is not None:
            assert found in ({"i": 1, "v": b"x"}, {"u": "no"})
    assert not reader.buffer
    reader.feed((MAX_FRAME + 1).to_bytes(4, "big"))
    with pytest.raises(Malformed):
        reader.next()


@given(values)
def test_what_is_shown_of_a_value_is_python(value: Any) -> None:
    text = shown(tree(encode(value)))
    assert len(text) <= 200
    if is_whole(text):
        assert text == repr(value)


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (1, 1, True),
        (1, 1.0, True),
        (1.0, 1, True),
        (1, True, True),
        (True, 1, True),
        (False, 0.0, True),
        (True, 2, False),
        (1, 1 + 0j, True),
        (True, True, True),
        (None, None, True),
        (None, False, False),
        (0, None, False),
        ("a", "a", True),
        ("1", 1, False),
        ([1, 2], (1, 2), True),
        ([1, 2], [1, 2, 3], False),
        ([], {}, False),
        ([1], {1}, False),
        ({}, {}, True),
        ({"a": [1]}, {"a": (1,)}, True),
        ({"1": 2}, {1: 2}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (float("nan"), float("nan"), True),
        (float("inf"), float("inf"), True),
        (0.3, 0.1 + 0.2, False),
        (10**30, 10**30, True),
        (10**30, 1e30, False),
        (b"x".hex(), b"x", False),
        ([[]], [[]], True),
    ],
)
def test_equality(expected: Any, actual: Any, same: bool) -> None:
    assert matches(expected, tree(encode(actual))) is same


def test_tolerance_is_for_floats() -> None:
    assert matches(0.3, tree(encode(0.1 + 0.2)), 1e-9) and matches([1], tree(encode([1.0000001])), 1e-6)
    assert not matches(10**9, tree(encode(10**9 + 1)), 1e-3)
    assert not matches(10**400, tree(encode(1.0)), 1e-3)


def test_output_lines() -> None:
    assert same_output("a\nb", "a  \nb\n\n") and same_output("", "\n")
    assert not same_output("a\nb", "a\n\nb") and not same_output("a b", "a  b") and not same_output("a", " a")


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("9007199254740993", "9007199254740992", False),
        ("n = 3000001 of 0.5", "n = 3000000 of 0.5", False),
        ("-5", "5", False),
        ("1000000", "1000000.2", True),
        ("1e6", "1000001", True),
        ("7", "+7", True),
        ("007", "7", True),
        ("-0", "0", True),
        ("12", "12.0", True),
        ("0.5", "0.5000001", True),
        ("1" * 5000, "1" * 4999 + "2", False),
    ],
)
def test_a_tolerance_is_not_for_two_integers(expected: str, actual: str, same: bool) -> None:
    assert same_output(expected, actual, 1e-5) is same_output(actual, expected, 1e-5) is same


def test_a_result_is_shown_as_python_writes_it() -> None:
    for value in (
        {1, 2},
        frozenset(),
        set(),
        (1,),
        {"a": (True, None)},
        1 + 2j,
        b"x",
        1e400,
        [-0.0, "é"],
        10**40,
    ):
        assert shown(tree(encode(value))) == repr(value)
    assert shown(tree(encode(["x"] * 300))).endswith("...")
