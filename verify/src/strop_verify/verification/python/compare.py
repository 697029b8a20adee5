"""Compares a returned value with the expected one. Runs in the trainer's process, on trees of hostile values.

The expected value is JSON. Equality is Python's, with tuples read as lists, as in the graders of such tests: those of
LiveCodeBench (`grade_call_based`, lcb_runner/evaluation/testing_util.py) and of APPS, also used by TACO and PRIME
(`run_test`, eval/testing_util.py).

- a list or a tuple matches an expected list; a set or frozenset matches nothing
- a dict matches an expected object when its keys are the same strings; other keys match nothing
- int, float, bool and complex match by value (2 == 2.0, 1 == True); None matches null only, str matches str only
- floats, or an int and a float, match within the tolerance, absolute or relative; nan matches nan
- bytes match nothing

It walks the tree instead of building the value: no set or int-keyed dict with colliding keys is built here.
"""

import math
import re
from typing import Any

from strop_verify.verification.python.decoder import Unbuilt

_SHOWN = 200
_CUT = "..."
_MOST_BITS = 8 * _SHOWN
"""Maximum bits of an integer shown in decimal digits, since the conversion takes quadratic time."""


def matches(expected: Any, tree: Any, tolerance: float = 0.0) -> bool:
    """Whether the tree of a result equals the expected JSON value."""
    kind = type(tree)
    if kind is Unbuilt:
        return tree.kind == "dict" and _matches_dict(expected, tree, tolerance)
    if kind is list or kind is tuple:
        return (
            isinstance(expected, list | tuple)
            and len(expected) == len(tree)
            and all(matches(e, t, tolerance) for e, t in zip(expected, tree, strict=True))
        )
    if kind is int or kind is float or kind is bool:
        return _same_number(expected, tree, tolerance)
    if kind is complex:
        return isinstance(expected, int | float) and bool(expected == tree)
    return type(expected) is kind and kind in (str, type(None)) and bool(expected == tree)


def _matches_dict(expected: Any, tree: Unbuilt, tolerance: float) -> bool:
    if not isinstance(expected, dict) or len(tree.items) != 2 * len(expected):
        return False
    return all(
        type(key) is str and key in expected and matches(expected[key], value, tolerance)
        for key, value in tree.pairs
    )


def _same_number(expected: Any, actual: int | float, tolerance: float) -> bool:
    if not isinstance(expected, int | float):
        return False
    if expected == actual or (expected != expected and actual != actual):
        return True
    if tolerance <= 0 or (isinstance(expected, int) and isinstance(actual, int)):
        return False
    try:
        return math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:
        return False


def shown(tree: Any) -> str:
    """A result as Python writes it, cut with `...` if it is too long."""
    text = _as_python(tree)
    return text if len(text) <= _SHOWN else text[: _SHOWN - len(_CUT)] + _CUT


def is_whole(text: str) -> bool:
    """Whether a text of `shown` is the whole value."""
    return not text.endswith(_CUT)


def _as_python(tree: Any) -> str:
    """Reads only as many items as can be shown."""
    kind = type(tree)
    if kind is Unbuilt:
        items = [_as_python(item) for item in tree.items[: 2 * _SHOWN]]
        if tree.kind == "dict":
            pairs = zip(items[::2], items[1::2], strict=True)
            return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        inner = "{" + ", ".join(items) + "}" if items else ""
        return inner if inner and tree.kind == "set" else f"{tree.kind}({inner})"
    if kind is list or kind is tuple:
        listed = ", ".join(_as_python(item) for item in tree[:_SHOWN])
        return f"[{listed}]" if kind is list else f"({listed},)" if len(tree) == 1 else f"({listed})"
    if kind is int and tree.bit_length() > _MOST_BITS:
        return hex(tree)
    return repr(tree[: _SHOWN + 1]) if kind in (str, bytes) else repr(tree)


def same_output(expected: str, actual: str, tolerance: float = 0.0) -> bool:
    """Whether outputs are equal line by line, ignoring white space at line ends and empty lines at the end.

    With a tolerance, words are compared: numbers may differ by it, absolutely or relatively; two integers may not.
    """
    ours, theirs = _lines(expected), _lines(actual)
    if tolerance <= 0 or ours == theirs:
        return ours == theirs
    return len(ours) == len(theirs) and all(
        _same_words(e.split(), a.split(), tolerance) for e, a in zip(ours, theirs, strict=True)
    )


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,4})?")
"""Possessive, so that it does not backtrack: a word of a million digits takes linear time."""

_INTEGER = re.compile(r"\+?(-?)0*+([0-9]*+)")
"""Groups: a minus sign, and the digits without leading zeros."""


def _same_words(expected: list[str], actual: list[str], tolerance: float) -> bool:
    return len(expected) == len(actual) and all(
        e == a or (_finite(e) and _finite(a) and _close(e, a, tolerance))
        for e, a in zip(expected, actual, strict=True)
    )


def _close(expected: str, actual: str, tolerance: float) -> bool:
    whole = [_INTEGER.fullmatch(word) for word in (expected, actual)]
    if whole[0] and whole[1]:
        return whole[0].groups() == whole[1].groups() or not (whole[0][2] or whole[1][2])
    return math.isclose(float(expected), float(actual), rel_tol=tolerance, abs_tol=tolerance)


def _finite(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None and math.isfinite(float(word))
