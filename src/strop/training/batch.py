"""Turns a step's groups into the batch that the update consumes: staleness, advantages, masks, minibatches."""

from collections.abc import Callable, Sequence
from typing import Any

from strop.algorithms.advantages import Stateful, find_advantage, weighed
from strop.config import algorithms as config
from strop.config.training import GrpoConfig
from strop_verify.core.rollout import Batch, Group, Rollout, Sample, Turn, at_sampled, end_to_end


def age(group: Group, version: int) -> int:
    """Steps between `version` and the weights with which a group's plays began.

    The first turn counts, not the last, so dropping by age favours neither short nor long plays.
    """
    began = [rollout.turns[0].completion.policy_version for rollout in group.rollouts if rollout.turns]
    return version - min(began, default=version)


def too_old(group: Group, version: int, grpo: GrpoConfig) -> bool:
    """Whether a group is so old at `version` that it is dropped from the loss."""
    return grpo.older == "drop" and age(group, version) > grpo.max_staleness


class Advantages:
    """Computes the advantages that a recipe asks for."""

    def __init__(self, form: config.Advantage) -> None:
        """Raises UserError for an advantage that does not exist or refuses its options."""
        self._name = form.type
        self._kind: Any = find_advantage(form)

    def of(self, groups: Sequence[Group]) -> list[Group]:
        """The groups with an advantage per rollout or, if the recipe asks for it, per turn. Raises UserError."""
        return weighed(self._name, self._kind, groups)

    def state(self) -> dict[str, Any]:
        """State for a resumed run."""
        return self._kind.state() if isinstance(self._kind, Stateful) else {}

    def load(self, state: dict[str, Any]) -> None:
        """Restores what `state` returned."""
        if isinstance(self._kind, Stateful):
            self._kind.load(state)


def batch_of(
    groups: Sequence[Group],
    grpo: GrpoConfig,
    taught: Callable[[Sequence[tuple[Rollout, Sample]]], Sequence[Sample]] | None = None,
) -> Batch:
    """The batch of groups that have advantages, without plays in which nothing was sampled. Groups with signal are
    spread evenly over the minibatches.

    taught  adds a teacher's part to the advantages of a minibatch's samples
    """
    ordered = sorted(groups, key=lambda group: not group.has_signal)
    parts = (ordered[number :: grpo.minibatches] for number in range(grpo.minibatches))
    played = ([r for group in part for r in group.rollouts if r.turns] for part in parts)
    drawn = ([(r, s) for r in part for s in samples_of(r, grpo.mask_truncated)] for part in played)
    return Batch(tuple(tuple(taught(part) if taught else [s for _, s in part]) for part in drawn))


def samples_of(rollout: Rollout, mask_truncated: bool) -> list[Sample]:
    """A rollout's samples: one per row of tokens; they share its weight."""
    rows = rollout.rows()
    if len(rows) == 1:
        return [sample_of(rollout, mask_truncated)]
    out = rollout.left_out or ("loss" if mask_truncated and rollout.truncated else "")
    parts = (rollout.model_copy(update={"turns": turns, "left_out": out}) for turns in rows)
    return [sample_of(part, False, 1 / len(rows)) for part in parts]


def sample_of(rollout: Rollout, mask_truncated: bool, weight: float = 1.0) -> Sample:
    """One row's tokens. None is in the loss if the rollout has no reward, is left out of the loss, or is truncated and
    overlong filtering is on (DAPO, arXiv 2503.14476, section 3.4).
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
    """The advantage of each sampled token: that of its step, its turn or its rollout."""
    count, found = len(turn.completion.token_ids), list[float]()
    if any(step.advantage is not None for step in turn.steps):
        for step in turn.steps:
            found += [step.advantage or 0.0] * (step.end - len(found))
        return found
    advantage = rollout.advantage if turn.advantage is None else turn.advantage
    return [advantage or 0.0] * count
