"""Advantages: how much better a rollout was than its baseline. Pure functions without torch, each with its formula;
`ADVANTAGES` maps the names used in recipes to them.

Legend: G is the number of rollouts in a group. A reward of None means "not scored": no baseline includes it, and its
advantage is 0.

Your own advantage is a function of a step's groups that returns one entry per group: one number per rollout, or the
group with advantages in its rollouts, turns or steps. Its options are its annotated keyword-only parameters:

    def above(groups: Sequence[Group], *, bar: float = 0.5) -> list[list[float]]:
        return [[0.0 if reward is None else reward - bar for reward in group.rewards] for group in groups]

    grpo: {advantage: {type: "mine.py:above", bar: 0.2}}

A class is constructed with the options and called with the groups; if it has `state` and `load`, resumed runs use them.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain, pairwise
from statistics import fmean, stdev
from typing import Any, Literal, Protocol, runtime_checkable

from strop.config import algorithms as config
from strop.config.algorithms import Scale
from strop_verify.core.errors import UserError
from strop_verify.core.registry import Registry
from strop_verify.core.rollout import Group, ProcessStep, Rollout
from strop_verify.core.user_code import at_line, checked_options, file_of, place_of

Rewards = Sequence[float | None]

EPSILON = 1e-4
"""Added to standard deviations, as in TRL: bounds the advantages of nearly equal rewards."""


def group_relative(groups: Sequence[Rewards], scale: Scale = "group") -> list[list[float]]:
    """A_i = (r_i - mean(r)) / (std(r) + EPSILON) in each group (DeepSeekMath, arXiv 2402.03300, section 4.1.2).

    scale  group: divide by the group's standard deviation; batch: by that of all rewards given (arXiv 2508.08221);
           none: do not divide, so easy and hard tasks get no extra weight (Dr. GRPO, arXiv 2503.20783, section 3.2)

    Standard deviations are unbiased (over G - 1). Advantages are 0 if fewer than two rewards are known.
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


def times_calls(advantages: Sequence[float], plays: Sequence[Sequence[int]]) -> list[float]:
    """A_i times the mean over the turns of play i of max(1, calls), from the number of calls in each turn.

    SWE-grep (cognition.ai/blog/swe-grep, 2025-10-16) scales by the mean number of calls per turn, so that plays with
    parallel calls count more; its formula is not published. Deviation: a turn without calls counts as one call, so no
    play is scaled down (to 0 if it makes no calls). A group's advantages then need not add up to 0.
    """
    return [
        advantage * (fmean(max(1, calls) for calls in turns) if turns else 1.0)
        for advantage, turns in zip(advantages, plays, strict=True)
    ]


@dataclass
class RunningBaseline:
    """A_i = r_i - b, with b an exponential average of earlier rewards; for groups of one (REINFORCE, Williams 1992).

    Each task has its own mean; the first reward of a task is compared with the mean over all tasks. In the first step
    there is no mean yet: a group of one is compared with 0, a larger one with its own mean.

    decay  weight of earlier rewards, in [0, 1)
    """

    decay: float = field(default=0.9, kw_only=True)
    _of_task: dict[str, float] = field(default_factory=dict, init=False)
    _overall: float | None = field(default=None, init=False)

    def __call__(self, groups: Sequence[Group]) -> list[list[float]]:
        """Calls `advantages` with the groups' task ids and rewards."""
        return self.advantages([group.task_id for group in groups], [group.rewards for group in groups])

    def advantages(self, task_ids: Sequence[str], groups: Sequence[Rewards]) -> list[list[float]]:
        """One list per group. The means are updated after the whole batch, so the order of groups does not matter."""
        known = [[reward for reward in rewards if reward is not None] for rewards in groups]
        found = []
        for task_id, rewards, given in zip(task_ids, groups, known, strict=True):
            base = self._of_task.get(task_id, self._overall)
            if base is None:
                base = fmean(given) if len(given) > 1 else 0.0
            found.append([0.0 if reward is None else reward - base for reward in rewards])
        for task_id, given in zip(task_ids, known, strict=True):
            if given:
                self._of_task[task_id] = self._moved(self._of_task.get(task_id), fmean(given))
        if everything := [*chain.from_iterable(known)]:
            self._overall = self._moved(self._overall, fmean(everything))
        return found

    def _moved(self, old: float | None, new: float) -> float:
        return new if old is None else self.decay * old + (1 - self.decay) * new

    def state(self) -> dict[str, Any]:
        """State for a resumed run."""
        return {"of_task": dict(self._of_task), "overall": self._overall}

    def load(self, state: dict[str, Any]) -> None:
        """Restores what `state` returned."""
        self._of_task, self._overall = dict(state["of_task"]), state["overall"]


def per_turn(plays: Sequence[Rewards], discount: float, scale: Scale = "none") -> list[list[float]]:
    """One advantage per turn of each of the G plays of a group; plays may differ in length.

    The value of turn t is r_t + discount * r_(t+1) + discount^2 * r_(t+2) ...: with discount 0 each turn counts alone
    (muCode, arXiv 2502.20380: repair is one-step recoverable), with 1 all later turns count. Its baseline is the mean
    value of the same turn in the plays that reached it, so a turn that only one play reached has advantage 0. A turn
    that was not scored has advantage 0 and counts as 0 in the turns before it.
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
    """One advantage per step of each of the G plays of a group: the sum of the normalised rewards of this and all
    later steps (DeepSeekMath, arXiv 2402.03300, section 4.1.3).

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


def _by_group(groups: Sequence[Group], *, scale: Scale) -> list[list[float]]:
    """Reward minus the group's mean."""
    return group_relative([group.rewards for group in groups], scale)


def _by_others(groups: Sequence[Group], *, by_calls: bool) -> list[list[float]]:
    """Reward minus the mean of the group's other rewards."""
    found = leave_one_out([group.rewards for group in groups])
    pairs = zip(found, groups, strict=True)
    return [times_calls(each, _calls(group)) for each, group in pairs] if by_calls else found


def _by_turns(groups: Sequence[Group], *, discount: float, scale: Scale) -> list[Group]:
    """Each turn's own return minus the group's mean return of that turn."""
    return [_by_turn(group, discount, scale) for group in groups]


def _by_steps(
    groups: Sequence[Group], *, steps: Literal["statement", "turn"], continuations: int, most_steps: int
) -> list[Group]:
    """The sum of the normalised rewards of each step and all later ones. The options took effect during play."""
    return [_by_step(group) for group in groups]


def _calls(group: Group) -> list[list[int]]:
    """The number of effects (tool calls) of each turn of each play. The last turn, which ends the play, has none."""
    return [[len(turn.events) for turn in rollout.turns] for rollout in group.rollouts]


def _by_turn(group: Group, discount: float, scale: Scale) -> Group:
    """The last turn gets the play's reward; other turns keep their own (0 if they have none). The play's own advantage,
    the mean over its turns, is only logged.
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
    """A turn without steps counts as one step, with the turn's reward (the play's reward for the last turn). The play's
    own advantage, the mean over its steps, is only logged.
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


Advantage = Callable[[Sequence[Group]], Sequence[Sequence[float] | Group]]


@runtime_checkable
class Stateful(Protocol):
    """An advantage that remembers earlier steps."""

    def state(self) -> dict[str, Any]:
        """State for a resumed run, as JSON."""

    def load(self, state: dict[str, Any]) -> None:
        """Restores what `state` returned."""


ADVANTAGES: Registry[Callable[..., Any]] = Registry(
    "advantages",
    {
        "group": _by_group,
        "leave-one-out": _by_others,
        "running-baseline": RunningBaseline,
        "per-turn": _by_turns,
        "process": _by_steps,
    },
)
"""{grpo.advantage.type: advantage}."""


def find_advantage(form: config.Advantage) -> Advantage:
    """The recipe's advantage function, with its options bound. Raises UserError with a remedy."""
    place = "grpo.advantage"
    kind: Any = ADVANTAGES.find(form.type, place, "advantage", "file.py:Name")
    options = checked_options(kind, form.model_dump(exclude={"type"}), place)
    made: Any = kind(**options) if inspect.isclass(kind) else partial(kind, **options)
    try:
        inspect.signature(made).bind(())
    except TypeError as error:
        what = f"advantage {form.type!r} must be a function of (groups), or a class whose instances take (groups)"
        raise UserError(f"{place}: {what}: {error}{place_of(kind)}") from None
    return made  # type: ignore[no-any-return]


def weighed(name: str, advantage: Advantage, groups: Sequence[Group]) -> list[Group]:
    """The groups with their advantages. Raises UserError, with the line, if the function raises or does not return
    one entry per group with one finite number per rollout.
    """
    try:
        found = list(advantage(groups))
    except UserError:
        raise
    except Exception as error:
        kind = getattr(advantage, "func", advantage)
        raise UserError(
            f"advantage {name!r} raised {type(error).__name__}: {error}{at_line(error, file_of(kind))}"
        ) from error
    if len(found) != len(groups):
        raise UserError(
            f"advantage {name!r} must return one entry per group, not {len(found)} for {len(groups)}"
        )
    return [
        each if isinstance(each, Group) else _with(group, _changes(name, each, len(group.rollouts)))
        for each, group in zip(found, groups, strict=True)
    ]


def _changes(name: str, numbers: Sequence[float], rollouts: int) -> list[dict[str, Any]]:
    values = [float(number) for number in numbers]
    if len(values) != rollouts or not all(map(math.isfinite, values)):
        raise UserError(
            f"advantage {name!r} must return a finite number for each of {rollouts} rollouts, not {values!r:.90}"
        )
    return [{"advantage": value} for value in values]
