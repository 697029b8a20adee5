"""Values of tests as texts to compare."""

from typing import Any


def one_text(value: Any) -> str:
    """One text for values that count as equal: tuples and lists, floats of nine equal digits, 1.0 and 1."""
    return repr(_settled(value))


def words_of(text: str) -> str:
    """The text with single spaces for all white space."""
    return " ".join(text.split())


def _settled(value: Any) -> Any:
    if type(value) in (int, str, bool):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else float(f"{value:.9g}")
    if isinstance(value, list | tuple):
        return [_settled(v) for v in value]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(map(repr, value))]
    if isinstance(value, dict):
        return [[_settled(k), _settled(v)] for k, v in sorted(value.items(), key=repr)]
    return value
