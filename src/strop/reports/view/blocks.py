"""One file of rollouts, as the index keeps it: a tuple for each row, an array for each group.

A block's name is the beginning of its rows' ids: `t.12` for step 12 of training, `e.before` for an evaluation. Names
are made from the folder's content, never from a request.

`Filters` say which rows a search means: the query's words, checked, and the test that a row must pass.
"""

import json
import os
from collections import namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice
from math import log
from pathlib import Path
from typing import Any

from strop.core import files
from strop.core.errors import UserError
from strop.reports.page.rollout_data import NO_ROLLOUT, mean_and_signal, numbered, row_of, task_of
from strop.reports.rollout_files import LOG, WHOLE, RolloutFile, evaluation_name, read_whole
from strop.reports.run_folder import EVALUATION, ROLLOUTS, STEP_FILE

Row = namedtuple(
    "Row",
    "id kind evaluation step group index greedy task reward advantage outcome stages flags tokens truncated scores "
    "text searched",
)
"""The values of a row of the page, and the text that is searched."""
MOST_SEARCHED = 4000
"""Characters of an answer that a search looks at; a longer one is searched without the prompt that it continues."""

_GROWN = 1.1
Stamp = tuple[int, int, int]
"""(time of change in ns, bytes, inode): another one means that the file is another."""


@dataclass(frozen=True)
class BlockFile(RolloutFile):
    """A file of rollouts that lies in the folder."""

    name: str = ""
    stamp: Stamp = (0, 0, 0)


@dataclass(frozen=True)
class Block:
    """What was read of one file; nothing, and one line that says why, when it is torn or damaged."""

    found: BlockFile
    rows: list[Row] = field(default_factory=list)
    groups: list[list[Any]] = field(default_factory=list)
    tasks: dict[str, dict[str, str]] = field(default_factory=dict)
    problem: str = ""


def found_in(folder: Path) -> dict[str, BlockFile]:
    """The files of rollouts of a run by name: steps from the newest on, then evaluations."""
    steps = [
        BlockFile(Path(entry.path), step, name=f"t.{step}", stamp=_stamp(entry))
        for entry in _entries(folder / ROLLOUTS)
        if (match := STEP_FILE.fullmatch(entry.name)) and (step := int(match[1])) >= 0
    ]
    whole = {entry.name: entry for entry in _entries(folder / EVALUATION)}
    evaluations = [
        BlockFile(Path(entry.path), None, name, f"e.{name}", _stamp(entry))
        for file, entry in whole.items()
        if (name := evaluation_name(file)) and (file.endswith(WHOLE) or f"{name}{WHOLE}" not in whole)
    ]
    steps.sort(key=lambda found: -(found.step or 0))
    evaluations.sort(key=lambda found: found.name)
    return {found.name: found for found in (*steps, *evaluations)}


def as_dict(row: Row) -> dict[str, Any]:
    """A row as the page wants it."""
    shown = row._asdict()
    del shown["searched"]
    return shown


class BlockReader:
    """Reads blocks; equal parts of rows (stages, scores, names) are held once. For any number of threads."""

    def __init__(self) -> None:
        self._shared: dict[Any, Any] = {}

    def read(self, found: BlockFile) -> Block:
        """The block of a file. What cannot be read becomes the block's problem; it is never an exception."""
        rows: list[Row] = []
        tasks: dict[str, dict[str, str]] = {}
        try:
            lines = read_whole(found.path)
            for line in lines if found.step is not None else numbered(lines):
                row = self._packed(line, found)
                rows.append(row)
                if row.task not in tasks:
                    tasks[row.task] = task_of(line)
        except UserError as error:
            return Block(found, problem=str(error))
        except (*NO_ROLLOUT, RecursionError) as error:
            wrong = f"{found.path} is damaged and is left out: line {len(rows) + 1} is no rollout"
            return Block(found, problem=f"{wrong} ({type(error).__name__}: {error})")
        return Block(found, rows, _groups(rows) if found.step is not None else [], tasks)

    def _packed(self, line: dict[str, Any], found: BlockFile) -> Row:
        row = row_of(line, found)
        answer = str(line.get("answer") or "")
        if len(answer) > MOST_SEARCHED:
            answer = answer.removeprefix(str(line.get("prompt") or ""))[:MOST_SEARCHED]
        values = {key: self._once(key, value) for key, value in row.items()}
        return Row(**values, searched=values["text"] if answer == values["text"] else answer)

    def _once(self, key: str, value: Any) -> Any:
        """The value, or an equal one that was seen before under the same key (1.0 and True are equal too)."""
        if isinstance(value, dict):
            content: Any = (key, *value.items())
        elif isinstance(value, list):
            content = (key, *value)
        elif isinstance(value, str):
            content = value
        else:
            return value
        if len(self._shared) > _MOST_SHARED:
            self._shared.clear()
        return self._shared.setdefault(content, value)


_MOST_SHARED = 20_000


def line_of(block: Block, row_id: str) -> dict[str, Any] | None:
    """The whole rollout of a row, None if it is gone; decodes one line. Raises UserError for an unreadable file."""
    at = next((number for number, row in enumerate(block.rows) if row.id == row_id), None)
    if at is None:
        return None
    text = next(islice(files.lines(block.found.path), at, None), None)
    if text is None:
        return None
    line: dict[str, Any] = json.loads(text)
    return {**line, "greedy": block.rows[at].greedy}


def _groups(rows: list[Row]) -> list[list[Any]]:
    """[step, group, task, rollouts, scored, passed, mean reward or None, 1 for signal] of every group."""
    members: dict[int, list[Row]] = {}
    for row in rows:
        members.setdefault(row.group, []).append(row)
    return [_group(number, group) for number, group in members.items()]


def _group(number: int, group: list[Row]) -> list[Any]:
    rewards = [row.reward for row in group if row.reward is not None]
    passed = sum(row.outcome == "passed" for row in group)
    ends = mean_and_signal(rewards, (row.advantage for row in group))
    return [group[0].step, number, group[0].task, len(group), len(rewards), passed, *ends]


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Regular files of a folder; none when it is not there."""
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if entry.is_file())
    except OSError:
        return


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    """All zeros when the file has gone since the folder was listed. A log has another one when a tenth came to it."""
    try:
        status = entry.stat()
    except OSError:
        return (0, 0, 0)
    if entry.name.endswith(LOG):
        return (0, int(log(status.st_size + 1, _GROWN)), status.st_ino)
    return (status.st_mtime_ns, status.st_size, status.st_ino)


@dataclass(frozen=True)
class Filters:
    """What a row must be; None and "" ask for nothing.

    `text` is in the answer, in any case; `flag` is one of its flags, "*" any; `task` begins the task's id or is in its
    label; `low` and `high` bound the reward, `first` and `last` the step, inclusive: a row without that number is out.
    """

    text: str = ""
    flag: str = ""
    outcome: str = ""
    task: str = ""
    kind: str = ""
    evaluation: str = ""
    low: float | None = None
    high: float | None = None
    first: float | None = None
    last: float | None = None

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Filters":
        """Filters from the words `text flag outcome task kind evaluation min max from to`. Raises UserError."""
        names = {"low": "min", "high": "max", "first": "from", "last": "to"}
        values: dict[str, Any] = {}
        for one in fields(cls):
            word = query.get(names.get(one.name, one.name), "")
            if one.name not in names:
                values[one.name] = word
            elif word.strip():
                values[one.name] = _number(names[one.name], word)
        return cls(**values)

    def match(self, row: Row, labels: Mapping[str, Mapping[str, str]]) -> bool:
        """Whether a row passes; `labels` has the tasks by id. The cheap questions are asked first."""
        wanted = self.outcome or row.outcome, self.kind or row.kind, self.evaluation or row.evaluation
        if wanted != (row.outcome, row.kind, row.evaluation):
            return False
        if self.flag and not (self.flag in row.flags or (self.flag == "*" and row.flags)):
            return False
        if not _within(row.reward, self.low, self.high) or not _within(row.step, self.first, self.last):
            return False
        if self.task and not row.task.startswith(self.task):
            label = labels.get(row.task, {}).get("label", "")
            if self.task.casefold() not in label.casefold():
                return False
        return not self.text or self.text.casefold() in row.searched.casefold()


def _within(value: float | None, low: float | None, high: float | None) -> bool:
    if low is None and high is None:
        return True
    return value is not None and (low is None or value >= low) and (high is None or value <= high)


def _number(name: str, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = float("nan")
    if number != number:
        raise UserError(f"{name}={word[:40]!r} is not a number")
    return number
