"""Whether a returned value is the expected one. Runs in the trainer's process, on trees of hostile values.

The expected value is JSON, so equality is JSON's, made exact where Python is loose:

- a list or a tuple matches an expected list; a set or frozenset matches nothing
- a dict matches an expected object when its keys are the same strings; other keys match nothing
- int and float match by value (2 == 2.0); bool matches bool only, None matches null only, str matches str only
- floats, or an int and a float, match within the tolerance, absolute or relative; nan matches nan
- bytes and complex match nothing

It walks the tree instead of building the value: no set or int-keyed dict with colliding keys is built here.
"""

import json
import math
import re
from typing import Any

from strop.verification.python.decoder import Unbuilt

_SHOWN = 200
_PLAIN_INT = 10**17


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
    if kind is int or kind is float:
        return _same_number(expected, tree, tolerance)
    return type(expected) is kind and kind in (str, bool, type(None)) and bool(expected == tree)


def _matches_dict(expected: Any, tree: Unbuilt, tolerance: float) -> bool:
    return (
        isinstance(expected, dict)
        and len(tree.items) == 2 * len(expected)
        and all(
            type(key) is str and key in expected and matches(expected[key], value, tolerance)
            for key, value in tree.pairs
        )
    )


def _same_number(expected: Any, actual: int | float, tolerance: float) -> bool:
    if isinstance(expected, bool) or not isinstance(expected, int | float):
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
    """The beginning of a result as JSON; what JSON has not is {"t": type name, "v": ...}."""
    return json.dumps(_as_json(tree))[:_SHOWN]


def _as_json(tree: Any) -> Any:
    """Of the first items only, as many as are shown at most."""
    kind = type(tree)
    if kind is Unbuilt:
        items = [_as_json(item) for item in tree.items[: 2 * _SHOWN]]
        pairs = list(zip(items[::2], items[1::2], strict=True)) if tree.kind == "dict" else items
        return {"t": tree.kind, "v": pairs}
    if kind is list or kind is tuple:
        items = [_as_json(item) for item in tree[:_SHOWN]]
        return items if kind is list else {"t": "tuple", "v": items}
    if kind is int and abs(tree) >= _PLAIN_INT:
        return {"t": "int", "v": hex(tree)}
    if kind is float and not math.isfinite(tree):
        return {"t": "float", "v": repr(tree)}
    if kind is bytes:
        return {"t": "bytes", "v": tree.hex()}
    if kind is complex:
        return {"t": "complex", "v": [_as_json(tree.real), _as_json(tree.imag)]}
    return tree


def read_shown(text: str) -> Any:
    """The value of a text of `shown`. Raises ValueError, TypeError or KeyError for others, as one that was cut."""
    return json.loads(text, object_hook=_of_tag)


def _of_tag(tagged: dict[str, Any]) -> Any:
    make: dict[str, Any] = {
        "dict": dict,
        "set": set,
        "frozenset": frozenset,
        "tuple": tuple,
        "int": lambda digits: int(digits, 16),
        "float": float,
        "bytes": bytes.fromhex,
        "complex": lambda parts: complex(*parts),
    }
    return make[tagged["t"]](tagged["v"])


def same_output(expected: str, actual: str, tolerance: float = 0.0) -> bool:
    """Line by line; white space at the ends of lines and empty lines at the end of the text are ignored.

    With a tolerance also word by word: two decimal numbers may differ by it, absolutely or relatively; not two
    integers.
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
"""Without ways to match the same text twice: a word of a million digits takes a step for each."""

_INTEGER = re.compile(r"\+?(-?)0*+([0-9]*+)")
"""Its sign, and its digits without zeros in front."""


def _same_words(expected: list[str], actual: list[str], tolerance: float) -> bool:
    return len(expected) == len(actual) and all(
        e == a
        or (
            _finite(e)
            and _finite(a)
            and _close(e, a, tolerance)
        )
        for e, a in zip(expected, actual, strict=True)
    )


def _close(expected: str, actual: str, tolerance: float) -> bool:
    whole = [_INTEGER.fullmatch(word) for word in (expected, actual)]
    if whole[0] and whole[1]:
        return whole[0].groups() == whole[1].groups() or not (whole[0][2] or whole[1][2])
    return math.isclose(float(expected), float(actual), rel_tol=tolerance, abs_tol=tolerance)


def _finite(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None and math.isfinite(float(word))
