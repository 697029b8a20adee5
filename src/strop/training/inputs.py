"""What a run is made of before a model is loaded: task sets, rewards and environment, by the recipe or the caller."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.ids import content_hash
from strop.core.protocols import Environment
from strop.core.task import Task
from strop.environments.kinds import Kind, Played, played_by
from strop.rewards.rubric import RubricBySet, WeightedRubric
from strop.tasks.splits import assign_splits
from strop.tasks.task_sets import TaskSet, split_tasks, task_sets

GIVEN = "given.json"
"""File of a run folder that notes what the process that began it brought."""


@dataclass(frozen=True)
class Given:
    """What the calling process brings to a run, each in place of what the recipe names.

    tasks  split by their own field; where one has none, by tasks.held_out_fraction as tasks from a source are
    """

    tasks: Sequence[Task] | None = None
    rubric: WeightedRubric | None = None
    environment: Kind | str | None = None
    made: list[TaskSet] | None = None
    """The task sets, where they were made before."""

    def names(self) -> dict[str, Any]:
        """What it is, for a reader and to know it again."""
        kind, named = self.environment, dict[str, Any]()
        if self.tasks is not None:
            digest = content_hash([(task.id, task.split) for task in self.tasks])
            named["tasks"] = {"count": len(self.tasks), "digest": digest}
        if self.rubric is not None:
            named["rewards"] = self.rubric.weights
        if kind is not None:
            named["environment"] = (
                kind if isinstance(kind, str) else getattr(kind, "__qualname__", repr(kind))
            )
        return named

    def check(self, run: Path) -> None:
        """Raises UserError where the run of that folder was begun with other things than these."""
        path, now = run / GIVEN, self.names()
        before = json.loads(path.read_text()) if path.is_file() else {}
        if differs := [name for name in {**before, **now} if before.get(name) != now.get(name)]:
            brought = ", ".join(before) or "nothing"
            remedy = f"strop.train(..., resume={str(run)!r})"
            raise UserError(
                f"{run} was begun by a program that brought {brought} of its own; resume it with the same by {remedy} "
                f"(not the same: {', '.join(differs)})"
            )

    def sets(self, recipe: Recipe, say: Callable[[str], None]) -> list[TaskSet]:
        """The run's task sets. Raises UserError."""
        if self.made is not None:
            return self.made
        if self.names() and isinstance(recipe.tasks, list):
            fault = "tasks, rewards or environment of a program need a recipe with one task set"
            raise UserError(f"{fault}; this one has {len(recipe.tasks)}")
        if self.tasks is None:
            return task_sets(recipe, say)
        if len({task.id for task in self.tasks}) < len(self.tasks) or not self.tasks:
            raise UserError("the tasks given are none, or one of them is given twice; give each once")
        config = recipe.task_set.model_copy(update={"source": "given"})
        recipe, tasks = recipe.model_copy(update={"tasks": config}), list(self.tasks)
        if not all(task.split for task in tasks):
            tasks = assign_splits(tasks, config.held_out_fraction)
        return [TaskSet("", recipe, *split_tasks(recipe, tasks))]


NOTHING = Given()


def rubric_of(sets: Sequence[TaskSet]) -> WeightedRubric | RubricBySet:
    """The rewards of the run, or of each set. Raises UserError."""
    rubrics = {
        one.name: WeightedRubric.from_names([(reward.name, reward.weight) for reward in one.recipe.rewards])
        for one in sets
    }
    if len(sets) == 1:
        return rubrics[sets[0].name]
    return RubricBySet(rubrics, {task.id: one.name for one in sets for task in one.tasks})


@dataclass(frozen=True)
class PlayedBySet:
    """Makes the environment of each task as its set is played."""

    makers: Mapping[str, Played]
    set_of: Mapping[str, str]

    def __call__(self, task: Task) -> Environment:
        """The environment of one rollout."""
        return self.makers[self.set_of[task.id]](task)

    @property
    def control(self) -> "PlayedBySet | None":
        """As of `Played`; sets that are held against nothing are played as they are."""
        controls = {name: maker.control for name, maker in self.makers.items()}
        if not any(controls.values()):
            return None
        return PlayedBySet(
            {name: controls[name] or maker for name, maker in self.makers.items()}, self.set_of
        )


def environment_of(sets: Sequence[TaskSet], kind: Kind | str | None) -> Played | PlayedBySet:
    """How each task is played; `kind` takes the place of tasks.environment."""
    makers = {one.name: played_by(one.recipe, kind=kind) for one in sets}
    if len(sets) == 1:
        return makers[sets[0].name]
    return PlayedBySet(makers, {task.id: one.name for one in sets for task in one.tasks})
