"""A recipe's tasks, split; without torch, so that a dry run is quick."""

from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.rust_source import judged_by_own_tests
from strop.tasks.sources import load_tasks


def split_tasks(recipe: Recipe) -> tuple[list[Task], list[Task]]:
    """(train, held-out) tasks of a recipe. Raises UserError when there is nothing to train on."""
    tasks = tasks_of(recipe)
    untested = [task for task in tasks if task.test_count == 0]
    if untested:
        raise UserError(
            f"task {untested[0].id} ({untested[0].source or tasks_source(recipe)}) has no tests; add some"
        )
    train = [task for task in tasks if task.split != "held-out"]
    held_out = [task for task in tasks if task.split == "held-out"]
    if not train:
        raise UserError(
            f"tasks.source={tasks_source(recipe)!r} leaves no task to train on; lower held_out_fraction"
        )
    if recipe.evaluation.limit is not None:
        held_out = sorted(held_out, key=lambda task: task.id)[: recipe.evaluation.limit]
    return train, held_out


def tasks_source(recipe: Recipe) -> str:
    """The task source as `load_tasks` takes it."""
    source, config = recipe.tasks.source, recipe.tasks
    if source.startswith("hub:") and "@" not in source:
        subset = f":{config.hub_subset}" if config.hub_subset else ""
        return f"{source}{subset}@{config.hub_split}"
    return source


def tasks_of(recipe: Recipe, judge: str | None = None) -> list[Task]:
    """Every task of the recipe's source, each with its split; `judge` takes the place of tasks.judge."""
    config = recipe.tasks
    tasks = load_tasks(
        tasks_source(recipe),
        columns=config.columns or None,
        limit=config.limit,
        topics=config.topics or None,
        levels=config.levels or None,
        held_out_fraction=config.held_out_fraction,
    )
    return [judged_by_own_tests(task) for task in tasks] if (judge or config.judge) == "own" else tasks
