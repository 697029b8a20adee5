"""An environment of one's own: how a task is played. One object is one rollout."""

from collections.abc import Callable

import strop


class SecondTry:
    """An answer that fails is put back to the model once, with the first test that failed."""

    def __init__(self, task: strop.Task, opening: strop.Opening, read: Callable[[str], str]) -> None:
        self.task, self.opening, self.read = task, opening, read
        self.tries = 0

    def begin(self) -> strop.Opening:
        """The first prompt: the task in the recipe's style."""
        return self.opening

    def step(self, completion: strop.Completion) -> strop.Done | strop.Do:
        """What follows an answer: the first is verified, the second is final."""
        self.answer, self.tries = self.read(completion.text), self.tries + 1
        return strop.Done(self.answer) if self.tries == 2 else strop.Do(strop.Verify(self.task, self.answer))

    def result(self, effect: strop.Verify, verdict: strop.Verdict) -> strop.Done | strop.Say:
        """What follows the verdict that `step` asked for."""
        if verdict.passed:
            return strop.Done(self.answer)
        failed = next((test for test in verdict.tests if test.outcome != "passed"), None)
        why = f"{failed.id}: {failed.message}" if failed else verdict.detail
        return strop.Say((strop.Message(role="user", content=f"That failed. {why} Try again."),))
