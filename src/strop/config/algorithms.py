"""Recipe sections `grpo.loss`, `grpo.advantage`, `grpo.correction`. `type` selects the form; each form has its own
settings.

The formulas are in algorithms/losses.py and algorithms/advantages.py, each beside its source. They also define your
own losses and advantages, whose options are checked when they are looked up.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, GetPydanticSchema

from strop.config.forms import Forms, by_key
from strop_verify.core.section import Complaint, Section


class AddedForm(Section):
    """A form from a package or a user's file. Other keys are its options."""

    model_config = ConfigDict(extra="allow")

    type: str
    """Name of an entry point in strop.losses or strop.advantages (docs/api.md), or file.py:Name."""


class ClipRange(Section):
    """Where the ratio of new to old policy is clipped."""

    epsilon_low: float = Field(default=0.2, ge=0, lt=1)
    """Ratios below 1 - epsilon_low get no gradient for a negative advantage (PPO, arXiv 1707.06347)."""
    epsilon_high: float = Field(default=0.2, ge=0)
    """Ratios above 1 + epsilon_high get no gradient for a positive advantage; above epsilon_low it is "clip-higher"
    (DAPO, arXiv 2503.14476)."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that the range is not empty."""
        if self.epsilon_high < self.epsilon_low:
            yield (
                "epsilon_high",
                f"{self.epsilon_high:g} is below epsilon_low ({self.epsilon_low:g}); raise it or lower epsilon_low",
            )


class GrpoLoss(ClipRange):
    """Clipped ratios per token, averaged per answer, then over answers (DeepSeekMath, arXiv 2402.03300)."""

    type: Literal["grpo"] = "grpo"
    """Selects this loss."""


class DapoLoss(ClipRange):
    """Clipped ratios per token, averaged over all tokens of an update (DAPO, arXiv 2503.14476)."""

    type: Literal["dapo"] = "dapo"
    """Selects this loss."""
    epsilon_high: float = Field(default=0.28, ge=0)
    """Ratios above 1 + epsilon_high get no gradient for a positive advantage ("clip-higher")."""


class DrGrpoLoss(ClipRange):
    """Clipped ratios per token, their sum divided by sampling.max_tokens (Dr. GRPO, arXiv 2503.20783)."""

    type: Literal["dr-grpo"] = "dr-grpo"
    """Selects this loss."""


class GspoLoss(ClipRange):
    """One clipped ratio per sequence: the geometric mean over its tokens (GSPO, arXiv 2507.18071)."""

    type: Literal["gspo"] = "gspo"
    """Selects this loss."""
    epsilon_low: float = Field(default=3e-4, ge=0, lt=1)
    """Sequences whose ratio is below 1 - epsilon_low get no gradient for a negative advantage; 3e-4 and 4e-4 are the
    paper's values (section 5.1)."""
    epsilon_high: float = Field(default=4e-4, ge=0)
    """Sequences whose ratio is above 1 + epsilon_high get no gradient for a positive advantage."""
    average: Literal["answers", "tokens", "constant"] = "answers"
    """How tokens are averaged: as in grpo (the paper's choice), dapo or dr-grpo."""


class CispoLoss(Section):
    """Clips the weights rather than the objective, so each token keeps a gradient (MiniMax-M1, arXiv 2506.13585)."""

    type: Literal["cispo"] = "cispo"
    """Selects this loss."""
    max_weight: float = Field(default=5.0, gt=0)
    """Upper bound of the ratio of new to old policy; 5 is ScaleRL's value (arXiv 2510.13786)."""


class ReinforceLoss(Section):
    """-A log pi (Williams 1992): no ratio, for a single update on the policy's own samples."""

    type: Literal["reinforce"] = "reinforce"
    """Selects this loss."""
    average: Literal["answers", "tokens", "constant"] = "constant"
    """How tokens are averaged: as in grpo, dapo or dr-grpo."""


class SequenceWeightedLoss(Section):
    """-w A log pi over a constant length, where w is the whole answer's ratio to the sampling policy, without gradient
    (SWE-grep, cognition.ai/blog/swe-grep). It corrects for stale samplers itself, so grpo.correction must be none."""

    type: Literal["sequence-weighted"] = "sequence-weighted"
    """Selects this loss."""
    max_weight: float = Field(default=10.0, gt=1)
    """Answers whose ratio is outside [1 / max_weight, max_weight] are left out of the loss."""


class AddedLoss(AddedForm):
    """Your own loss: a function of a micro-batch's tokens (algorithms/losses.py)."""


_Losses = GrpoLoss | DapoLoss | DrGrpoLoss | GspoLoss | CispoLoss | ReinforceLoss | SequenceWeightedLoss
LOSSES: Forms[Section] = Forms("losses", _Losses, AddedLoss)
Loss = _Losses | AddedLoss
LossConfig = Annotated[Loss, GetPydanticSchema(LOSSES.schema)]
"""The policy-gradient loss; `type` selects the class."""

Scale = Literal["group", "batch", "none"]


class GroupAdvantage(Section):
    """Reward minus the group's mean (DeepSeekMath, arXiv 2402.03300)."""

    type: Literal["group"] = "group"
    """Selects this advantage."""
    scale: Scale = "group"
    """Divide by the standard deviation of the group (2402.03300), of the batch (2508.08221), or not (2503.20783)."""


class LeaveOneOutAdvantage(Section):
    """Reward minus the mean of the group's other rewards (RLOO, arXiv 2402.14740)."""

    type: Literal["leave-one-out"] = "leave-one-out"
    """Selects this advantage."""
    by_calls: bool = False
    """Multiply by the play's mean number of calls per turn (SWE-grep, cognition.ai/blog/swe-grep), if the environment
    takes several calls per turn."""


class RunningBaselineAdvantage(Section):
    """Reward minus a running mean of the task's rewards in earlier steps: for groups of one (Williams 1992)."""

    type: Literal["running-baseline"] = "running-baseline"
    """Selects this advantage."""
    decay: float = Field(default=0.9, ge=0, lt=1)
    """Weight of earlier rewards in the mean."""


class PerTurnAdvantage(Section):
    """Each turn's own return minus the group's mean return at that turn (after muCode, arXiv 2502.20380). A play's
    reward counts for its last turn; earlier turns that the environment judged are scored by the same rewards."""

    type: Literal["per-turn"] = "per-turn"
    """Selects this advantage."""
    discount: float = Field(default=1.0, ge=0, le=1)
    """Discount of the next turn's return: 0 counts each turn alone; 1 adds all later turns in full."""
    scale: Scale = "none"
    """Divide by the standard deviation of the turn's returns in the group, or not."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that turns are scaled within their group or not at all."""
        if self.scale == "batch":
            yield "scale", "turns are scaled within their group or not at all; write group or none"


class ProcessAdvantage(Section):
    """Rewards each step of an answer; its tokens get the normalised rewards of this and all later steps
    (DeepSeekMath, arXiv 2402.03300, section 4.1.3)."""

    type: Literal["process"] = "process"
    """Selects this advantage."""
    steps: Literal["statement", "turn"] = "statement"
    """statement: a statement of a Python answer, worth the share of `continuations` from there that pass all tests;
    turn: a turn of a play, worth its own reward."""
    continuations: int = Field(default=4, ge=1)
    """Answers sampled and judged from the end of each statement but the last; identical prefixes are continued once."""
    most_steps: int = Field(default=6, ge=1)
    """Maximum steps per answer; statements beyond it are grouped."""


class AddedAdvantage(AddedForm):
    """Your own advantage: a function of a step's groups (algorithms/advantages.py)."""


_Advantages = (
    GroupAdvantage | LeaveOneOutAdvantage | RunningBaselineAdvantage | PerTurnAdvantage | ProcessAdvantage
)
ADVANTAGES: Forms[Section] = Forms("advantages", _Advantages, AddedAdvantage)
Advantage = _Advantages | AddedAdvantage
AdvantageConfig = Annotated[Advantage, GetPydanticSchema(ADVANTAGES.schema)]
"""How advantages are computed from rewards."""


class NoCorrection(Section):
    """No correction: treats samples as on-policy."""

    type: Literal["none"] = "none"
    """Selects this correction."""


class CutWeights(Section):
    """Importance weights trainer / sampler, capped at a bound (Yao et al. 2025, "Your efficient RL framework secretly
    brings you off-policy RL training")."""

    max_weight: float = Field(default=2.0, gt=0)
    """Larger weights are capped at this value."""


class MaskedWeights(Section):
    """Importance weights trainer / sampler, 0 outside the bounds (IcePop, arXiv 2510.18855)."""

    min_weight: float = Field(default=0.5, ge=0)
    """Weights below this become 0."""
    max_weight: float = Field(default=5.0, gt=0)
    """Weights above this become 0."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that the bounds leave room for a weight."""
        if self.max_weight <= self.min_weight:
            yield "max_weight", f"{self.max_weight:g} is not above min_weight ({self.min_weight:g}); raise it"


class TokenTruncated(CutWeights):
    """One weight per token, capped at a bound."""

    type: Literal["token-truncated"] = "token-truncated"
    """Selects this correction."""


class TokenMasked(MaskedWeights):
    """One weight per token, 0 outside the bounds."""

    type: Literal["token-masked"] = "token-masked"
    """Selects this correction."""


class SequenceTruncated(CutWeights):
    """One weight per answer, the product over its tokens, capped at a bound."""

    type: Literal["sequence-truncated"] = "sequence-truncated"
    """Selects this correction."""


class SequenceMasked(MaskedWeights):
    """One weight per answer, the product over its tokens, 0 outside the bounds."""

    type: Literal["sequence-masked"] = "sequence-masked"
    """Selects this correction."""


Correction = NoCorrection | TokenTruncated | TokenMasked | SequenceTruncated | SequenceMasked
CorrectionConfig = Annotated[Correction, Field(discriminator="type")]
"""Corrects for a sampler whose numerics or weights differ from the trainer's."""


CORRECTIONS: Mapping[str, type[Section]] = by_key(Correction)


def usual_correction(loss: str, max_staleness: object, older: object) -> str:
    """The default type of `grpo.correction`: capped weights for stale samples (Yao et al. 2025), unless the loss
    corrects for them itself."""
    stale = max_staleness not in (0, None) or older == "correct"
    return "token-truncated" if stale and loss != "sequence-weighted" else "none"
