"""Several task sets in one recipe: `tasks` is a list, each set with a share, prompts, rewards and stop strings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pydantic import Field

from strop.config.section import Complaint, Section
from strop.config.tasks import RewardConfig, TasksConfig


class WeightPoint(Section):
    """A task set's weight at one step."""

    step: int = Field(ge=1)
    """Training step, from 1."""
    weight: float = Field(ge=0)
    """The weight there; between two points it changes by equal amounts a step."""


class TaskSetConfig(TasksConfig):
    """One of several task sets."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=50)
    """Its name in metrics, rollouts and summaries."""
    weight: float = Field(default=1.0, ge=0)
    """Its share of a step's tasks is this, divided by the sum of the sets' weights."""
    schedule: list[WeightPoint] = Field(default=[])
    """Weights by step, in place of `weight`, such as [{step: 1, weight: 1}, {step: 100, weight: 0}]; before the first
    point and after the last it stays as it is there."""
    rewards: list[RewardConfig] | None = Field(default=None, min_length=1)
    """Rewards of this set; null takes the recipe's `rewards`."""
    stop: list[str] | None = None
    """Stop strings of this set; null takes sampling.stop, and where that is null those of the prompt style."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Longest completion in tokens; null takes sampling.max_tokens."""

    def complaints(self) -> Iterator[Complaint]:
        """The steps of a schedule rise."""
        yield from super().complaints()
        for one, two in pairwise(self.schedule):
            if two.step <= one.step:
                yield "schedule", f"step {two.step} does not come after step {one.step}; put them in order"
        yield from reward_faults(self.rewards or (), "rewards")
        if self.stop is not None and "" in self.stop:
            yield "stop", "an empty string ends every completion at once; remove it"

    def weight_at(self, step: int) -> float:
        """The set's weight in a training step, from 1."""
        points = self.schedule
        if not points:
            return self.weight
        if step <= points[0].step:
            return points[0].weight
        for one, two in pairwise(points):
            if step <= two.step:
                return one.weight + (two.weight - one.weight) * (step - one.step) / (two.step - one.step)
        return points[-1].weight


def mixture_faults(sets: Sequence[TaskSetConfig], steps: int) -> Iterator[Complaint]:
    """What is wrong between the task sets of a recipe."""
    if not sets:
        yield "tasks", "the list is empty; name a task set"
    for name, count in Counter(one.name for one in sets).items():
        if count > 1:
            yield "tasks", f"two sets are named {name!r}; names tell them apart in metrics"
    empty = next((n for n in range(1, steps + 1) if sets and not any(s.weight_at(n) for s in sets)), None)
    if empty is not None:
        yield "tasks", f"every set has weight 0 at step {empty}; give one a weight"


def reward_faults(rewards: Sequence[RewardConfig], field: str) -> Iterator[Complaint]:
    """What is wrong between the rewards of a rubric."""
    for name, count in Counter(reward.name for reward in rewards).items():
        if count > 1:
            yield field, f"{name!r} is listed twice; add up its weights"
    if rewards and all(reward.weight == 0 for reward in rewards):
        yield field, "every weight is 0, so nothing would be learnt; give one a weight"
