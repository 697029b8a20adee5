"""The stages of a run (one if the recipe has none), with their steps and updates.

A step is one batch of rollouts, an update one step of the optimiser. Stages may differ in updates per step, so a
checkpoint, named after its update, maps to a step only through its stage.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from strop.config.schema import Recipe


@dataclass(frozen=True)
class RunStage:
    """One stage. Steps and updates are counted from the start of the run."""

    number: int
    """The stage's number, from 1."""
    recipe: Recipe
    """The recipe with the stage's changes."""
    steps_before: int
    last_step: int
    updates_before: int
    warmup_updates: int
    """Updates of the whole run during which the learning rate rises."""
    all_updates: int
    """Updates of the whole run."""
    changes: str = ""
    """What it changes, such as "sampling.max_tokens=16384, grpo.tasks_per_step=32"."""

    @property
    def last_update(self) -> int:
        """Updates of the run at the end of the stage."""
        return self.updates_before + (self.last_step - self.steps_before) * self.recipe.grpo.updates_per_step

    @property
    def checkpoint(self) -> str:
        """Name of the checkpoint at its end."""
        return f"checkpoint-{self.last_update}"

    def step_of(self, update: int) -> tuple[int, int]:
        """(whole steps done after `update` updates, updates done in the next step)."""
        steps, rest = divmod(update - self.updates_before, self.recipe.grpo.updates_per_step)
        return self.steps_before + steps, rest

    def saves(self, update: int) -> bool:
        """Whether to save a checkpoint after `update` updates: every run.save_every steps, and at the stage's end."""
        step, rest = self.step_of(update)
        return rest == 0 and (step % self.recipe.run.save_every == 0 or step == self.last_step)

    def __str__(self) -> str:
        changes = self.changes or "as in the recipe"
        return f"stage {self.number}, steps {self.steps_before + 1} to {self.last_step}: {changes}"


def stages_of(recipe: Recipe) -> list[RunStage]:
    """The recipe's stages, at least one."""
    recipes = [recipe.at_stage(number) for number in range(len(recipe.stages))] or [recipe]
    ends = [stage.until or recipe.optim.steps for stage in recipe.stages] or [recipe.optim.steps]
    edges = list(pairwise([0, *ends]))
    each = [one.grpo.updates_per_step for one in recipes]

    def updates(steps: int) -> int:
        """Updates in the first `steps` steps."""
        return sum(
            (min(max(steps, first), last) - first) * share
            for (first, last), share in zip(edges, each, strict=True)
        )

    return [
        RunStage(
            number=number + 1,
            recipe=one,
            steps_before=first,
            last_step=last,
            updates_before=updates(first),
            warmup_updates=updates(recipe.optim.warmup_steps),
            all_updates=updates(ends[-1]),
            changes=_changes(recipe, number),
        )
        for number, (one, (first, last)) in enumerate(zip(recipes, edges, strict=True))
    ]


def stage_at(stages: Sequence[RunStage], update: int) -> RunStage:
    """The stage to continue after `update` updates; the last one when all are done."""
    return next((stage for stage in stages if update < stage.last_update), stages[-1])


def update_of(checkpoint: Path | None) -> int:
    """Updates at a checkpoint, 0 without one."""
    return 0 if checkpoint is None else int(checkpoint.name.removeprefix("checkpoint-"))


def _changes(recipe: Recipe, number: int) -> str:
    return ", ".join(_said(recipe.stages[number].changes(), "")) if recipe.stages else ""


def _said(changes: dict[str, Any], prefix: str) -> Iterator[str]:
    for key, value in changes.items():
        if isinstance(value, dict):
            yield from _said(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}={value}"
