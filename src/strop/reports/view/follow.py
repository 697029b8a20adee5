"""One run, followed while it grows: its data for the page, and what is new since the page last asked.

Nothing happens without a request. Every request checks the folder's files (by time and size); what changed is
read again. A run that was truncated or started again gets another epoch, and the page reloads everything. A
deleted folder is reported in one line; what was read before stays visible, and a run that reappears there is
followed again.
"""

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import Any

from strop.core.errors import UserError
from strop.reports.page.rollout_data import NO_ROLLOUT, detail_of, load_vocabulary
from strop.reports.page.run_data import run_data
from strop.reports.rollout_files import LOG
from strop.reports.run_folder import EVALUATION, METRICS, RECIPE, SUMMARY, VERSIONS, VOCABULARY
from strop.reports.run_state import Metrics, RunState, check_run, read_metrics, state_of
from strop.reports.shapes import is_count
from strop.reports.view.index import Index

_LOOK_SECONDS = 0.3
"""Questions closer together than this are answered from the last look."""
Stamp = tuple[str, int, int, int]
_GROWING = ("metrics", "groups", "tasks", "total_rollouts")
"""Parts of a run's data that are sent apart."""


class FollowedRun:
    """A run folder as the page sees it. Methods may be called from any thread. Raises UserError when it is none."""

    def __init__(self, folder: Path, run_id: str) -> None:
        check_run(folder)
        self.folder = folder
        self.index = Index(folder)
        self._id = run_id
        self._lock = threading.Lock()
        self._looked = float("-inf")
        self._files: Any = None
        self._lines = Metrics([])
        self._read: dict[str, Any] = {}
        self._head: dict[str, Any] = {}
        self._stamp = self._age = 0
        self._reading = threading.Lock()
        self._vocabulary: tuple[list[Stamp], list[str]] = ([], [])
        self.notice = ""
        """One line when the folder cannot be read now."""

    @property
    def name(self) -> str:
        """The run's name, else its folder's."""
        return str(self._read.get("name") or self.folder.name)

    def look(self) -> None:
        """Looks at the folder, unless that was done just now."""
        with self._lock:
            self._look()

    def page(self) -> dict[str, Any]:
        """The whole RUN of the page, with what the index holds by now."""
        with self._lock:
            self._look()
            groups, tasks = self.index.since(0, 0)
            place = self._place()
            lists = {"metrics": self._metrics, "groups": groups, "tasks": tasks}
            return {**self._head, **lists, "total_rollouts": place["index"]["total"], **place}

    def changes(self, *, epoch: str, stamp: str, metrics: int, groups: int, tasks: int) -> dict[str, Any]:
        """What came after that many lines, groups and tasks of an epoch; everything when the epoch is over.

        `run` is the rest of the RUN, None when it is as it was at `stamp`.
        """
        with self._lock:
            self._look()
            place = self._place()
            reset = epoch != place["epoch"]
            if reset:
                metrics = groups = tasks = 0
            new_groups, new_tasks = self.index.since(groups, tasks)
            return {
                **place,
                "reset": reset,
                "run": self._head if reset or stamp != place["stamp"] else None,
                "metrics": self._metrics[metrics:],
                "groups": new_groups,
                "tasks": new_tasks,
            }

    def detail(self, row_id: str) -> dict[str, Any] | None:
        """One rollout, whole; None when there is no such one. Raises UserError when its file cannot be read."""
        found = self.index.find(row_id)
        if found is None:
            return None
        block, line = found
        language = block.tasks.get(str(line.get("task_id")), {}).get("language", "")
        try:
            return detail_of(line, block.found, self._texts(), language)
        except NO_ROLLOUT as error:
            raise UserError(
                f"{block.found.path} has changed: a line is no longer a rollout ({error!r})"
            ) from error

    def _texts(self) -> list[str]:
        """The text of each token id, read again when the file is another; empty when there is none."""
        with self._reading:
            stamps = _stamps(self.folder, [VOCABULARY])
            if stamps != self._vocabulary[0]:
                self._vocabulary = stamps, load_vocabulary(self.folder)
            return self._vocabulary[1]

    @property
    def _metrics(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._read.get("metrics", [])
        return found

    def _place(self) -> dict[str, Any]:
        return {
            "epoch": f"{self.index.epoch}.{self._age}",
            "stamp": str(self._stamp),
            "index": self.index.progress(),
            "notice": self.notice,
        }

    def _look(self) -> None:
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        try:
            self._look_at_files()
            self.notice = ""
        except (UserError, OSError) as error:
            there = (self.folder / RECIPE).is_file()
            self.notice = (
                str(error)
                if there
                else f"the run folder {self.folder} is gone; what was read before is still shown"
            )
            self._files = None
        self._renew_head()
        self._looked = time.monotonic()

    def _look_at_files(self) -> None:
        found = _stamps(self.folder, _sources(self.folder))
        if found != self._files:
            lines = Metrics([])
            with contextlib.suppress(UserError):  # run_data names it
                lines = read_metrics(self.folder)
            fresh = run_data(self.folder, self._id)
            if fresh["metrics"][: len(self._metrics)] != self._metrics:
                self._age += 1
            self._read, self._lines = fresh, lines
            self._files = found
        self.index.scan(
            {line["step"]: line["rollouts"] for line in self._metrics if is_count(line.get("rollouts"))}
        )

    def _renew_head(self) -> None:
        """The RUN without its growing lists; another stamp when it is not what it was."""
        head = {key: value for key, value in self._read.items() if key not in _GROWING}
        state = RunState("stopped", self.notice)
        if not self.notice:
            with contextlib.suppress(UserError):  # it went this moment; the next look says so
                state = state_of(self.folder, self._lines, head.get("steps_planned"))
        problems = [*state.problems, *self._read.get("state", {}).get("problems", []), *self.index.problems]
        head["state"] = {**state.as_json(), "problems": list(dict.fromkeys(problems))}
        head["steps"] = self.index.steps
        head["flags"] = self.index.flags
        if head != self._head:
            self._head = head
            self._stamp += 1


def _sources(folder: Path) -> list[str]:
    """Names of what a run's data is made from. Raises OSError without a recipe."""
    os.stat(folder / RECIPE)
    evaluations: list[str] = []
    with contextlib.suppress(OSError):
        evaluations = sorted(f"{EVALUATION}/{name}" for name in os.listdir(folder / EVALUATION))
    return [RECIPE, VERSIONS, METRICS, SUMMARY, *evaluations]


def _stamps(folder: Path, names: list[str]) -> list[Stamp]:
    """Name, time of change, size and inode of the files that are there."""
    stamps = []
    for name in names:
        if name.startswith(EVALUATION) and name.endswith(LOG):  # it grows with every answer
            stamps.append((name, 0, 0, 0))
            continue
        try:
            status = os.stat(folder / name)
        except OSError:
            continue
        stamps.append((name, status.st_mtime_ns, status.st_size, status.st_ino))
    return stamps
