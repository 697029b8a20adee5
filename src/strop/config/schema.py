"""The recipe: one experiment, complete. Start here to see what can be set.

Each section is a small class of its own: `run`, `evaluation` and `limits` below, the others in model.py, tasks.py and
training.py. Every default is meant for a GPU node; recipes/demo.yaml sets what a laptop needs.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from strop.config.model import ModelConfig, PolicyConfig, TransformersPolicy
from strop.config.section import Complaint, Section
from strop.config.tasks import RewardConfig, SandboxConfig, TasksConfig
from strop.config.training import GrpoConfig, OptimConfig, SamplingConfig, SftConfig


class RunConfig(Section):
    """The run folder and what goes into it."""

    name: str = Field(default="run", pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=100)
    """Name of the run: letters, digits and . _ + - only."""
    dir: str | None = Field(default=None, min_length=1)
    """Run folder; null is runs/<name>."""
    save_every: int = Field(default=20, ge=1)
    """Steps between checkpoints; the last step is always saved."""
    keep_checkpoints: int = Field(default=2, ge=1)
    """Newest checkpoints to keep."""
    report_to: list[str] = Field(default=[])
    """Trackers beside metrics.jsonl, by their names in transformers: wandb, trackio, tensorboard, ..."""
    overwrite: bool = False
    """Replace a run folder that exists; otherwise it is an error."""

    @property
    def folder(self) -> Path:
        """The run folder."""
        return Path(self.dir) if self.dir is not None else Path("runs") / self.name


def _check_samples(ks: list[int], samples: int, greedy: bool) -> Iterator[Complaint]:
    """pass@k needs 1 <= k <= samples, and an evaluation needs at least one answer."""
    if samples == 0:
        if not greedy:
            yield "samples", "0 samples and greedy: false leave nothing to evaluate"
        return
    for k in ks:
        if not 1 <= k <= samples:
            yield "k", f"pass@{k} needs 1 <= k <= samples ({samples})"


class ExtraEvaluation(Section):
    """One more task set to evaluate on, as a check from outside."""

    name: str = Field(min_length=1)
    """Its key in summary.json."""
    source: str = Field(min_length=1)
    """Task set, written like tasks.source; all its tasks are used, whatever their split."""
    samples: int = Field(default=1, ge=0)
    """Sampled answers per task; 0 evaluates only greedily."""
    temperature: float = Field(default=1.0, gt=0)
    """Softmax temperature of the sampled answers."""
    k: list[int] = Field(default=[1], min_length=1)
    """Which pass@k to report."""
    greedy: bool = True
    """Also one greedy answer per task."""
    limit: int | None = Field(default=None, ge=1)
    """At most this many tasks, chosen by content hash; null takes all."""
    style: Literal["continue", "chat", "chat-prefilled"] | None = None
    """Prompt style for this set, with the style's own stop strings; null takes tasks.style and sampling.stop."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Longest completion in tokens; null takes sampling.max_tokens."""

    def complaints(self) -> Iterator[Complaint]:
        """pass@k needs k samples."""
        yield from _check_samples(self.k, self.samples, self.greedy)


class EvaluationConfig(Section):
    """Evaluation on held-out tasks, before and after training."""

    before: bool = True
    """Evaluate the model as it comes."""
    after: bool = True
    """Evaluate the trained model, and compare by paired bootstrap when `before` was done."""
    samples: int = Field(default=8, ge=0)
    """Sampled answers per task (n of the unbiased pass@k, arXiv 2107.03374); 0 evaluates only greedily."""
    temperature: float = Field(default=1.0, gt=0)
    """Softmax temperature of the sampled answers; the greedy answer is separate."""
    k: list[int] = Field(default=[1, 8], min_length=1)
    """Which pass@k to report; each at most `samples`."""
    greedy: bool = True
    """Also one greedy answer per task."""
    limit: int | None = Field(default=None, ge=1)
    """At most this many held-out tasks, chosen by content hash; null takes all."""
    extra: list[ExtraEvaluation] = Field(default=[])
    """More task sets to evaluate on."""
    bootstrap: int = Field(default=10_000, ge=100)
    """Resamples of tasks behind each interval."""
    confidence: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of the intervals."""

    def complaints(self) -> Iterator[Complaint]:
        """pass@k needs k samples, and extra sets need names of their own."""
        yield from _check_samples(self.k, self.samples, self.greedy)
        names = [extra.name for extra in self.extra]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield "extra", f"two sets are named {name!r}; names are keys in summary.json"


class LimitsConfig(Section):
    """When a run gives up."""

    max_error_rate: float = Field(default=0.05, ge=0, le=1)
    """Share of verdicts with outcome *error* (ours, not the model's) above which the run stops with the cause."""


class Recipe(Section):
    """One experiment."""

    seed: int = Field(default=0, ge=0, lt=2**63)
    """Every random choice comes from (seed, step, task id, rollout index)."""
    run: RunConfig = RunConfig()
    """The run folder."""
    model: ModelConfig = ModelConfig()
    """The model to train."""
    policy: PolicyConfig = TransformersPolicy()
    """The engine that samples."""
    tasks: TasksConfig = TasksConfig()
    """What is asked."""
    rewards: list[RewardConfig] = Field(default=[RewardConfig(name="passed")], min_length=1)
    """Named, weighted rewards; their weighted sum is a rollout's reward."""
    sampling: SamplingConfig = SamplingConfig()
    """How training rollouts are sampled."""
    grpo: GrpoConfig = GrpoConfig()
    """The policy-gradient update."""
    optim: OptimConfig = OptimConfig()
    """The optimiser and the length of the run."""
    sft: SftConfig = SftConfig()
    """Supervised warm start, for `strop sft`."""
    evaluation: EvaluationConfig = EvaluationConfig()
    """Evaluation before and after."""
    sandbox: SandboxConfig = SandboxConfig()
    """Limits of one verdict."""
    limits: LimitsConfig = LimitsConfig()
    """When the run gives up."""

    def complaints(self) -> Iterator[Complaint]:
        """Sections fit together."""
        rows, micro_batch = self.grpo.rows_per_step, self.optim.micro_batch
        if rows % micro_batch:
            yield (
                "optim.micro_batch",
                f"{micro_batch} does not divide the {rows} rows of a step (grpo.tasks_per_step x grpo.group_size)",
            )
        names = [reward.name for reward in self.rewards]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield "rewards", f"{name!r} is listed twice; add up its weights"
        if all(reward.weight == 0 for reward in self.rewards):
            yield "rewards", "every weight is 0, so nothing would be learnt; give one a weight"
        longest = getattr(self.policy, "max_model_len", None)
        if longest is not None and longest <= self.sampling.max_tokens:
            yield (
                "policy.max_model_len",
                f"{longest} leaves no room for a prompt beside sampling.max_tokens ({self.sampling.max_tokens})",
            )
