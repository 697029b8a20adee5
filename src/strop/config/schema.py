"""The recipe: one complete experiment. Start here to see what can be set.

Each section is a small class: `run`, `evaluation` and `limits` below, the others in model.py, tasks.py and
training.py. The defaults are meant for a GPU node; demo sets what a laptop needs.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, ValidationError

from strop.config.algorithms import ProcessAdvantage
from strop.config.launch import SHARDED, LaunchConfig
from strop.config.model import ModelConfig, PolicyConfig, TransformersPolicyConfig
from strop.config.stages import StageConfig, until_faults
from strop.config.tasks import (
    PlayConfig,
    RewardConfig,
    TasksConfig,
    TaskSetConfig,
    WindowConfig,
    mixture_faults,
    reward_faults,
)
from strop.config.training import (
    GrpoConfig,
    OnlineConfig,
    OptimConfig,
    RewardModelConfig,
    SamplingConfig,
    SftConfig,
)
from strop.config.unions import without_tags
from strop_verify.core.section import Complaint, Section, laid_over
from strop_verify.verification.config import LocalVerifierConfig, SandboxConfig, VerifierConfig


class CommitConfig(Section):
    """Commits of the run's data to a git repository: recipe, metrics, rollouts, evaluations; no model."""

    remote: str | None = Field(default=None, min_length=1)
    """Destination: a folder (created if missing) or an address for `git push`, such as git@HOST:PATH; null: none."""
    every: int = Field(default=10, ge=1)
    """Steps between commits; the end is always committed."""
    branch: str | None = Field(default=None, min_length=1)
    """The run's own branch; null: the run's name."""

    def complaints(self) -> Iterator[Complaint]:
        """Rejects a password, which would be committed, and a git option."""
        if self.remote is not None and re.search(r"://[^/@]*:[^/@]*@", self.remote):
            what = "holds a password, which would be committed too; leave it to git's credential helper"
            yield "remote", what
        if self.remote is not None and self.remote.startswith("-"):
            yield "remote", "starts with -, which git takes for an option"


class RunConfig(Section):
    """The run folder and its contents."""

    name: str = Field(default="run", pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=100)
    """Name of the run, as charts and model cards show it: letters, digits and . _ + - only."""
    dir: str | None = Field(default=None, min_length=1)
    """Run folder, relative to the working directory; null: runs/NAME. Does not change the name."""
    save_every: int = Field(default=20, ge=1)
    """Steps between checkpoints; the last step is always saved."""
    keep_checkpoints: int = Field(default=2, ge=1)
    """Number of newest checkpoints to keep."""
    keep_optimizer: bool = False
    """Keep the optimiser's state in the checkpoints of a finished run: twice the model's size or more. Without it an
    extended run continues from its weights with a new optimiser."""
    report_to: list[Literal["wandb", "trackio", "tensorboard"]] = Field(default=[])
    """Experiment trackers that also get the metrics; see docs/report.md."""
    commit: CommitConfig = CommitConfig()
    """Commits of the run's data while it trains."""
    overwrite: bool = False
    """Replace an existing run folder, which is otherwise an error."""

    @property
    def folder(self) -> Path:
        """The run folder: `dir`, or runs/NAME."""
        return Path(self.dir) if self.dir is not None else Path("runs") / self.name


def _check_samples(ks: list[int], samples: int, greedy: bool) -> Iterator[Complaint]:
    """Checks 1 <= k <= samples for each pass@k, and that there is an answer to evaluate."""
    if samples == 0:
        if not greedy:
            yield "samples", "0 samples and greedy: false leave nothing to evaluate"
        return
    for k in ks:
        if not 1 <= k <= samples:
            yield "k", f"pass@{k} needs 1 <= k <= samples ({samples})"


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


HELD_OUT = "held-out"


class ExtraEvaluation(Section):
    """A further task set to evaluate on."""

    name: str = Field(min_length=1)
    """Its key in summary.json."""
    source: str = Field(min_length=1)
    """Task set, written like tasks.source; all its tasks are used, whatever their split. held-out: the recipe's own
    held-out tasks, judged by their hidden tests even if tasks.judge is own."""
    samples: int = Field(default=1, ge=0)
    """Sampled answers per task; 0 evaluates only greedily."""
    temperature: float = Field(default=1.0, gt=0)
    """Softmax temperature of the sampled answers."""
    k: list[int] = Field(default=[1], min_length=1)
    """Which pass@k to report."""
    greedy: bool = True
    """Also sample one greedy answer per task."""
    limit: int | None = Field(default=None, ge=1)
    """At most this many tasks, chosen by content hash; null takes all."""
    window: WindowConfig = WindowConfig()
    """Only tasks dated in this window."""
    style: Literal["continue", "chat", "chat-prefilled"] | None = None
    """Prompt style for this set, with the style's own stop strings; null takes tasks.style and sampling.stop."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Longest completion in tokens; null takes sampling.max_tokens."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that each pass@k has k samples."""
        yield from _check_samples(self.k, self.samples, self.greedy)


class EvaluationConfig(Section):
    """Evaluation on held-out tasks: before, during and after training."""

    before: bool | Literal["last", "warm"] = True
    """Evaluate the initial model, and again after a warm start. last: the initial model only, and after training, so
    that training starts at once; warm: only after the warm start."""
    after: bool = True
    """Evaluate the trained model, and compare by paired bootstrap when `before` was done."""
    samples: int = Field(default=8, ge=0)
    """Sampled answers per task (n of the unbiased pass@k, arXiv 2107.03374); 0 evaluates only greedily."""
    temperature: float = Field(default=1.0, gt=0)
    """Softmax temperature of the sampled answers; the greedy answer is separate."""
    k: list[int] = Field(default=[1, 8], min_length=1)
    """Which pass@k to report; each at most `samples`."""
    greedy: bool = True
    """Also sample one greedy answer per task."""
    room: int = Field(default=1, ge=1)
    """Above 1: a control for `greedy`. The initial model also answers greedily with this many times
    sampling.max_tokens, and the trained model is compared with it, to show what it learned besides stopping in time."""
    resampled: bool | None = None
    """Compare plays with single-turn answers of the same model, sampled until they use as many tokens. null: where the
    environment has this control (feedback)."""
    controls: list[Literal["ssd", "rft", "warm"]] = Field(default=[])
    """Controls to train after the run from the same start, on the same tasks, with the same compute, and to compare
    with it: ssd, on the model's own answers; rft, on those that passed; warm, on the references."""
    limit: int | None = Field(default=None, ge=1)
    """At most this many held-out tasks, chosen by content hash; null takes all."""
    window: WindowConfig = WindowConfig()
    """Only held-out tasks dated in this window."""
    every: int = Field(default=0, ge=0)
    """Steps between evaluations during training, on some held-out tasks; 0: none."""
    every_limit: int | None = Field(default=100, ge=1)
    """At most this many of these tasks, chosen by a hash of their ids; null takes all."""
    every_samples: int = Field(default=4, ge=0)
    """Sampled answers per task in these evaluations; 0 evaluates only greedily."""
    extra: list[ExtraEvaluation] = Field(default=[])
    """More task sets to evaluate on."""
    bootstrap: int = Field(default=10_000, ge=100)
    """Resamples of tasks for each interval."""
    confidence: float = Field(default=0.95, gt=0, lt=1)
    """Confidence level of the intervals."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks k <= samples for each pass@k, the names of extra sets, and the requirements of controls."""
        yield from _check_samples(self.k, self.samples, self.greedy)
        if self.room > 1 and not (self.greedy and self.after and self.before in (True, "last")):
            yield (
                "room",
                "needs evaluation.greedy and after, and before true or last; set those, or room to 1",
            )
        if self.controls and not self.after:
            yield "controls", "are compared with the trained model: set evaluation.after=true"
        for name in _repeated(self.controls):
            yield "controls", f"{name} is named twice"
        for name in _repeated(extra.name for extra in self.extra):
            yield "extra", f"two sets are named {name!r}; names are keys in summary.json"


class LimitsConfig(Section):
    """Conditions that stop a run."""

    max_error_rate: float = Field(default=0.05, ge=0, le=1)
    """Share of verdicts with outcome *error* (the grader's failure) above which the run stops with the cause."""


def _several(value: Any) -> str:
    return "several" if isinstance(value, list) else "one"


TaskSets = Annotated[
    Annotated[TasksConfig, Tag("one")] | Annotated[list[TaskSetConfig], Tag("several")],
    Discriminator(_several),
]


class Recipe(Section):
    """One experiment with all its settings."""

    seed: int = Field(default=0, ge=0, lt=2**63)
    """Every random choice comes from (seed, step, task id, rollout index)."""
    run: RunConfig = RunConfig()
    """The run folder and its contents."""
    model: ModelConfig = ModelConfig()
    """The model to train."""
    policy: PolicyConfig = TransformersPolicyConfig()
    """The engine that samples."""
    feed: Literal["tasks", "edit-events"] = "tasks"
    """Where a step's answers come from: plays of the tasks, or events of served edit suggestions, for `strop
    online`, which sets all keys that this needs."""
    tasks: TaskSets = TasksConfig()
    """The tasks: one set, or a list of named sets to train on in one run."""
    rewards: list[RewardConfig] = Field(default=[RewardConfig(name="passed")], min_length=1)
    """Named, weighted rewards; their weighted sum is a rollout's reward."""
    sampling: SamplingConfig = SamplingConfig()
    """How training rollouts are sampled."""
    play: PlayConfig = PlayConfig()
    """How tasks of several turns are played."""
    grpo: GrpoConfig = GrpoConfig()
    """The policy-gradient update."""
    optim: OptimConfig = OptimConfig()
    """The optimiser and the length of the run."""
    stages: list[StageConfig] = Field(default=[])
    """Settings that change during the run, stage by stage; each stage resumes from the previous one's checkpoint."""
    sft: SftConfig = SftConfig()
    """Supervised warm start, for `strop sft`."""
    reward_model: RewardModelConfig = RewardModelConfig()
    """A learned reward, for `strop train-reward`."""
    online: OnlineConfig = OnlineConfig()
    """One round of feed `edit-events`."""
    evaluation: EvaluationConfig = EvaluationConfig()
    """Evaluation on held-out tasks before, during and after training."""
    sandbox: SandboxConfig = SandboxConfig()
    """The jail and the limits of one verdict."""
    verifier: VerifierConfig = LocalVerifierConfig()
    """Who judges answers, and where."""
    limits: LimitsConfig = LimitsConfig()
    """Conditions that stop the run."""
    launch: LaunchConfig = LaunchConfig()
    """The processes of the run, and how they hold the model."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that sections fit together, in every stage."""
        yield from _update_faults(self)
        if self.feed == "edit-events":
            yield from _edit_event_faults(self)
        yield from _sharding_faults(self)
        if self.launch.environments == "ray" and not self.launch.verifiers and self.verifier.engine != "ray":
            remedy = "set verifier.engine=ray, or launch.verifiers for the job's own cluster"
            yield "launch.environments", f"needs a cluster; {remedy}"
        yield from _process_faults(self)
        yield from reward_faults(self.rewards, "rewards")
        if isinstance(self.tasks, list):
            yield from mixture_faults(self.tasks, self.optim.steps)
            for number, extra in enumerate(self.evaluation.extra):
                if extra.style is None:
                    yield f"evaluation.extra.{number}.style", "needs a value, as there are several task sets"
            if self.sft.source is not None:
                yield (
                    "sft.source",
                    "must be null with several task sets: each uses its own references",
                )
        yield from until_faults(self.stages, self.optim.steps)
        for number in range(len(self.stages)):
            yield from _faults_of_stage(self, number)

    @property
    def task_set(self) -> TasksConfig:
        """Its only task set. `tasks.task_sets.each` splits a recipe with several."""
        assert isinstance(self.tasks, TasksConfig), "a recipe with several task sets"
        return self.tasks

    @property
    def sends_adapters(self) -> bool:
        """Whether updates send only adapters to vLLM servers."""
        sharded = self.launch.engine == "zero3" or self.model.quantization is not None
        possible = self.model.lora.rank and not self.sft.warm_start and not sharded
        return self.policy.sends_adapters(bool(possible))

    def at_stage(self, number: int) -> "Recipe":
        """The recipe with the changes of stage `number` (from 0), without `stages`. Raises ValidationError."""
        data = self.model_dump(by_alias=True)
        for section, values in self.stages[number].changes().items():
            data[section] = laid_over(data[section], values)
        return Recipe.model_validate({**data, "stages": []})


def _faults_of_stage(recipe: Recipe, number: int) -> Iterator[Complaint]:
    try:
        recipe.at_stage(number)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            place = ".".join(str(part) for part in without_tags(fault["loc"]))
            for field, what in fault.get("ctx", {}).get("complaints", [("", fault["msg"])]):
                yield ".".join(filter(None, ("stages", str(number), place, field))), what


def _update_faults(recipe: Recipe) -> Iterator[Complaint]:
    """Checks that an answer fits into the engine, and that a teacher on a server gets its temperature."""
    teacher, temperature = recipe.grpo.teacher, recipe.sampling.temperature
    if teacher and teacher.url and temperature != 1:
        yield (
            "sampling.temperature",
            f"{temperature:g} with a teacher on a server, whose log-probabilities have temperature 1; set 1",
        )
    longest = getattr(recipe.policy, "max_model_len", None)
    if longest is not None and longest <= recipe.sampling.max_tokens:
        yield (
            "policy.max_model_len",
            f"{longest} leaves no room for a prompt next to sampling.max_tokens ({recipe.sampling.max_tokens})",
        )
    if recipe.policy.sleeps and recipe.grpo.max_staleness:
        why = f"samples nothing during the update, but grpo.max_staleness={recipe.grpo.max_staleness} needs that"
        yield "policy.sleep", f"{why}; set it to false, or grpo.max_staleness=0"
    if recipe.policy.sends_adapters(False):
        if not recipe.model.lora.rank or recipe.sft.warm_start:
            remedy = "set model.lora.rank above 0 and sft.warm_start=false, or use files"
            yield "policy.sync", f"adapter sends only LoRA adapters: {remedy}"
        if recipe.launch.engine == "zero3":
            yield (
                "policy.sync",
                "adapter cannot gather adapters that launch.engine=zero3 holds in parts; use files",
            )


def _edit_event_faults(recipe: Recipe) -> Iterator[Complaint]:
    """Checks that each context has one answer with its own reward, and that each round saves what is served."""
    grpo = recipe.grpo
    settings = {
        "grpo.advantage": (grpo.advantage.type, "running-baseline"),
        "grpo.loss": (grpo.loss.type, "reinforce"),
        "grpo.group_size": (grpo.group_size, 1),
        "grpo.mask_truncated": (grpo.mask_truncated, False),
        "evaluation.before": (recipe.evaluation.before, True),
        "run.save_every": (recipe.run.save_every, 1),
    }
    for key, (given, needed) in settings.items():
        if given != needed:
            yield key, f"must be {str(needed).lower()} with feed edit-events; strop online sets it"


def _process_faults(recipe: Recipe) -> Iterator[Complaint]:
    """Checks that process rewards by statement have single-turn plays."""
    advantage = recipe.grpo.advantage
    if isinstance(advantage, ProcessAdvantage) and advantage.steps == "statement":
        sets = recipe.tasks if isinstance(recipe.tasks, list) else [recipe.tasks]
        others = [one.environment.type for one in sets if one.environment.type != "single-turn"]
        if others:
            yield (
                "grpo.advantage.steps",
                f"statement needs environment single-turn, not {others[0]}; write turn",
            )


def _sharding_faults(recipe: Recipe) -> Iterator[Complaint]:
    """Settings that need the whole model in a process, under engines that shard it."""
    engine = recipe.launch.engine
    if engine not in SHARDED:
        return
    if recipe.policy.shares_weights:
        yield (
            "policy.engine",
            f"transformers samples from the trained model, but with launch.engine={engine} each process holds only "
            "a part of it; use policy.engine=vllm-server, or launch.engine=ddp or zero2",
        )
    if recipe.evaluation.controls:
        yield (
            "evaluation.controls",
            f"train the whole model in each process, but launch.engine={engine} shards it; use "
            "launch.engine=ddp or zero2",
        )
    if recipe.model.quantization and engine == "fsdp2":
        yield (
            "model.quantization",
            "launch.engine=fsdp2 does not support 4-bit weights; use launch.engine=ddp",
        )
    if recipe.sft.warm_start:
        yield (
            "sft.warm_start",
            f"trains the whole model in each process, but launch.engine={engine} shards it; warm up before, "
            "with strop sft, or use launch.engine=ddp or zero2",
        )
