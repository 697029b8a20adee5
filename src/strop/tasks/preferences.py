"""Preferences: what was answered to a task, and which of it passed, one task per line of JSON.

    {"task_id": "...", "split": "train", "prompt": "...", "answers": [{"text": "...", "passed": true, ...}, ...]}

Each answer that passed with each that failed is a pair. Texts that are one but for names, layout and comments are one
answer. `prompt` and the answers' texts are what a reward model reads: `reward_prompt`.
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
    """One answer, and what is known of it."""

    text: str
    passed: bool
    count: int = 1
    """How often it was sampled."""
    tokens: float = 0.0
    """That were sampled for it."""
    logprob: float | None = None
    """Sum over them; None where the policy does not say."""
    compiles: bool = False
    """Whether its build stage passed: Python that parses and runs to its end."""
    shown: float | None = None
    """Share of the shown tests that it passed; None where the task shows none."""
    seconds: float = 0.0
    """CPU time of its verdict."""
    policy: str = ""
    """Run, and step or evaluation, where it was sampled first."""


class ComparedAnswers(Record):
    """One task's different answers."""

    task_id: str
    task_name: str = ""
    language: str = "python"
    split: Split
    prompt: str
    answers: list[ComparedAnswer]

    @property
    def passed(self) -> list[ComparedAnswer]:
        """Those that passed."""
        return [answer for answer in self.answers if answer.passed]

    @property
    def failed(self) -> list[ComparedAnswer]:
        """Those that did not."""
        return [answer for answer in self.answers if not answer.passed]

    @property
    def pairs(self) -> Iterator[tuple[ComparedAnswer, ComparedAnswer]]:
        """(passed, failed)."""
        return product(self.passed, self.failed)

    @property
    def pair_count(self) -> int:
        """How many pairs there are."""
        return len(self.passed) * len(self.failed)


def reward_prompt(task: Task) -> str:
    """What a reward model reads above an answer: the task as a chat prompt asks it, whatever the policy was asked."""
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
            raise UserError(f"{path}:{number}: no preferences: {where}: {first['msg']}; {remedy}") from None
    if not found:
        raise UserError(f"{path} holds no preferences; make some with strop build preferences")
    return found


def on_side(found: Sequence[ComparedAnswers], split: Split) -> list[ComparedAnswers]:
    """The tasks of one side."""
    return [one for one in found if one.split == split]
