"""Results of costly work on each task (`settle`), and earlier results, which measure difficulty (`Scores`): JSON lines
of verdicts, counts, pass rates or answers, by task id.

{"task_id": "t1", "outcome": "passed"}     a line of `strop verify`; outcomes "error" and "unjudged" do not count
{"task_id": "t1", "n": 8, "c": 3}          of n answers c passed
{"task_id": "t1", "pass_rate": 0.375}      used as it is for every k
{"task_id": "t1", "answer": "def ..."}     is verified first
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from strop_tasks.curation.engine.memory import Memory
from strop_tasks.curation.engine.tally import ErrorBudget
from strop_tasks.curation.pipeline.step import Context, Read
from strop_verify.core.bounded_map import Work, bounded_map
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

IN_FLIGHT = 256  # maximum tasks in progress
_BATCH, _BYTES = 2048, 128 * 2**20
"""Maximum tasks in memory, and maximum bytes of their tests, as far as known."""
_FEWEST = 20  # minimum verdicts before the share of errors counts


def settle(
    read: Read,
    context: Context,
    memory: Memory,
    work: Callable[[Task], Work[Any]],
    decided: Callable[[Any], bool],
) -> None:
    """Remembers the result of each task's work by id, many at a time; `decided` ones are not repeated."""

    def one(task: Task) -> Work[tuple[str, Any]]:
        return task.id, (yield from work(task))

    done = 0
    for batch in _batches(task for task in read() if not (task.id in memory and decided(memory[task.id]))):
        for task_id, found in bounded_map(map(one, batch), IN_FLIGHT):
            memory[task_id] = found
            done += 1
            context.progress(done, context.size)


def _batches(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    batch, size = list[Task](), 0
    for task in tasks:
        batch.append(task)
        size += task.check.size()
        if len(batch) == _BATCH or size >= _BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def error_budget(share: float) -> ErrorBudget:
    """The budget of a step whose `max_error_rate` is `share`."""
    return ErrorBudget(share, fewest=_FEWEST, what="answers could not be verified (max_error_rate)")


def known_answers(task: Task) -> list[str]:
    """The task's reference and the further known-good answers of its set, each once."""
    further = task.metadata.get("references")
    texts = [task.reference, *(further if isinstance(further, list) else [])]
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text.strip()))


def why(verdict: Verdict) -> str:
    """One line: why an answer did not pass."""
    failed = next((f"{t.id}: {t.message}" for t in verdict.tests if t.outcome != "passed"), "")
    return f"{verdict.outcome}: {' '.join((verdict.detail or failed).split())}"[:300]


_FORMS = "outcome, n and c, pass_rate, or answer"


class ScoreLine(BaseModel):
    """One line of earlier results; other keys are ignored."""

    model_config = ConfigDict(strict=True)
    task_id: str = Field(validation_alias=AliasChoices("task_id", "id"))
    outcome: Outcome | None = None
    n: int | None = None
    c: int | None = None
    pass_rate: float | None = Field(default=None, ge=0, le=1)
    answer: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if (self.n, self.c) != (None, None) and not 0 <= (self.c or 0) <= (-1 if self.n is None else self.n):
            raise ValueError(f"n={self.n}, c={self.c}: c of n answers passed, 0 <= c <= n")
        if self.outcome is None and self.n is None and self.pass_rate is None and self.answer is None:
            raise ValueError("neither a verdict nor a score nor an answer")
        return self


class Scores:
    """The lines of a file: numbers are held in memory, answers stay in the file."""

    def __init__(self, path: Path) -> None:
        """Reads the file once. Raises UserError, with file and line, for invalid lines."""
        self.path = path
        self.counts: dict[str, tuple[int, int]] = {}  # task id -> (answers, passed)
        self.rates: dict[str, float] = {}
        self._answers: defaultdict[str, list[int]] = defaultdict(list)
        offset = 0
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        self._take(line, offset, f"{path}:{number}")
                    offset += len(line)
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"scores={str(path)!r}: cannot be read ({error}); give a JSONL file") from error

    def answers(self, task_id: str) -> Iterator[str]:
        """The answers to a task, in the order of the file."""
        offsets = self._answers.get(task_id)
        if offsets:
            with self.path.open("rb") as file:
                for offset in offsets:
                    file.seek(offset)
                    yield json.loads(file.readline())["answer"]

    def add(self, task_id: str, passed: int, answers: int = 1) -> None:
        """Adds answers to a task's counts."""
        n, c = self.counts.get(task_id, (0, 0))
        self.counts[task_id] = n + answers, c + passed

    def _take(self, line: bytes, offset: int, where: str) -> None:
        try:
            score = ScoreLine.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            what = ".".join(map(str, first["loc"])) + ": " if first["loc"] else ""
            raise UserError(
                f"{where}: {what}{first['msg']}; each line is an object with task_id and one of {_FORMS}"
            ) from error
        if score.outcome is not None:
            if score.outcome not in (Outcome.ERROR, Outcome.UNJUDGED):
                self.add(score.task_id, score.outcome == Outcome.PASSED)
        elif score.pass_rate is not None:
            self.rates[score.task_id] = score.pass_rate
        elif score.n is not None:
            self.add(score.task_id, score.c or 0, score.n)
        else:
            self._answers[score.task_id].append(offset)
