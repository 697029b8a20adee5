"""The folder of a resumable build: its owner, its lock and its settings."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.journal import try_lock


@contextmanager
def held(path: Path, command: str, ours: Callable[[], bool]) -> Iterator[None]:
    """Creates the folder and locks it for this process; unfinished files of a killed process are removed.

    ours  whether a non-empty folder was made by this command
    Raises UserError for a folder that holds something else or is in use.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        foreign = min((name for name in os.listdir(path) if not name.startswith(".")), default="")
    except OSError as error:
        raise UserError(f"cannot use {path} as the folder of `{command}`: {error.strerror}") from error
    if foreign and not ours():
        raise UserError(f"{path} holds {foreign} but nothing of `{command}`: name an empty or a new folder")
    lock = try_lock(path / ".lock")
    if lock is None:
        raise UserError(f"another `{command}` is using {path}: wait for it, or name another folder")
    try:
        files.remove_parts(path)
        yield
    finally:
        os.close(lock)


def refuse_other(path: Path, before: Mapping[str, Any], now: Mapping[str, Any], remedy: str) -> None:
    """Raises UserError if the folder was made with other settings; names the first difference."""
    for place, old, new in _differences(before, now, ""):
        raise UserError(
            f"{path} holds another result: {place} was {_short(old)}, now {_short(new)}; {remedy}"
        )


def read_object(path: Path) -> dict[str, Any] | None:
    """The JSON object of a file; None if there is no file. Raises UserError if it cannot be read."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {error}; name another folder") from error
    return value if isinstance(value, dict) else None


def _differences(old: Any, new: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
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
