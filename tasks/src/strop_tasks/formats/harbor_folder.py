"""Folders of task folders on disk, as rows: {"name", "files": {path: {"text" or "base64", "executable"}}}.

`files` maps each regular file's relative path to its content: UTF-8 as `text`, anything else as `base64`;
`executable` only if true. Empty folders are left out. Links, special files and anything over the limits are
refused by name. Nothing is executed. A row's names are not trusted: nothing is written outside the folder.
"""

import base64
import binascii
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from strop.tasks.row_limits import MAX_ROW, size
from strop.tasks.rows import Row
from strop_tasks.formats.fields import mapping, unreadable
from strop_verify.core.errors import UserError

SETTINGS, INSTRUCTION = "task.toml", "instruction.md"
MAX_TASK = MAX_ROW // 4
"""Size limit for all files of a task, in bytes."""
MAX_FILES = 10_000


def read_folder(path: Path) -> Iterator[tuple[str, Row]]:
    """(folder, row) for each task folder: `path` itself, or those below it at any depth, by name; `unreadable` rows
    included.

    Raises UserError if there are none.
    """
    if not path.is_dir():
        raise UserError(f"no such folder: {path}")
    empty = True
    for folder in _task_folders(path):
        empty = False
        try:
            row = _row(folder)
        except OSError as error:
            row = unreadable(f"cannot read {error.filename}: {error.strerror or error}")
        except UserError as error:
            row = unreadable(error)
        yield str(folder), row
    if empty:
        raise UserError(f"{path}: no task folders: expected folders with the file {SETTINGS}")


def _task_folders(path: Path) -> Iterator[Path]:
    """Folders with a task.toml; task folders do not nest. Links are not followed, hidden folders are skipped."""
    if (path / SETTINGS).is_file():
        yield path.resolve() if path.name in ("", ".", "..") else path
        return
    for entry in _entries(path):
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield from _task_folders(path / entry.name)


def _row(folder: Path) -> dict[str, Any]:
    files: dict[str, dict[str, Any]] = {}
    total = 0
    for path in _walk(folder):
        name = _relative(path, folder)
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a link" if stat.S_ISLNK(status.st_mode) else "not a regular file"
            raise UserError(f"{path}: {kind}: a task folder may hold files and folders only")
        total += status.st_size
        if total > MAX_TASK or len(files) >= MAX_FILES:
            raise UserError(f"{path}: the task has more than {size(MAX_TASK)} or {MAX_FILES} files: left out")
        content = _content(path.read_bytes())
        files[name] = {**content, "executable": True} if status.st_mode & 0o100 else content
    return {"name": folder.name, "files": files}


def _walk(folder: Path) -> Iterator[Path]:
    """Files below a folder, sorted by name. Raises UserError."""
    for entry in _entries(folder):
        path = folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(path)
        else:
            yield path


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise UserError(f"cannot read {folder}: {error.strerror or error}") from error


def _relative(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{os.fsencode(path)!r}: the name is not UTF-8") from error
    return name


def _content(data: bytes) -> dict[str, Any]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def files_of(row: Row, where: str) -> dict[str, dict[str, Any]]:
    """A row's files, checked for safe names and for text or base64. Raises UserError."""
    files = mapping(row, "files", where)
    for name, file in files.items():
        _safe(name, where)
        if not isinstance(file, dict) or {"text", "base64"}.isdisjoint(file):
            raise UserError(f"{where}: file {name!r} has neither 'text' nor 'base64'")
        _bytes(file, name, where)
    return {name: dict(file) for name, file in files.items()}


def _bytes(file: dict[str, Any], name: str, where: str) -> bytes:
    try:
        if isinstance(file.get("text"), str):
            return str(file["text"]).encode()
        return base64.b64decode(file["base64"], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise UserError(f"{where}: file {name!r}: {error}") from error


def _safe(name: str, where: str) -> str:
    """A relative path of plain parts. Raises UserError."""
    path = PurePosixPath(name)
    if name == "." or str(path) != name or path.is_absolute() or "\0" in name or ".." in path.parts:
        raise UserError(f"{where}: {name!r:.80} is not a relative file path")
    return name


def write_folder(rows: Iterable[Row], path: Path) -> int:
    """Writes a task folder for each row into a new or empty folder, all or none, and returns their number.

    Raises UserError.
    """
    count = 0
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise UserError(f"cannot write {path}: it exists and is not an empty folder")
    try:
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            for row in rows:
                _write_task(row, temporary)
                count += 1
            temporary.chmod(0o755)
            os.replace(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error
    return count


def _write_task(row: Row, root: Path) -> None:
    where = f"task {row['name']!r:.80}"
    target = root / _safe(row["name"], where)
    if target.exists():
        raise UserError(f"{where}: two tasks have this name")
    target.mkdir(parents=True)
    for name, file in files_of(row, where).items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(_bytes(file, name, where))
        place.chmod(0o755 if file.get("executable") else 0o644)
