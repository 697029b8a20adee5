"""The folder of a curation: its owner, its lock, and its atomic files."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strop.core import files
from strop.core.errors import UserError
from strop.core.journal import try_lock

MANIFEST, TASKS, DROPPED, CHANGES = "manifest.json", "tasks.jsonl", "dropped.jsonl", "changes.jsonl"
RESERVED = ("tasks", "dropped", "changes")
_WORK, _LOCK, _PLAN = ".work", ".lock", "plan.json"
FORMAT = "strop-curation-1"


class CurationFolder:
    """The output folder while this process holds it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.work = path / _WORK
        self.carried: dict[Path, str] = {}
        """What was copied into it, and the names that it has there."""

    def manifest(self) -> dict[str, Any] | None:
        """The manifest of a finished curation, or None."""
        return _read(self.path / MANIFEST)

    def write(self, name: str, lines: Iterable[bytes]) -> dict[str, Any]:
        """Writes a result file, whole or not at all; returns what the manifest says of it."""
        with files.atomic(self.path / name) as file:
            hashed = files.HashedFile(file)
            for line in lines:
                hashed.write(line)
        return hashed.entry()

    def carry(self, source: Path) -> str:
        """Copies a file or folder into it, once; returns its name there. Another one of that name gets a number."""
        if source not in self.carried:
            name, number = source.name, 1
            while name in self.carried.values():
                number += 1
                name = f"{number}-{source.name}"
            target, part = self.path / name, self.work / name
            if not (target.exists() and target.samefile(source)):
                _remove(part)
                if source.is_dir():
                    shutil.copytree(source, part, symlinks=True)
                else:
                    shutil.copyfile(source, part)
                _remove(target)
                part.rename(target)
            self.carried[source] = name
        return self.carried[source]

    def finish(self) -> None:
        """Removes what only an unfinished curation needs."""
        shutil.rmtree(self.work, ignore_errors=True)


@contextmanager
def opened(path: Path, identity: dict[str, Any], *, overwrite: bool = False) -> Iterator[CurationFolder]:
    """Makes or takes up the folder and holds it for this process alone.

    Raises UserError for a folder that holds something else, another curation (unless `overwrite`), or is in use.
    """
    folder = CurationFolder(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        there = sorted(os.listdir(path))
    except OSError as error:
        raise UserError(f"cannot use {path} as the folder of a curation: {error.strerror}") from error
    _refuse_foreign(path, there)
    lock = try_lock(path / _LOCK)
    if lock is None:
        raise UserError(f"another `strop curate` is using {path}: wait for it, or name another folder")
    try:
        files.remove_parts(path)
        before = _identity(folder)
        if overwrite:
            _clear(folder)
        elif before is not None:
            _refuse_other(path, before, identity)
        folder.work.mkdir(exist_ok=True)
        files.write_json(folder.work / _PLAN, identity)
        yield folder
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}; run the command again to resume") from error
    finally:
        os.close(lock)


def _refuse_foreign(path: Path, there: list[str]) -> None:
    """A folder is ours when it is empty, or holds our marks and nothing that we would not write."""
    foreign = [name for name in there if not name.startswith(".")]
    if not foreign or (path / _WORK / _PLAN).exists():
        return
    manifest = _read(path / MANIFEST)
    if manifest is None or manifest.get("format") != FORMAT:
        raise UserError(f"{path} holds {foreign[0]} and no curated tasks: name an empty or a new folder")


def _identity(folder: CurationFolder) -> dict[str, Any] | None:
    manifest = folder.manifest()
    if manifest is not None and "identity" in manifest:
        found: dict[str, Any] = manifest["identity"]
        return found
    return _read(folder.work / _PLAN)


def _clear(folder: CurationFolder) -> None:
    """Removes what an earlier curation wrote, and nothing else."""
    manifest = folder.manifest() or {}
    shutil.rmtree(folder.work, ignore_errors=True)
    for name in [MANIFEST, TASKS, DROPPED, CHANGES, *manifest.get("files", {}), *manifest.get("carried", [])]:
        if os.sep not in name:
            _remove(folder.path / name)


def _remove(path: Path) -> None:
    """Removes a file or a folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _refuse_other(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raises UserError where the folder was made by another pipeline; names the first difference."""
    for place, old, new in _differences(before, now, ""):
        change = f"{place} was {_short(old)}, now {_short(new)}"
        remedy = "name another folder, or start over with --overwrite"
        raise UserError(f"{path} holds another result: {change}; {remedy}")


def _differences(old: Any, new: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _differences(old.get(key), new.get(key), f"{place}.{key}" if place else str(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{place}.{number}")
    elif old != new:
        yield place, old, new


def _short(value: Any) -> str:
    text = "missing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {error}; name another folder") from error
    return value if isinstance(value, dict) else None
