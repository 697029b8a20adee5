"""Task files: JSON lines, plain or gzip, read one line at a time and written atomically."""

import gzip
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from strop.core.errors import UserError
from strop.core.task import Task


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (`file:line`, object) for every line that is not blank. Raises UserError at the first bad one."""
    try:
        with _open(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    where = f"{path}:{number}"
                    yield where, _object(line, where)
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error


def write_tasks(tasks: Iterable[Task], path: Path | str) -> None:
    """Writes one task a line; the file appears whole or, when anything fails, not at all.

    A path that ends in .gz is compressed. What is no regular file, such as /dev/null or a pipe, is written to, never
    replaced. Raises UserError when the folder cannot be written to.
    """
    target = Path(path)
    temporary: str | None = None
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as device:
                _write(tasks, device, packed=False)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as raw:
            _write(tasks, raw, packed=target.suffix == ".gz")
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _write(tasks: Iterable[Task], raw: IO[bytes], *, packed: bool) -> None:
    body = (task.model_dump_json().encode() + b"\n" for task in tasks)
    if packed:
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
            file.writelines(body)
    else:
        raw.writelines(body)


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if "\\ud" in line.lower():
            json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{where}: bad JSON: half of a surrogate pair in a string") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: bad JSON: {error}") from error
    if not isinstance(row, dict):
        raise UserError(f"{where}: bad line: a task is a JSON object, this is {type(row).__name__}")
    return row
