"""Advantages: how much better a rollout was than what its task usually gives. Pure functions, without torch.

Legend: G rollouts of a group. A reward of None is "not scored": it is in no baseline and its advantage is 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from statistics import fmean, stdev
from typing import Any

from strop.config.algorithms import Scale

Rewards = Sequence[float | None]

EPSILON = 1e-4
"""Added to standard deviations, as in TRL: bounds the advantages of nearly equal rewards."""


def group_relative(groups: Sequence[Rewards], scale: Scale = "group") -> list[list[float]]:
    """A_i = (r_i - mean(r)) / (std(r) + EPSILON) in each group (DeepSeekMath, arXiv 2402.03300, section 4.1.2).

    scale  group: by the group's standard deviation; batch: by that of all rewards given (arXiv 2508.08221); none: not
           divided, which leaves easy and hard tasks their weight (Dr. GRPO, arXiv 2503.20783, section 3.2)
    Standard deviations are unbiased (over G - 1). Advantages are 0 where fewer than two rewards are known.
    """
    spread = _std([reward for rewards in groups for reward in rewards])
    found = []
    for rewards in groups:
        divisor = {"none": 1.0, "batch": spread + EPSILON, "group": _std(rewards) + EPSILON}[scale]
        found.append([gap / divisor for gap in _gaps(rewards)])
    return found


def leave_one_out(groups: Sequence[Rewards]) -> list[list[float]]:
    """A_i = r_i - mean of the other rewards of its group: G / (G - 1) times the gap to the mean.

    RLOO (Ahmadian et al. 2024, arXiv 2402.14740, section 2.3). The baseline does not depend on r_i: no bias.
    """
    found = []
    for rewards in groups:
        known = sum(reward is not None for reward in rewards)
        found.append([gap * known / max(1, known - 1) for gap in _gaps(rewards)])
    return found


def by_calls(advantages: Sequence[float], plays: Sequence[Sequence[int]]) -> list[float]:
    """A_i times the mean over the turns of play i of max(1, calls), from the number of calls in each turn.

    SWE-grep (cognition.ai/blog/swe-grep, 2025-10-16) scales by the mean number of calls a turn, so that plays that look
    side by side count for more; its formula is not published. Deviation: a turn without a call counts as one, so no
    play is scaled down, nor one that calls nothing to 0. What a group's advantages add up to is then not always 0.
    """
    return [
        advantage * (fmean(max(1, calls) for calls in turns) if turns else 1.0)
        for advantage, turns in zip(advantages, plays, strict=True)
    ]


@dataclass
class RunningBaseline:
    """A_i = r_i - b, with b an exponential mean of the rewards before it: for groups of one (REINFORCE, Williams 1992).

    Each task has a mean of its own; the first reward of a task is held against the mean over all tasks.

    decay  weight of the past, in [0, 1)
    """

    decay: float = 0.9
    _of_task: dict[str, float] = field(default_factory=dict)
    _overall: float | None = None

    def advantages(self, task_ids: Sequence[str], groups: Sequence[Rewards]) -> list[list[float]]:
        """One list a group. The means move after the whole batch, so the order of groups says nothing."""
        found = []
        for task_id, rewards in zip(task_ids, groups, strict=True):
            base = self._of_task.get(task_id, self._overall)
            known = [reward for reward in rewards if reward is not None]
            base = base if base is not None else (fmean(known) if known else 0.0)
            found.append([0.0 if reward is None else reward - base for reward in rewards])
        for task_id, rewards in zip(task_ids, groups, strict=True):
            known = [reward for reward in rewards if reward is not None]
            if known:
                self._of_task[task_id] = self._moved(self._of_task.get(task_id), fmean(known))
        everything = [reward for rewards in groups for reward in rewards if reward is not None]
        if everything:
            self._overall = self._moved(self._overall, fmean(everything))
        return found

    def _moved(self, old: float | None, new: float) -> float:
        return new if old is None else self.decay * old + (1 - self.decay) * new

    def state(self) -> dict[str, Any]:
        """What a resumed run needs."""
        return {"of_task": dict(self._of_task), "overall": self._overall}

    def load(self, state: dict[str, Any]) -> None:
        """Takes over a state given by `state`."""
        self._of_task, self._overall = dict(state["of_task"]), state["overall"]


def per_turn(plays: Sequence[Rewards], discount: float, scale: Scale = "none") -> list[list[float]]:
    """One advantage a turn of each of the G plays of a group; plays may differ in length.

    The value of turn t is r_t + discount * r_(t+1) + discount^2 * r_(t+2) ...: with discount 0 each turn answers for
    itself (muCode, arXiv 2502.20380: repair is one-step recoverable), with 1 for all that followed. Its baseline is the
    mean value of the same turn in the plays that reached it, so a turn that only one play reached has advantage 0.
    A turn that was not scored has advantage 0 and counts as 0 in the turns before it.
    """
    values = [_returns(rewards, discount) for rewards in plays]
    found: list[list[float]] = [[] for _ in plays]
    for turn in range(max(map(len, plays), default=0)):
        here = [play for play, rewards in enumerate(plays) if turn < len(rewards)]
        (column,) = group_relative([[values[play][turn] for play in here]], scale)
        for play, advantage in zip(here, column, strict=True):
            found[play].append(advantage)
    return found


def process(plays: Sequence[Rewards]) -> list[list[float]]:
    """One advantage a step of each of the G plays of a group: the sum of the normalised rewards of this and all later
    steps (DeepSeekMath, arXiv 2402.03300, section 4.1.3).

    Normalised, r -> (r - mean) / (std + EPSILON), over all steps of the group together. A step that was not scored
    counts as 0.
    """
    ends = list(accumulate(map(len, plays), initial=0))
    (flat,) = group_relative([[reward for rewards in plays for reward in rewards]])
    parts = [flat[start:end] for start, end in pairwise(ends)]
    return [list(accumulate(reversed(part)))[::-1] for part in parts]


def _returns(rewards: Rewards, discount: float) -> list[float | None]:
    values: list[float | None] = []
    after = 0.0
    for reward in reversed(rewards):
        after = (reward or 0.0) + discount * after
        values.append(None if reward is None else after)
    return values[::-1]


def _gaps(rewards: Rewards) -> list[float]:
    known = [reward for reward in rewards if reward is not None]
    if len(known) < 2:
        return [0.0] * len(rewards)
    mean = fmean(known)
    return [0.0 if reward is None else reward - mean for reward in rewards]


def _std(rewards: Rewards) -> float:
    known = [reward for reward in rewards if reward is not None]
    return stdev(known) if len(known) > 1 and all(map(math.isfinite, known)) else 0.0
