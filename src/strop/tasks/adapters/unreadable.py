"""Rows that stand for folders which no row can hold, so that one of them does not end the reading of the others."""

from typing import Any

from strop.core.errors import UserError
from strop.tasks.rows import Row

_FIELD = "unreadable"


def unreadable(why: object) -> dict[str, Any]:
    """The row of a folder that cannot be read."""
    return {_FIELD: str(why)}


def refuse_unreadable(row: Row, where: str) -> None:
    """Raises UserError, with the cause, for a row that `unreadable` made."""
    if _FIELD in row:
        raise UserError(f"{where}: {str(row[_FIELD]).removeprefix(f'{where}: ')}")
