"""One stage of a pipeline run: tasks, drops and changes go to disk, and every task is accounted for.

Files in the work folder, NN the stage's number: NN.tasks (see `lines`), NN.dropped.jsonl, NN.changes.jsonl, and
NN.json, the stage's entry in the manifest, which is written last: a stage without it is run again.
"""

import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from strop_tasks.curation.pipeline.lines import LineWriter, read_lines
from strop_tasks.curation.pipeline.step import Dropped
from strop_verify.core import files
from strop_verify.core.errors import StropError
from strop_verify.core.task import Task

Index = dict[int, int]  # hash of a task's id to the hash of its line: every input must be output


@dataclass
class StageCounts:
    """A stage's entry in the manifest. `taken` = `kept` + `dropped`."""

    step: str
    taken: int = 0
    kept: int = 0
    changed: int = 0
    """Kept tasks that the step changed."""
    dropped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    totals: Counter[str] = field(default_factory=Counter)
    sets: Counter[str] = field(default_factory=Counter)
    """Tasks kept, by the set that they come from."""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """As JSON, with `taken` under its public name, which is a Python keyword."""
        found = {
            key: dict(sorted(v.items())) if isinstance(v, Counter) else v for key, v in vars(self).items()
        }
        return {"step": found.pop("step"), "in": found.pop("taken"), **found}


class Watcher:
    """Receives the progress of a curation; this base class ignores it."""

    def begin(self, name: str, number: int, stages: int, size: int | None) -> None:
        """A stage begins with `size` tasks, if known."""

    def at(self, done: int, total: int | None) -> None:
        """Progress so far; `total` is None if unknown."""

    def say(self, text: str) -> None:
        """A line of text for the user."""

    def end(self, entry: StageCounts) -> None:
        """A stage has ended, with these counts."""


class StageFiles:
    """The files of one stage."""

    def __init__(self, work: Path, number: int, name: str) -> None:
        self.name = name
        self.tasks = work / f"{number:02d}.tasks"
        self.dropped = work / f"{number:02d}.dropped.jsonl"
        self.changes = work / f"{number:02d}.changes.jsonl"
        self.scratch = work / f"{number:02d}.scratch"
        self._done = work / f"{number:02d}.json"

    def entry(self) -> StageCounts | None:
        """The stage's entry if it is done, else None."""
        try:
            given = json.loads(self._done.read_text(encoding="utf-8"))
            return StageCounts(taken=given.pop("in"), **given)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StropError(f"{self._done} is damaged ({error}): start over with --overwrite") from error

    def run(
        self, make: Callable[["StageLedger"], Iterator[Task | Dropped]], before: Index | None
    ) -> tuple[StageCounts, Index]:
        """Runs the stage; `make` yields tasks and drops. `before` is None for the first stage, which creates tasks."""
        self.scratch.mkdir(exist_ok=True)
        started = time.monotonic()
        with (
            LineWriter(self.tasks) as kept,
            self.dropped.open("wb") as dropped,
            self.changes.open("wb") as changes,
        ):
            books = StageLedger(self.name, before, kept, dropped, changes)
            for item in make(books):
                books.enter(item)
            entry = books.close()
        entry.seconds = round(time.monotonic() - started, 3)
        files.write_json(self._done, entry.as_json())
        shutil.rmtree(self.scratch, ignore_errors=True)
        return entry, books.index


class StageLedger:
    """Checks the output of a stage against its input."""

    def __init__(
        self, name: str, before: Index | None, kept: LineWriter, dropped: IO[bytes], changes: IO[bytes]
    ) -> None:
        self.index: Index = {}
        self._left = None if before is None else dict(before)
        self._kept, self._dropped, self._changes = kept, dropped, changes
        self._entry = StageCounts(name)
        self.totals = self._entry.totals

    def enter(self, item: Task | Dropped) -> None:
        """Writes a task or drop. Raises StropError for one that was not an input, or was output before."""
        if isinstance(item, Dropped):
            if self._left is not None:
                self._take(item.task_id)
            self._entry.dropped += 1
            self._entry.reasons[item.reason] += 1
            line = {"id": item.task_id, "source": item.source, "step": self._entry.step}
            self._dropped.write(files.json_line({**line, "reason": item.reason, "detail": item.detail}))
            return
        data = item.model_dump_json().encode()
        digest, key = _hash(data), _hash(item.id.encode())
        if self._left is not None:
            self._entry.changed += self._take(item.id) != digest
        elif key in self.index:
            raise StropError(f"two tasks have the id {item.id!r}")
        self.index[key] = digest
        self._entry.kept += 1
        self._entry.sets[str(item.metadata.get("set", ""))] += 1
        self._kept.append(data)

    def note(self, task_id: str, what: Mapping[str, Any]) -> None:
        """Writes one line of changes.jsonl."""
        self._changes.write(files.json_line({"id": task_id, "step": self._entry.step, **what}))

    def close(self) -> StageCounts:
        """The stage's entry. Raises StropError if a task has vanished."""
        if self._left:
            raise StropError(f"the step {self._entry.step} lost {len(self._left)} tasks without a reason")
        self._entry.taken = self._entry.kept + self._entry.dropped
        return self._entry

    def _take(self, task_id: str) -> int:
        assert self._left is not None
        try:
            return self._left.pop(_hash(task_id.encode()))
        except KeyError:
            fault = f"yielded the task {task_id!r} twice, or did not get it"
            raise StropError(f"the step {self._entry.step} {fault}") from None


def index_of(path: Path) -> Index:
    """The index of a stage that is done, from its file."""
    return {_hash(json.loads(line)["id"].encode()): _hash(line) for line in read_lines(path)}


def copied(path: Path) -> Iterator[bytes]:
    """The lines of a file, without their newlines."""
    with path.open("rb") as file:
        for line in file:
            yield line.rstrip(b"\n")


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
