"""Every rollout of a run as a short row, for the page on disk, the live page and searches.

Files are read on demand, by name or in turn: the newest step, then evaluations, then older steps.
Rows of a file that disappeared or was replaced (by resuming or restarting a run) are dropped, and `epoch` changes.
A name is one of the folder's files, never built from a request.
"""

import json
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from strop.reports.page.rollout_data import NO_ROLLOUT, mean_and_signal, numbered, row_of, task_of
from strop.reports.rollout_files import RolloutFile, found_in, read_whole
from strop_verify.core import files
from strop_verify.core.errors import UserError

Row = dict[str, Any]
"""A row of the page (`rollout_data.row_of`)."""
MOST_SEARCHED = 4000
"""Searched characters of an answer; a longer one is searched without the prompt that it continues."""
_MOST_TASK_ROWS = 2000
_MOST_SHARED = 20_000


@dataclass(frozen=True)
class Block:
    """The content of one file; empty, with a one-line reason, if it is truncated or damaged.

    texts   the searched text of each row
    groups  [step, group, task, rollouts, scored, passed, mean reward or None, 1 for signal] each
    """

    file: RolloutFile
    rows: list[Row] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    groups: list[list[Any]] = field(default_factory=list)
    tasks: dict[str, dict[str, str]] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    problem: str = ""

    def lines(self, ids: set[str]) -> Iterator[tuple[Row, dict[str, Any]]]:
        """Rows of these ids, each with its complete rollout. Raises UserError for an unreadable file."""
        wanted = {at: row for at, row in enumerate(self.rows) if row["id"] in ids}
        for at, text in enumerate(files.lines(self.file.path) if wanted else ()):
            if at in wanted:
                yield (row := wanted.pop(at)), {**json.loads(text), "greedy": row["greedy"]}
            if not wanted:
                return


class Index:
    """The rows of one run folder. All methods are safe from any thread.

    language  for answers that do not show theirs;  seen  called with the number of rollouts read so far
    """

    def __init__(
        self, folder: Path, language: str = "", seen: Callable[[int], None] = lambda count: None
    ) -> None:
        self._folder, self._language, self._seen = folder, language, seen
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self.found: dict[str, RolloutFile] = {}
        """The folder's files of rollouts: steps from the newest on, then evaluations."""
        self._blocks: dict[str, Block] = {}
        self._planned: Mapping[int, int] = {}
        self._shared: dict[str, Any] = {}
        self._count = 0
        self.epoch = 0
        """Changes if anything returned earlier is no longer valid."""

    def scan(self, planned: Mapping[int, int]) -> None:
        """Checks the folder for new files. `planned`: expected rollouts per step."""
        found = found_in(self._folder)
        with self._lock:
            kept = {name: block for name, block in self._blocks.items() if found.get(name) == block.file}
            self.epoch += len(kept) < len(self._blocks)
            self.found, self._blocks, self._planned = found, kept, planned

    def read(self, seconds: float = math.inf) -> None:
        """Reads unread files for about that long."""
        end = time.monotonic() + seconds
        newest = next(iter(self.found), "")
        for name in sorted(self.found, key=lambda name: (name != newest, name.startswith("t."))):
            if time.monotonic() >= end:
                return
            self.block(name)

    def block(self, name: str) -> Block | None:
        """The block of a file, read now unless it has been; None without such a file."""
        with self._lock:
            found, block = self.found.get(name), self._blocks.get(name)
        if found is None or block is not None:
            return block
        with self._reading:  # requests for a block that is being read wait for it
            block = self._blocks.get(name) or self._read(found)
        with self._lock:
            if self.found.get(name) == found:
                self._blocks[name] = block
        return block

    @property
    def blocks(self) -> list[Block]:
        """The blocks read so far: steps from the newest on, then evaluations."""
        with self._lock:
            return [self._blocks[name] for name in self.found if name in self._blocks]

    @property
    def steps(self) -> list[int]:
        """Steps of training that have rollouts on disk, in order."""
        return sorted(found.step for found in self.found.values() if found.step is not None)

    @property
    def gone(self) -> list[int]:
        """Steps of training that had rollouts but lack a file."""
        with self._lock:
            return sorted(s for s, count in self._planned.items() if count and f"t.{s}" not in self.found)

    @property
    def groups(self) -> list[list[Any]]:
        """Every group that was read, by step."""
        return sorted((group for block in self.blocks for group in block.groups), key=itemgetter(0, 1))

    @property
    def tasks(self) -> dict[str, dict[str, str]]:
        """Every task that was read, with its label and language."""
        return {task: about for block in self.blocks for task, about in block.tasks.items()}

    def progress(self) -> dict[str, Any]:
        """`looked_at` rollouts of `total`; the total is estimated until the index is `complete`."""
        with self._lock:
            looked_at = sum(len(block.rows) for block in self._blocks.values())
            mean = looked_at / len(self._blocks) if self._blocks else 0.0
            left = [found for name, found in self.found.items() if name not in self._blocks]
            more = sum(self._planned.get(found.step or 0, mean) for found in left)
        return {"looked_at": looked_at, "total": looked_at + round(more), "complete": not left}

    def rows(self, name: str) -> dict[str, Any]:
        """The `rows` of a block such as `t.12`, read now if needed, and their `tasks`; none without such a block."""
        block = self.block(name)
        return {"rows": block.rows, "tasks": block.tasks} if block else {"rows": [], "tasks": {}}

    def search(self, query: Mapping[str, str], limit: int) -> dict[str, Any]:
        """The first `limit` rows that match, their tasks, how many match, and the progress.

        The newest step comes first, or the order is `sort`: a key of `SORTS`, rows without that number last. Raises
        UserError for another key, and for a bound that is not a number.
        """
        tasks, fits = self.tasks, matcher(query)
        found = [
            row
            for block in self.blocks
            for row, text in zip(block.rows, block.texts, strict=True)
            if fits(row, text, tasks.get(row["task"], {}).get("label", ""))
        ]
        if sort := query.get("sort"):
            if sort not in SORTS:
                raise UserError(f"sort={sort[:40]!r} is none of {', '.join(SORTS)}")
            found.sort(key=SORTS[sort])
        named = {row["task"]: tasks[row["task"]] for row in found[:limit] if row["task"] in tasks}
        return {"rows": found[:limit], "tasks": named, "matched": len(found), **self.progress()}

    def task(self, task: str) -> dict[str, Any]:
        """A task's groups and rows so far, at most 2,000 rows."""
        rows = [row for block in self.blocks for row in block.rows if row["task"] == task]
        return {
            "groups": [group for group in self.groups if group[2] == task],
            "rows": rows[:_MOST_TASK_ROWS],
        }

    def find(self, row_id: str) -> Block | None:
        """The block with the row of an id, None if there is none."""
        named = [self.block(name) for name in self.found if row_id.startswith(f"{name}.")]
        return next((b for b in named if b and any(row["id"] == row_id for row in b.rows)), None)

    def _read(self, found: RolloutFile) -> Block:
        """The block of a file. Read errors become the block's problem, never an exception."""
        block, before = Block(found), self._count
        try:
            lines = read_whole(found.path)
            for line in lines if found.step is not None else numbered(lines):
                row = row_of(line, found)
                block.rows.append(self._slim(row))
                block.flags.update(row["flags"])
                block.texts.append(_searched(line, row["text"]))
                if row["task"] not in block.tasks:
                    block.tasks[row["task"]] = task_of(line, self._language)
                self._count += 1
                self._seen(self._count)
        except (UserError, *NO_ROLLOUT) as error:
            self._count = before
            wrong = f"{found.path} is damaged and is left out: line {len(block.rows) + 1} is not a rollout ({error!r})"
            return Block(found, problem=str(error) if isinstance(error, UserError) else wrong)
        if found.step is not None:
            block.groups.extend(_group(group) for group in members(block.rows, "group").values())
        return block

    def _slim(self, row: Row) -> Row:
        """The row with equal parts shared."""
        if len(self._shared) > _MOST_SHARED:
            self._shared.clear()
        for key in ("stages", "scores", "flags"):
            row[key] = self._shared.setdefault(str(row[key]), row[key])
        return row


def members(rows: Iterable[Row], key: str) -> dict[Any, list[Row]]:
    """Rows grouped by their value at a key."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


SORTS: Mapping[str, Callable[[Row], Any]] = {
    "best": lambda row: math.inf if row["reward"] is None else -row["reward"],
    "worst": lambda row: math.inf if row["reward"] is None else row["reward"],
    "longest": lambda row: -row["tokens"],
    "shortest": lambda row: row["tokens"],
    "flagged": lambda row: -len(row["flags"]),
}
"""Sort orders of rows, by reward, tokens and hack flags; source.js has the same."""
_BOUNDS = (("min", "reward", 1), ("max", "reward", -1), ("from", "step", 1), ("to", "step", -1))


def matcher(query: Mapping[str, str]) -> Callable[[Row, str, str], bool]:
    """A function that says whether (row, its text, its task's label) matches a search; empty words are ignored.

    `text` occurs in the text, ignoring case; `flag` is one of the flags, "*" any; `task` begins the task's id or occurs
    in its label; `min` and `max` bound the reward, `from` and `to` the step, inclusive, and exclude rows without that
    number. `outcome`, `kind` and `evaluation` are the row's own. Raises UserError for a bound that is not a number.
    """
    same = {key: query[key] for key in ("outcome", "kind", "evaluation") if query.get(key)}
    flag, task, text = (query.get(key, "") for key in ("flag", "task", "text"))
    ends = [(key, sign, _number(query, name)) for name, key, sign in _BOUNDS]
    bounds = [(key, sign, sign * end) for key, sign, end in ends if end is not None]
    task_folded, text_folded = task.casefold(), text.casefold()

    def fits(row: Row, searched: str, label: str) -> bool:
        if any(row[key] != value for key, value in same.items()):
            return False
        if flag and not (row["flags"] if flag == "*" else flag in row["flags"]):
            return False
        if any(row[key] is None or sign * row[key] < end for key, sign, end in bounds):
            return False
        if task and not row["task"].startswith(task) and task_folded not in label.casefold():
            return False
        return not text or text_folded in searched.casefold()

    return fits


def _number(query: Mapping[str, str], name: str) -> float | None:
    word = query.get(name, "").strip()
    try:
        number = float(word or "0")
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise UserError(f"{name}={word[:40]!r} is not a number")
    return number if word else None


def _searched(line: Mapping[str, Any], shown: str) -> str:
    answer = str(line.get("answer") or "")
    if len(answer) > MOST_SEARCHED:
        answer = answer.removeprefix(str(line.get("prompt") or ""))[:MOST_SEARCHED]
    return shown if answer == shown else answer


def _group(rows: list[Row]) -> list[Any]:
    rewards = [row["reward"] for row in rows if row["reward"] is not None]
    passed = sum(row["outcome"] == "passed" for row in rows)
    mean, signal = mean_and_signal(rewards, (row["advantage"] for row in rows))
    mean = None if mean is None else float(f"{mean:.6g}")
    return [*itemgetter("step", "group", "task")(rows[0]), len(rows), len(rewards), passed, mean, signal]
