"""Evaluates clean expressions in the unedited project's test process, before any test runs.

Standard library only; runs in the jail. Opened files are reported; values that hold a path of this process are not.
"""

import ast
import datetime
import decimal
import fractions
import os
import pathlib
import re
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

_VALUE_CHARS = 64_000
_TOTAL_CHARS = 8 << 20
_MOST_VALUES = 5_000
_MOST_NAMED = 200
_LONG_NAME = 300
_DEEPEST = 20
_FIXED = (
    pathlib.PurePath, re.Pattern, range, type, types.ModuleType, types.FunctionType, datetime.date, datetime.time,
    datetime.timedelta, datetime.tzinfo, decimal.Decimal, fractions.Fraction,
)  # fmt: skip


class _FilesOpened:
    """Paths of files and folders that are opened while `looking`."""

    def __init__(self) -> None:
        self.looking = False
        self.paths: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.looking and event in ("open", "os.listdir", "os.scandir", "glob.glob") and arguments:
            path = arguments[0]
            if isinstance(path, str | bytes):
                self.paths.append(os.fsdecode(path))


def recorded(items: list[Any], probes: list[list[str]], top: str) -> Iterator[dict[str, Any]]:
    """The value of each probe (path, owner, text, whether it has parameters); if it has, for each test of its owner.

    Messages hold "probe" (its number), "test" (empty without parameters), "v" (a literal, or empty if there is none),
    "k" (`fixed`, `plain` or `other`), "reads" and "named" (paths below the project), "relative".
    """
    opened, total, count = _FilesOpened(), 0, 0
    homes: dict[str, list[Any]] = {}
    for item in items:
        homes.setdefault(item.nodeid.partition("::")[0], []).append(item)
    for number, (home, owner, text, parameters) in enumerate(probes):
        mine = homes.get(home, [])
        if parameters:
            mine = [item for item in mine if item.nodeid.partition("::")[2].partition("[")[0] == owner]
        for item in mine if parameters else mine[:1]:
            count += 1
            if count > _MOST_VALUES or total > _TOTAL_CHARS:
                return
            space = dict(vars(item.module))
            if parameters:
                space |= getattr(getattr(item, "callspec", None), "params", {})
            try:
                told = _one(text, space, top, opened)
            except Exception:
                continue
            total += len(told["v"])
            yield {"probe": number, "test": item.nodeid if parameters else "", **told}


def _one(text: str, space: dict[str, Any], top: str, opened: _FilesOpened) -> dict[str, Any]:
    opened.paths, opened.looking = [], True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a test may expect the warning
            value = eval(text, space)
    finally:
        opened.looking = False
    inside = [_below(path, top) for path in opened.paths]
    relative = any(not os.path.isabs(path) and _below(path, top) for path in opened.paths)
    named: list[str] = []
    _names(value, named, _DEEPEST)
    return {
        "v": _literal(value, os.path.dirname(top)),
        "k": _kind(value, _DEEPEST),
        "reads": sorted({path for path in inside if path}),
        "named": sorted({_below(path, top) or path for path in named})[:_MOST_NAMED],
        "relative": relative,
    }


def _below(path: str, top: str) -> str:
    """A path relative to the project ("." is the project itself), or an empty text outside it."""
    full = os.path.normpath(os.path.join(top, path))
    return os.path.relpath(full, top) if full == top or full.startswith(top + "/") else ""


def _kind(value: object, depth: int) -> str:
    """`fixed` if nothing can change it, `plain` if it is made of lists, dicts and sets, else `other`."""
    kind = type(value)
    if value is None or kind in (str, bytes, int, float, bool, complex) or isinstance(value, _FIXED):
        return "fixed"
    if depth and isinstance(value, list | tuple | set | frozenset | dict):
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else [*value]
        kinds = {_kind(part, depth - 1) for part in parts}
        if "other" in kinds or kind not in (list, tuple, set, frozenset, dict):
            return "other"
        return "fixed" if kind in (tuple, frozenset) and kinds <= {"fixed"} else "plain"
    return "other"


def _literal(value: object, work: str) -> str:
    """The value as a literal that reads back as equal, or an empty text."""
    if not _plain(value, _DEEPEST):
        return ""
    text = repr(value)
    if len(text) > _VALUE_CHARS or work in text:
        return ""
    try:
        again = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    return text if again == value else ""


def _plain(value: object, depth: int) -> bool:
    kind = type(value)
    if value is None or kind in (str, bytes, int, bool, float):
        return kind is not float or value - value == 0  # type: ignore[operator]
    if not depth or kind not in (list, tuple, set, dict):
        return False
    parts = [*value.keys(), *value.values()] if isinstance(value, dict) else [*value]  # type: ignore[misc]
    return all(_plain(part, depth - 1) for part in parts)


def _names(value: object, named: list[str], depth: int) -> None:
    """Collects texts and paths in a value that may name a file."""
    if len(named) >= _MOST_NAMED:
        return
    if isinstance(value, str):
        if len(value) <= _LONG_NAME and any(map(str.isalnum, value)):
            named.append(value)
    elif isinstance(value, os.PathLike):
        named.append(os.fsdecode(os.fspath(value)))
    elif isinstance(getattr(value, "name", None), str):
        named.append(str(value.name))  # type: ignore[attr-defined]
    elif depth and type(value) in (list, tuple, set, frozenset, dict):
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else [*value]  # type: ignore[misc]
        for part in parts:
            _names(part, named, depth - 1)
