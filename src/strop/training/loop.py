"""The training loop: take groups, make a batch, update, publish the weights, write down, checkpoint.

A step is one batch of rollouts, an update one step of the optimiser; `config.run_stages` maps one to the other. All
processes run this loop alike; rank 0 alone writes. With grpo.max_staleness above 0 the next step is played beside the
update, by the weights before it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strop.config.run_stages import RunStage, stage_at, stages_of, update_of
from strop.config.schema import Recipe
from strop.core.rollout import Group
from strop.policies import release_memory
from strop.reports.run_folder import RunFolder
from strop.rollouts.step_metrics import ErrorRate, step_metrics
from strop.rollouts.streams import MixedStream, TaskShare
from strop.training import checkpoints
from strop.training.batch import Advantages, age, batch_of, young_enough
from strop.training.learner import Learner
from strop.training.setup import RunParts
from strop.training.taking import Taken, Taker


@dataclass(frozen=True)
class TrainedStep:
    """One training step, from 1, and what came of it."""

    number: int
    stage: RunStage
    played: list[Group]
    metrics: dict[str, Any] = field(default_factory=dict)


class Loop:
    """Trains the model of a run from a checkpoint, or from the start, to its last step."""

    def __init__(self, recipe: Recipe, parts: RunParts, run: RunFolder, checkpoint: Path | None) -> None:
        self._recipe, self._parts, self._run = recipe, parts, run
        self._stages = stages_of(recipe)
        self._stream = MixedStream(
            {one.name: TaskShare(one.train, one.weight_at) for one in parts.sets}, recipe.seed
        )
        self._errors = ErrorRate(recipe.limits.max_error_rate)
        self.learner = Learner(parts.model, recipe, parts.ranks, pad_id=parts.tokenizer.pad_id)
        self._updates = update_of(checkpoint)
        self.begins_after = self._stage().step_of(self._updates)[0]
        """Steps that were done before."""
        self._advantages = Advantages(recipe.grpo.advantage)
        self._taker = Taker(parts.play.apart() if recipe.grpo.max_staleness else parts.play, self._stream)
        self._ahead: Taken | None = None
        """The next step, where it was played beside the update before."""
        if checkpoint is not None:
            state = checkpoints.read_state(checkpoint)
            self._stream.load(state["stream"])
            self._advantages.load(state["advantages"])
            self._ahead = Taken.load(checkpoint)
            self.learner.load(checkpoint)

    def steps(
        self, playing: Callable[[int], None], begin: Callable[[RunStage], None]
    ) -> Iterator[TrainedStep]:
        """Yields each step when its rollouts and metrics are complete, before its checkpoint is written.

        `begin` is called with each stage, `playing` with the number of each step before its answers are sampled.
        """
        stage = None
        for number in range(self.begins_after + 1, self._recipe.optim.steps + 1):
            started = time.perf_counter()
            if stage is not (stage := self._stage()):
                begin(stage)
            playing(number)
            self._parts.publish(number - 1)
            taken = self._ahead or self._take(stage, number)
            sampled = time.perf_counter()
            ahead = self._begin_next(stage, number)
            learnt, played = self._weighed(taken, stage, number)
            metrics = step_metrics(played, learnt) | self._measured(taken, learnt, stage, number)
            batch = batch_of(learnt, stage.recipe.grpo)
            metrics |= self.learner.update(batch, stage, self._updates)
            self._updates += stage.recipe.grpo.updates_per_step
            updated = time.perf_counter()
            self._ahead = ahead.result() if ahead else None
            metrics |= {
                "seconds_update": updated - sampled,
                "seconds": time.perf_counter() - started,
            }
            yield TrainedStep(number, stage, played, metrics)
            if stage.saves(self._updates):
                self._save()

    @property
    def set_aside(self) -> list[str]:
        """Ids of tasks that failed by our fault too often to be played on."""
        return self._stream.set_aside

    def _stage(self) -> RunStage:
        return stage_at(self._stages, self._updates)

    def _take(self, stage: RunStage, number: int) -> Taken:
        release_memory()
        return self._taker.now(stage, number)

    def _begin_next(self, stage: RunStage, number: int) -> "Future[Taken] | None":
        """Begins to play the step after `number`, if that may be done by weights that are a step old."""
        if not stage.recipe.grpo.max_staleness or number == self._recipe.optim.steps:
            return None
        following = stage_at(self._stages, self._updates + stage.recipe.grpo.updates_per_step)
        return self._taker.beside(following, number + 1)

    def _weighed(self, taken: Taken, stage: RunStage, number: int) -> tuple[list[Group], list[Group]]:
        """(groups to learn from, all that were played), the former with advantages and none too old."""
        young = young_enough(taken.learnt, number - 1, stage.recipe.grpo)
        learnt = self._advantages.of(young)
        better = {id(old): new for old, new in zip(young, learnt, strict=True)}
        return learnt, [better.get(id(group), group) for group in taken.played]

    def _measured(
        self, taken: Taken, learnt: Sequence[Group], stage: RunStage, number: int
    ) -> dict[str, float]:
        """The grader's error rate, times, and where groups may be stale, how old they are and how many were too old."""
        found = {
            "error_rate": self._errors.count(taken.played),
            "seconds_sampling": taken.sampling,
            "seconds_verifying": taken.verifying,
            "seconds_rollouts": taken.rollouts,
        }
        if self.set_aside:
            found["tasks_set_aside"] = len(self.set_aside)
        if stage.recipe.grpo.max_staleness:
            ages = [age(group, number - 1) for group in learnt]
            found["staleness"] = sum(ages) / max(1, len(ages))
            found["groups_too_old"] = len(taken.learnt) - len(learnt)
        return found

    def _save(self) -> None:
        """A checkpoint, complete or ignored."""
        folder = self._run.checkpoints / f"checkpoint-{self._updates}"
        if self._parts.ranks.main:
            folder.mkdir(parents=True, exist_ok=True)
        self.learner.save(folder)
        if self._parts.ranks.main:
            if self._ahead is not None:
                self._ahead.save(folder)
            state = {"stream": self._stream.state(), "advantages": self._advantages.state()}
            checkpoints.complete(folder, state)
            checkpoints.prune(self._run.checkpoints, max(2, self._recipe.run.keep_checkpoints))
        self._parts.ranks.barrier()
