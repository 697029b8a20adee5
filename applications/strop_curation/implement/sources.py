"""Python sources to read: a file, a folder, a packed tree (.tar.gz and the like), or rows that hold texts of files.

Everything is hostile: sizes are bounded before a text is held, links are never followed, nothing is unpacked to disk.
What is left out is counted by its reason.
"""

import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from strop.core.errors import UserError
from strop.edits import EditError
from strop.edits.paths import check_path
from strop.tasks import places
from strop.verification.project.snapshot import read_project
from strop_curation.engine.tally import LeftOut, Tally

SUFFIXES = (".tar.gz", ".tar.bz2", ".tar.xz", ".tar", ".tgz")
BYTES_PER_CHARACTER = 4
"""Most that UTF-8 takes; a file of more bytes is not read."""
_NO_SOURCES = ("__pycache__", "node_modules", "site-packages")
_NO_PATH = "source.py"
"""The path of a row that names none."""


@dataclass(frozen=True)
class SourceFile:
    """The text of one file."""

    path: str
    """In its tree, with `/`."""
    text: str
    origin: str
    """Name of the tree or data set."""
    about: dict[str, Any] = field(default_factory=dict)
    """What a row says about repository and licences."""


def read_sources(
    source: str, tally: Tally, *, max_chars: int, column: str = "content"
) -> Generator[SourceFile, None, None]:
    """The files of a source, in the order of their paths, of the archive or of the rows.

    source     a folder that holds .py files, somewhere; a .py file; a packed project, as `read_project` takes it; or
               any place that rows come from (`strop.tasks.places`)
    max_chars  longer texts are left out
    column     the field of a row that holds the text of a file

    Raises UserError for a source that is not there or holds nothing of all this.
    """
    path = Path(source).expanduser()
    if path.name.endswith(SUFFIXES):
        yield from _texts(read_project(path).items(), tree_name(path), tally, max_chars)
    elif path.suffix == ".py" and path.is_file():
        yield from _texts([(path.name, path)], path.resolve().parent.name, tally, max_chars)
    elif path.is_dir() and (first := next(found := _walk(path), None)):
        yield from _texts(chain([first], found), path.resolve().name, tally, max_chars)
    elif places.is_place(source):
        yield from _rows(source, tally, max_chars, column)
    else:
        raise UserError(
            f"cannot read {source!r} as Python sources: name a folder, a .py file, a .tar.gz, or a data set whose rows "
            f"hold texts of files (a path that ends in .jsonl or .parquet, or hub:ID)"
        )


def tree_name(path: Path) -> str:
    """The name of a packed tree without its ending; an sdist's folder is called so."""
    return path.name.removesuffix(next(filter(path.name.endswith, SUFFIXES), ""))


def _texts(
    files: Iterable[tuple[str, bytes | Path]], origin: str, tally: Tally, max_chars: int
) -> Iterator[SourceFile]:
    """The Python files of a tree, of those by their content or where it lies."""
    for name, data in files:
        with tally.leaving_out("skipped"):
            if name.endswith(".py"):
                content = _read(data, max_chars) if isinstance(data, Path) else data
                yield SourceFile(_checked(name), _decoded(content, max_chars), origin)


def _rows(source: str, tally: Tally, max_chars: int, column: str) -> Iterator[SourceFile]:
    def report(_: str) -> None:
        tally.skipped["unreadable row"] += 1

    for where, row in places.read_place(source, report):
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


def _read(path: Path, max_chars: int) -> bytes:
    """The content of a regular file, a byte more of one that is too long."""
    if path.is_symlink() or not path.is_file():
        raise LeftOut("no regular file")
    try:
        with path.open("rb") as file:
            return file.read(BYTES_PER_CHARACTER * max_chars + 1)
    except OSError as error:
        raise LeftOut("cannot be read") from error


def _decoded(data: bytes, max_chars: int) -> str:
    if len(data) > BYTES_PER_CHARACTER * max_chars:
        raise LeftOut("too long")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LeftOut("not UTF-8") from error
    if len(text) > max_chars:
        raise LeftOut("too long")
    return text


def _walk(root: Path) -> Iterator[tuple[str, Path]]:
    """The files below a folder, hidden, installed and cached folders left out; a folder's files first."""
    for top, folders, names in os.walk(root):
        if Path(top) != root and "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _NO_SOURCES)
        for path in (Path(top, name) for name in sorted(names) if name.endswith(".py")):
            yield path.relative_to(root).as_posix(), path
