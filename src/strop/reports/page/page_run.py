"""One run as the page's data, for the page on disk and the live one: data of the run folder and of its index.

Nothing happens without a request. Every request checks the folder's files (by time and size) and rereads changed ones.
A deleted folder is reported in one line while earlier data stays visible; a run that reappears there is followed
again.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from strop.config.revision import VERSIONS
from strop.reports import run_folder
from strop.reports.page.rollout_data import NO_ROLLOUT, detail_of, load_vocabulary
from strop.reports.page.rollout_index import Block, Index, Row
from strop.reports.page.run_data import run_data
from strop.reports.rollout_files import LOG, evaluation_file, step_file
from strop.reports.run_folder import EVALUATION, RECIPE, ROLLOUTS, SCALING, VOCABULARY, spans
from strop.reports.run_state import check_run, in_use
from strop.reports.shapes import is_count
from strop_verify.core.errors import UserError

_FILES = (RECIPE, VERSIONS, run_folder.METRICS, run_folder.SUMMARY, run_folder.ASKED)
_LOOK_SECONDS = 0.3
"""Seconds for which requests are answered from the last check."""


class PageRun:
    """A run folder as the page sees it. Methods are safe from any thread. Raises UserError for other folders."""

    def __init__(self, folder: Path, run_id: str, seen: Callable[[int], None] = lambda count: None) -> None:
        check_run(folder)
        self.folder, self._id = folder, run_id
        self._files, self._data = _stamps(folder), run_data(folder, run_id)
        source = str(self._data["settings"].get("tasks.source", ""))
        self.index = Index(folder, next((name for name in ("rust", "python") if name in source), ""), seen)
        self.notice = ""
        """One line if the folder cannot be read now."""
        self._lock = threading.Lock()
        self._looked = float("-inf")
        self._page: dict[str, Any] = {}
        self._stamp = 0
        self._vocabulary: tuple[Any, list[str]] = (None, [])

    def look(self) -> None:
        """Checks the folder, unless that was done just now."""
        with self._lock:
            if time.monotonic() - self._looked < _LOOK_SECONDS:
                return
            try:
                found = _stamps(self.folder)
                if found != self._files:
                    self._data, self._files = run_data(self.folder, self._id), found
                lines = self._data["metrics"]
                self.index.scan(
                    {line["step"]: line["rollouts"] for line in lines if is_count(line.get("rollouts"))}
                )
                self.notice = ""
            except (UserError, OSError) as error:
                gone = f"the run folder {self.folder} is gone; data read earlier is still shown"
                self.notice = str(error) if (self.folder / RECIPE).is_file() else gone
                self._files = []
            self._looked = time.monotonic()

    def page(self, seconds: float) -> dict[str, Any]:
        """The RUN of the page, after reading rollouts for about `seconds`. `stamp` changes if any part of it does."""
        self.look()
        self.index.read(seconds)
        with self._lock:
            blocks, progress, gone = self.index.blocks, self.index.progress(), self.index.gone
            lost = self._lost([block for block in blocks if block.problem], gone)
            found = {
                **self._data,
                "state": self._state(lost, gone),
                "lost": lost,
                "steps": sorted({*self.index.steps, *gone}),
                "flags": sorted({flag for block in blocks for flag in block.flags}),
                "groups": self.index.groups,
                "tasks": self.index.tasks,
                "total_rollouts": progress["total"],
                "index": progress,
                "epoch": self.index.epoch,
                "notice": self.notice,
            }
            if found != self._page:
                self._page, self._stamp = found, self._stamp + 1
            return {**found, "stamp": self._stamp}

    def detail(self, row_id: str) -> dict[str, Any] | None:
        """One complete rollout; None if it does not exist. Raises UserError if its file cannot be read."""
        block = self.index.find(row_id)
        return next((detail for _, detail in self.details(block, {row_id})), None) if block else None

    def details(self, block: Block, ids: set[str]) -> Iterator[tuple[Row, dict[str, Any]]]:
        """Rows of these ids, each with its complete rollout. Raises UserError if the file cannot be read."""
        vocabulary = self._texts()
        try:
            for row, line in block.lines(ids):
                language = block.tasks.get(row["task"], {}).get("language", "")
                yield row, detail_of(line, block.file, vocabulary, language)
        except NO_ROLLOUT as error:
            raise UserError(
                f"{block.file.path} has changed: a line is no longer a rollout ({error!r})"
            ) from error

    def _lost(self, damaged: list[Block], gone: list[int]) -> dict[str, str]:
        """{name of a block: reason} of rollouts that are missing or unreadable."""
        files = [step_file(self.folder, step) for step in gone]
        files += [evaluation_file(self.folder, one["file"]) for one in self._data["evaluations"]]
        absent = [file for file in files if file.name not in self.index.found]
        found = {file.name: f"cannot read {file.path}: no such file" for file in absent}
        return {**{block.file.name: block.problem for block in damaged}, **found}

    def _state(self, lost: dict[str, str], gone: list[int]) -> dict[str, Any]:
        state, steps = self._data["state"], {f"t.{step}" for step in gone}
        problems = [why for name, why in lost.items() if name not in steps]
        if gone:
            problems.append(
                f"rollouts of steps {spans(gone)} are gone: no such files in {self.folder / ROLLOUTS}"
            )
        files = f"; {len(lost)} {'file' if len(lost) == 1 else 'files'} of rollouts cannot be read"
        told = {"kind": "stopped", "text": self.notice} if self.notice else state
        text = told["text"] + (files if lost and not self.notice else "")
        return {**told, "text": text, "problems": list(dict.fromkeys([*state["problems"], *problems]))}

    def _texts(self) -> list[str]:
        """The text of each token id, read again if the file changed; empty if there is none."""
        with suppress(OSError):
            status = os.stat(self.folder / VOCABULARY)
            if (stamp := (status.st_mtime_ns, status.st_ino)) != self._vocabulary[0]:
                self._vocabulary = stamp, load_vocabulary(self.folder)
        return self._vocabulary[1]


def _stamps(folder: Path) -> list[Any]:
    """Whether a run is being written, and the time, size and inode of its files except rollouts. Raises OSError
    without any."""
    os.stat(folder / RECIPE)
    names = list(_FILES)
    for part in (EVALUATION, SCALING):
        with suppress(OSError):
            names += sorted(f"{part}/{name}" for name in os.listdir(folder / part))
    stamps: list[Any] = [in_use(folder)]
    for name in names:
        with suppress(OSError):
            status = os.stat(folder / name)
            grows = "/" in name and name.endswith(LOG)  # with every answer
            stamps.append((name, *(() if grows else (status.st_mtime_ns, status.st_size, status.st_ino))))
    return stamps
