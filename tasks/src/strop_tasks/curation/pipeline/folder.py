"""The folder of a curation: its owner, its lock, and its atomic files."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strop_tasks.curation.engine.folder import held, read_object, refuse_other
from strop_verify.core import files
from strop_verify.core.errors import UserError

MANIFEST, TASKS, DROPPED, CHANGES = "manifest.json", "tasks.jsonl", "dropped.jsonl", "changes.jsonl"
RESERVED = ("tasks", "dropped", "changes")
_WORK, _PLAN = ".work", "plan.json"
FORMAT = "strop-curation-1"


class CurationFolder:
    """The output folder, locked by this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.work = path / _WORK
        self.carried: dict[Path, str] = {}  # copied files and their names in the folder

    def manifest(self) -> dict[str, Any] | None:
        """The manifest of a finished curation, or None."""
        return read_object(self.path / MANIFEST)

    def write(self, name: str, lines: Iterable[bytes]) -> dict[str, Any]:
        """Writes a result file, whole or not at all; returns its entry in the manifest."""
        with files.atomic(self.path / name) as file:
            hashed = files.HashedFile(file)
            for line in lines:
                hashed.write(line)
        return hashed.entry()

    def carry(self, source: Path) -> str:
        """Copies a file or folder into the folder, once, and returns its name there; a number makes names unique."""
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
        """Removes files that only an unfinished curation needs."""
        shutil.rmtree(self.work, ignore_errors=True)


@contextmanager
def opened(path: Path, identity: dict[str, Any], *, overwrite: bool = False) -> Iterator[CurationFolder]:
    """Creates or resumes the folder and locks it for this process.

    Raises UserError for a folder that holds something else, another curation (unless `overwrite`), or is in use.
    """
    folder = CurationFolder(path)
    try:
        with held(path, "strop curate", lambda: _ours(folder)):
            before = (folder.manifest() or {}).get("identity") or read_object(folder.work / _PLAN)
            if overwrite:
                _clear(folder)
            elif before is not None:
                refuse_other(path, before, identity, "name another folder, or start over with --overwrite")
            folder.work.mkdir(exist_ok=True)
            files.write_json(folder.work / _PLAN, identity)
            yield folder
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}; run the command again to resume") from error


def _ours(folder: CurationFolder) -> bool:
    """Whether it is the folder of a curation."""
    return (folder.work / _PLAN).exists() or (folder.manifest() or {}).get("format") == FORMAT


def _clear(folder: CurationFolder) -> None:
    """Removes only files that an earlier curation wrote."""
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
