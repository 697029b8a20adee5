"""Dates across the border of a suite: exact `date`, `time`, `timedelta` and naive `datetime` of the standard library.

Used on both sides; standard library only. Subclasses and values with a time zone do not cross as values.
"""

from datetime import date, datetime, time, timedelta
from typing import Any

_FIELDS: dict[type, tuple[str, ...]] = {
    date: ("year", "month", "day"),
    datetime: ("year", "month", "day", "hour", "minute", "second", "microsecond"),
    time: ("hour", "minute", "second", "microsecond"),
    timedelta: ("days", "seconds", "microseconds"),
}
_KINDS = {kind.__name__: kind for kind in _FIELDS}


def wire_of(value: Any) -> dict[str, Any] | None:
    """The wire form of a date, None for anything else."""
    fields = _FIELDS.get(type(value))
    if fields is None or getattr(value, "tzinfo", None) is not None:
        return None
    return {"t": type(value).__name__, "v": [getattr(value, field) for field in fields]}


def date_of(kind: str, inner: Any) -> Any:
    """The date of a wire form, None for other tags. Raises TypeError, ValueError or OverflowError for a bad one."""
    if kind not in _KINDS:
        return None
    if len(inner) != len(_FIELDS[_KINDS[kind]]) or not all(type(part) is int for part in inner):
        raise ValueError("bad date")
    return _KINDS[kind](*inner)
