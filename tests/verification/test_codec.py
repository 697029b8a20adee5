import contextlib
import math
import time
import tracemalloc
from collections import Counter, OrderedDict, deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.verification.python.codec import Malformed, Unencodable, decode, dumps, encode, loads
from strop.verification.python.compare import matches, same_output
from strop.verification.python.wire import WRAPPED, FrameReader, frame

SIZE = 1 << 20
"""Steps of a hostile message; the answer's whole channel takes 4 MiB."""

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
    back = decode(loads(dumps(encode(value))))
    assert typed(back) == typed(value)


def test_nan_and_infinities_cross() -> None:
    back = decode(loads(dumps(encode([math.nan, math.inf, -math.inf, -0.0, complex(math.nan, math.inf)]))))
    assert math.isnan(back[0]) and back[1:3] == [math.inf, -math.inf] and math.copysign(1, back[3]) == -1
    assert math.isnan(back[4].real) and back[4].imag == math.inf


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
        type,
    ):
        with pytest.raises(Unencodable):
            encode(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["t", "v", "x"]), inner)
        | st.fixed_dictionaries(
            {"t": st.sampled_from(["int", "float", "dict", "set", "tuple", "complex", "bytes"]), "v": inner}
        )
    ),
    max_leaves=10,
)


@given(json_values, json_values)
def test_forged_forms_raise_only_malformed(wire: Any, expected: Any) -> None:
    for action in (lambda: decode(wire), lambda: matches(expected, wire)):
        with contextlib.suppress(Malformed):
            action()


@given(st.binary())
def test_bytes_that_are_no_message(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        loads(data)


HOSTILE = {
    "strings that never close": b"[" * 401 + b'\\"' * SIZE,
    "quotes": b"[" * 401 + b'"' * SIZE,
    "quotes and ends of lines": b"[" * 401 + b'"\\\n' * SIZE,
    "back strokes": b"[" * 401 + b"\\" * SIZE,
    "escapes": b"[" * 401 + b'"' + b"\\u0041" * SIZE,
    "opened": b"[" * SIZE,
    "opened objects": b'{"a":' * SIZE,
    "closed": b"]" * SIZE,
    "empty lists": b"[" + b"[]," * SIZE + b"0]",
    "empty objects": b"[" + b"{}," * SIZE + b"0]",
    "pairs": b'{"":' * 399 + b"1" + b"}" * 399,
    "zeros": b"[" + b"0," * SIZE + b"0]",
    "one long integer": b"9" * SIZE,
    "long integers": b"[" + (b"9" * 4300 + b",") * (SIZE // 4300) + b"0]",
    "one long fraction": b"0." + b"9" * SIZE,
    "a long number with a point": b"9" * SIZE + b".5",
    "a long exponent": b"1e" + b"9" * SIZE,
    "beyond all floats": b"[1e999,-1e999]",
    "no numbers": b"[NaN,Infinity,-Infinity]",
    "blanks": b" " * SIZE,
    "no text": b"\xff" * SIZE,
    "half a pair": b'"' + b"\\ud800" * (SIZE // 6) + b'"',
    "a count that is a lie": b"\x7f\xff\xff\xff",
    "nothing": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_cost_in_proportion_to_their_length(name: str) -> None:
    data = HOSTILE[name]
    began = time.process_time()
    with contextlib.suppress(Malformed):
        loads(data)
    assert time.process_time() - began < 5
    tracemalloc.start()
    try:
        with contextlib.suppress(Malformed):
            loads(data[: SIZE // 16])
        assert tracemalloc.get_traced_memory()[1] < 64 * SIZE // 16 + 2**20
    finally:
        tracemalloc.stop()


@given(values, st.integers(min_value=0), st.binary(max_size=4), st.booleans())
def test_cut_and_changed_messages_raise_only_malformed(
    value: Any, place: int, other: bytes, cut: bool
) -> None:
    data = dumps({"i": 0, "v": encode(value)})
    place %= len(data)
    changed = data[:place] if cut else data[:place] + other + data[place + len(other) :]
    reader = FrameReader(1 << 16)
    for part in (changed, len(changed).to_bytes(4, "big") + changed):
        with contextlib.suppress(Malformed):
            decode(loads(part))
    with contextlib.suppress(Malformed):
        reader.feed(len(changed).to_bytes(4, "big") + changed)
        reader.next()


@given(st.binary(max_size=64), st.integers(min_value=1, max_value=64))
def test_streams_that_are_no_frames(data: bytes, limit: int) -> None:
    reader = FrameReader(limit)
    with contextlib.suppress(Malformed):
        reader.feed(data)
        while reader.next() is not None:
            pass
    assert len(reader.buffer) <= limit


def test_deep_messages_are_refused() -> None:
    with pytest.raises(Malformed):
        decode(loads(b"[" * 900 + b"]" * 900))
    with pytest.raises(Malformed):
        loads(b"[" * 200_000)


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (1, 1, True),
        (1, 1.0, True),
        (1.0, 1, True),
        (1, True, False),
        (True, 1, False),
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
    assert matches(expected, loads(dumps(encode(actual)))) is same


def test_tolerance_is_for_floats() -> None:
    assert matches(0.3, encode(0.1 + 0.2), 1e-9) and matches([1], encode([1.0000001]), 1e-6)
    assert not matches(10**9, encode(10**9 + 1), 1e-3)
    assert not matches(10**400, encode(1.0), 1e-3)


def test_output_lines() -> None:
    assert same_output("a\nb", "a  \nb\n\n") and same_output("", "\n")
    assert not same_output("a\nb", "a\n\nb") and not same_output("a b", "a  b") and not same_output("a", " a")


def test_what_a_candidate_may_send_can_be_handed_to_a_checker() -> None:
    deepest = loads(b'{"v":' + b"[" * 399 + b"]" * 399 + b"}")
    reader = FrameReader(levels=WRAPPED)
    reader.feed(frame({"checker": "", "rows": [[1, deepest["v"]]]}))
    with pytest.raises(Malformed, match="not a wire form"):
        decode(reader.next()["rows"][0][1])
