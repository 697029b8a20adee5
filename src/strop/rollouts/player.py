"""Plays tasks with a policy: samples, and verifies each answer while others are still being sampled."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain

from strop.core.errors import UserError
from strop.core.ids import derive_seed
from strop.core.protocols import Environment, Policy, Tokenizer, Verifier
from strop.core.rollout import Completion, Rollout, SamplingParams, Turn
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict


@dataclass
class Clock:
    """Wall seconds spent where, since the last `take`."""

    sampling: float = 0.0
    verifying: float = 0.0
    """Only the time in which nothing was left to sample: verification beside sampling costs no waiting."""

    def take(self) -> tuple[float, float]:
        """(sampling, verifying) seconds; starts again from zero."""
        spent = self.sampling, self.verifying
        self.sampling = self.verifying = 0.0
        return spent


@dataclass
class _Play:
    """One rollout while it is being played."""

    task: Task
    index: int
    seed: int
    environment: Environment
    pending: list[int]
    turns: list[Turn] = field(default_factory=list)
    answer: str = ""
    verdict: Future[Verdict] | None = None

    @property
    def context(self) -> list[int]:
        """Every token so far, with the environment's that await the next completion."""
        ids = [ids for turn in self.turns for ids in (turn.prompt_ids, turn.completion.token_ids)]
        return [*chain.from_iterable(ids), *self.pending]


def first_prompt(task: Task, environment: Environment, tokenizer: Tokenizer, most: int) -> list[int]:
    """The prompt that a play begins with. Raises UserError where it has more than `most` tokens."""
    prompt = environment.prompt(tokenizer)
    if len(prompt) > most:
        raise UserError(
            f"task {task.id} ({task.source or task.family}): its prompt has {len(prompt)} tokens, more than "
            f"tasks.max_prompt_tokens={most}; raise the limit or leave the task out"
        )
    return prompt


class Player:
    """Plays tasks in environments of one kind. Rollouts come back in the order in which they are done."""

    def __init__(
        self,
        policy: Policy,
        verifier: Verifier,
        environment: Callable[[Task], Environment],
        *,
        max_prompt_tokens: int = 1 << 30,
    ) -> None:
        self.policy = policy
        self.clock = Clock()
        self.verifier = verifier
        self._environment = environment
        self._max_prompt_tokens = max_prompt_tokens

    def check_prompts(self, tasks: Sequence[Task]) -> None:
        """Raises UserError for the first task whose prompt is longer than the limit, before anything is sampled."""
        for task in tasks:
            self._begin(task, 0, 0)

    def play(
        self, tasks: Sequence[Task], samples: int, params: SamplingParams, *, seed: int, tag: str | int = ""
    ) -> Iterator[Rollout]:
        """Plays every task `samples` times; indices 0 to samples - 1.

        A rollout's randomness comes from (seed, tag, task id, index) alone. Without `params.stop`, the environment's
        stop strings apply.
        """
        plays = [
            self._begin(task, index, derive_seed(seed, tag, task.id, index))
            for task in tasks
            for index in range(samples)
        ]
        while plays:
            again: list[_Play] = []
            for play, rollout in self._round(plays, params):
                if rollout is not None:
                    yield rollout
                else:
                    again.append(play)
            plays = sorted(again, key=lambda p: (p.task.id, p.index))

    def _begin(self, task: Task, index: int, seed: int) -> _Play:
        environment = self._environment(task)
        prompt = first_prompt(task, environment, self.policy.tokenizer, self._max_prompt_tokens)
        return _Play(task, index, seed, environment, prompt)

    def _round(self, plays: list[_Play], params: SamplingParams) -> Iterator[tuple[_Play, Rollout | None]]:
        """One completion for every play; yields (play, rollout) when it is over, (play, None) when it continues."""
        stop = params.stop or plays[0].environment.stop
        prompts = [play.context for play in plays]
        seeds = [derive_seed(play.seed, len(play.turns)) for play in plays]
        waiting: deque[_Play] = deque()
        started = time.perf_counter()
        for row, completion in self.policy.sample(prompts, seeds, params.model_copy(update={"stop": stop})):
            self._verify(plays[row], completion)
            waiting.append(plays[row])
            while waiting and (waiting[0].verdict is None or waiting[0].verdict.done()):
                yield waiting[0], self._conclude(waiting.popleft())
        sampled = time.perf_counter()
        self.clock.sampling += sampled - started
        for play in waiting:
            before = time.perf_counter()
            result = play, self._conclude(play)
            self.clock.verifying += time.perf_counter() - before
            yield result

    def _verify(self, play: _Play, completion: Completion) -> None:
        play.turns.append(Turn(prompt_ids=play.pending, completion=completion))
        play.pending = []
        play.answer = play.environment.answer(completion)
        play.verdict = self.verifier.submit(play.task, play.answer)

    def _conclude(self, play: _Play) -> Rollout | None:
        verdict = play.verdict.result() if play.verdict else Verdict(outcome=Outcome.NO_ANSWER)
        more = play.environment.observe(play.turns[-1].completion, verdict, self.policy.tokenizer)
        if more is not None:
            play.pending = more
            return None
        return Rollout(
            task_id=play.task.id,
            index=play.index,
            seed=play.seed,
            prompt=play.environment.text,
            turns=play.turns,
            answer=play.answer,
            verdict=verdict,
        )
