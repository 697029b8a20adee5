"""Recipe sections `tasks` (one set, or a list of sets, each with share, prompts, rewards and stop strings), `rewards`,
`play`, `sandbox` and `verifier`: the tasks, how they are played, how answers are scored, run and judged.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from strop_verify.core.section import Complaint, Section, day_fault


class EnvironmentConfig(Section):
    """How a task is played; the type alone is enough. Other keys are options of the environment."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(default="single-turn", min_length=1)
    """single-turn, feedback, workspace, world, search, next-edit, harness, verifiers and openenv for their tasks
    (docs/neighbours.md), "file.py:Class" for your own, or another package's entry point in strop.environments
    (docs/plays.md)."""

    @model_validator(mode="before")
    @classmethod
    def _of_type(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, str) else value

    @property
    def options(self) -> Mapping[str, Any]:
        """Options of the environment, checked when it is looked up."""
        return self.model_extra or {}


class TasksConfig(Section):
    """The tasks, and how they are presented to the model."""

    source: str = Field(default="python-functions", min_length=1)
    """Built in (python-functions, rust-functions, humaneval), jsonl:PATH, parquet:PATH, or hub:NAME (id, folder)."""
    columns: dict[str, str] = Field(default={})
    """For other data sets: field to column, such as {statement: prompt, check.code: tests}."""
    hub_subset: str | None = None
    """Configuration of a Hub data set; null is its default."""
    hub_split: str = "train"
    """Split of a Hub data set to read."""
    topics: list[str] = Field(default=[])
    """Only tasks of these topics; empty takes all."""
    levels: list[int] = Field(default=[])
    """Only tasks of these levels, 1 (very easy) to 5, 0 for unknown; empty takes all."""
    limit: int | None = Field(default=None, ge=1)
    """At most this many tasks, chosen by content hash before the split; null takes all."""
    max_tests: int | None = Field(default=None, ge=1)
    """Maximum number of tests for a training answer: the shown ones, then those with the longest inputs, in their
    original order; null takes all. Held-out tasks are always judged by all their tests."""
    held_out_fraction: float = Field(default=0.2, ge=0, lt=1)
    """Share of tasks that is held out, chosen by content hash; tasks with a split keep it."""
    style: Literal["continue", "chat", "chat-prefilled"] = "chat"
    """continue: the model continues the function (small base models); chat: it answers with a fenced block;
    chat-prefilled: the same with the block and the signature begun (small chat models)."""
    environment: EnvironmentConfig = EnvironmentConfig()
    """How a task is played."""
    answer: Literal["function", "function-and-tests"] = "function"
    """Form of Rust answers; function-and-tests also asks for a `#[cfg(test)]` module, as the published recipe
    does, and warm-start examples include one."""
    judge: Literal["trusted", "own"] = "trusted"
    """Which tests judge Rust answers: the task's trusted hidden tests, or the answer's own."""
    template: str | None = None
    """File with a prompt template that replaces the style's."""
    max_prompt_tokens: int = Field(default=1024, ge=1)
    """Longest prompt in tokens."""
    too_long: Literal["refuse", "leave-out"] = "refuse"
    """What to do if a prompt is longer: refuse stops before sampling and names the task; leave-out drops such tasks and
    counts them. Prompts of environments that need a set-up are not checked."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that levels are 0 to 5."""
        for level in self.levels:
            if not 0 <= level <= 5:
                yield "levels", f"{level} is not a level; levels are 0 (unknown) to 5"


class WindowConfig(Section):
    """Only tasks published in a window, by metadata["date"], so that no task is older than a model's training data
    (LiveCodeBench, arXiv 2403.07974). Tasks without a date are left out."""

    model_config = ConfigDict(populate_by_name=True)

    from_: str | None = Field(default=None, alias="from")
    """First day, YYYY-MM-DD; null: no lower bound."""
    to: str | None = None
    """Last day, YYYY-MM-DD, included; null: no upper bound."""

    @property
    def is_open(self) -> bool:
        """Whether it has no bounds."""
        return self.from_ is None and self.to is None

    def __str__(self) -> str:
        return f"{self.from_ or '...'} to {self.to or '...'}"

    def complaints(self) -> Iterator[Complaint]:
        """Checks that both are dates, in order."""
        faults = {"from": day_fault(self.from_), "to": day_fault(self.to)}
        yield from ((field, fault) for field, fault in faults.items() if fault)
        if not any(faults.values()) and self.from_ and self.to and self.from_ > self.to:
            yield "to", f"{self.to} lies before the first day, {self.from_}; swap them"


class RewardConfig(Section):
    """One named, weighted part of the reward."""

    name: str = Field(min_length=1)
    """Built-in reward, "file.py:function" for your own, "model:PATH" for one trained by `strop train-reward`, or
    another package's entry point in strop.rewards."""
    weight: float = 1.0
    """Weight in the rollout's reward, a weighted sum; 0 only logs the score, a negative weight penalises it."""


class WeightPoint(Section):
    """A task set's weight at one step."""

    step: int = Field(ge=1)
    """Training step, from 1."""
    weight: float = Field(ge=0)
    """The weight at that step; interpolated linearly between two points."""


class TaskSetConfig(TasksConfig):
    """One of several task sets."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=50)
    """Its name in metrics, rollouts and summaries."""
    weight: float = Field(default=1.0, ge=0)
    """Its share of a step's tasks is this, divided by the sum of the sets' weights."""
    schedule: list[WeightPoint] = Field(default=[])
    """Weights by step, in place of `weight`, such as [{step: 1, weight: 1}, {step: 100, weight: 0}]; constant before
    the first point and after the last."""
    rewards: list[RewardConfig] | None = Field(default=None, min_length=1)
    """Rewards of this set; null takes the recipe's `rewards`."""
    stop: list[str] | None = None
    """Stop strings of this set; null takes sampling.stop, and if that is null those of the prompt style."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Longest completion in tokens; null takes sampling.max_tokens."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that the steps of a schedule rise and that no stop string is empty."""
        yield from super().complaints()
        for one, two in pairwise(self.schedule):
            if two.step <= one.step:
                yield "schedule", f"step {two.step} does not come after step {one.step}; put them in order"
        yield from reward_faults(self.rewards or (), "rewards")
        if self.stop is not None and "" in self.stop:
            yield "stop", "an empty string ends every completion at once; remove it"

    def weight_at(self, step: int) -> float:
        """The set's weight in a training step; steps start at 1."""
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
    """Errors across the task sets of a recipe."""
    if not sets:
        yield "tasks", "the list is empty; name a task set"
    for name, count in Counter(one.name for one in sets).items():
        if count > 1:
            yield "tasks", f"two sets are named {name!r}; names tell them apart in metrics"
    empty = next((n for n in range(1, steps + 1) if sets and not any(s.weight_at(n) for s in sets)), None)
    if empty is not None:
        yield "tasks", f"every set has weight 0 at step {empty}; give one a weight"


def reward_faults(rewards: Sequence[RewardConfig], field: str) -> Iterator[Complaint]:
    """Errors across the rewards of a rubric."""
    for name, count in Counter(reward.name for reward in rewards).items():
        if count > 1:
            yield field, f"{name!r} is listed twice; add up its weights"
    if rewards and all(reward.weight == 0 for reward in rewards):
        yield field, "every weight is 0, so nothing would be learned; give one a weight"


Stop = Literal["end", "mask", "drop"]
Told = Literal["feedback", "end", "mask", "drop"]


class StopsConfig(Section):
    """What happens to a play that ended without an answer, by reason.

    end: scored as no answer. mask: the same, but its tokens carry no loss. drop: not scored. feedback: the policy is
    told what was wrong, and the play continues. A play that ended because the grader or jail failed is always
    dropped.
    """

    no_call: Told = "end"
    """A turn called no tool although one was required."""
    malformed: Told = "end"
    """A turn could not be parsed."""
    max_turns: Stop = "end"
    """The environment allows no more turns, or play.max_turns is reached."""
    context: Stop = "end"
    """The context has no room for another turn."""
    deadline: Stop = "drop"
    """The play exceeded its time. Time depends on the machine, so use anything but drop at your own risk."""


class FolderConfig(Section):
    """Limits of a play's folder, for environments whose tools use one."""

    disk_mb: int = Field(default=64, ge=1)
    """Total size of its files, in MiB."""
    file_mb: int = Field(default=16, ge=1)
    """Largest file, in MiB."""
    processes: int = Field(default=64, ge=1)
    """Maximum processes of a program."""
    packages: list[str] = Field(default=[])
    """Installed Python packages that its programs may import, such as numpy, besides pytest and the imports of the
    task's project."""
    read: list[str] = Field(default=[])
    """Further paths that its programs may read, such as a toolchain's folder."""


class PlayConfig(Section):
    """Limits and order of plays. Single-turn tasks need none of these."""

    order: Literal["deterministic", "as-ready"] = "deterministic"
    """deterministic: tool results are taken after a fixed number of decoding steps, so that on a CPU the same seeds
    give the same bits however long tools run. as-ready: as soon as they arrive."""
    patience: int = Field(default=16, ge=1)
    """Decoding steps after which a result is taken with order deterministic."""
    at_once: int = Field(default=1024, ge=1)
    """Plays in flight at the same time."""
    max_turns: int = Field(default=10, ge=1)
    """Maximum turns of a play, even if its environment allows more."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Maximum tokens of a play, prompts and answers; null: the model's context."""
    seconds: float | None = Field(default=None, gt=0)
    """Maximum wall seconds of a play from its first request on, with sampling and tools; null: no limit."""
    setups: int = Field(default=8, ge=1)
    """Environments to set up ahead of their plays."""
    setup_seconds: float = Field(default=120.0, gt=0)
    """Wall seconds for an environment's set-up; a longer one drops the play."""
    close_seconds: float = Field(default=30.0, gt=0)
    """Wall seconds to wait for an environment to close."""
    feedback: int = Field(default=3, ge=0)
    """How many times a play is told why its turn did not count, if a stop says feedback."""
    folder: FolderConfig = FolderConfig()
    """Limits of a play's folder."""
    stops: StopsConfig = StopsConfig()
    """What happens to plays without an answer."""
