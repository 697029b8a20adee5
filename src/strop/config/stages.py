"""Recipe section `stages`: settings that change during a run, such as longer answers from step 180 on.

A stage names only what it changes; null means "as in the recipe". Settings not listed here apply to the whole run.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from strop.config.section import Complaint, Section


class StageSampling(Section):
    """What a stage may change of `sampling`."""

    temperature: float | None = Field(default=None, gt=0, le=10)
    """In place of sampling.temperature."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """In place of sampling.top_p."""
    max_tokens: int | None = Field(default=None, ge=1)
    """In place of sampling.max_tokens, in tokens. Evaluations keep the recipe's own."""


class StageLoss(Section):
    """What a stage may change of `grpo.loss`, where it has a clip range."""

    epsilon_low: float | None = Field(default=None, ge=0, lt=1)
    """In place of grpo.loss.epsilon_low."""
    epsilon_high: float | None = Field(default=None, ge=0)
    """In place of grpo.loss.epsilon_high."""


class StageGrpo(Section):
    """What a stage may change of `grpo`: not the form of the loss."""

    loss: StageLoss = StageLoss()
    """Its clip range."""
    mask_truncated: bool | None = None
    """In place of grpo.mask_truncated."""
    group_size: int | None = Field(default=None, ge=1)
    """In place of grpo.group_size."""
    tasks_per_step: int | None = Field(default=None, ge=1)
    """In place of grpo.tasks_per_step."""
    iterations: int | None = Field(default=None, ge=1)
    """In place of grpo.iterations."""
    minibatches: int | None = Field(default=None, ge=1)
    """In place of grpo.minibatches."""
    refill: bool | None = None
    """In place of grpo.refill."""
    max_refill_rounds: int | None = Field(default=None, ge=0)
    """In place of grpo.max_refill_rounds."""


class StageOptim(Section):
    """What a stage may change of `optim`."""

    learning_rate: float | None = Field(default=None, gt=0, lt=1)
    """Replaces optim.learning_rate; the schedule still spans the whole run, with this peak."""
    max_grad_norm: float | None = Field(default=None, gt=0)
    """In place of optim.max_grad_norm."""
    micro_batch_tokens: int | None = Field(default=None, ge=1)
    """In place of optim.micro_batch_tokens."""


class StageConfig(Section):
    """One stage of the training: until when it goes, and what it changes."""

    until: int | None = Field(default=None, ge=1)
    """Its last step, counted from the start of the run; null, in the last stage alone, is optim.steps."""
    sampling: StageSampling = StageSampling()
    """How this stage samples."""
    grpo: StageGrpo = StageGrpo()
    """The shape of this stage's steps."""
    optim: StageOptim = StageOptim()
    """How this stage updates."""

    def changes(self) -> dict[str, dict[str, Any]]:
        """{section: {key: value}} of what the stage sets; a value may be a mapping of that kind again."""
        return _set(self.model_dump(include={"sampling", "grpo", "optim"}))


def _set(data: dict[str, Any]) -> dict[str, Any]:
    """Without null and what is empty."""
    kept = {key: _set(value) if isinstance(value, dict) else value for key, value in data.items()}
    return {key: value for key, value in kept.items() if value is not None and value != {}}


def until_faults(stages: Sequence[StageConfig], steps: int) -> Iterator[Complaint]:
    """What is wrong with the stages' last steps: they must rise, and end with the run's `steps`."""
    before = 0
    for number, stage in enumerate(stages):
        field, last = f"stages.{number}.until", number == len(stages) - 1
        until = steps if last and stage.until is None else stage.until
        if until is None:
            yield field, "needs the stage's last step; only the last stage may leave it out"
        elif until <= before:
            yield field, f"{until} is not after the stage before, which ends at {before}"
        elif until > steps or (last and until < steps):
            what = f"{until}, but the run ends at optim.steps ({steps})"
            yield field, f"{what}; change one of them, or take the stages out with stages=[]"
        before = until or before
