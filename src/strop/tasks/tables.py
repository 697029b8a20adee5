"""Reads CSV and TSV tables as in RFC 4180: a row for each record below the line of column names.

All cells are text. An empty cell is null, and one that holds a list or an object, as JSON or as Python prints it, is
that value.
"""

import csv
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from strop.tasks.lines import Report, fail, read_lines
from strop.tasks.row_limits import MAX_ROW, check_value
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.errors import UserError
from strop_verify.core.syntax import literal_value

SUFFIXES = (".csv", ".tsv")
"""File extensions, each alone or with .gz or .zst."""


def is_table(path: Path) -> bool:
    """Whether a file's name says that it holds such a table."""
    return _bare(path).endswith(SUFFIXES)


def read_rows(path: Path, report: Report = fail) -> Iterator[tuple[str, dict[str, Any]]]:
    """(`file:line`, row) of each record; the line is the one on which the record ends.

    A record that has more cells than columns or cannot be decoded is reported and left out. Raises UserError for a file
    that cannot be opened, or whose first line repeats a column or leaves one without a name.
    """
    csv.field_size_limit(MAX_ROW)
    found = csv.reader(
        _texts(path, report), delimiter="\t" if _bare(path).endswith(".tsv") else ",", strict=True
    )
    names: list[str] = []
    while True:
        where = f"{path}:{found.line_num + 1}"
        try:
            cells = next(found)
        except StopIteration:
            return
        except csv.Error as error:
            report(f"{where}: bad CSV: {error}")
            return
        if not cells:
            continue
        where = f"{path}:{found.line_num}"
        if not names:
            names = _names(cells, where)
        elif len(cells) > len(names):
            report(f"{where}: {len(cells)} cells, but {len(names)} columns: left out")
        else:
            yield from _row(names, cells, where, report)


def _names(cells: list[str], where: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    if len({*names}) < len(names):
        raise UserError(f"{where}: the first line must name the columns, each once: {', '.join(names)[:80]}")
    return names


def _row(
    names: list[str], cells: list[str], where: str, report: Report
) -> Iterator[tuple[str, dict[str, Any]]]:
    row = dict.fromkeys(names) | {name: _value(cell) for name, cell in zip(names, cells, strict=False)}
    try:
        check_value(row, where)
    except UserError as error:
        report(str(error))
    else:
        yield where, row


def _value(cell: str) -> Any:
    """The list or object in a cell, None if it is empty, else its text."""
    if not cell:
        return None
    text = cell.strip()
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return cell
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    try:
        value = literal_value(text)
        return json.loads(json.dumps(value)) if isinstance(value, list | dict) else cell
    except (*UNPARSABLE, TypeError):
        return cell


def _texts(path: Path, report: Report) -> Iterator[str]:
    for number, line in read_lines(path, report, blank=True):
        try:
            yield line.decode() + "\n"
        except UnicodeDecodeError as error:
            raise UserError(f"{path}:{number}: not UTF-8: {error.reason} at byte {error.start}") from error


def _bare(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".zst")
