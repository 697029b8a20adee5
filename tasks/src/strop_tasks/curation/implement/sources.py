"""Python sources to read: a file, a folder, a packed tree (.tar.gz and the like), or rows that hold texts of files.

Sources are hostile: sizes are limited before reading, links are not followed, nothing is unpacked to disk. Omissions
are counted by reason.
"""

import os
import stat
import tarfile
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import chain
from lzma import LZMAError
from pathlib import Path
from typing import Any

from strop.tasks import row_sources
from strop_tasks.curation.engine.tally import LeftOut, Tally
from strop_verify.core.errors import UserError
from strop_verify.edits import EditError
from strop_verify.edits.paths import check_path

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MOST_BYTES = 1 << 30  # bytes of one archive, unpacked; the rest is cut off
_LONGEST_HEADER = 1 << 20
_HEADERS = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
)  # fmt: skip
BYTES_PER_CHARACTER = 4  # maximum in UTF-8; files with more bytes than this times `max_chars` are not read
_NO_SOURCES = ("__pycache__", "node_modules", "site-packages")
_NO_PATH = "source.py"  # the path of a row without one


@dataclass(frozen=True)
class SourceFile:
    """The text of one file."""

    path: str
    """In its tree, with `/`."""
    text: str
    origin: str
    """Name of the tree or data set."""
    about: dict[str, Any] = field(default_factory=dict)
    """A row's repository and licences."""


def read_sources(
    source: str, tally: Tally, *, max_chars: int, column: str = "content"
) -> Generator[SourceFile, None, None]:
    """The files of a source, in the order of their paths, of the archive or of the rows.

    source     a folder with .py files at any depth; a .py file; a .tar, .tar.gz, .tgz, .tar.bz2 or .tar.xz; or any
               place of rows (`strop.tasks.row_sources`)
    max_chars  longer texts are left out
    column     the field of a row that holds the text of a file

    Raises UserError if the source is missing or none of these.
    """
    path = Path(source).expanduser()
    if path.name.endswith(SUFFIXES):
        yield from _packed(path, tally, max_chars)
    elif path.suffix == ".py" and path.is_file():
        yield from _tree(path.parent, iter([path.name]), tally, max_chars)
    elif path.is_dir() and (first := next(paths := _walk(path, tally), "")):
        yield from _tree(path, chain([first], paths), tally, max_chars)
    elif row_sources.is_place(source):
        yield from _rows(source, tally, max_chars, column)
    else:
        raise UserError(
            f"cannot read {source!r} as Python sources: name a folder, a .py file, a .tar.gz, or a data set whose rows "
            f"hold texts of files (a path that ends in .jsonl or .parquet, or hub:ID)"
        )


def _tree(root: Path, paths: Iterator[str], tally: Tally, max_chars: int) -> Iterator[SourceFile]:
    origin = root.resolve().name
    for path in paths:
        with tally.leaving_out("skipped"):
            yield SourceFile(_checked(path), _read(root / path, max_chars), origin)


def _packed(path: Path, tally: Tally, max_chars: int) -> Iterator[SourceFile]:
    limit = max_chars * BYTES_PER_CHARACTER
    origin = stem(path)
    for name, data in members(path, ".py", limit, tally.skipped):
        with tally.leaving_out("skipped"):
            inner = name.removeprefix("./").removeprefix(origin + "/")
            yield SourceFile(_checked(inner), _decoded(data, max_chars), origin)


def _rows(source: str, tally: Tally, max_chars: int, column: str) -> Iterator[SourceFile]:
    def report(_: str) -> None:
        tally.skipped["unreadable row"] += 1

    for where, row in row_sources.read_place(source, report):
        with tally.leaving_out("skipped"):
            text, path = row.get(column), row.get("path")
            if not isinstance(text, str):
                raise LeftOut(f"no text in column {column!r}")
            if str(row.get("lang", "python")).lower() != "python":
                raise LeftOut("another language")
            if len(text) > max_chars:
                raise LeftOut("too long")
            about = {name: row[name] for name in ("repository_name", "licenses") if row.get(name)}
            named = path if isinstance(path, str) and path.endswith(".py") else _NO_PATH
            origin = Path(where.rpartition(":")[0]).name or where
            yield SourceFile(_checked(named.lstrip("/")), text, origin, about)


def _checked(path: str) -> str:
    try:
        return check_path(path)
    except (EditError, UnicodeEncodeError) as error:
        raise LeftOut("bad path") from error


def _read(path: Path, max_chars: int) -> str:
    """The text of a regular file, opened without following a link or waiting for a pipe. Raises LeftOut."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise LeftOut("cannot be read") from error
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise LeftOut("not a regular file")
        limit = max_chars * BYTES_PER_CHARACTER
        if about.st_size > limit:
            raise LeftOut("too long")
        try:
            return _decoded(file.read(limit + 1), max_chars)
        except OSError as error:
            raise LeftOut("cannot be read") from error


def _decoded(data: bytes, max_chars: int) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LeftOut("not UTF-8") from error
    if len(text) > max_chars:
        raise LeftOut("too long")
    return text


def _walk(root: Path, tally: Tally) -> Iterator[str]:
    """The .py files below a folder, without links and hidden, installed or cached folders; a folder's files first."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if not folder:
                raise UserError(f"cannot read the folder {root}: {error.strerror or error}") from error
            tally.skipped["cannot be read"] += 1
            continue
        if folder and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        inner = []
        for entry in entries:
            path = f"{folder}{entry.name}"
            if entry.is_symlink():
                tally.skipped["symbolic link"] += 1
            elif entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _NO_SOURCES:
                    inner.append(f"{path}/")
            elif entry.name.endswith(".py"):
                yield path
        waiting += reversed(inner)


class _Member(tarfile.TarInfo):
    """A member whose extended header cannot exhaust memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Member":
        """As in the base class. Raises ReadError for an extended header of more than 1 MiB."""
        member = super().frombuf(buf, encoding, errors)
        if member.type in _HEADERS and member.size > _LONGEST_HEADER:
            raise tarfile.ReadError("an extended header of more than 1 MiB")
        return member


def stem(path: Path) -> str:
    """The name without its suffix, as an sdist's folder is named."""
    longest = max((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), key=len, default="")
    return path.name.removesuffix(longest)


def members(path: Path, suffix: str, limit: int, skipped: Counter[str]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of each regular file of at most `limit` bytes whose name ends in `suffix`, in order.

    Others with that suffix are counted in `skipped`, and so is damage, which ends reading. Raises UserError if the file
    is missing or is not an archive.
    """
    begun = False
    try:
        with tarfile.open(path, "r|*", tarinfo=_Member) as packed:
            while (member := packed.next()) is not None:
                begun = True
                packed.members = []  # type: ignore[attr-defined]  # otherwise tarfile keeps them all
                if member.offset > MOST_BYTES:
                    skipped["archive too large: cut off"] += 1
                    return
                if member.name.endswith(suffix) and not member.isdir():
                    content = _content(packed, member, limit, skipped)
                    if content is not None:
                        yield member.name, content
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except (tarfile.TarError, EOFError, zlib.error, LZMAError, ValueError, OSError) as error:
        if not begun:
            raise UserError(f"cannot read {path}: {' '.join(str(error).split())[:200]}") from error
        skipped["archive damaged: cut off"] += 1


def _content(
    packed: tarfile.TarFile, member: tarfile.TarInfo, limit: int, skipped: Counter[str]
) -> bytes | None:
    if not member.isreg():
        skipped["symbolic link" if member.issym() or member.islnk() else "not a regular file"] += 1
        return None
    if member.size > limit:
        skipped["too long"] += 1
        return None
    file = packed.extractfile(member)
    return file.read() if file else None
