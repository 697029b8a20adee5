"""What Exercism's tracks have in common: rows of paths and texts, and clones of a track.

A row has `id`, `slug`, `instructions`, `solution_stub`, `tests` and `example` (path to text). In a clone of a track an
exercise is a folder of `exercises/practice` whose `.meta/config.json` names the files (github exercism/docs,
"building/tracks/practice-exercises").
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.row_limits import parse_json, parse_toml
from strop.tasks.rows import Row
from strop_formats.fields import mapping, refuse_unreadable, text, unreadable

MAX_FILE = 4 << 20
"""Most bytes of a file of an exercise."""
_DOCS = ("introduction.md", "instructions.md", "instructions.append.md")
"""In the order in which the site shows them."""
_LEFT_OUT = {"target", "benches", "__pycache__", "Cargo.lock", "HELP.md", "HINTS.md", "README.md"}


def paths(row: Row, name: str, where: str) -> dict[str, str]:
    """A field that maps paths to texts. Raises UserError."""
    found = mapping(row, name, where)
    for path, value in found.items():
        if not isinstance(value, str):
            raise UserError(f"{where}: field {name!r}: {path!r} must hold text, not {type(value).__name__}")
    return {str(path): value for path, value in found.items()}


def chosen(files: Mapping[str, str], *wanted: str) -> str:
    """The first of `wanted` that is among the files, else the only file, else ""."""
    alone = list(files) if len(files) == 1 else []
    return next(iter([name for name in wanted if name in files] or alone), "")


def parts_of(row: Row, where: str) -> tuple[str, dict[str, str], dict[str, str], dict[str, str]]:
    """The slug as a module or crate is named, the stub, the tests and the example of a row. Raises UserError."""
    refuse_unreadable(row, where)
    module = text(row, "slug", where).replace("-", "_")
    stub, tests, example = (paths(row, name, where) for name in ("solution_stub", "tests", "example"))
    return module, stub, tests, example


def task_of(row: Row, where: str, **fields: Any) -> Task:
    """The task of a row, with the fields that its track fills. Raises UserError."""
    name, statement = text(row, "id", where), text(row, "instructions", where)
    return Task(id=name, family="exercise", statement=statement, topic="exercism", source=name, **fields)


def clone(path: Path, track: str) -> Iterator[tuple[str, Row]]:
    """(folder, row) of each exercise of a clone, of its `exercises/practice`, or of one exercise; unreadable ones too.

    Raises UserError where there are none.
    """
    root = next((p for p in (path / "exercises" / "practice", path / "practice", path) if p.is_dir()), path)
    if not root.is_dir():
        raise UserError(f"no such folder: {path}")
    folders = [root] if (root / ".meta" / "config.json").is_file() else sorted(_subfolders(root))
    folders = [folder for folder in folders if (folder / ".meta" / "config.json").is_file()]
    if not folders:
        raise UserError(
            f"{path}: no exercises: wanted a clone of github.com/exercism/{track}, with the folder exercises/practice"
        )
    for folder in folders:
        try:
            row = _row(folder, track)
        except UserError as error:
            row = unreadable(error)
        yield str(folder), row


def _subfolders(root: Path) -> list[Path]:
    try:
        return [entry for entry in root.iterdir() if entry.is_dir() and not entry.is_symlink()]
    except OSError as error:
        raise UserError(f"cannot read {root}: {error.strerror or error}") from error


def _row(folder: Path, track: str) -> dict[str, Any]:
    where = str(folder)
    config = parse_json(_text(folder, ".meta/config.json"), f"{where}/.meta/config.json")
    files = config.get("files") if isinstance(config, dict) else None
    if not isinstance(files, dict):
        raise UserError(f"{where}/.meta/config.json: no object 'files'")
    stub, tests, example = (
        {name: _text(folder, name) for name in _names(files, key, where)}
        for key in ("solution", "test", "example")
    )
    tests |= {
        name: _text(folder, name) for name in _further(folder) if name not in stub and name not in tests
    }
    docs = [_text(folder, f".docs/{name}") for name in _DOCS if (folder / ".docs" / name).is_file()]
    row: dict[str, Any] = {
        "id": f"exercism/{track}/{folder.name}",
        "slug": folder.name,
        "instructions": "\n\n".join(docs),
        "solution_stub": stub,
        "tests": tests,
        "example": example,
    }
    if track == "rust":
        row["dependencies"] = list(manifest(stub.get("Cargo.toml", ""), where))
    return row


def manifest(toml: str, where: str) -> dict[str, Any]:
    """Dependencies of a Cargo.toml, those of its tests included. Raises UserError."""
    read = parse_toml(toml, f"{where}: Cargo.toml")
    tables = [read.get("dependencies", {}), read.get("dev-dependencies", {})]
    if not all(isinstance(table, dict) for table in tables):
        raise UserError(f"{where}: Cargo.toml: dependencies are no table")
    return {**tables[0], **tables[1]}


def inline(value: Any) -> str:
    """A value of Cargo.toml in one line. JSON's texts, numbers, truths and lists are TOML's too."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {inline(inner)}" for name, inner in value.items()) + " }"
    return json.dumps(value)


def _names(files: dict[str, Any], key: str, where: str) -> list[str]:
    names = files.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{where}/.meta/config.json: files.{key} must be a list of paths")
    return names


def _further(folder: Path) -> list[str]:
    """Files that belong to the exercise without being named by its configuration: helpers of its tests."""
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part in _LEFT_OUT for part in parts)
        if not hidden and path.is_file() and path.suffix in (".py", ".rs"):
            found.append("/".join(parts))
    return found


def _text(folder: Path, name: str) -> str:
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UserError(f"{path}: lies outside of the exercise")
        if path.stat().st_size > MAX_FILE:
            raise UserError(f"{path}: more than {MAX_FILE >> 20} MiB: left out")
        return path.read_bytes().decode()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error
