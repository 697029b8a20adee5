"""Many lines in one file, compressed separately: read in turn, or by offset.

A record is its length, four bytes, and one zstd frame. A frame per line costs compression and allows access in any
order without a second file.
"""

from array import array
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Self

import zstandard

from strop_verify.core.errors import StropError
from strop_verify.core.task import Task

_LEVEL = 1
_HEAD = 4  # bytes of a record's length


class LineWriter:
    """Appends records. A context manager; raises OSError."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._packer = zstandard.ZstdCompressor(level=_LEVEL)
        self._end = 0

    def append(self, line: bytes) -> int:
        """Writes one line, without a newline, and returns its offset."""
        frame = self._packer.compress(line)
        self._file.write(len(frame).to_bytes(_HEAD, "little") + frame)
        offset = self._end
        self._end += _HEAD + len(frame)
        return offset

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(OSError) if kind else nullcontext():
            self._file.close()


def read_lines(path: Path) -> Iterator[bytes]:
    """Every line, in order. Raises StropError for a file that ends within a record."""
    unpacker = zstandard.ZstdDecompressor()
    with path.open("rb") as file:
        while head := file.read(_HEAD):
            size = int.from_bytes(head, "little")
            frame = file.read(size)
            if len(head) < _HEAD or len(frame) < size:
                raise StropError(f"{path} ends in the middle of a line: remove the folder and start again")
            yield unpacker.decompress(frame)


def read_tasks(path: Path) -> Iterator[Task]:
    """The tasks in a file of lines, in order."""
    return map(Task.model_validate_json, read_lines(path))


class Scratch:
    """Tasks written once and read in any order; memory holds only offsets, eight bytes per task."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets = array("Q")

    def fill(self, tasks: Iterator[Task]) -> None:
        """Writes all tasks, replacing the file's content."""
        with LineWriter(self._path) as file:
            self._offsets = array("Q", (file.append(t.model_dump_json().encode()) for t in tasks))

    def in_order(self, places: Iterator[int]) -> Iterator[Task]:
        """The tasks at these places, counted from 0."""
        unpacker = zstandard.ZstdDecompressor()
        with self._path.open("rb") as file:
            for place in places:
                file.seek(self._offsets[place])
                size = int.from_bytes(file.read(_HEAD), "little")
                yield Task.model_validate_json(unpacker.decompress(file.read(size)))
