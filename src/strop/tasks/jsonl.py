"""JSON lines, plain or compressed: reads rows one line at a time, and writes tasks completely or not at all.

A name that ends in `.json` may also hold one JSON array of rows.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, Any

import zstandard

from strop.tasks.lines import Report, each_sound, fail, read_lines
from strop.tasks.row_limits import MAX_DEPTH, MAX_ROW, check_value, loads, parse_json, size
from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

SUFFIXES = (".jsonl", ".ndjson", ".json")
"""File extensions, each alone or with .gz or .zst."""


def is_jsonl(path: Path) -> bool:
    """Whether a file's name says that it holds JSON lines."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    return name.endswith(SUFFIXES)


def read_rows(path: Path, report: Report = fail) -> Iterator[tuple[str, dict[str, Any]]]:
    """(`file:line`, object) for every line that is not blank; a column that is NaN is missing, as in data frames.

    A bad line is reported in one line and left out; without `report` the first one raises UserError. Bad: not a JSON
    object, a repeated key, not UTF-8, deeper than 100, half a surrogate pair, over 256 MiB, NaN and infinities.
    """
    if ".json" in path.suffixes[-2:] and next(read_lines(path), (0, b""))[1].lstrip()[:1] == b"[":
        yield from _array(path, report)
        return
    yield from each_sound(partial(_row, path), read_lines(path, report), report)


def write_tasks(tasks: Iterable[Task], path: Path | str) -> int:
    """Writes one task per line, all or nothing, and returns how many; .gz and .zst are compressed.

    Anything that is not a regular file, such as /dev/null or a pipe, is written to, never replaced. Raises UserError.
    """
    return _write_lines((task.model_dump_json() for task in tasks), path)


def write_rows(rows: Iterable[dict[str, Any]], path: Path | str) -> int:
    """Like `write_tasks`, for rows of any format. Raises UserError; ValueError for values that are not JSON."""
    return _write_lines((json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows), path)


def _write_lines(lines: Iterable[str], path: Path | str) -> int:
    count = 0
    with whole_file(Path(path)) as file:
        for line in lines:
            file.write(line.encode() + b"\n")
            count += 1
    return count


def _row(path: Path, numbered: tuple[int, bytes]) -> tuple[str, dict[str, Any]]:
    number, line = numbered
    where, unusual = f"{path}:{number}", list[str]()

    def constant(name: str) -> float:
        unusual.append(name)
        return float(name.replace("Infinity", "inf"))

    row = loads(line, where, constant)
    if not isinstance(row, dict):
        raise UserError(f"{where}: bad line: a task is a JSON object, this is {type(row).__name__}")
    if unusual:
        row = {key: value for key, value in row.items() if value == value}
    if unusual or b"\\ud" in line or b"\\uD" in line or line.count(b"[") + line.count(b"{") > MAX_DEPTH:
        check_value(row, f"{where}: bad JSON")
    return where, row


def _array(path: Path, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    text, length = [], 0
    for _, line in read_lines(path, report):
        text.append(line)
        length += len(line)
        if length > MAX_ROW:
            report(
                f"{path}: a JSON array of more than {size(MAX_ROW)}: write it as JSON lines, one row per line"
            )
            return
    try:
        rows = parse_json(b"\n".join(text), str(path))
    except UserError as error:
        report(str(error))
        return
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield f"{path}:[{number}]", row
        else:
            report(f"{path}:[{number}]: bad item: a task is a JSON object, this is {type(row).__name__}")


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file, compressed for .gz and .zst, that appears if the block succeeds; see `core.files.atomic`."""
    with files.atomic(path) as raw, _packed(raw, path.suffix) as file:
        yield file


def _packed(raw: IO[bytes], suffix: str) -> AbstractContextManager[Any]:
    if suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
    if suffix == ".zst":
        return zstandard.ZstdCompressor(level=6, write_checksum=True).stream_writer(raw, closefd=False)
    return nullcontext(raw)
