"""Append-only JSON lines that survive a kill, read back by place: the index holds keys and offsets, never texts.

A line counts once its newline is in the file; a torn last line is cut off when the journal is opened.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from strop_verify.core import files
from strop_verify.core.errors import UserError


class LinePlace(NamedTuple):
    """A line's position: first byte and length, its newline included."""

    offset: int
    length: int


class Appender:
    """The writing end: one line at a time, whole or not at all."""

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        """Opens or creates the file. `durable`: each line is on the disk before `append` returns. Raises UserError."""
        self.path, self._durable = path, durable
        with files.writing(path):
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._end = os.fstat(self._file).st_size
        if durable:
            files.sync_folder(path.parent)

    def append(self, value: Any) -> LinePlace:
        """Writes one line. Raises UserError, and leaves the file as it was, when the disk is full or failing."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
        data = memoryview(text.encode("utf-8", "backslashreplace"))
        place = LinePlace(self._end, len(data))
        try:
            while data:
                data = data[os.write(self._file, data) :]
            if self._durable:
                os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise UserError(f"cannot write {self.path}: {error.strerror}") from error
        self._end += place.length
        return place

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)


class JournalReader:
    """The reading end, by place. Another process may append meanwhile."""

    def __init__(self, path: Path) -> None:
        """Creates the file if it is missing. Raises UserError."""
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error

    def at(self, place: LinePlace) -> Any:
        """The value of one line."""
        return json.loads(os.pread(self._file, place.length, place.offset))

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)


def scan(path: Path) -> Iterator[tuple[LinePlace, dict[str, Any]]]:
    """Cuts off a torn last line, then yields every line with its place. Raises UserError for a line that is not an
    object.

    Holds one line at a time. Only for a file that nobody is appending to.
    """
    if not path.exists():
        return
    offset = 0
    with path.open("r+b") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                value = json.loads(line)
                if not isinstance(value, dict):
                    raise ValueError("not an object")
            except ValueError as error:
                remedy = "restore the file or start in another folder"
                raise UserError(f"{path}:{number}: {error}; {remedy}") from error
            yield LinePlace(offset, len(line)), value
            offset += len(line)
        file.truncate(offset)


def try_lock(path: Path) -> int | None:
    """A descriptor that holds the file's lock, or None when another process does.

    The lock lasts until every process that has the descriptor closes it or ends. Raises UserError.
    """
    with files.writing(path):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file
