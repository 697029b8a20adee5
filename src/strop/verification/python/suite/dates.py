"""Dates and times, which cross between tests and an answer's module as tagged values."""

from datetime import date, datetime, time, timedelta
from typing import Any

from strop.verification.python.codec import tagged

_DATES: dict[type, tuple[str, ...]] = {
    date: ("year", "month", "day"),
    datetime: ("year", "month", "day", "hour", "minute", "second", "microsecond"),
    time: ("hour", "minute", "second", "microsecond"),
    timedelta: ("days", "seconds", "microseconds"),
}
_DATE_KINDS = {kind.__name__: kind for kind in _DATES}


def tagged_date(value: Any) -> bytes:
    """The bytes of an exact date, time, timedelta or naive datetime, which cross in suites; b"" for others."""
    fields = _DATES.get(type(value))
    if fields is None or getattr(value, "tzinfo", None) is not None:
        return b""
    return tagged(type(value).__name__, *(getattr(value, field) for field in fields))


def date_of(kind: str, parts: list[Any]) -> Any:
    """The date of a tag, None for other tags. Raises TypeError, ValueError or OverflowError for a bad one."""
    if kind not in _DATE_KINDS:
        return None
    if len(parts) != len(_DATES[_DATE_KINDS[kind]]) or not all(type(part) is int for part in parts):
        raise ValueError("bad date")
    return _DATE_KINDS[kind](*parts)
