"""Every rollout of a run as a small row, read in the background: the newest step, then evaluations, then older steps.

Nothing waits for all of it: each response says how many rollouts were read, of how many. A block that is requested
by name is read immediately. If a file disappears or is replaced (a run is resumed or started again), its rows
are dropped and `epoch` changes; results from the older epoch are void.
"""

import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from strop.reports.view.blocks import Block, BlockFile, BlockReader, Filters, Row, as_dict, found_in, line_of

_BREATH_SECONDS = 0.002
"""Pause between two blocks, so that requests come in between."""
_MOST_TASK_ROWS = 2000
_NONE: dict[str, Any] = {"rows": [], "tasks": {}}


class Index:
    """The rows of one run folder. All methods may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._reader = folder, BlockReader()
        self._lock = threading.RLock()
        self._gates: dict[str, threading.Lock] = {}
        self._work = threading.Event()
        self._closed = False
        self._found: dict[str, BlockFile] = {}
        self._blocks: dict[str, Block] = {}
        self._queue: deque[str] = deque()
        self._groups: list[list[Any]] = []
        self._tasks: dict[str, dict[str, str]] = {}
        self._flags: set[str] = set()
        self._planned: Mapping[int, int] = {}
        self._born, self._age = secrets.token_hex(4), 0
        self._thread = threading.Thread(target=self._read_all, name="index", daemon=True)

    def start(self) -> None:
        """Begins to read; before, only what is asked for by name is read. Safe to call twice."""
        with self._lock:
            if self._thread.ident is None and not self._closed:
                self._thread.start()

    def close(self) -> None:
        """Ends the reading and waits for the block at hand."""
        self._closed = True
        self._work.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def scan(self, rollouts_by_step: Mapping[int, int]) -> None:
        """Looks at the folder; what is new there will be read. `rollouts_by_step`: how many each step should have."""
        found = found_in(self._folder)
        with self._lock:
            self._planned = rollouts_by_step
            stale = [name for name, block in self._blocks.items() if found.get(name) != block.found]
            for name in stale:
                del self._blocks[name]
            self._found = found
            self._gates = {name: gate for name, gate in self._gates.items() if name in found}
            unread = [name for name in found if name not in self._blocks]
            self._queue = deque(_in_turn(unread, newest=next(iter(found), "")))
            if stale:
                self._begin_anew()
        self._work.set()

    @property
    def epoch(self) -> str:
        """Changes when something that was handed out does not hold any more."""
        return f"{self._born}-{self._age}"

    @property
    def steps(self) -> list[int]:
        """Steps of training that have rollouts on disk, in order."""
        with self._lock:
            return sorted(found.step for found in self._found.values() if found.step is not None)

    @property
    def problems(self) -> list[str]:
        """A line for each file that could not be read."""
        with self._lock:
            return [block.problem for block in self._blocks.values() if block.problem]

    @property
    def flags(self) -> list[str]:
        """Kinds of hacks seen so far, by name."""
        with self._lock:
            return sorted(self._flags)

    def progress(self) -> dict[str, Any]:
        """`looked_at` rollouts of `total`; the total is estimated until the index is `complete`."""
        with self._lock:
            looked_at = sum(len(block.rows) for block in self._blocks.values())
            mean = looked_at / len(self._blocks) if self._blocks else 0.0
            left = [found for name, found in self._found.items() if name not in self._blocks]
            more = sum(self._planned.get(found.step or 0, mean) for found in left)
            return {"looked_at": looked_at, "total": looked_at + round(more), "complete": not left}

    def since(self, groups: int, tasks: int) -> tuple[list[list[Any]], dict[str, dict[str, str]]]:
        """Groups and tasks after the first `groups` and `tasks`, in the order in which they were read."""
        with self._lock:
            return self._groups[groups:], dict(list(self._tasks.items())[tasks:])

    def rows(self, name: str) -> dict[str, Any]:
        """The `rows` of a block such as `t.12`, read now if need be, and their `tasks`; none without such a block."""
        block = self._block(name)
        return {"rows": [as_dict(row) for row in block.rows], "tasks": block.tasks} if block else _NONE

    def search(self, filters: Filters, limit: int) -> dict[str, Any]:
        """The first `limit` rows that match, newest step first, their tasks, how many match, and the progress."""
        with self._lock:
            labels = dict(self._tasks)
        rows: list[dict[str, Any]] = []
        matched = 0
        for row in self._in_order():
            if filters.match(row, labels):
                matched += 1
                if len(rows) < limit:
                    rows.append(as_dict(row))
        tasks = {row["task"]: labels[row["task"]] for row in rows if row["task"] in labels}
        return {"rows": rows, "tasks": tasks, "matched": matched, **self.progress()}

    def task(self, task: str) -> dict[str, Any]:
        """A task's groups and rows so far, at most 2,000 rows, how many there are (`matched`), and the progress."""
        with self._lock:
            groups = [group for group in self._groups if group[2] == task]
        rows = [row for row in self._in_order() if row.task == task]
        kept = [as_dict(row) for row in rows[:_MOST_TASK_ROWS]]
        return {"groups": sorted(groups), "rows": kept, "matched": len(rows), **self.progress()}

    def find(self, row_id: str) -> tuple[Block, dict[str, Any]] | None:
        """The whole rollout of an id and its block, None when there is none. Raises UserError for a file that broke."""
        with self._lock:
            names = [name for name in self._found if row_id.startswith(f"{name}.")]
        for name in names:
            block = self._block(name)
            line = line_of(block, row_id) if block else None
            if block is not None and line is not None:
                return block, line
        return None

    def _in_order(self) -> Iterator[Row]:
        with self._lock:
            blocks = [self._blocks[name] for name in self._found if name in self._blocks]
        for block in blocks:
            yield from block.rows

    def _block(self, name: str) -> Block | None:
        """A block by name, read now unless it has been."""
        with self._lock:
            found = self._found.get(name)
            block = self._blocks.get(name)
            gate = self._gates.setdefault(name, threading.Lock()) if found else None
        if found is None or gate is None or block is not None:
            return block
        with gate:  # who asks for a block that is being read waits for it
            with self._lock:
                block = self._blocks.get(name)
            return block or self._keep(self._reader.read(found))

    def _keep(self, block: Block) -> Block:
        with self._lock:
            if self._found.get(block.found.name) == block.found and block.found.name not in self._blocks:
                self._blocks[block.found.name] = block
                self._groups += block.groups
                self._tasks.update(block.tasks)
                self._flags.update(flag for row in block.rows for flag in row.flags)
        return block

    def _begin_anew(self) -> None:
        self._age += 1
        self._groups = [group for block in self._blocks.values() for group in block.groups]
        self._tasks = {task: about for block in self._blocks.values() for task, about in block.tasks.items()}

    def _next(self) -> str | None:
        with self._lock:
            while self._queue:
                name = self._queue.popleft()
                if name not in self._blocks:
                    return name
        return None

    def _read_all(self) -> None:
        while not self._closed:
            name = self._next()
            if name is None:
                self._work.wait()
                self._work.clear()
                continue
            self._block(name)
            time.sleep(_BREATH_SECONDS)


def _in_turn(names: list[str], newest: str) -> list[str]:
    """Names in the order in which they are to be read: the newest step, then evaluations, then older steps."""
    return sorted(names, key=lambda name: (name != newest, name.startswith("t.")))
