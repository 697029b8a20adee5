"""Recipe sections `tasks` (one set, or a list of sets with a share, prompts, rewards and stop strings each), `rewards`,
`play`, `sandbox` and `verifier`: the tasks, how they are played, how answers are scored, run and judged.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from strop_verify.core.section import Complaint, Section, day_fault


class EnvironmentConfig(Section):
    """How a task is played; a recipe may write only the type. Other keys are the environment's own options."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(default="single-turn", min_length=1)
    """single-turn, feedback, workspace, world, search, next-edit, harness, verifiers and openenv for tasks of these
    (docs/neighbours.md), "file.py:Class" for one of your own, or another package's entry point in strop.environments
    (docs/plays.md)."""

    @model_validator(mode="before")
    @classmethod
    def _of_type(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, str) else value

    @property
    def options(self) -> Mapping[str, Any]:
        """What the environment is made with, checked where it is looked up."""
        return self.model_extra or {}


class TasksConfig(Section):
    """Which tasks, and how they are put to the model."""

    source: str = Field(default="python-functions", min_length=1)
    """Built in (python-functions, rust-functions, humaneval), jsonl:PATH, parquet:PATH, or hub:NAME (id, folder)."""
    columns: dict[str, str] = Field(default={})
    """For foreign data: our field to their column, such as {statement: prompt, check.code: tests}."""
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
    """Maximum number of tests for an answer in training: those that the prompt shows, then those with the longest
    inputs, in their order; null takes all. Held-out tasks are always judged by all their tests."""
    held_out_fraction: float = Field(default=0.2, ge=0, lt=1)
    """Share of tasks, chosen by content hash, that is never trained on; tasks that name their split keep it."""
    style: Literal["continue", "chat", "chat-prefilled"] = "chat"
    """continue: the model continues the function (small base models); chat: it answers with a fenced block;
    chat-prefilled: the same with the block and the signature begun (small chat models)."""
    environment: EnvironmentConfig = EnvironmentConfig()
    """How a task is played."""
    answer: Literal["function", "function-and-tests"] = "function"
    """Form of Rust answers; function-and-tests also asks for a `#[cfg(test)]` module, as the published recipe
    does, and warm-start examples include one."""
    judge: Literal["trusted", "own"] = "trusted"
    """Whose tests judge Rust answers: the task's trusted, hidden tests, or the answer's own tests."""
    template: str | None = None
    """File with a prompt template that replaces the style's own."""
    max_prompt_tokens: int = Field(default=1024, ge=1)
    """Longest prompt in tokens."""
    too_long: Literal["refuse", "leave-out"] = "refuse"
    """What to do where a prompt is longer: stop before anything is sampled and name the task, or leave such tasks out
    and say how many they are. Prompts of environments that must be set up first are not looked at."""

    def complaints(self) -> Iterator[Complaint]:
        """Levels lie in 0 to 5."""
        for level in self.levels:
            if not 0 <= level <= 5:
                yield "levels", f"{level} is not a level; levels are 0 (unknown) to 5"


class WindowConfig(Section):
    """Only tasks that were published in these days, by their metadata["date"]: as LiveCodeBench (arXiv 2403.07974)
    does, so that no task is older than a model's training data. Tasks without a date are left out."""

    model_config = ConfigDict(populate_by_name=True)

    from_: str | None = Field(default=None, alias="from")
    """First day, as YYYY-MM-DD; null: from the beginning."""
    to: str | None = None
    """Last day, as YYYY-MM-DD, itself included; null: without end."""

    @property
    def is_open(self) -> bool:
        """Whether it leaves nothing out."""
        return self.from_ is None and self.to is None

    def __str__(self) -> str:
        return f"{self.from_ or '...'} to {self.to or '...'}"

    def complaints(self) -> Iterator[Complaint]:
        """Both are days, in order."""
        faults = {"from": day_fault(self.from_), "to": day_fault(self.to)}
        yield from ((field, fault) for field, fault in faults.items() if fault)
        if not any(faults.values()) and self.from_ and self.to and self.from_ > self.to:
            yield "to", f"{self.to} lies before the first day, {self.from_}; exchange them"


class RewardConfig(Section):
    """One named, weighted part of the reward."""

    name: str = Field(min_length=1)
    """Built-in reward, "file.py:function" for one of your own, "model:PATH" for one that `strop train-reward` has
    learnt, or another package's entry point in strop.rewards."""
    weight: float = 1.0
    """Factor in the sum that is the rollout's reward; 0 only logs the score, a negative weight punishes."""


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


Stop = Literal["end", "mask", "drop"]
Told = Literal["feedback", "end", "mask", "drop"]


class StopsConfig(Section):
    """What becomes of a play that ended without an answer, by the reason.

    end: it is scored as no answer. mask: the same, but its tokens carry no loss. drop: it is not scored. feedback: the
    policy is told what was wrong, and the play goes on. A play that ended by a failure of ours is always dropped.
    """

    no_call: Told = "end"
    """A turn called no tool where one had to be called."""
    malformed: Told = "end"
    """A turn could not be read."""
    max_turns: Stop = "end"
    """The environment allows no more turns, or play.max_turns is reached."""
    context: Stop = "end"
    """No room was left for another turn."""
    deadline: Stop = "drop"
    """The play's time was up. Time depends on the machine, so anything but drop is at your own risk."""


class FolderConfig(Section):
    """Bounds of the folder that lasts as long as a play, for environments whose tools use one."""

    disk_mb: int = Field(default=64, ge=1)
    """All its files together, in MiB."""
    file_mb: int = Field(default=16, ge=1)
    """Largest file, in MiB."""
    processes: int = Field(default=64, ge=1)
    """Processes of a program."""
    packages: list[str] = Field(default=[])
    """Installed Python packages that its programs may import, such as numpy, beside pytest and what the task's project
    imports."""
    read: list[str] = Field(default=[])
    """Other paths outside that its programs may read, such as the folder of a toolchain."""


class PlayConfig(Section):
    """Limits and order of plays. A task of one turn needs none of it."""

    order: Literal["deterministic", "as-ready"] = "deterministic"
    """deterministic: results of tools are taken after a fixed number of decoding steps, so that on a CPU the same seeds
    give the same bits whatever tools take. as-ready: as soon as they are there."""
    patience: int = Field(default=16, ge=1)
    """Decoding steps after which a result is taken in the order deterministic."""
    at_once: int = Field(default=1024, ge=1)
    """Plays in flight at the same time."""
    max_turns: int = Field(default=10, ge=1)
    """Turns of a play, however many its environment would take."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of a whole play, prompts and answers; null: as many as the model takes."""
    seconds: float | None = Field(default=None, gt=0)
    """Wall seconds of a play from its turn on, sampling and tools; null: no limit."""
    setups: int = Field(default=8, ge=1)
    """Environments that are set up ahead of their plays."""
    setup_seconds: float = Field(default=120.0, gt=0)
    """Wall seconds for setting an environment up; one that takes longer is a failure of ours."""
    close_seconds: float = Field(default=30.0, gt=0)
    """Wall seconds for closing an environment, after which nobody waits for it."""
    feedback: int = Field(default=3, ge=0)
    """Times that a play is told why its turn did not count, where stops say feedback."""
    folder: FolderConfig = FolderConfig()
    """Bounds of a play's own folder."""
    stops: StopsConfig = StopsConfig()
    """What becomes of plays without an answer."""
