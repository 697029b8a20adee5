"""Finds the adapter for a format, reads its rows as tasks with one line per bad row, and writes tasks."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from strop.tasks import jsonl, parquet
from strop.tasks.adapters import ADAPTERS, Adapter
from strop.tasks.lines import Report, each_sound, fail
from strop.tasks.row_limits import MAX_ROW, check_value, parse_json, size
from strop.tasks.rows import Row, unknown
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


def adapter_named(name: str) -> Adapter:
    """The adapter of that name. Raises UserError that lists the known ones."""
    found = ADAPTERS.get(name)
    if found is None:
        raise unknown("format", name, ADAPTERS)
    return found


def guessed(rows: Iterator[tuple[str, Row]]) -> tuple[Adapter, Iterator[tuple[str, Row]]]:
    """The format that the first row looks like, else Strop's own, and all rows. Raises UserError if several fit."""
    first = next(rows, None)
    if first is None:
        return ADAPTERS["strop"], rows
    where, row = first
    fitting = [adapter for adapter in ADAPTERS.values() if adapter.fits(_decoded(adapter, row, where))]
    if len(fitting) > 1:
        names = ", ".join(adapter.name for adapter in fitting)
        raise UserError(
            f"{where}: the row fits the formats {names}: write {fitting[0].name}:PLACE or another of them"
        )
    return (fitting[0] if fitting else ADAPTERS["strop"]), chain([first], rows)


def tasks_of(adapter: Adapter, rows: Iterable[tuple[str, Row]], report: Report = fail) -> Iterator[Task]:
    """The tasks of rows, all of which JSON lines can hold. A row that makes no task is reported in one line."""
    for where, row in rows:
        try:
            read = adapter.read(_decoded(adapter, row, where), where)
            found = [_sound(task, where) for task in read]
        except UserError as error:
            report(" ".join(str(error).split("\n")))
            continue
        except RecursionError:
            report(f"{where}: nested too deep")
            continue
        yield from found


def write_format(adapter: Adapter, tasks: Iterable[Task], path: Path, report: Report = fail) -> int:
    """Writes tasks as rows of a format, whole or not at all, and returns how many.

    A name that ends in .parquet becomes parquet, one without an extension a folder if the format has folders, others
    JSON lines. A task that the format cannot hold is reported and left out. Raises UserError for it without `report`,
    if no task is left, and for a format that can only be read.
    """
    if adapter.write is None:
        written = ", ".join(sorted(name for name, other in ADAPTERS.items() if other.write))
        raise UserError(f"the format {adapter.name!r} is only read: write one of {written}")
    rows = each_sound(adapter.write, tasks, report)
    first = next(rows, None)
    if first is None:
        raise UserError(f"no task that the format {adapter.name!r} holds: nothing is written")
    rows = chain([first], rows)
    if adapter.write_folder and not path.suffix:
        return adapter.write_folder(rows, path)
    if path.suffix != ".parquet":
        return jsonl.write_rows(rows, path)
    texts = ({k: _text(v) if k in adapter.as_json else v for k, v in row.items()} for row in rows)
    return parquet.write_rows(texts, path)


def _text(value: Any) -> Any:
    return value if isinstance(value, str | None) else json.dumps(value, ensure_ascii=False, allow_nan=False)


def _decoded(adapter: Adapter, row: Row, where: str) -> Row:
    """The row with fields stored as JSON text in a table decoded; text that is not JSON stays."""
    changed = {}
    for name in adapter.as_json:
        text = row.get(name)
        if isinstance(text, str) and text.lstrip()[:1] in ("{", "["):
            changed[name] = parse_json(text, f"{where}: field {name!r}")
    return {**row, **changed} if changed else row


def _sound(task: Task, where: str) -> Task:
    """The task, if it can be written and read again. Raises UserError otherwise."""
    try:
        length = len(task.model_dump_json())
    except ValueError as error:  # half of a surrogate pair, nesting too deep
        raise UserError(
            f"{where}: the task cannot be written: {' '.join(str(error).split())[:200]}"
        ) from error
    if length > MAX_ROW:
        raise UserError(f"{where}: a task of {size(length)}, more than {size(MAX_ROW)}: left out")
    check_value(task.metadata, where)
    return task
