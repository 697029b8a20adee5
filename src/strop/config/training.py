"""Recipe sections `sampling`, `grpo`, `optim`, `sft`, `reward_model` and `online`: how the model learns."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field

from strop.config.algorithms import (
    AddedAdvantage,
    AdvantageConfig,
    Correction,
    CorrectionConfig,
    DapoLoss,
    GroupAdvantage,
    LossConfig,
    NoCorrection,
    PerTurnAdvantage,
    RunningBaselineAdvantage,
    TokenTruncated,
    usual_correction,
)
from strop_verify.core.rollout import SamplingParams
from strop_verify.core.section import Complaint, Section

Schedule = Literal["constant", "linear", "cosine"]


class SamplingConfig(Section):
    """How training rollouts are sampled. Evaluation has its own temperature."""

    temperature: float = Field(default=1.0, gt=0, le=10)
    """Softmax temperature; 1 samples from the policy itself. It must be above 0, because training needs answers that
    differ."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Nucleus sampling from the smallest set of tokens with this probability. Below 1 the log-probs are biased."""
    max_tokens: int = Field(default=1024, ge=1)
    """Longest completion in tokens; longer ones are truncated."""
    stop: list[str] | None = None
    """Strings that end a completion; null takes those of tasks.style."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that no stop string is empty."""
        if self.stop is not None and "" in self.stop:
            yield "stop", "an empty string ends every completion at once; remove it"

    def params(self, stop: Sequence[str] | None = ()) -> SamplingParams:
        """The sampling parameters of a request, with these stop strings; by default those of the environment."""
        return SamplingParams(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            stop=tuple(stop or ()),
        )


def _usual_correction(given: dict[str, Any]) -> Correction:
    """The default correction; `given` holds the section's valid fields before it."""
    loss = given.get("loss", DapoLoss())
    name = usual_correction(loss.type, given.get("max_staleness"), given.get("older"))
    return TokenTruncated() if name == "token-truncated" else NoCorrection()


class TeacherConfig(Section):
    """A model whose log-probabilities of the policy's tokens enter their advantages: on-policy distillation (GKD,
    arXiv 2306.13649). The formula is in training/teacher.py."""

    name: str | None = None
    """Hub id or local folder of a model with the policy's tokenizer; null: the policy itself, with more in its
    prompt."""
    revision: str | None = None
    """Branch, tag or commit on the Hub; null takes the default branch."""
    url: str | None = None
    """Address up to /v1 of a server that serves the teacher and gives log-probabilities of prompts, such as vLLM's;
    `name` is then the model's name there. Needs sampling.temperature 1."""
    tokenizer: str | None = None
    """Hub id or folder of the tokenizer of a teacher on a server; null: the one that `name` refers to."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable with the server's key; a recipe never holds the key itself."""
    weight: float = Field(default=1.0, gt=0)
    """Weight of the difference of log-probabilities, in nats, relative to the advantages from rewards."""
    rewards: bool = True
    """Whether rewards contribute advantages; false: distillation only, rewards are logged."""
    on: Literal["all", "failed"] = "all"
    """Which answers it teaches: all, in addition to the advantages from rewards; or those that did not pass, instead of
    these advantages (SRPO, arXiv 2604.02288)."""
    shows: Literal["nothing", "reference", "feedback"] = "nothing"
    """The teacher's extra input after the statement: the reference solution (OPSD, arXiv 2601.18734), or why this
    answer failed (SDPO, arXiv 2601.20802); answers without either keep the advantage of their reward."""
    update_rate: float = Field(default=1.0, ge=0, le=1)
    """For a policy that teaches itself: the share by which the teacher's weights move towards the new ones after each
    step. 1: the teacher is the current policy; below 1: an exponential average (.05 in SDPO); 0: the initial policy
    (OPSD)."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that a policy that teaches itself is shown something, and that server settings come with a name and
        an address."""
        if self.url and not self.name:
            yield "name", "is empty: name the model as the server at grpo.teacher.url calls it"
        if self.tokenizer and not self.url:
            yield "tokenizer", "is for a teacher on a server, but grpo.teacher.url names none"
        if self.name and self.update_rate != 1:
            yield "update_rate", "is for a policy that teaches itself; leave out grpo.teacher.name, or this"
        if not self.name and not self.url and self.shows == "nothing":
            yield (
                "name",
                "is empty: name a teacher, or let the policy teach itself with shows: reference or feedback",
            )


class GrpoConfig(Section):
    """Group relative policy optimisation (DeepSeekMath, arXiv 2402.03300) and its later forms."""

    loss: LossConfig = DapoLoss()
    """The policy-gradient loss, and how its tokens are averaged."""
    advantage: AdvantageConfig = GroupAdvantage()
    """The baseline for a rollout's reward."""
    teacher: TeacherConfig | None = None
    """A model whose log-probabilities add to the rewards, or replace them; null for none."""
    beta: float = Field(default=0.0, ge=0)
    """Weight of the k3 estimate of the KL per token to the model that this training starts from (after a warm start, if
    any). 0 needs no reference model; neither do adapters, which are switched off for the reference."""
    mask_truncated: bool = True
    """Keep truncated answers in the baseline but not in the loss ("overlong filtering", DAPO, DeepCoder)."""
    group_size: int = Field(default=8, ge=1)
    """Rollouts of one task that share a baseline (G); 1 only with advantage running-baseline or your own."""
    tasks_per_step: int = Field(default=32, ge=1)
    """Number of groups, one per task, in one step."""
    iterations: int = Field(default=1, ge=1)
    """Updates on one batch of rollouts (mu in 2402.03300); at 1 ratios are 1 and clipping never acts."""
    minibatches: int = Field(default=1, ge=1)
    """Updates per batch of rollouts, in whole groups; from the second one on the policy differs from the sampler, so
    clipping has an effect (mini-batches of PPO, arXiv 1707.06347)."""
    refill: bool = True
    """Drop groups whose rewards are all equal and sample other tasks instead ("dynamic sampling", DAPO)."""
    max_refill_rounds: int = Field(default=3, ge=0)
    """Maximum refill rounds before the step continues with the groups it has."""
    max_staleness: int = Field(default=0, ge=0)
    """Maximum steps between the weights that sampled a group and those being updated. 0: a step samples, then
    updates. From 1 on, the next step is sampled during the update, one step stale; higher values are for engines that
    get new weights late."""
    older: Literal["drop", "correct"] = "drop"
    """Whether groups older than max_staleness are dropped from the loss, or stay in it under `correction`."""
    correction: CorrectionConfig = Field(default_factory=_usual_correction)
    """Corrects for a sampler whose numerics or weights differ from the trainer's. By default: token-truncated if
    samples may be stale (max_staleness, older) and the loss does not correct by itself; else none."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that minibatches are whole groups, that groups are large enough, and that stale samples are
        corrected."""
        if self.tasks_per_step % self.minibatches:
            yield (
                "minibatches",
                f"{self.minibatches} do not divide the {self.tasks_per_step} groups of a step (grpo.tasks_per_step)",
            )
        if self.refill and not self.compares:
            other = "a teacher" if self.teacher else f"advantage {self.advantage.type}"
            yield "refill", f"replaces groups of equal rewards, but {other} learns from them"
        taught = self.teacher is not None and not self.teacher.rewards
        alone = taught or isinstance(self.advantage, RunningBaselineAdvantage | AddedAdvantage)
        if self.group_size < 2 and not alone:
            yield (
                "group_size",
                f"1 leaves nothing to compare with (advantage {self.advantage.type}); take 2 or more, or "
                "advantage.type running-baseline",
            )
        corrects = self.correction.type != "none"
        if self.loss.type == "sequence-weighted" and corrects:
            yield "correction", "must be none with loss sequence-weighted, which corrects by itself"
        if usual_correction(self.loss.type, self.max_staleness, self.older) != "none" and not corrects:
            yield "correction", "none leaves stale samples uncorrected; choose another, or leave it out"

    @property
    def compares(self) -> bool:
        """Whether a group whose rewards are all equal has no advantages. For your own advantage, `refill` decides,
        which says whether to drop such groups.
        """
        if self.teacher:
            return False
        if isinstance(self.advantage, AddedAdvantage):
            return self.refill
        if isinstance(self.advantage, PerTurnAdvantage):
            return self.advantage.discount == 1
        return not isinstance(self.advantage, RunningBaselineAdvantage)

    @property
    def updates_per_step(self) -> int:
        """Updates of the weights in one step."""
        return self.iterations * self.minibatches


class OptimConfig(Section):
    """AdamW and the length of the run."""

    learning_rate: float = Field(default=1e-6, gt=0, lt=1)
    """Peak learning rate; 1e-6 for full weights (DeepSeekMath, DeepCoder), about ten times that for LoRA."""
    schedule: Schedule = "constant"
    """Shape of the learning rate after the warm-up."""
    warmup_steps: int = Field(default=0, ge=0)
    """Steps during which the learning rate rises from 0."""
    betas: tuple[float, float] = (0.9, 0.99)
    """Adam's decay of the first and second moment, each in [0, 1)."""
    weight_decay: float = Field(default=0.0, ge=0)
    """AdamW's decoupled weight decay."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are scaled down to this norm."""
    steps: int = Field(default=200, ge=1)
    """Training steps: batches of rollouts."""
    micro_batch_tokens: int = Field(default=8192, ge=1)
    """Tokens in one forward and backward pass, per process, including prompts (shared ones once); limits memory, does
    not change the result. A longer answer is processed alone."""
    shared_prefix: bool = True
    """Compute common beginnings of samples (a group's prompt, the first turns of its plays) once in the update: the
    same gradients in less time and memory, by the attention or the cache that the model supports. false computes
    padded rows, each with its whole prompt."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that decays are below 1 and that the warm-up ends within the run."""
        if not all(0 <= beta < 1 for beta in self.betas):
            yield "betas", f"{list(self.betas)} must both lie in [0, 1)"
        if self.warmup_steps > self.steps:
            yield "warmup_steps", f"{self.warmup_steps} is more than steps ({self.steps}); lower it"


class SftConfig(Section):
    """Supervised warm start on reference solutions: for `strop sft`, and before GRPO when `warm_start` is on."""

    warm_start: bool = False
    """Run it at the start of `strop train`; the model is then also evaluated after it, as "warm"."""
    source: str | None = None
    """Source of the examples, written like tasks.source; null takes the references of the training tasks. Only the
    training side of the source is used, split like tasks; its held-out side is never trained on."""
    demos: str | None = None
    """File of multi-turn demonstrations (`strop build demos`), in place of `source`. Those of held-out tasks are left
    out."""
    epochs: float = Field(default=1.0, gt=0)
    """Passes over the examples; unused when steps is given."""
    steps: int | None = Field(default=None, ge=1)
    """Number of updates; null uses epochs."""
    learning_rate: float = Field(default=1e-5, gt=0, lt=1)
    """Peak learning rate of all weights: adapters (model.lora) are added after the warm start."""
    schedule: Schedule = "cosine"
    """Shape of the learning rate after the warm-up."""
    warmup_steps: int = Field(default=0, ge=0)
    """Updates over which the learning rate rises from 0."""
    batch_size: int = Field(default=32, ge=1)
    """Examples in one update, over all processes."""


class RewardModelConfig(Section):
    """A score at the last token, learned from answers that passed and answers that failed."""

    pairs: str | None = Field(default=None, min_length=1)
    """File made by `strop build preferences`; required by `strop train-reward`."""
    loss: Literal["bradley-terry", "cross-entropy"] = "bradley-terry"
    """bradley-terry: ranks each passed answer above each failed one of its task; cross-entropy: each answer alone."""
    centering: float = Field(default=0.01, ge=0)
    """Weight of the squared sum of a pair's scores, which keeps them near 0 (arXiv 2312.09244)."""
    each: int = Field(default=4, ge=1)
    """Maximum number of passed answers, and of failed ones, to compare per task; drawn by the seed."""
    max_tokens: int = Field(default=1024, ge=1)
    """Maximum tokens of task and answer together; longer texts keep their end."""
    epochs: float = Field(default=1.0, gt=0)
    """Passes over the tasks; unused when steps is given."""
    steps: int | None = Field(default=None, ge=1)
    """Number of updates; null uses epochs."""
    batch_size: int = Field(default=16, ge=1)
    """Number of tasks in one update."""
    learning_rate: float = Field(default=1e-5, gt=0, lt=1)
    """Peak learning rate."""
    schedule: Schedule = "cosine"
    """Shape of the learning rate after the warm-up."""
    warmup_steps: int = Field(default=0, ge=0)
    """Updates over which the learning rate rises from 0."""


class OnlineConfig(Section):
    """One round: suggestions of the served model, one update, a comparison, deployment or rollback."""

    events: str | None = Field(default=None, min_length=1)
    """Folder of the event log that `strop serve-edits --log` writes; null is RUN/events."""
    user: Literal["log", "nearer", "kept", "exact", "always", "never", "coin"] = "log"
    """Who accepts suggestions: people, through the event log; or a simulated user, who plays training tasks. Users that
    accept always, never or at random test that a round does no harm."""
    batch: int = Field(default=64, ge=1)
    """New suggestions per round, silent ones included, plus those of rounds rolled back since the last deployment."""
    margin: float = Field(default=0.0, ge=0, lt=1)
    """Loss of reward that still permits deployment: on held-out tasks, compared in pairs with the served and the first
    model, the low end of the interval must be above minus this. 0: only a significant gain is deployed."""
    wrong_margin: float = Field(default=0.05, ge=0, lt=1)
    """Largest rise in rejected suggestions on these tasks, by the high end of its interval, that permits deployment."""
    quiet: float = Field(default=0.02, ge=0, lt=1)
    """Share of shown suggestions below which an alarm is printed."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Seconds between reads of the log."""
