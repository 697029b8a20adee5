"""Which rows a search means: the query's words, checked, and the test that a row must pass."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from strop.core.errors import UserError
from strop.reports.view.blocks import Row


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
        for field in fields(cls):
            word = query.get(names.get(field.name, field.name), "")
            if field.name not in names:
                values[field.name] = word
            elif word.strip():
                values[field.name] = _number(names[field.name], word)
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
