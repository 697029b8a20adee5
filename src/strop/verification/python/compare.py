"""Whether a returned value is the expected one. Runs in the trainer's process, on hostile wire forms.

The expected value is JSON, so equality is JSON's, made exact where Python is loose:

- a list or a tuple matches an expected list; a set or frozenset matches nothing
- a dict matches an expected object when its keys are the same strings; other keys match nothing
- int and float match by value (2 == 2.0); bool matches bool only, None matches null only, str matches str only
- floats, or an int and a float, match within the tolerance, absolute or relative; nan matches nan
- bytes and complex match nothing

It walks the wire form instead of decoding it: no set or int-keyed dict with colliding keys is built here.
"""

import math
import re
from typing import Any

from strop.verification.python.codec import MAX_DEPTH, Malformed, scalar


def matches(expected: Any, wire: Any, tolerance: float = 0.0) -> bool:
    """Whether the wire form of a result equals the expected JSON value. Raises Malformed for a forged form."""
    try:
        return _matches(expected, wire, tolerance, MAX_DEPTH)
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise Malformed(f"not a wire form: {type(error).__name__}") from None


def _matches(expected: Any, wire: Any, tolerance: float, depth: int) -> bool:
    if depth < 0:
        raise Malformed("too deep")
    if isinstance(wire, dict):
        if set(wire) != {"t", "v"} or not isinstance(wire["t"], str):
            raise Malformed("bad tag")
        kind, inner = wire["t"], wire["v"]
        if kind == "dict":
            return _matches_dict(expected, inner, tolerance, depth)
        if kind == "tuple" and isinstance(inner, list):
            return _matches(expected, inner, tolerance, depth)
        if kind in ("set", "frozenset", "bytes", "complex"):
            return False
        wire = scalar(kind, inner)
    if isinstance(wire, list):
        return (
            isinstance(expected, list | tuple)
            and len(expected) == len(wire)
            and all(_matches(e, w, tolerance, depth - 1) for e, w in zip(expected, wire, strict=True))
        )
    if wire is None or isinstance(wire, bool | str):
        return type(expected) is type(wire) and bool(expected == wire)
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        return False
    return _same_number(expected, wire, tolerance)


def _matches_dict(expected: Any, pairs: Any, tolerance: float, depth: int) -> bool:
    if not isinstance(expected, dict) or not isinstance(pairs, list) or len(pairs) != len(expected):
        return False
    seen: set[str] = set()
    for key, value in pairs:
        if not isinstance(key, str) or key in seen or key not in expected:
            return False
        seen.add(key)
        if not _matches(expected[key], value, tolerance, depth - 1):
            return False
    return True


def _same_number(expected: int | float, actual: Any, tolerance: float) -> bool:
    if not isinstance(actual, int | float):
        return False
    if expected == actual or (expected != expected and actual != actual):
        return True
    if tolerance <= 0 or (isinstance(expected, int) and isinstance(actual, int)):
        return False
    try:
        return math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:
        return False


def same_output(expected: str, actual: str, tolerance: float = 0.0) -> bool:
    """Line by line; white space at the ends of lines and empty lines at the end of the text are ignored.

    With a tolerance also word by word: two decimal numbers may differ by it, absolutely or relatively.
    """
    ours, theirs = _lines(expected), _lines(actual)
    if tolerance <= 0 or ours == theirs:
        return ours == theirs
    return len(ours) == len(theirs) and all(
        _same_words(e.split(), a.split(), tolerance) for e, a in zip(ours, theirs, strict=True)
    )


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


def _same_words(expected: list[str], actual: list[str], tolerance: float) -> bool:
    return len(expected) == len(actual) and all(
        e == a
        or (
            _finite(e)
            and _finite(a)
            and math.isclose(float(e), float(a), rel_tol=tolerance, abs_tol=tolerance)
        )
        for e, a in zip(expected, actual, strict=True)
    )


def _finite(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None and math.isfinite(float(word))
