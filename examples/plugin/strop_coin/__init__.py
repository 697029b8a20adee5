"""A package that adds one of each kind to Strop; pyproject.toml names them."""

from collections.abc import Callable, Iterator
from typing import Any

import strop


def coins(count: str) -> Iterator[strop.Task]:
    """The tasks of `coins:COUNT`; the argument is the text after the colon, "" without one."""
    for number in range(int(count or 1)):
        yield strop.Task.model_validate(
            {
                "statement": f"Return {number % 2}, as flip {number} shows.",
                "signature": f"def flip_{number}() -> int:",
                "check": {
                    "kind": "cases",
                    "entry_point": f"flip_{number}",
                    "cases": [{"args": [], "expected": number % 2}],
                },
            }
        )


def heads(task: strop.Task, rollout: strop.Rollout, verdict: strop.Verdict) -> float:
    """1 for an answer that says 1."""
    return float("return 1" in rollout.answer)


class FirstLine:
    """The answer is the signature and the first line of the policy's message."""

    def __init__(self, task: strop.Task, opening: strop.Opening, read: Callable[[str], str]) -> None:
        self.task, self.opening = task, opening

    def begin(self) -> strop.Opening:
        """The task's prompt in the recipe's style."""
        return self.opening

    def step(self, completion: strop.Completion) -> strop.Done:
        """Ends the play."""
        return strop.Done(f"{self.task.signature}\n    {completion.text.splitlines()[0]}")

    def result(self, effect: strop.Verify, verdict: strop.Verdict) -> strop.Done:
        """Never called, since `step` requests no effects."""
        raise NotImplementedError


def coin(recipe: Any, *, model: Any, prompts: Any) -> strop.Policy:
    """A policy that always answers `policy.options.side`; a policy of your own needs `submit` and `work`."""
    return strop.ScriptedPolicy(lambda prompt, seed, asked: f"return {recipe.policy.options['side']}\n")
