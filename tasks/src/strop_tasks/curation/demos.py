"""Demonstrations for a warm start: an environment's own expert plays the training tasks, and plays that pass are kept.

The expert is the environment's method `demonstrate(self, rng: random.Random) -> Iterator[str]`. It yields whole
answers, one per turn, and is resumed after the environment has processed the last one.
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from strop.config.schema import Recipe
from strop.environments.registry import played_by
from strop.policies.scripted import ScriptedPolicy
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.tasks.demos import Demo
from strop_verify.core.errors import UserError
from strop_verify.core.ids import derive_seed
from strop_verify.core.play import Converse, Opening, Say
from strop_verify.core.protocols import Environment
from strop_verify.core.rollout import Completion, Message, Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.verification import open_configured

_TAG = "demos"
_MAX_TOKENS = 1 << 16  # an expert's answers are not truncated


def build_demos(
    recipe: Recipe,
    tasks: Sequence[Task],
    *,
    each: int = 1,
    score: float = 1.0,
    on_play: Callable[[Rollout], None] = lambda rollout: None,
) -> Iterator[Demo]:
    """Demonstrations, as they finish, from `each` plays of every task with the recipe's environment, prompt style and
    jail: plays that passed or whose verdict's score reached `score`. Raises UserError if the environment has no expert.
    """
    play = recipe.play.model_copy(update={"max_tokens": None})  # no model is loaded to count its tokens
    recipe = recipe.model_copy(update={"play": play})
    experts = _Experts(played_by(recipe), recipe.seed, recipe.play.max_turns, each)
    with ExitStack() as stack:
        verifier = open_configured(recipe.sandbox, recipe.verifier)
        stack.callback(verifier.close)
        policy = ScriptedPolicy(lambda prompt, seed, again: experts.answer(seed), name="expert")
        dispatcher = dispatcher_of(recipe, policy, verifier, experts.make, prompt=_MAX_TOKENS)
        params = SamplingParams(max_tokens=_MAX_TOKENS, stop=(_NEVER,))
        for rollout in dispatcher.play(tasks, each, params, seed=recipe.seed, tag=_TAG):
            demo = experts.take(rollout)
            on_play(rollout)
            if demo is not None and counts(rollout, score):
                yield demo


def counts(rollout: Rollout, score: float) -> bool:
    """Whether a play is kept: it passed, or its verdict's score is high enough."""
    verdict = rollout.verdict
    return verdict is not None and (verdict.passed or (verdict.score is not None and verdict.score >= score))


_NEVER = "\0\0"  # a stop string that no answer holds, so an expert's answers are not cut


class _Experts:
    """The environments of the plays, each with its expert; the seeds of its turns identify a play."""

    def __init__(self, inner: Callable[[Task], Environment], seed: int, turns: int, each: int) -> None:
        self._inner, self._seed, self._turns, self._each = inner, seed, turns, each
        self._made: Counter[str] = Counter()
        self._asked: dict[int, _Shown] = {}
        self._plays: dict[tuple[str, int], _Shown] = {}

    def make(self, task: Task) -> Environment:
        """The environment of the task's next play; plays of a task begin in the order of their indices."""
        index = self._made[task.id]
        self._made[task.id] += 1
        seed = derive_seed(self._seed, _TAG, task.id, index)
        shown = _Shown(self._inner(task), task, random.Random(seed))
        if index < self._each:
            self._plays[task.id, index] = shown
            self._asked |= {derive_seed(seed, turn): shown for turn in range(self._turns)}
        return shown

    def answer(self, seed: int) -> str:
        """The expert's answer in the play whose request has this seed."""
        return self._asked[seed].say()

    def take(self, rollout: Rollout) -> Demo | None:
        """The messages of a finished play; None if they are not one conversation."""
        for turn in range(self._turns):
            self._asked.pop(derive_seed(rollout.seed, turn), None)
        return self._plays.pop((rollout.task_id, rollout.index)).demo()


class _Shown:
    """An environment that records its conversation, and whose expert answers."""

    def __init__(self, inner: Any, task: Task, rng: random.Random) -> None:
        self._inner, self._task, self._opening = inner, task, Opening()
        self._said: deque[Message] = deque()
        self._begun: list[str] = []
        self._whole: list[Message] | None = []
        """The history that an agent's next request must begin with; None once a request has changed it."""
        show = getattr(inner, "demonstrate", None)
        if show is None:
            name = type(inner).__name__
            raise UserError(f"environment {name} has no expert; give it a method demonstrate(self, rng)")
        self._texts: Iterator[str] = show(rng)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # for `setup` and `close`, if the environment has them

    def begin(self) -> Opening:
        self._opening = self._inner.begin()
        self._whole = None if getattr(self._opening, "mark", "") else [*self._opening.messages]
        return self._opening

    def step(self, completion: Completion) -> Any:
        return self._noted(self._inner.step(completion))

    def result(self, effect: Any, result: Any) -> Any:
        return self._noted(self._inner.result(effect, result))

    def say(self) -> str:
        text = next(self._texts, "")
        self._said.append(Message(role="assistant", content=text))
        if self._whole is not None:
            begun = self._begun[-1] if self._begun else self._opening.prefill
            self._whole.append(Message(role="assistant", content=begun + text))
        return text

    def _noted(self, after: Any) -> Any:
        if isinstance(after, Say):
            self._said += after.messages
            self._begun.append(after.prefill)
        elif isinstance(after, Converse) and self._whole is not None:
            before, new = after.messages[: len(self._whole)], after.messages[len(self._whole) :]
            went_on = [*before] == self._whole and new and not after.mark
            self._whole = [*after.messages] if went_on else None
            self._said += new
            self._begun.append(after.prefill)
        return after

    def demo(self) -> Demo | None:
        if self._whole is None:
            return None
        said = list(self._said)
        while said and said[-1].role != "assistant":
            said.pop()  # sent when the play had no turns left
        opening, begun = self._opening, self._begun if any(self._begun) else []
        messages, prompt = [*opening.messages, *said], opening.text
        return Demo(
            task_id=self._task.id, prompt=prompt, prefill=opening.prefill, messages=messages, begun=begun
        )
