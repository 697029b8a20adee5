"""The training loop: takes groups, makes a batch, updates, publishes the weights, records, and checkpoints.

A step is one batch of rollouts, an update one step of the optimiser; `config.run_stages` maps one to the other. All
processes run this loop; only rank 0 writes. Groups come from a feed, which may play the next step during the update.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from strop.config.run_stages import RunStage, stage_at, stages_of, update_of
from strop.config.schema import Recipe
from strop.reports.run_folder import STOP, RunFolder
from strop.rollouts.groups import failed_by_us, rollouts_of
from strop.rollouts.step_metrics import step_metrics
from strop.training import checkpoints
from strop.training.batch import Advantages, age, batch_of, too_old
from strop.training.failures import RunStopped
from strop.training.feed import Feed, StepGroups, TaskFeed
from strop.training.learner import Learner
from strop.training.setup import RunParts
from strop.training.teacher import Teacher
from strop_verify.core.errors import StropError, TooManyErrors
from strop_verify.core.progress import PROGRESS
from strop_verify.core.rollout import Group, Rollout


@dataclass(frozen=True)
class TrainedStep:
    """One training step, from 1, and its results."""

    number: int
    stage: RunStage
    played: list[Group]
    metrics: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """Lines to show to the user."""


class ErrorRate:
    """Share of a run's verdicts that were errors of the grader."""

    what = "verdicts were errors of the grader"
    fewest = 1
    """Fewer errors than this never end a run."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._errors = self._judged = 0

    def count(self, groups: Sequence[Group]) -> float:
        """The share, including these groups. Raises TooManyErrors above the limit."""
        causes = [cause for rollout in rollouts_of(groups) if (cause := self.cause(rollout)) is not None]
        errors = [cause for cause in causes if cause]
        self._errors += len(errors)
        self._judged += len(causes)
        if errors and self._errors >= self.fewest and self._errors > self._limit * self._judged:
            raise TooManyErrors(
                f"{self._errors} of {self._judged} {self.what}, more than limits.max_error_rate={self._limit:g}; first "
                f"cause of this step: {errors[0]}"
            )
        return self._errors / max(1, self._judged)

    def cause(self, rollout: Rollout) -> str | None:
        """Why a rollout counts as an error; "" if it does not, None if it is not counted at all."""
        if rollout.verdict is None:
            return None
        return (rollout.verdict.detail or "unknown") if failed_by_us(rollout) else ""


class FailedRewards(ErrorRate):
    """Share of a run's judged rollouts for which a reward failed."""

    what = "rollouts could not be scored"
    fewest = 3

    def cause(self, rollout: Rollout) -> str | None:
        """The error of the first reward that failed; see `ErrorRate`."""
        if rollout.verdict is None or not rollout.verdict.scored:
            return None
        return next((score.error for score in rollout.scores if score.error), "")


PATIENCE = 3
"""A run ends after this many consecutive updates that are not finite, or steps with nothing to learn from."""


class CannotLearn(StropError):
    """The model no longer changes, or never will; the message says why and what to do."""


class NotFinite(CannotLearn):
    """Updates or weights are not finite, so training cannot go on."""


def idle_cause(groups: Sequence[Group], recipe: Recipe) -> str:
    """Why no token of these groups is in the loss, with a remedy; "" if one is."""
    found: Counter[str] = Counter()
    for rollout in rollouts_of(groups):
        if not (reason := _left_out(rollout, recipe.grpo.mask_truncated)):
            return ""
        found[reason] += 1
    if not found:
        return "no group is left; those that were played are too old for grpo.max_staleness"
    remedies = {
        "cut off": f"answers end at sampling.max_tokens={recipe.sampling.max_tokens} and grpo.mask_truncated keeps "
        "them out of the loss; raise sampling.max_tokens or set grpo.mask_truncated=false",
        "dropped": "see `stops` in metrics.jsonl and the section play of the recipe",
        "masked": "see `stops` in metrics.jsonl and the section play of the recipe",
        "failed": "a reward fails for all of them",
        "without a reward": "every reward gives None for them; check what they return",
        "empty": "nothing was sampled in them",
    }
    ((main, _), *_), total = found.most_common(), found.total()
    counts = ", ".join(f"{count} {reason}" for reason, count in found.most_common())
    return f"{counts} of {total} rollouts: {remedies[main]}"


def _left_out(rollout: Rollout, mask_truncated: bool) -> str:
    """Why a rollout is not in the loss; "" if it is."""
    if rollout.left_out:
        return "dropped" if rollout.left_out == "scores" else "masked"
    if rollout.reward is None:
        return "failed" if any(score.error for score in rollout.scores) else "without a reward"
    if mask_truncated and rollout.truncated:
        return "cut off"
    return "" if rollout.turns else "empty"


class Loop:
    """Trains a run's model from a checkpoint, or from the start, to the last step."""

    def __init__(
        self,
        recipe: Recipe,
        parts: RunParts,
        run: RunFolder,
        checkpoint: Path | None,
        feed: Feed | None = None,
    ) -> None:
        """Without a `feed`, plays the recipe's tasks. Without a checkpoint, starts the feed."""
        self._recipe, self._parts, self._run = recipe, parts, run
        self._stages = stages_of(recipe)
        self.feed = feed or TaskFeed(recipe, parts.play, parts.sets)
        self._errors = ErrorRate(recipe.limits.max_error_rate)
        self._failed = FailedRewards(recipe.limits.max_error_rate)
        self._idle = 0
        """Number of consecutive steps with nothing to learn from."""
        self.learner = Learner(parts.backend, recipe)
        teacher = recipe.grpo.teacher
        self._teacher = Teacher(recipe, teacher, parts) if teacher else None
        self._updates = update_of(checkpoint)
        self.begins_after = self._stage().step_of(self._updates)[0]
        """Steps done before this process."""
        self._advantages = Advantages(recipe.grpo.advantage)
        self.has_optimiser = True
        """Whether the checkpoint holds the optimiser's state."""
        self._requested = self._answered = 0
        """Number of requests for a checkpoint, and of those already handled."""
        if checkpoint is None:
            self.feed.start()
        else:
            state = checkpoints.read_state(checkpoint)
            self.feed.load(checkpoint, state["feed"])
            self._advantages.load(state["advantages"])
            self.learner.not_finite = state.get("not_finite", 0)
            self.has_optimiser = parts.backend.load_checkpoint(checkpoint)
            if self._teacher:
                self._teacher.load(checkpoint)

    def request_checkpoint(self) -> None:
        """Makes all processes save a checkpoint after the current step; safe to call in threads and signal handlers."""
        self._requested += 1

    def steps(
        self, playing: Callable[[int], None], begin: Callable[[RunStage], None]
    ) -> Iterator[TrainedStep]:
        """Yields each step when its rollouts and metrics are complete, before its checkpoint is written. Calls `begin`
        with each new stage, and `playing` with each step's number before its answers are sampled.
        """
        stage, last = None, self._recipe.optim.steps
        if self.feed.keeps_start and not self._updates:
            self._save()
        for number in range(self.begins_after + 1, last + 1):
            started, played_before = time.perf_counter(), self.feed.played_seconds
            computed = time.process_time()
            if stage is not (stage := self._stage()):
                begin(stage)
            playing(number)
            self._parts.publish(number - 1)
            published = time.perf_counter()
            groups = self.feed.take(stage, number)
            sampled = time.perf_counter()
            self._updates += stage.recipe.grpo.updates_per_step
            if number < last:
                self.feed.begin(self._stage(), number + 1)
            self._parts.rest()
            learnt, played = self._weighed(groups, stage, number)
            measured = self._measured(groups, learnt, stage, number)
            notes = self._notes(learnt, played, stage)
            taught = partial(self._teacher.taught, stage.recipe) if self._teacher else None
            batch = batch_of(learnt, stage.recipe.grpo, taught)
            updated = self.learner.update(batch, stage, self._updates - stage.recipe.grpo.updates_per_step)
            masked = stage.recipe.grpo.mask_truncated
            metrics = step_metrics(played, learnt, mask_truncated=masked) | measured | updated
            if self._teacher:
                self._teacher.follow()
                metrics |= self._teacher.measured()
            done = time.perf_counter()
            self.feed.wait()
            metrics |= self.feed.measured()
            ended = time.perf_counter()
            metrics |= {"seconds_update": done - sampled, "seconds": ended - started}
            metrics["seconds_cpu"] = time.process_time() - computed
            metrics["seconds_update_idle"] = sampled - published + ended - done
            if played_before is not None and self.feed.played_seconds is not None:
                metrics["seconds_sampler_idle"] = ended - started - (self.feed.played_seconds - played_before)
            yield TrainedStep(number, stage, played, metrics, notes)
            hopeless = self.learner.not_finite >= PATIENCE
            requested, stop = self._requests()
            if requested or stop or stage.saves(self._updates) or hopeless:
                self._save()
            if hopeless:
                loss, norm = metrics["loss"], metrics["grad_norm"]
                raise NotFinite(
                    f"{PATIENCE} updates in a row were not finite and not applied (loss {loss:g}, gradient norm "
                    f"{norm:g}); lower optim.learning_rate, or check rewards and data of step {number}"
                )
            if self._idle >= PATIENCE:
                raise CannotLearn(f"{PATIENCE} steps in a row had nothing to learn from: {notes[-1]}")
            if stop:
                (self._run.path / STOP).unlink(missing_ok=True)
                raise RunStopped(f"stopped after step {number} of {last}, as {self._run.path / STOP} asks")
        self.feed.end()

    def _stage(self) -> RunStage:
        return stage_at(self._stages, self._updates)

    def _requests(self) -> tuple[bool, bool]:
        """(whether a checkpoint was requested since the last step, whether rank 0 sees the `stop` file). Collective."""
        requested, before = self._requested, self._answered
        self._answered = requested
        asked = self._parts.ranks.gather((requested > before, (self._run.path / STOP).exists()))
        return any(one for one, _ in asked), asked[0][1]

    def _weighed(self, groups: StepGroups, stage: RunStage, number: int) -> tuple[list[Group], list[Group]]:
        """(groups to learn from, none too old; all groups played); in both, groups to learn from have advantages."""
        played, grpo = list(groups.played), stage.recipe.grpo
        young = [place for place in groups.learnt if not too_old(played[place], number - 1, grpo)]
        learnt = self._advantages.of([played[place] for place in young])
        for place, group in zip(young, learnt, strict=True):
            played[place] = group
        return learnt, played

    def _notes(self, learnt: list[Group], played: list[Group], stage: RunStage) -> list[str]:
        """Lines about failed rewards and, if the step has nothing to learn from, why."""
        causes = [cause for rollout in rollouts_of(played) if (cause := self._failed.cause(rollout))]
        notes = [f"{len(causes)} rollouts could not be scored; first: {causes[0]}"] if causes else []
        idle = idle_cause(learnt, stage.recipe)
        self._idle = self._idle + 1 if idle else 0
        return [*notes, idle] if idle else notes

    def _measured(
        self, groups: StepGroups, learnt: list[Group], stage: RunStage, number: int
    ) -> dict[str, float]:
        """The grader's error rate, times and, if groups may be stale, their age and the number that were too old."""
        found = {
            "error_rate": self._errors.count(groups.played),
            **{f"seconds_{part}": seconds for part, seconds in asdict(groups.spent).items()},
            "seconds_rollouts": groups.rollouts,
        }
        try:
            if failed := self._failed.count(groups.played):
                found["rewards_failed"] = failed
        except TooManyErrors as error:
            raise error from self._parts.play.rubric.failure
        if self.feed.set_aside:
            found["tasks_set_aside"] = len(self.feed.set_aside)
        left_out = len(groups.learnt) - len(learnt)
        if stage.recipe.grpo.max_staleness or left_out:
            ages = [age(group, number - 1) for group in learnt]
            found["staleness"] = sum(ages) / max(1, len(ages))
            found["groups_too_old"] = left_out
        return found

    @PROGRESS.at("saving a checkpoint", busy=True)
    def _save(self) -> None:
        """Saves a checkpoint, completely or not at all. Raises NotFinite instead if the weights are not finite."""
        if not self._parts.backend.is_finite():
            raise NotFinite(
                f"the weights are not finite after update {self._updates} and are not saved; lower "
                "optim.learning_rate"
            )
        folder = self._run.checkpoints / f"checkpoint-{self._updates}"
        self._parts.save(folder, lambda: self._state(folder))
        if self._parts.ranks.main:
            checkpoints.prune(self._run.checkpoints, max(2, self._recipe.run.keep_checkpoints))
        self._parts.ranks.barrier()

    def _state(self, folder: Path) -> dict[str, Any]:
        """State for a resumed run, apart from the model."""
        if self._teacher:
            self._teacher.save(folder)
        return {
            "feed": self.feed.save(folder),
            "advantages": self._advantages.state(),
            "not_finite": self.learner.not_finite % PATIENCE,
        }
