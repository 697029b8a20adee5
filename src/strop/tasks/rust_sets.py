"""Typed access to the fields of a data set's row, with errors that name the place."""

from typing import Any

from strop.core.errors import UserError


def text(row: dict[str, Any], name: str, where: str) -> str:
    """A field that must hold text. Raises UserError."""
    value = row.get(name)
    if not isinstance(value, str):
        raise UserError(f"{where}: field {name!r} must be text, not {type(value).__name__}")
    return value


def texts(row: dict[str, Any], name: str, where: str) -> dict[str, str]:
    """A field that must map paths to texts. Raises UserError."""
    value = row.get(name)
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise UserError(f"{where}: field {name!r} must map paths to texts")
    return value
