"""The training loop: take groups, make a batch, update, publish the weights, write down, checkpoint.

A step is one batch of rollouts, an update one step of the optimiser; `config.run_stages` maps one to the other. All
processes run this loop alike; rank 0 alone writes. Groups come from a feed, which may get the next step's beside the
update.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strop.config.run_stages import RunStage, stage_at, stages_of, update_of
from strop.config.schema import Recipe
from strop.core.errors import TooManyErrors
from strop.core.rollout import Group
from strop.reports.run_folder import RunFolder
from strop.rollouts.groups import rollouts_of
from strop.rollouts.step_metrics import step_metrics
from strop.rollouts.streams import failed_by_us
from strop.training import checkpoints
from strop.training.batch import Advantages, age, batch_of, too_old
from strop.training.feed import Feed, StepGroups, TaskFeed
from strop.training.learner import Learner
from strop.training.setup import RunParts


@dataclass(frozen=True)
class TrainedStep:
    """One training step, from 1, and what came of it."""

    number: int
    stage: RunStage
    played: list[Group]
    metrics: dict[str, Any] = field(default_factory=dict)


class ErrorRate:
    """Share of the verdicts of a run that were errors of the grader."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._errors = self._verdicts = 0

    def count(self, groups: Sequence[Group]) -> float:
        """The share, with these groups counted. Raises TooManyErrors above the limit."""
        judged = [rollout for rollout in rollouts_of(groups) if rollout.verdict is not None]
        errors = [rollout.verdict for rollout in judged if rollout.verdict and failed_by_us(rollout)]
        self._errors += len(errors)
        self._verdicts += len(judged)
        if errors and self._errors > self._limit * self._verdicts:
            raise TooManyErrors(
                f"{self._errors} of {self._verdicts} verdicts were errors of the grader, more than "
                f"limits.max_error_rate={self._limit:g}; first cause of this step: {errors[0].detail}"
            )
        return self._errors / max(1, self._verdicts)


class Loop:
    """Trains the model of a run from a checkpoint, or from the start, to its last step."""

    def __init__(
        self,
        recipe: Recipe,
        parts: RunParts,
        run: RunFolder,
        checkpoint: Path | None,
        feed: Feed | None = None,
    ) -> None:
        """Without a `feed`, the recipe's tasks are played."""
        self._recipe, self._parts, self._run = recipe, parts, run
        self._stages = stages_of(recipe)
        self.feed = feed or TaskFeed(recipe, parts.play, parts.sets)
        self._errors = ErrorRate(recipe.limits.max_error_rate)
        self.learner = Learner(parts.backend, recipe, pad_id=parts.tokenizer.pad_id)
        self._updates = update_of(checkpoint)
        self.begins_after = self._stage().step_of(self._updates)[0]
        """Steps that were done before."""
        self._advantages = Advantages(recipe.grpo.advantage)
        self._requested = self._answered = 0
        """Checkpoints that were asked for, and how many of the requests have been looked at."""
        if checkpoint is not None:
            state = checkpoints.read_state(checkpoint)
            self.feed.load(checkpoint, state["feed"])
            self._advantages.load(state["advantages"])
            parts.backend.load_checkpoint(checkpoint)

    def request_checkpoint(self) -> None:
        """Has a checkpoint saved after the step that is going on, by all processes when one asks.

        Any thread and any signal handler may call it: it takes no lock.
        """
        self._requested += 1

    def steps(
        self, playing: Callable[[int], None], begin: Callable[[RunStage], None]
    ) -> Iterator[TrainedStep]:
        """Yields each step when its rollouts and metrics are complete, before its checkpoint is written.

        `begin` is called with each stage, `playing` with the number of each step before its answers are sampled.
        """
        stage, last = None, self._recipe.optim.steps
        for number in range(self.begins_after + 1, last + 1):
            started = time.perf_counter()
            if stage is not (stage := self._stage()):
                begin(stage)
            playing(number)
            self._parts.publish(number - 1)
            groups = self.feed.take(stage, number)
            sampled = time.perf_counter()
            self._updates += stage.recipe.grpo.updates_per_step
            if number < last:
                self.feed.begin(self._stage(), number + 1)
            learnt, played = self._weighed(groups, stage, number)
            measured = self._measured(groups, learnt, stage, number)
            batch = batch_of(learnt, stage.recipe.grpo)
            updated = self.learner.update(batch, stage, self._updates - stage.recipe.grpo.updates_per_step)
            metrics = step_metrics(played, learnt) | measured | updated
            metrics["seconds_update"] = time.perf_counter() - sampled
            self.feed.wait()
            metrics["seconds"] = time.perf_counter() - started
            yield TrainedStep(number, stage, played, metrics)
            if self._is_requested() or stage.saves(self._updates):
                self._save()

    def _stage(self) -> RunStage:
        return stage_at(self._stages, self._updates)

    def _is_requested(self) -> bool:
        """Whether a process was asked for a checkpoint since the last step. All processes must call it."""
        requested, before = self._requested, self._answered
        self._answered = requested
        return any(self._parts.ranks.gather(requested > before))

    def _weighed(self, groups: StepGroups, stage: RunStage, number: int) -> tuple[list[Group], list[Group]]:
        """(groups to learn from, all that were played), the former with advantages and none too old."""
        played, grpo = list(groups.played), stage.recipe.grpo
        young = [place for place in groups.learnt if not too_old(played[place], number - 1, grpo)]
        learnt = self._advantages.of([played[place] for place in young])
        for place, group in zip(young, learnt, strict=True):
            played[place] = group
        return learnt, played

    def _measured(
        self, groups: StepGroups, learnt: list[Group], stage: RunStage, number: int
    ) -> dict[str, float]:
        """The grader's error rate, times, and where groups may be stale, how old they are and how many were too old."""
        found = {
            "error_rate": self._errors.count(groups.played),
            "seconds_sampling": groups.sampling,
            "seconds_verifying": groups.verifying,
            "seconds_rollouts": groups.rollouts,
        }
        if self.feed.set_aside:
            found["tasks_set_aside"] = len(self.feed.set_aside)
        left_out = len(groups.learnt) - len(learnt)
        if stage.recipe.grpo.max_staleness or left_out:
            ages = [age(group, number - 1) for group in learnt]
            found["staleness"] = sum(ages) / max(1, len(ages))
            found["groups_too_old"] = left_out
        return found

    def _save(self) -> None:
        """A checkpoint, complete or ignored."""
        folder = self._run.checkpoints / f"checkpoint-{self._updates}"
        if self._parts.ranks.main:
            folder.mkdir(parents=True, exist_ok=True)
        self._parts.backend.save(folder)
        if self._parts.ranks.main:
            self._parts.tokenizer.inner.save_pretrained(folder)  # strop eval takes a checkpoint too
            state = {"feed": self.feed.save(folder), "advantages": self._advantages.state()}
            checkpoints.complete(folder, state)
            checkpoints.prune(self._run.checkpoints, max(2, self._recipe.run.keep_checkpoints))
        self._parts.ranks.barrier()
