"""One step's rollouts in the form of TRL's rollout hook, and what the run folder records about them."""

import time
from collections.abc import Sequence
from typing import Any

from strop.config.schema import Recipe
from strop.core.errors import TooManyErrors
from strop.core.rollout import Group, Rollout
from strop.core.verdict import Outcome
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.groups import TaskStream, fill_step, rollouts_of
from strop.rollouts.measures import contradiction, duplicates, refused
from strop.rollouts.player import Player


class StepFeed:
    """Plays steps. Keeps the last step's groups until their advantages are known."""

    def __init__(
        self, recipe: Recipe, player: Player, rubric: WeightedRubric, stream: TaskStream, *, world: int
    ) -> None:
        self._recipe = recipe
        self._player = player
        self._rubric = rubric
        self._stream = stream
        self._world = world
        self._errors = self._verdicts = 0
        self.learnt: list[Group] = []
        self.played: list[Group] = []
        self.metrics: dict[str, Any] = {}

    def __call__(self, step: int) -> dict[str, Any]:
        """The hook's fields for a step. Raises TooManyErrors when the grader fails too often."""
        started = time.perf_counter()
        self.learnt, self.played = fill_step(
            self._player, self._rubric, self._stream, self._recipe, step, world=self._world
        )
        minibatches = self._recipe.grpo.minibatches
        # Each minibatch gets its part of the groups with signal, which come first.
        parts = (self.learnt[number::minibatches] for number in range(minibatches))
        self.learnt = [group for part in parts for group in part]
        self._check_errors()
        rows = list(rollouts_of(self.learnt))
        self.metrics = self._measure(time.perf_counter() - started)
        flat = [row.flat() for row in rows]
        return {
            "prompt_ids": [row.prompt_ids for row in rows],
            "completion_ids": [ids for ids, _, _ in flat],
            "logprobs": [logprobs for _, _, logprobs in flat],
            "env_mask": [self._loss_mask(row, mask) for row, (_, mask, _) in zip(rows, flat, strict=True)],
            "strop_reward": [row.reward for row in rows],
        }

    def _loss_mask(self, row: Rollout, mask: list[int]) -> list[int]:
        """No token of an unscored rollout carries loss, nor of a truncated one under overlong filtering."""
        out = row.reward is None or (self._recipe.grpo.mask_truncated and row.truncated)
        return [0] * len(mask) if out else mask

    def with_advantages(self, advantages: Sequence[float]) -> list[Group]:
        """Every group played in the step, with the advantages of the rows that were learnt from."""
        given = iter(advantages)
        learnt = {
            id(group): group.model_copy(
                update={"rollouts": [r.model_copy(update={"advantage": next(given)}) for r in group.rollouts]}
            )
            for group in self.learnt
        }
        return [learnt.get(id(group), group) for group in self.played]

    def _check_errors(self) -> None:
        verdicts = [r.verdict for r in rollouts_of(self.played) if r.verdict is not None]
        errors = [v for v in verdicts if v.outcome is Outcome.ERROR]
        self._errors += len(errors)
        self._verdicts += len(verdicts)
        limit = self._recipe.limits.max_error_rate
        if errors and self._errors > limit * self._verdicts:
            raise TooManyErrors(
                f"{self._errors} of {self._verdicts} verdicts were errors of the grader, more than "
                f"limits.max_error_rate={limit:g}; first cause of this step: {errors[0].detail}"
            )

    def _measure(self, seconds: float) -> dict[str, Any]:
        rows = list(rollouts_of(self.played))
        sampling, verifying = self._player.clock.take()
        lengths = [len(turn.completion.token_ids) for r in rows for turn in r.turns]
        logprobs = [p for r in rows for turn in r.turns for p in turn.completion.logprobs]
        rewards = [r.reward for r in rows if r.reward is not None]
        scores: dict[str, list[float]] = {}
        for score in (s for r in rows for s in r.scores if s.value is not None):
            scores.setdefault(score.name, []).append(score.value)  # type: ignore[arg-type]
        return {
            "reward": _mean(rewards),
            "rewards": {name: _mean(values) for name, values in scores.items()},
            "stages": _stage_rates(rows),
            "pass_rate": _mean([float(r.verdict.passed) for r in rows if r.verdict and r.verdict.scored]),
            "completion_tokens": _mean(lengths),
            "truncated": _mean([float(r.truncated) for r in rows]),
            "sampling_surprise": -_mean(logprobs),
            "duplicates": duplicates(self.played),
            "refused": _mean([float(refused(r.verdict)) for r in rows if r.verdict and r.verdict.scored]),
            "disagreements": sum(bool(contradiction(r)) for r in rows),
            "rollouts": len(rows),
            "groups_played": len(self.played),
            "groups_with_signal": sum(g.has_signal for g in self.played),
            "groups_learnt": sum(g.has_signal for g in self.learnt),
            "error_rate": self._errors / max(1, self._verdicts),
            "seconds_sampling": sampling,
            "seconds_verifying": verifying,
            "seconds_rollouts": seconds,
        }


def _stage_rates(rows: Sequence[Rollout]) -> dict[str, float]:
    """Share of the scored answers that passed each stage, for the stages that ran at all."""
    verdicts = [r.verdict for r in rows if r.verdict and r.verdict.scored]
    names = dict.fromkeys(stage.name for verdict in verdicts for stage in verdict.stages)
    found = {name: [verdict.stage(name) for verdict in verdicts] for name in names}
    return {
        name: _mean([float(s is not None and s.passed) for s in stages]) for name, stages in found.items()
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
