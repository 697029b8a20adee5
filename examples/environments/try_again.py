"""Feedback: after a failed answer the policy gets the first failing test and tries again, up to `tries` times.

strop train demo tasks.environment=examples/environments/try_again.py:TryAgain
"""

import strop


class TryAgain:
    """One object is one rollout. Keyword-only parameters are options, which a recipe may set."""

    def __init__(self, task, opening, read, *, tries: int = 2):
        self.task, self.opening, self.read, self.left = task, opening, read, tries

    def begin(self):
        """The task's prompt in the recipe's style."""
        return self.opening

    def step(self, completion):
        """The last answer is final; those before are verified."""
        self.answer, self.left = self.read(completion.text), self.left - 1
        if self.left == 0:
            return strop.Done(self.answer)
        return strop.Do(strop.Verify(self.task, self.answer))

    def result(self, effect, verdict):
        """Ends the play after a pass; otherwise reports the first failing test."""
        if verdict.passed:
            return strop.Done(self.answer)
        failed = next((test for test in verdict.tests if test.outcome != "passed"), None)
        why = f"{failed.id}: {failed.message}" if failed else verdict.detail
        return strop.Say((strop.Message(role="user", content=f"That failed. {why} Try again."),))
