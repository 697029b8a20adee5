"""The task sets of a recipe: each with a recipe of its own, and with its tasks, split."""

from collections.abc import Callable
from dataclasses import dataclass

from strop.config.mixture import TaskSetConfig
from strop.config.schema import Recipe
from strop.config.tasks import TasksConfig
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.recipe import split_tasks, tasks_source
from strop.tasks.splits import STATEMENT_THRESHOLD, similar_across, statement_shingles


@dataclass(frozen=True)
class TaskSet:
    """One task set of a run."""

    name: str
    """"" where the recipe has only one."""
    recipe: Recipe
    """The run's, with this set alone, its rewards and its stop strings."""
    train: list[Task]
    held_out: list[Task]

    @property
    def tasks(self) -> list[Task]:
        """All of them."""
        return [*self.train, *self.held_out]

    def weight_at(self, step: int) -> float:
        """Its weight beside the other sets in a training step, from 1."""
        config = self.recipe.task_set
        return config.weight_at(step) if isinstance(config, TaskSetConfig) else 1.0


def each(recipe: Recipe) -> dict[str, Recipe]:
    """{name: the recipe with one task set alone, with its rewards and stop strings}; "" is the name of an only one."""
    if isinstance(recipe.tasks, TasksConfig):
        return {"": recipe}
    return {
        one.name: recipe.model_copy(
            update={
                "tasks": one,
                "rewards": one.rewards or recipe.rewards,
                "sampling": recipe.sampling.model_copy(
                    update={"stop": recipe.sampling.stop if one.stop is None else one.stop}
                ),
            }
        )
        for one in recipe.tasks
    }


def sources_of(recipe: Recipe) -> str:
    """The recipe's task sources as one text."""
    return ", ".join(dict.fromkeys(tasks_source(one) for one in each(recipe).values()))


def task_sets(recipe: Recipe, say: Callable[[str], None] = lambda text: None) -> list[TaskSet]:
    """The recipe's task sets. Raises UserError where one is empty or two share a task.

    A task that is a near-duplicate of another set's held-out task is not trained on; `say` gets a line about them.
    """
    sets = [TaskSet(name, one, *split_tasks(one)) for name, one in each(recipe).items()]
    owner: dict[str, str] = {}
    for one in sets:
        for task in one.tasks:
            if (other := owner.setdefault(task.id, one.name)) != one.name:
                raise UserError(
                    f"task {task.id} is in two task sets, {other} and {one.name}; keep them apart by topics or levels"
                )
    return [_without_duplicates(one, [other for other in sets if other is not one], say) for one in sets]


def _without_duplicates(one: TaskSet, others: list[TaskSet], say: Callable[[str], None]) -> TaskSet:
    held_out = [task for other in others for task in other.held_out]
    if not held_out:
        return one
    close = similar_across(
        [statement_shingles(task.statement) for task in one.train],
        [statement_shingles(task.statement) for task in held_out],
        STATEMENT_THRESHOLD,
    )
    if not close:
        return one
    say(f"{one.name}: {len(close)} training tasks left out, near-duplicates of held-out tasks of other sets")
    train = [task for at, task in enumerate(one.train) if at not in close]
    if not train:
        raise UserError(
            f"every training task of {one.name} is a near-duplicate of a held-out task of another set"
        )
    return TaskSet(one.name, one.recipe, train, one.held_out)
