"""The folder of paid calls, and of what is built with them: its locks, and whether it belongs to this build."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strop.core import files
from strop.core.errors import UserError
from strop.core.journal import try_lock

CALLS, BUILD = "calls.jsonl", "build.json"
_LOOK_SECONDS = 0.2


@contextmanager
def opened(path: Path, identity: dict[str, Any], say: Callable[[str], None], command: str) -> Iterator[int]:
    """Creates or reopens the folder, locks it for this process, and yields the lock of its calls.

    The process that calls the server also holds that lock and may outlive a killed build; this waits for it and says
    so. Raises UserError for a folder that holds something else or is in use.
    """
    _make(path)
    _check_identity(path, identity)
    own = try_lock(path / ".build.lock")
    if own is None:
        raise UserError(f"another `{command}` is using {path}: wait for it, or name another folder")
    try:
        files.remove_parts(path)
        calls = _wait(path, say)
        try:
            if not (path / BUILD).exists():
                files.write_json(path / BUILD, identity)
            yield calls
        finally:
            os.close(calls)
    finally:
        os.close(own)


def _make(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        foreign = [name for name in os.listdir(path) if not name.startswith(".")]
    except OSError as error:
        raise UserError(f"cannot use {path} as the folder of a build: {error.strerror}") from error
    if foreign and not (path / BUILD).exists():
        raise UserError(f"{path} holds {min(foreign)} and no build: name an empty or a new folder")


def _check_identity(path: Path, identity: dict[str, Any]) -> None:
    """Raises UserError where the folder was made with other settings."""
    try:
        before = json.loads((path / BUILD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path / BUILD}: {error}; name another folder") from error
    for name, value in identity.items():
        if before.get(name) != value:
            what = "made with other texts of the questions" if name == "templates" else (
                f"made with {name} {before.get(name)!r}, this is {value!r}"
            )  # fmt: skip
            raise UserError(f"{path} holds another build, {what}: name another folder, or the same settings")


def _wait(path: Path, say: Callable[[str], None]) -> int:
    lock = try_lock(path / ".calls.lock")
    if lock is None:
        say("calls of a killed run are still in flight; waiting for them, so that none is paid twice")
    while lock is None:
        time.sleep(_LOOK_SECONDS)
        lock = try_lock(path / ".calls.lock")
    return lock
