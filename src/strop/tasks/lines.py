"""Reads lines of a file that may be compressed, damaged, or crafted to exhaust memory.

`.gz` and `.zst` are recognised by the name. Everything before a damaged place is still read. A UTF-16 file, as Windows
tools write it, is recognised by its first bytes and converted to UTF-8.
"""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import zstandard

from strop.tasks.row_limits import MAX_ROW, ZSTD_STEP, size
from strop_verify.core.errors import UserError

Given = TypeVar("Given")
Made = TypeVar("Made")
Report = Callable[[str], None]
"""Takes a one-line message about something that is left out."""

_BLOCK = 1 << 16


def fail(message: str) -> None:
    """The report for readers that stop at the first bad row: raises UserError."""
    raise UserError(message)


def each_sound(make: Callable[[Given], Made], given: Iterable[Given], report: Report) -> Iterator[Made]:
    """The result of `make` for each; one for which it raises UserError is reported and left out."""
    for one in given:
        try:
            made = make(one)
        except UserError as error:
            report(str(error))
        else:
            yield made


def read_lines(
    path: Path, report: Report = fail, limit: int = MAX_ROW, *, blank: bool = False
) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line without its newline) of every line that is not blank. A byte order mark is dropped.

    blank   also yields blank lines

    A line of more than `limit` bytes is reported and skipped, never held in memory. Damage is reported after the lines
    before it; a truncated line is left out. Raises UserError for a file that cannot be opened.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    damage = _Damage()
    with file:
        if path.suffix == ".gz":
            blocks = _gzip_blocks(gzip.GzipFile(fileobj=file), damage)
        else:
            blocks = _zstd_blocks(file.read, damage) if path.suffix == ".zst" else _blocks(file.read, damage)
        for number, line in _split(_in_utf8(blocks, damage), limit, damage):
            if line is None:
                report(f"{path}:{number}: a line of more than {size(limit)}: left out")
                continue
            line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if blank or (not line.isspace() and line):
                yield number, line
    if damage.text:
        report(f"cannot read {path} to its end: {damage.text}")


class _Damage:
    """What ended a file early; empty if nothing did."""

    text = ""


def _blocks(read: Callable[[int], bytes], damage: _Damage) -> Iterator[bytes]:
    try:
        while block := read(_BLOCK):
            yield block
    except OSError as error:
        damage.text = error.strerror or str(error)


_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
    (b"{\x00", "utf-16-le"), (b"[\x00", "utf-16-le"), (b"\x00{", "utf-16-be"), (b"\x00[", "utf-16-be"),
)  # fmt: skip
"""First bytes of files in other encodings: byte order marks, and brackets of JSON without one."""


def _in_utf8(blocks: Iterator[bytes], damage: _Damage) -> Iterator[bytes]:
    """The blocks, converted to UTF-8 if the first one shows another Unicode encoding."""
    first = next(blocks, b"")
    name = next((name for mark, name in _MARKS if first.startswith(mark)), "")
    if not name:
        yield first
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(name)()
    try:
        yield decoder.decode(first).encode()
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=not damage.text).encode()
    except UnicodeError as error:
        damage.text = f"it is not sound {name.upper()}: {getattr(error, 'reason', error)}"


def _gzip_blocks(file: gzip.GzipFile, damage: _Damage) -> Iterator[bytes]:
    try:
        while block := file.read1(_BLOCK):
            yield block
    except EOFError:
        damage.text = "the compressed file is cut off"
    except (OSError, zlib.error) as error:
        damage.text = f"the compressed file is damaged: {error}"


def _zstd_blocks(read: Callable[[int], bytes], damage: _Damage) -> Iterator[bytes]:
    opener = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    frame = opener.decompressobj()
    begun = False
    try:
        while packed := read(ZSTD_STEP):
            while packed:
                begun = True
                if block := frame.decompress(packed):
                    yield block
                packed = frame.unused_data if frame.eof else b""
                if frame.eof:
                    frame, begun = opener.decompressobj(), False
    except (OSError, zstandard.ZstdError) as error:
        damage.text = f"the compressed file is damaged: {error}"
    if begun and not damage.text:
        damage.text = "the compressed file is cut off"


def _split(blocks: Iterator[bytes], limit: int, damage: _Damage) -> Iterator[tuple[int, bytes | None]]:
    """(number, line); the line is None if it exceeds the limit. A line that damage cut off is left out."""
    number, held, length, skipping = 1, list[bytes](), 0, False
    for block in blocks:
        start = 0
        while (end := block.find(b"\n", start)) >= 0:
            held.append(block[start:end])
            too_long = skipping or length + end - start > limit
            yield number, None if too_long else b"".join(held)
            number, held, length, skipping, start = number + 1, [], 0, False, end + 1
        length += len(block) - start
        if length > limit:
            held, skipping = [], True
        elif not skipping:
            held.append(block[start:])
    if skipping or (length and not damage.text):
        yield number, None if skipping else b"".join(held)
