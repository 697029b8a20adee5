"""Undoes a detour of checks through Arrow, which gives every row the keys of all rows, with null for missing ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from strop_verify.core.errors import UserError


def without_arrow_nulls(check: Mapping[str, Any]) -> dict[str, Any]:
    """The check without the nulls that Arrow added. Raises UserError for a null that may mean something."""
    kept = {key: value for key, value in check.items() if value is not None}
    values = ("expected",) if kept.get("kind") == "cases" else ()
    for name in ("cases", "steps"):
        if isinstance(rows := kept.get(name), list):
            kept[name] = [_own(row, values) for row in rows]
            for number, row in enumerate(kept[name] if values else ()):
                _refuse_null(row, f"check.cases[{number}]", row_itself=True)
    if isinstance(files := kept.get("files"), Mapping):
        kept["files"] = _own(files)
    _refuse_null(kept.get("oracle"), "check.oracle")
    if isinstance(judge := kept.get("judge"), Mapping):
        kept["judge"] = without_arrow_nulls(judge)
    return kept


def _own(row: Any, values: Sequence[str] = ()) -> Any:
    """A mapping without its nulls, except for keys whose null is a value."""
    if not isinstance(row, Mapping):
        return row
    return {key: value for key, value in row.items() if value is not None or key in values}


def _refuse_null(value: Any, where: str, *, row_itself: bool = False) -> None:
    """Raises UserError for a null in a mapping."""
    waiting = [(value, where, row_itself)]
    while waiting:
        value, where, may_be_null = waiting.pop()
        if isinstance(value, list | tuple):
            waiting += [(inner, f"{where}[{at}]", False) for at, inner in enumerate(value)]
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                if inner is None and not may_be_null:
                    raise UserError(
                        f"column 'check': {where}.{key} is null, which may be a value or a key that only other rows "
                        "have: give the check as text, json.dumps(check)"
                    )
                waiting.append((inner, f"{where}.{key}", False))
