"""Checkpoints: a marker with the digest of every file is written last. A checkpoint without a marker is ignored; one
whose bytes do not match it is refused.

`cd CHECKPOINT && sha256sum -c STROP_COMPLETE` checks one by hand.
"""

import hashlib
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from strop.training.failures import RunFailure, is_full
from strop_verify.core import files
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.progress import PROGRESS

MARKER = "STROP_COMPLETE"
STATE = "strop_state.json"
OPTIMISER, OPTIMISER_SHARDS = "optimizer.pt", "optimizer"
"""The optimiser's state: a file, or a folder to which each process wrote its shards (`training.shards`)."""


def complete(folder: Path, state: dict[str, Any]) -> None:
    """Adds Strop's own state to a checkpoint that the backend has written, and seals it."""
    files.write_json(folder / STATE, state)
    seal(folder)


def seal(folder: Path) -> None:
    """Syncs a folder's files to disk and writes the marker with their digests; about a second per GB and core."""
    files.open_to_readers(folder)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    text = "".join(f"{digest}  {name}\n" for name, digest in _digests(folder, names, durable=True).items())
    with files.atomic(folder / MARKER) as file:
        file.write(_signed(text))


@PROGRESS.at("checking digests", busy=True)
def damage(folder: Path) -> str:
    """What is wrong with a sealed folder; "" if nothing. The optimiser's state may be absent. Reads every byte."""
    marker = folder / MARKER
    try:
        data = marker.read_bytes()
        text = data.decode().rpartition("# ")[0]
        if data != _signed(text):
            return f"{marker} is damaged"
        sealed = {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}
        if not any((folder / one).exists() for one in (OPTIMISER, OPTIMISER_SHARDS)):
            sealed = {name: one for name, one in sealed.items() if not name.startswith(OPTIMISER_SHARDS)}
        found = _digests(folder, list(sealed))
    except UnicodeDecodeError:
        return f"{marker} is damaged"
    except FileNotFoundError as error:
        return f"{error.filename} is missing"
    except OSError as error:
        return f"{error.filename or folder} is damaged ({error.strerror})"
    wrong = next((name for name in sealed if found[name] != sealed[name]), None)
    return f"{folder / wrong} is damaged: its bytes differ from those that were saved" if wrong else ""


def check(checkpoint: Path | None) -> None:
    """Raises UserError for a damaged checkpoint, naming the file and the newest undamaged checkpoint."""
    if checkpoint is None or not (fault := damage(checkpoint)):
        return
    wrong, before = [checkpoint], "from the start: no older one is intact"
    for _, older in sorted(_whole(checkpoint.parent), reverse=True):
        if older not in wrong:
            if not damage(older):
                before = f"from {older.name}, which is intact"
                break
            wrong.append(older)
    raise UserError(f"{fault}; remove {' and '.join(map(str, wrong))} to resume {before}")


def _digests(folder: Path, names: list[str], *, durable: bool = False) -> dict[str, str]:
    """{name: SHA-256} of files in a folder; with `durable`, they are synced to disk first."""

    def digest(name: str) -> str:
        with (folder / name).open("rb") as file:
            if durable:
                os.fsync(file.fileno())
            return hashlib.file_digest(file, "sha256").hexdigest()

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(names, pool.map(digest, names), strict=True))


def _signed(text: str) -> bytes:
    """A marker's lines and, as a last line that sha256sum treats as a comment, their own digest."""
    return f"{text}# {hashlib.sha256(text.encode()).hexdigest()}\n".encode()


def unsaved(folder: Path, error: Exception) -> StropError:
    """Removes a checkpoint that could not be written; returns an error that says why and what is left."""
    shutil.rmtree(folder, ignore_errors=True)
    if is_full(error):
        free = shutil.disk_usage(folder.parent).free / 2**20
        cause = (
            f"no space left ({free:,.0f} MiB free without it); free some room or lower run.keep_checkpoints"
        )
    else:
        cause = " ".join(f"{type(error).__name__}: {error}".split())
    last = max(_whole(folder.parent), default=(0, None))[1]
    kept = f"{last.name} is intact" if last else "there is no older one"
    return RunFailure(
        f"cannot save {folder}: {cause}; {kept}; resume with: strop train --resume {folder.parent.parent}"
    )


def drop_optimisers(folder: Path) -> None:
    """Removes the optimiser's state, which takes most of the space, from every checkpoint of a run."""
    for checkpoint in folder.glob("checkpoint-*"):
        (checkpoint / OPTIMISER).unlink(missing_ok=True)
        shutil.rmtree(checkpoint / OPTIMISER_SHARDS, ignore_errors=True)


def latest(folder: Path) -> Path | None:
    """The newest complete checkpoint of a run, or None. Removes incomplete ones."""
    for path in folder.glob("checkpoint-*"):
        if not (path / MARKER).is_file():
            shutil.rmtree(path, ignore_errors=True)
    return max(_whole(folder), default=(0, None))[1]


def prune(folder: Path, keep: int) -> None:
    """Removes all but the newest `keep` complete checkpoints."""
    whole = sorted(_whole(folder))
    for _, path in whole[: max(0, len(whole) - keep)]:
        shutil.rmtree(path, ignore_errors=True)


def _whole(folder: Path) -> list[tuple[int, Path]]:
    return [
        (int(path.name.removeprefix("checkpoint-")), path)
        for path in folder.glob("checkpoint-*")
        if (path / MARKER).is_file()
    ]


def read_state(checkpoint: Path) -> dict[str, Any]:
    """Strop's own state in a checkpoint that `check` accepted."""
    state: dict[str, Any] = json.loads((checkpoint / STATE).read_text())
    return state
