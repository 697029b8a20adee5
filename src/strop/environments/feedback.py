"""Feedback: try, see what fails in the public tests, try again (RLEF, arXiv 2410.02089)."""

import random
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import Field

from strop.core.play import Do, Done, Next, Opening, Say, Verify
from strop.core.rollout import Completion, Message
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.environments.failures import clipped, told
from strop.tasks.public_tests import public_task

_WRONG = 0.875
"""Share of demonstrations that begin with a wrong answer, where there is one: as luck would have it with 8 options."""


class Feedback:
    """After each answer the public tests run, and what failed is said. The play ends when they pass or its turns are
    used up; the last answer is judged by all tests. Single use.

    turns  answers at most
    chars  of what is said of a failure at most; of longer texts the beginning and the end
    tell   whether it is said what failed, not only that something did; None: where the task shows tests
    """

    control = "single-turn"
    """What it is held against at equal sampled tokens (`strop.evaluation.evaluate`)."""

    def __init__(
        self,
        task: Task,
        opening: Opening,
        read: Callable[[str], str],
        *,
        turns: Annotated[int, Field(ge=1)] = 3,
        chars: Annotated[int, Field(ge=20)] = 400,
        tell: bool | None = None,
    ) -> None:
        self.task, self.opening, self.read = task, opening, read
        self.left, self.chars, self.tell = turns, chars, tell
        self.public = public_task(task)

    def begin(self) -> Opening:
        """The task's prompt."""
        return self.opening

    def step(self, completion: Completion) -> Do:
        """The answer is put to the public tests."""
        self.left, self.answer = self.left - 1, self.read(completion.text)
        return Do(Verify(self.public, self.answer))

    def result(self, effect: Verify, verdict: Verdict) -> Next:
        """What failed is said, if another turn is left."""
        if not verdict.scored:
            return Done(verdict.detail, "infra")
        if verdict.passed or not self.left:
            return Done(self.answer)
        what = told(self.task, verdict, self.tell)
        what = clipped(what, self.chars) + "\n" if what else ""
        said = f"Your code failed.\n{what}Give it another try."
        if not self.opening.messages:  # a text that goes on: comments, and the same beginning again
            said = "\n\n" + "\n".join(f"# {line}" for line in said.splitlines()) + f"\n\n{self.opening.text}"
        return Say((Message(role="user", content=said),), prefill=self.opening.prefill)

    def demonstrate(self, rng: random.Random) -> Iterator[str]:
        """A wrong answer, seven times in eight where the task knows one, then the right one."""
        wrong: Any = self.task.metadata.get("wrong")
        if wrong and self.left > 1 and rng.random() < _WRONG:
            yield self._written(rng.choice(wrong))
        yield self._written(self.task.reference)

    def _written(self, code: str) -> str:
        """As a completion: a fenced block, or the rest of an answer that is begun."""
        head = self.task.signature.strip()
        if self.opening.messages and not self.opening.prefill:
            return f"```{self.task.language}\n{code.strip()}\n```"
        rest = "\n" + (code.partition(head)[2] if head and head in code else code).strip("\n")
        return f"{rest}\n```" if self.opening.prefill else rest
