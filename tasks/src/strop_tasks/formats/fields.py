"""Reads fields of a row; errors name the place and the value found."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from strop.tasks.rows import Row, decoded, suggestion
from strop_verify.core.errors import UserError


def text(row: Row, name: str, where: str, default: str | None = None) -> str:
    """A string field; `default` replaces a missing or null one. Raises UserError."""
    value = _given(row, name, default)
    if not isinstance(value, str):
        raise _wrong(row, name, where, "text")
    return value


def texts(row: Row, name: str, where: str, default: list[str] | None = None) -> list[str]:
    """A field with a list of strings. Raises UserError."""
    value = _given(row, name, default)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(row, name, where, "a list of strings")
    return value


def items(row: Row, name: str, where: str, default: list[Any] | None = None) -> list[Any]:
    """A field with a list, or the JSON text of one. Raises UserError."""
    value = _unpacked(row, name, where, "[", default)
    if not isinstance(value, list):
        raise _wrong(row, name, where, "a list")
    return value


def mapping(row: Row, name: str, where: str, default: dict[str, Any] | None = None) -> dict[str, Any]:
    """A field with an object, or the JSON text of one. Raises UserError."""
    value = _unpacked(row, name, where, "{", default)
    if not isinstance(value, Mapping):
        raise _wrong(row, name, where, "an object")
    return dict(value)


def number(row: Row, name: str, where: str) -> int:
    """An integer field. Raises UserError."""
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(row, name, where, "an integer")
    return value


def name_of(value: Any, fallback: str) -> str:
    """An id from a field that some sets store as text and others as a number."""
    if isinstance(value, str) and value.strip():
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else fallback


def has(row: Row, **kinds: type | tuple[type, ...]) -> bool:
    """Whether the row has all these fields with these types; used for `Adapter.fits`."""
    return all(isinstance(row.get(name), kind) for name, kind in kinds.items())


def _given(row: Row, name: str, default: Any) -> Any:
    value = row.get(name)
    return default if value is None else value


def _unpacked(row: Row, name: str, where: str, bracket: str, default: Any) -> Any:
    value = _given(row, name, default)
    return decoded(row, name, where) if isinstance(value, str) and value.lstrip()[:1] == bracket else value


def _wrong(row: Row, name: str, where: str, wanted: str) -> UserError:
    if name not in row:
        return UserError(f"{where}: no field {name!r}{suggestion(name, [str(key) for key in row])}")
    value = row[name]
    shown = repr(value) if isinstance(value, bool | int | float | None) else type(value).__name__
    return UserError(f"{where}: field {name!r} must hold {wanted}, not {shown[:60]}")


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def date_of(value: Any) -> dict[str, str]:
    """`{"date": ...}` for `metadata`, from text that begins with a day such as 2020-01-31 or from seconds since 1970;
    else {}."""
    if isinstance(value, int) and 0 < value < 1 << 33:
        return {"date": datetime.fromtimestamp(value, UTC).date().isoformat()}
    day = _DAY.match(str(value or ""))
    return {"date": day[0]} if day else {}


_UNREADABLE = "unreadable"


def unreadable(why: object) -> dict[str, Any]:
    """The row of a folder that cannot be read."""
    return {_UNREADABLE: str(why)}


def refuse_unreadable(row: Row, where: str) -> None:
    """Raises UserError, with the cause, for a row that `unreadable` made."""
    if _UNREADABLE in row:
        raise UserError(f"{where}: {str(row[_UNREADABLE]).removeprefix(f'{where}: ')}")
