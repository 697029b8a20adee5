"""An environment of one's own: a failed first answer is put back to the policy, once."""

from collections.abc import Callable

import strop


class SecondTry:
    """Single use: one object is one rollout."""

    def __init__(self, task: strop.Task, opening: strop.Opening, read: Callable[[str], str]) -> None:
        self.task, self.opening, self.read = task, opening, read
        self.tries = 0

    def begin(self) -> strop.Opening:
        """The task's prompt in the recipe's style."""
        return self.opening

    def step(self, completion: strop.Completion) -> strop.Do | strop.Done:
        """The first answer is verified, the second is final."""
        self.answer, self.tries = self.read(completion.text), self.tries + 1
        return strop.Done(self.answer) if self.tries == 2 else strop.Do(strop.Verify(self.task, self.answer))

    def result(self, effect: strop.Verify, verdict: strop.Verdict) -> strop.Say | strop.Done:
        """What follows the first verdict."""
        if verdict.passed:
            return strop.Done(self.answer)
        return strop.Say((strop.Message(role="user", content=f"That {verdict.outcome.value}. Try again."),))


if __name__ == "__main__":
    task = strop.load_tasks("python-functions", limit=1)[0]

    def answer(prompt: list[int], seed: int, asked: int) -> str:
        """Right at the second try."""
        return task.reference if "Try again" in policy.tokenizer.decode(prompt) else "pass"

    policy = strop.ScriptedPolicy(answer)
    (group,) = strop.play(policy, [task], environment=SecondTry)
    rollout = group.rollouts[0]
    print(len(rollout.turns), "turns,", rollout.verdict.outcome.value)
