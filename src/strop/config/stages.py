"""Recipe section `stages`: settings that change during a run, such as longer answers from step 180 on.

A stage names only what it changes; null means "as in the recipe". Settings not listed here apply to the whole run.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, create_model

from strop.config.algorithms import ClipRange
from strop.config.training import GrpoConfig, OptimConfig, SamplingConfig
from strop_verify.core.section import Complaint, Section


def _some_of(section: type[Section], place: str, names: str, **nested: type[Section]) -> Any:
    """The section's fields of these names, each with its own bounds and "as in the recipe" by default."""
    fields: dict[str, Any] = {
        name: (inner, Field(default=inner(), description=f"Its {name}.")) for name, inner in nested.items()
    }
    for name in names.split():
        field, told = section.model_fields[name], Field(description=f"Replaces {place}.{name}.")
        kind: Any = field.annotation
        fields[name] = (Annotated[(kind | None, *field.metadata, told)], None)
    doc = f"Settings of `{place}` that a stage may change."
    return create_model(f"Stage{section.__name__}", __base__=Section, __doc__=doc, **fields)


if TYPE_CHECKING:
    StageSampling = Section
    StageGrpo = Section
    StageOptim = Section
else:
    StageSampling = _some_of(SamplingConfig, "sampling", "temperature top_p max_tokens")
    StageGrpo = _some_of(
        GrpoConfig,
        "grpo",
        "mask_truncated group_size tasks_per_step iterations minibatches refill max_refill_rounds",
        loss=_some_of(ClipRange, "grpo.loss", "epsilon_low epsilon_high"),
    )
    StageOptim = _some_of(OptimConfig, "optim", "learning_rate max_grad_norm micro_batch_tokens")


class StageConfig(Section):
    """One stage of the training: its last step and its changes."""

    until: int | None = Field(default=None, ge=1)
    """Its last step, counted from the start of the run; null, in the last stage alone, is optim.steps."""
    sampling: StageSampling = StageSampling()
    """How this stage samples; evaluations keep the recipe's own length."""
    grpo: StageGrpo = StageGrpo()
    """The shape of this stage's steps."""
    optim: StageOptim = StageOptim()
    """How this stage updates; the schedule still spans the whole run, with this learning rate as its peak."""

    def changes(self) -> dict[str, dict[str, Any]]:
        """{section: {key: value}} of what the stage sets; a value may itself be such a mapping."""
        return _set(self.model_dump(include={"sampling", "grpo", "optim"}))


def _set(data: dict[str, Any]) -> dict[str, Any]:
    """Without nulls and empty values."""
    kept = {key: _set(value) if isinstance(value, dict) else value for key, value in data.items()}
    return {key: value for key, value in kept.items() if value is not None and value != {}}


def until_faults(stages: Sequence[StageConfig], steps: int) -> Iterator[Complaint]:
    """Mistakes in the stages' last steps, which must rise and end with the run's `steps`."""
    before = 0
    for number, stage in enumerate(stages):
        field, last = f"stages.{number}.until", number == len(stages) - 1
        until = steps if last and stage.until is None else stage.until
        if until is None:
            yield field, "needs the stage's last step; only the last stage may omit it"
        elif until <= before:
            yield field, f"{until} is not after the stage before, which ends at {before}"
        elif until > steps or (last and until < steps):
            what = f"{until}, but the run ends at optim.steps ({steps})"
            yield field, f"{what}; change one of them, or remove the stages with stages=[]"
        before = until or before
