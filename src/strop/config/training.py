"""Recipe sections `sampling`, `grpo`, `optim` and `sft`: how the model learns."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from strop.config.section import Complaint, Section

Schedule = Literal["constant", "linear", "cosine"]


class SamplingConfig(Section):
    """How training rollouts are sampled. Evaluation has its own temperature."""

    temperature: float = Field(default=1.0, gt=0, le=10)
    """Softmax temperature; 1 samples from the policy as it is. Training needs differing answers, so never 0."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Nucleus: sample from the smallest set of tokens with this probability. Below 1 the log-probs are biased."""
    max_tokens: int = Field(default=1024, ge=1)
    """Longest completion in tokens; longer ones are truncated."""
    stop: list[str] | None = None
    """Strings that end a completion; null takes those of tasks.style."""

    def complaints(self) -> Iterator[Complaint]:
        """An empty stop string would stop everything at once."""
        if self.stop is not None and "" in self.stop:
            yield "stop", "an empty string ends every completion at once; remove it"


class GrpoConfig(Section):
    """Group relative policy optimisation (DeepSeekMath, arXiv 2402.03300) and its later forms."""

    loss: Literal["grpo", "dr_grpo", "dapo", "bnpo", "cispo", "luspo"] = "dapo"
    """How token losses are averaged. grpo: per answer, then over answers (arXiv 2402.03300); dapo: over all tokens of
    the step (2503.14476); bnpo: over the tokens of one forward; dr_grpo: divided by max_tokens (2503.20783); cispo:
    clips the weights, not the objective (2506.13585); luspo: per answer, times its length (2602.05261)."""
    importance_level: Literal["token", "sequence"] = "token"
    """Ratio of new to old policy per token, or per sequence as in GSPO (arXiv 2507.18071)."""
    epsilon_low: float = Field(default=0.2, ge=0, lt=1)
    """Ratios below 1 - epsilon_low get no gradient for a negative advantage (PPO, arXiv 1707.06347)."""
    epsilon_high: float = Field(default=0.28, ge=0)
    """Ratios above 1 + epsilon_high get no gradient for a positive advantage; above epsilon_low it is "clip-higher"
    (DAPO, arXiv 2503.14476)."""
    beta: float = Field(default=0.0, ge=0)
    """Weight of the k3 estimate of the KL to the starting model, per token; 0 needs no reference model."""
    scale_rewards: Literal["group", "batch", "none"] = "group"
    """Divide advantages by the standard deviation of the group (2402.03300), of the batch, or not (2503.20783)."""
    mask_truncated: bool = True
    """Truncated answers stay in the baseline and leave the loss ("overlong filtering", DAPO, DeepCoder)."""
    group_size: int = Field(default=8, ge=2)
    """Rollouts of one task that share a baseline (G)."""
    tasks_per_step: int = Field(default=32, ge=1)
    """Groups in one step."""
    iterations: int = Field(default=1, ge=1)
    """Updates on one batch of rollouts (mu in 2402.03300); at 1 ratios are 1 and clipping never acts."""
    minibatches: int = Field(default=1, ge=1)
    """Updates that a batch of rollouts is divided into, in whole groups; from the second one on the policy has moved
    since it sampled, so clipping has an effect (mini-batches of PPO, arXiv 1707.06347)."""
    refill: bool = True
    """Drop groups whose rewards are all equal and sample other tasks in their place ("dynamic sampling", DAPO)."""
    max_refill_rounds: int = Field(default=3, ge=0)
    """Rounds of refilling before the step continues with the groups it has."""

    def complaints(self) -> Iterator[Complaint]:
        """The clip range holds together, and LUSPO is a sequence-level loss."""
        if self.epsilon_high < self.epsilon_low:
            yield (
                "epsilon_high",
                f"{self.epsilon_high:g} is below epsilon_low ({self.epsilon_low:g}); widen it or lower that",
            )
        if self.tasks_per_step % self.minibatches:
            yield (
                "minibatches",
                f"{self.minibatches} do not divide the {self.tasks_per_step} groups of a step (grpo.tasks_per_step)",
            )
        if self.loss == "luspo" and self.importance_level != "sequence":
            yield "importance_level", "loss luspo needs importance_level: sequence"

    @property
    def updates_per_step(self) -> int:
        """Updates of the weights in one step."""
        return self.iterations * self.minibatches

    @property
    def rows_per_step(self) -> int:
        """Rollouts in one full step."""
        return self.tasks_per_step * self.group_size


class OptimConfig(Section):
    """AdamW and how long it runs."""

    learning_rate: float = Field(default=1e-6, gt=0, lt=1)
    """Peak learning rate; 1e-6 for full weights (DeepSeekMath, DeepCoder), about ten times that for LoRA."""
    schedule: Schedule = "constant"
    """Shape of the learning rate after the warm-up."""
    warmup_steps: int = Field(default=0, ge=0)
    """Steps over which the learning rate rises from 0."""
    betas: tuple[float, float] = (0.9, 0.99)
    """Adam's decay of the first and second moment, each in [0, 1)."""
    weight_decay: float = Field(default=0.0, ge=0)
    """AdamW's decoupled weight decay."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are scaled down to this norm."""
    steps: int = Field(default=200, ge=1)
    """Training steps: batches of rollouts."""
    micro_batch: int = Field(default=8, ge=1)
    """Rows in one forward and backward pass, per process; limits memory, does not change the result."""

    shared_prefix: bool = False
    """Compute a group's prompt once in the update, let its answers share it, and never hold all logits at once: the
    same gradients for less time and memory. For models whose head is a plain matrix."""

    def complaints(self) -> Iterator[Complaint]:
        """Decays are shares, and the warm-up ends before the run."""
        if not all(0 <= beta < 1 for beta in self.betas):
            yield "betas", f"{list(self.betas)} must both lie in [0, 1)"
        if self.warmup_steps > self.steps:
            yield "warmup_steps", f"{self.warmup_steps} is more than steps ({self.steps}); lower it"


class SftConfig(Section):
    """Supervised warm start on reference solutions: for `strop sft`, and before GRPO when `warm_start` is on."""

    warm_start: bool = False
    """Let `strop train` begin with it; the model is then evaluated once more in between, as "warm"."""
    source: str | None = None
    """Source of the examples, written like tasks.source; null takes the references of the training tasks. Only the
    training side of a source is used, split as tasks are: its held-out side is never trained on."""
    epochs: float = Field(default=1.0, gt=0)
    """Passes over the examples; unused when steps is given."""
    steps: int | None = Field(default=None, ge=1)
    """Updates; null goes by epochs."""
    learning_rate: float = Field(default=1e-5, gt=0, lt=1)
    """Peak learning rate."""
    schedule: Schedule = "cosine"
    """Shape of the learning rate after the warm-up."""
    warmup_steps: int = Field(default=0, ge=0)
    """Updates over which the learning rate rises from 0."""
    batch_size: int = Field(default=32, ge=1)
    """Examples in one update, over all processes."""
