"""Checkpoints that are complete or ignored: a marker is written last, and runs resume only from marked ones."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from strop.core import files
from strop.core.errors import StropError, UserError
from strop.training.failures import RunFailure, is_full

MARKER = "STROP_COMPLETE"
STATE = "strop_state.json"
OPTIMISER = "optimizer.pt"


def complete(folder: Path, state: dict[str, Any]) -> None:
    """Adds Strop's own state to a checkpoint that the learner has written, makes it durable and marks it whole."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    files.write_json(folder / STATE, state)
    files.open_to_readers(folder)
    files.write_json(folder / MARKER, "ok")


def unsaved(folder: Path, error: Exception) -> StropError:
    """Removes a checkpoint that could not be written as a whole, and says why and what there still is."""
    shutil.rmtree(folder, ignore_errors=True)
    if is_full(error):
        free = shutil.disk_usage(folder.parent).free / 2**20
        cause = (
            f"no space left ({free:,.0f} MiB free without it); free some room or lower run.keep_checkpoints"
        )
    else:
        cause = " ".join(f"{type(error).__name__}: {error}".split())
    last = max(_whole(folder.parent), default=(0, None))[1]
    kept = f"{last.name} is whole" if last else "there is no older one"
    return RunFailure(
        f"cannot save {folder}: {cause}; {kept}; resume with: strop train --resume {folder.parent.parent}"
    )


def drop_optimisers(folder: Path) -> None:
    """Removes the optimiser's state from every checkpoint of a run: most of their size, and no part of the model."""
    for path in folder.glob(f"checkpoint-*/{OPTIMISER}"):
        path.unlink(missing_ok=True)


def copy_model(checkpoint: Path, target: Path) -> None:
    """Copies a checkpoint's model and tokenizer, and nothing that only a resumed run needs."""
    shutil.copytree(
        checkpoint, target, ignore=shutil.ignore_patterns(OPTIMISER, STATE, MARKER, "*.jsonl.zst")
    )


def latest(folder: Path) -> Path | None:
    """The newest whole checkpoint of a run, or None. Half-written ones are removed."""
    for path in folder.glob("checkpoint-*"):
        if not (path / MARKER).is_file():
            shutil.rmtree(path, ignore_errors=True)
    return max(_whole(folder), default=(0, None))[1]


def prune(folder: Path, keep: int) -> None:
    """Removes all but the newest `keep` whole checkpoints."""
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
    """Strop's own state of a whole checkpoint. Raises UserError when it is not one."""
    try:
        state: dict[str, Any] = json.loads((checkpoint / STATE).read_text())
    except (OSError, ValueError) as error:
        fault = f"is not a complete checkpoint ({error})"
        raise UserError(f"{checkpoint} {fault}; resume from an older one") from error
    return state
