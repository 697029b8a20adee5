"""Preferences: the answers to a task, and which of them passed, one task per line of JSON.

    {"task_id": "...", "split": "train", "prompt": "...", "answers": [{"text": "...", "passed": true, ...}, ...]}

Each answer that passed forms a pair with each that failed. Texts that differ only in names, layout and comments are one
answer. A reward model reads `prompt` (see `reward_prompt`) and the answers' texts.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from pydantic import ValidationError

from strop.tasks.prompts import render
from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.records import Record
from strop_verify.core.task import Split, Task


class ComparedAnswer(Record):
    """One answer and the facts about it."""

    text: str
    passed: bool
    count: int = 1
    """Number of times it was sampled."""
    tokens: float = 0.0
    """Tokens sampled for it."""
    logprob: float | None = None
    """Sum over its tokens; None if the policy does not report it."""
    compiles: bool = False
    """Whether its build stage passed: Python that parses and runs to its end."""
    shown: float | None = None
    """Share of the shown tests that it passed; None if the task shows none."""
    seconds: float = 0.0
    """CPU time of its verdict."""
    policy: str = ""
    """Run, and step or evaluation, in which it was first sampled."""


class ComparedAnswers(Record):
    """The distinct answers to one task."""

    task_id: str
    task_name: str = ""
    language: str = "python"
    split: Split
    prompt: str
    answers: list[ComparedAnswer]

    @property
    def passed(self) -> list[ComparedAnswer]:
        """The answers that passed."""
        return [answer for answer in self.answers if answer.passed]

    @property
    def failed(self) -> list[ComparedAnswer]:
        """The answers that did not pass."""
        return [answer for answer in self.answers if not answer.passed]

    @property
    def pairs(self) -> Iterator[tuple[ComparedAnswer, ComparedAnswer]]:
        """Each pair of a passed and a failed answer."""
        return product(self.passed, self.failed)

    @property
    def pair_count(self) -> int:
        """The number of pairs of a passed and a failed answer."""
        return len(self.passed) * len(self.failed)


def reward_prompt(task: Task) -> str:
    """The text that a reward model reads before an answer: the task as a chat prompt, whatever the policy's prompt."""
    return "\n\n".join(message.content for message in render(task, "chat").messages)


def read_preferences(path: Path) -> list[ComparedAnswers]:
    """The tasks of a file. Raises UserError for one that cannot be read or holds none, and for a bad line."""
    if not path.is_file():
        raise UserError(f"no file {str(path)!r} of preferences; make one with strop build preferences")
    found = []
    for number, line in enumerate(files.read_jsonl(path), start=1):
        try:
            found.append(ComparedAnswers.model_validate(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            remedy = "strop build preferences writes such files"
            raise UserError(f"{path}:{number}: not preferences: {where}: {first['msg']}; {remedy}") from None
    if not found:
        raise UserError(f"{path} holds no preferences; make some with strop build preferences")
    return found


def on_side(found: Sequence[ComparedAnswers], split: Split) -> list[ComparedAnswers]:
    """The tasks on one side of the split."""
    return [one for one in found if one.split == split]
