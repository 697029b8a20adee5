"""From a step's groups to the batch that the update consumes: what is too old, advantages, masks, minibatches."""

from collections.abc import Sequence
from typing import Any

from strop.algorithms.advantages import (
    RunningBaseline,
    by_calls,
    group_relative,
    leave_one_out,
    per_turn,
    process,
)
from strop.config import algorithms as config
from strop.config.training import GrpoConfig
from strop_verify.core.rollout import Batch, Group, ProcessStep, Rollout, Sample, Turn, at_sampled, end_to_end


def age(group: Group, version: int) -> int:
    """Steps between the weights that began to play a group and those of `version`.

    The first turns count, not the last: how long a play took says nothing about its age, so to drop by age favours
    neither short nor long answers.
    """
    began = [rollout.turns[0].completion.policy_version for rollout in group.rollouts if rollout.turns]
    return version - min(began, default=version)


def too_old(group: Group, version: int, grpo: GrpoConfig) -> bool:
    """Whether there is nothing to learn from a group at `version`: it leaves the loss as a whole."""
    return grpo.older == "drop" and age(group, version) > grpo.max_staleness


class Advantages:
    """Gives rollouts the advantages that a recipe asks for. Only a running baseline has a state."""

    def __init__(self, form: config.Advantage) -> None:
        self._form = form
        decay = form.decay if isinstance(form, config.RunningBaselineAdvantage) else 0.0
        self._running = RunningBaseline(decay)

    def of(self, groups: Sequence[Group]) -> list[Group]:
        """The groups with an advantage a rollout, and where the recipe has them, a turn."""
        rewards = [group.rewards for group in groups]
        match self._form:
            case config.GroupAdvantage(scale=scale):
                found = group_relative(rewards, scale)
            case config.LeaveOneOutAdvantage(by_calls=scaled):
                found = leave_one_out(rewards)
                if scaled:
                    found = [by_calls(*pair) for pair in zip(found, map(_calls, groups), strict=True)]
            case config.RunningBaselineAdvantage():
                found = self._running.advantages([group.task_id for group in groups], rewards)
            case config.PerTurnAdvantage(discount=discount, scale=scale):
                return [_by_turn(group, discount, scale) for group in groups]
            case config.ProcessAdvantage():
                return [_by_step(group) for group in groups]
        pairs = zip(groups, found, strict=True)
        return [_with(group, [{"advantage": each} for each in advantages]) for group, advantages in pairs]

    def state(self) -> dict[str, Any]:
        """What a resumed run needs."""
        return self._running.state()

    def load(self, state: dict[str, Any]) -> None:
        """Takes over a state given by `state`."""
        self._running.load(state)


def _calls(group: Group) -> list[list[int]]:
    """How many effects each turn of each play asked for: calls of tools. The last one, which ends a play, has none."""
    return [[len(turn.events) for turn in rollout.turns] for rollout in group.rollouts]


def _by_turn(group: Group, discount: float, scale: config.Scale) -> Group:
    """A play's reward is that of its last turn, and other turns have their own or none, which counts as 0. A play's own
    advantage is the mean over its turns, for readers.
    """
    rewards = [
        [None if r.reward is None else turn.reward or 0.0 for turn in r.turns[:-1]]
        + [r.reward] * bool(r.turns)
        for r in group.rollouts
    ]
    changes = []
    for rollout, advantages in zip(group.rollouts, per_turn(rewards, discount, scale), strict=True):
        pairs = zip(rollout.turns, advantages, strict=True)
        turns = [turn.model_copy(update={"advantage": advantage}) for turn, advantage in pairs]
        changes.append({"turns": turns, "advantage": sum(advantages) / max(1, len(advantages))})
    return _with(group, changes)


def _by_step(group: Group) -> Group:
    """A turn without steps is one: the last has the play's reward, others their own. A play's own advantage is the mean
    over its steps, for readers.
    """
    turns = [[_in_steps(r, place) for place in range(len(r.turns))] for r in group.rollouts]
    found = process([[step.value for steps in play for step in steps] for play in turns])
    changes = []
    for rollout, play, advantages in zip(group.rollouts, turns, found, strict=True):
        left = iter(advantages)
        weighed = [[step.model_copy(update={"advantage": next(left)}) for step in steps] for steps in play]
        pairs = zip(rollout.turns, weighed, strict=True)
        kept = [turn.model_copy(update={"steps": steps}) for turn, steps in pairs]
        changes.append({"turns": kept, "advantage": sum(advantages) / max(1, len(advantages))})
    return _with(group, changes)


def _in_steps(rollout: Rollout, place: int) -> list[ProcessStep]:
    turn, last = rollout.turns[place], place == len(rollout.turns) - 1
    steps = turn.steps or [
        ProcessStep(end=len(turn.completion.token_ids), value=rollout.reward if last else turn.reward or 0.0)
    ]
    scored = rollout.reward is not None
    return steps if scored else [step.model_copy(update={"value": None}) for step in steps]


def _with(group: Group, changes: Sequence[dict[str, Any]]) -> Group:
    pairs = zip(group.rollouts, changes, strict=True)
    return group.model_copy(update={"rollouts": [r.model_copy(update=change) for r, change in pairs]})


def batch_of(groups: Sequence[Group], grpo: GrpoConfig) -> Batch:
    """The batch of groups that have advantages. Each minibatch gets its part of the groups with signal. Plays in which
    nothing was sampled have no part in it.
    """
    ordered = sorted(groups, key=lambda group: not group.has_signal)
    parts = (ordered[number :: grpo.minibatches] for number in range(grpo.minibatches))
    played = ([r for group in part for r in group.rollouts if r.turns] for part in parts)
    return Batch(tuple(tuple(s for r in part for s in samples_of(r, grpo.mask_truncated)) for part in played))


def samples_of(rollout: Rollout, mask_truncated: bool) -> list[Sample]:
    """One rollout's tokens, a sample for each of its rows, which share its weight."""
    rows = rollout.rows()
    if len(rows) == 1:
        return [sample_of(rollout, mask_truncated)]
    out = rollout.left_out or ("loss" if mask_truncated and rollout.truncated else "")
    parts = (rollout.model_copy(update={"turns": turns, "left_out": out}) for turns in rows)
    return [sample_of(part, False, 1 / len(rows)) for part in parts]


def sample_of(rollout: Rollout, mask_truncated: bool, weight: float = 1.0) -> Sample:
    """One row's tokens. None carries loss where it was not scored or is left out of it, or truncated under overlong
    filtering (DAPO, arXiv 2503.14476, section 3.4).
    """
    out = bool(rollout.left_out) or rollout.reward is None or (mask_truncated and rollout.truncated)
    turns = rollout.turns
    ids, sampled = end_to_end(turn.tokens for turn in turns)
    mask = [0] * len(sampled) if out else sampled
    logprobs = at_sampled(sampled, [one for turn in turns for one in turn.completion.logprobs], 0.0)
    advantages = at_sampled(sampled, [one for turn in turns for one in _of_tokens(turn, rollout)], 0.0)
    each = (turn.completion for turn in turns)
    versions = at_sampled(sampled, [one.policy_version for one in each for _ in one.token_ids], 0)
    return Sample(ids, mask, logprobs, advantages, versions, len(rollout.prompt_ids), weight)


def _of_tokens(turn: Turn, rollout: Rollout) -> list[float]:
    """The advantage of each sampled token: its step's, its turn's or its play's."""
    count, found = len(turn.completion.token_ids), list[float]()
    if any(step.advantage is not None for step in turn.steps):
        for step in turn.steps:
            found += [step.advantage or 0.0] * (step.end - len(found))
        return found
    advantage = rollout.advantage if turn.advantage is None else turn.advantage
    return [advantage or 0.0] * count
