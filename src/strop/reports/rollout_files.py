"""Reads files of rollouts whole: refuses a truncated or damaged file, while `files.read_jsonl` returns what it can."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import zstandard

from strop.reports.run_folder import EVALUATION, ROLLOUTS, STEP_FILE, RunFolder
from strop_verify.core.errors import UserError

_BLOCK = 1 << 18
_GROWN = 1.1
WHOLE, LOG = ".jsonl.zst", ".jsonl"
"""Suffixes of an evaluation's rollout file: finished, and in progress or cut off."""
CONTROL = ".resampled"
"""Suffix of an evaluation's name for the answers of its control."""


@dataclass(frozen=True)
class RolloutFile:
    """A file of rollouts, of a step or an evaluation."""

    path: Path
    step: int | None = None
    evaluation: str = ""
    stamp: tuple[int, ...] = ()
    """Time of change in ns, bytes and inode; a different value means a different file."""

    @property
    def name(self) -> str:
        """The beginning of its rows' ids: `t.12` for step 12 of training, `e.before` for an evaluation."""
        return f"e.{self.evaluation}" if self.step is None else f"t.{self.step}"


def found_in(folder: Path) -> dict[str, RolloutFile]:
    """The files of rollouts of a run by name: steps from the newest on, then evaluations."""
    steps = [
        RolloutFile(Path(entry.path), int(match[1]), stamp=_stamp(entry))
        for entry in _entries(folder / ROLLOUTS)
        if (match := STEP_FILE.fullmatch(entry.name))
    ]
    whole = {entry.name: entry for entry in _entries(folder / EVALUATION)}
    evaluations = [
        RolloutFile(Path(entry.path), None, name, _stamp(entry))
        for file, entry in whole.items()
        if (name := evaluation_name(file)) and (file.endswith(WHOLE) or f"{name}{WHOLE}" not in whole)
    ]
    steps.sort(key=lambda found: -(found.step or 0))
    evaluations.sort(key=lambda found: found.name)
    return {found.name: found for found in (*steps, *evaluations)}


def step_file(folder: Path, step: int) -> RolloutFile:
    """The rollouts of a step of training."""
    return RolloutFile(RunFolder(folder).rollout_file(step), step=step)


def evaluation_file(folder: Path, name: str) -> RolloutFile:
    """The rollouts of an evaluation, by the name of its file; those so far if unfinished."""
    whole = folder / EVALUATION / f"{name}{WHOLE}"
    log = folder / EVALUATION / f"{name}{LOG}"
    return RolloutFile(log if log.is_file() and not whole.is_file() else whole, evaluation=name)


def evaluation_name(file: str) -> str:
    """The name of the evaluation whose rollouts are in a file of that name, "" for other files."""
    end = WHOLE if file.endswith(WHOLE) else LOG
    return file.removesuffix(end) if file.endswith(end) and not file.startswith(".") else ""


def read_whole(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a compressed JSON-lines file. Raises UserError for a truncated or damaged one, which is skipped
    as a whole."""
    number = 0
    for number, text in enumerate(lines(path), start=1):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path} is damaged and is left out: line {number}: {error}") from error
        if not isinstance(value, dict):
            raise UserError(f"{path} is damaged and is left out: line {number} is not a rollout")
        yield value


def lines(path: Path) -> Iterator[bytes]:
    """The lines of such a file, without their newlines. Raises UserError at the end of a truncated one.

    An incomplete last line of a log is left out: it is being written, or was cut off by a kill.
    """
    rest: list[bytes] = []
    for block in _blocks(path):
        first, *others = block.split(b"\n")
        rest.append(first)
        if others:
            yield b"".join(rest)
            yield from others[:-1]
            rest = [others[-1]]
    if any(rest) and path.suffix != LOG:
        raise UserError(f"{path} is torn and is left out: its last line has no end")


def _blocks(path: Path) -> Iterator[bytes]:
    """The file's content, decompressed, in blocks of a few megabytes."""
    unpack = zstandard.ZstdDecompressor().decompressobj()
    try:
        with path.open("rb") as file:
            while packed := file.read(_BLOCK):
                yield packed if path.suffix == LOG else unpack.decompress(packed)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except zstandard.ZstdError as error:
        raise UserError(f"{path} is damaged and is left out: {error}") from error
    if not unpack.eof and path.suffix != LOG:
        raise UserError(f"{path} is torn and is left out: its end is missing")


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """Regular files of a folder; none if it does not exist."""
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if entry.is_file())
    except OSError:
        return


def _stamp(entry: "os.DirEntry[str]") -> tuple[int, ...]:
    """The file's identity, () if it disappeared since the listing. A log's changes whenever it has grown by a tenth."""
    try:
        status = entry.stat()
    except OSError:
        return ()
    if entry.name.endswith(LOG):
        return (int(log(status.st_size + 1, _GROWN)), status.st_ino)
    return (status.st_mtime_ns, status.st_size, status.st_ino)
