"""The task sets of a recipe: each with its own recipe and its tasks, split and optionally limited to a window of days.

A day is `metadata["date"]`, YYYY-MM-DD; a time of day after it is ignored. LiveCodeBench (arXiv 2403.07974, section 3)
uses date windows to exclude tasks from an evaluation that a model may have been trained on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from strop.config.recipes import find_recipe, recipe_names
from strop.config.schema import HELD_OUT, ExtraEvaluation, Recipe
from strop.config.tasks import TasksConfig, TaskSetConfig, WindowConfig
from strop.tasks.rust_prompts import judged_by_own_tests
from strop.tasks.sources import load_tasks
from strop.tasks.splits import alike_statements
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


@dataclass(frozen=True)
class TaskSet:
    """One task set of a run."""

    name: str
    """The name of the set, "" if the recipe has only one."""
    recipe: Recipe
    """The run's recipe with only this set, its rewards and its stop strings."""
    train: list[Task]
    held_out: list[Task]

    @property
    def tasks(self) -> list[Task]:
        """All tasks of the set."""
        return [*self.train, *self.held_out]

    def weight_at(self, step: int) -> float:
        """Its weight relative to the other sets in a training step; steps start at 1."""
        config = self.recipe.task_set
        return config.weight_at(step) if isinstance(config, TaskSetConfig) else 1.0


def each(recipe: Recipe) -> dict[str, Recipe]:
    """{name: the recipe with only this task set, its rewards and stop strings}; the name is "" if there is only one."""
    if isinstance(recipe.tasks, TasksConfig):
        return {"": recipe}
    found: dict[str, Recipe] = {}
    for one in recipe.tasks:
        stop = recipe.sampling.stop if one.stop is None else one.stop
        changes = {"tasks": one, "rewards": one.rewards or recipe.rewards, "sampling.stop": stop}
        found[one.name] = recipe.having(changes)
    return found


def sources_of(recipe: Recipe) -> str:
    """The recipe's task sources in one text."""
    return ", ".join(dict.fromkeys(tasks_source(one) for one in each(recipe).values()))


def task_sets(recipe: Recipe, say: Callable[[str], None] = lambda text: None) -> list[TaskSet]:
    """The recipe's task sets. Raises UserError if one is empty, two share a task, or none can be evaluated.

    Held-out tasks without a judge are left out: there is nothing to evaluate. A training task that is a near-duplicate
    of another set's held-out task is left out too; `say` gets a line about them.
    """
    sets = [TaskSet(name, one, *split_tasks(one)) for name, one in each(recipe).items()]
    owner: dict[str, str] = {}
    for one in sets:
        for task in one.tasks:
            if (other := owner.setdefault(task.id, one.name)) != one.name:
                raise UserError(
                    f"task {task.id} is in two task sets, {other} and {one.name}; keep them apart by topics or levels"
                )
    sets = [_without_duplicates(one, [other for other in sets if other is not one], say) for one in sets]
    config, held_out = recipe.evaluation, [task for one in sets for task in one.held_out]
    if config.before or config.after or config.every:
        judged_tasks(held_out)
    return [replace(one, held_out=[t for t in one.held_out if not t.check.rewards_alone]) for one in sets]


def _without_duplicates(one: TaskSet, others: list[TaskSet], say: Callable[[str], None]) -> TaskSet:
    held_out = [task for other in others for task in other.held_out]
    if not held_out:
        return one
    close = alike_statements(one.train, held_out)
    if not close:
        return one
    say(f"{one.name}: {len(close)} training tasks left out, near-duplicates of held-out tasks of other sets")
    train = [task for at, task in enumerate(one.train) if at not in close]
    if not train:
        raise UserError(
            f"every training task of {one.name} is a near-duplicate of a held-out task of another set"
        )
    return TaskSet(one.name, one.recipe, train, one.held_out)


def judged_tasks(tasks: Sequence[Task]) -> list[Task]:
    """The tasks that can be evaluated. Raises UserError if there are tasks but none of them has a judge."""
    judged = [task for task in tasks if not task.check.rewards_alone]
    if tasks and not judged:
        raise UserError(
            f"nothing judges the {len(tasks)} tasks to evaluate on (checks of kind none), so there is no pass@k: set "
            "evaluation.before=false evaluation.after=false and no evaluation.every, or add tasks with a check"
        )
    return judged


def split_tasks(recipe: Recipe, given: Sequence[Task] | None = None) -> tuple[list[Task], list[Task]]:
    """(train, held-out) tasks of a recipe, or of `given`. Raises UserError if there is nothing to train on."""
    tasks = tasks_of(recipe) if given is None else given
    untested = [task for task in tasks if task.untested]
    if untested:
        raise UserError(
            f"task {untested[0].id} ({untested[0].source or tasks_source(recipe)}) has no tests; add some"
        )
    most = recipe.task_set.max_tests
    train = [at_most(task, most) for task in tasks if task.split != "held-out"]
    held_out = [task for task in tasks if task.split == "held-out"]
    if not train:
        raise UserError(
            f"tasks.source={tasks_source(recipe)!r} leaves no task to train on; lower held_out_fraction or, if its "
            "tasks name their own split, make them again with fewer held out"
        )
    held_out = windowed(held_out, recipe.evaluation.window, "evaluation.window").tasks
    if recipe.evaluation.limit is not None:
        held_out = sorted(held_out, key=lambda task: task.id)[: recipe.evaluation.limit]
    return train, held_out


def chosen_tasks(recipe: Recipe, split: str, limit: int | None) -> tuple[list[Task], dict[str, Any] | None]:
    """The tasks to evaluate, of a split or "all", and the effect of a window. Raises UserError if none is left.

    The latter is {"from", "to", "undated", "other_days", "left_out"}: days, counts and a line of text.
    """
    tasks = [task for task in tasks_of(recipe) if split in ("all", task.split)]
    if not tasks:
        raise UserError(f"no task of {recipe.task_set.source!r} is in the split {split!r}; use --split all")
    window = recipe.evaluation.window
    found = windowed(tasks, window, f"the window of {recipe.task_set.source}:")
    kept = [at_most(task, recipe.task_set.max_tests) for task in found.tasks]
    chosen = sorted(kept, key=lambda task: task.id)[:limit] if limit else kept
    if window.is_open:
        return chosen, None
    counts = {"undated": found.undated, "other_days": found.outside, "left_out": found.left_out}
    return chosen, {"from": window.from_, "to": window.to, **counts}


@dataclass(frozen=True)
class InWindow:
    """The tasks within a window, and how many were left out."""

    tasks: list[Task]
    undated: int
    """Tasks left out because they have no date."""
    outside: int
    """Tasks left out because their date is outside the window."""

    @property
    def left_out(self) -> str:
        """One line on how many were left out, and why; "" if none was."""
        found = [f"{self.outside} of other days"] if self.outside else []
        return ", ".join([*found, f"{self.undated} without a date"] if self.undated else found)


def windowed(tasks: Sequence[Task], window: WindowConfig, key: str) -> InWindow:
    """The tasks of a window. Raises UserError, naming `key`, if it leaves none of them."""
    found = in_window(tasks, window.from_, window.to)
    if tasks and not found.tasks:
        raise UserError(f"no task is left in {key} {window}: {found.left_out}; widen it")
    return found


def tasks_source(recipe: Recipe) -> str:
    """The task source in the form that `load_tasks` takes."""
    config = recipe.task_set
    source = config.source
    if source.startswith("hub:") and "@" not in source:
        subset = f":{config.hub_subset}" if config.hub_subset else ""
        return f"{source}{subset}@{config.hub_split}"
    return source


def tasks_of(recipe: Recipe, judge: str | None = None) -> list[Task]:
    """Every task of the recipe's source, each with its split; `judge` replaces tasks.judge."""
    config = recipe.task_set
    try:
        tasks = load_tasks(
            tasks_source(recipe),
            columns=config.columns or None,
            limit=config.limit,
            topics=config.topics or None,
            levels=config.levels or None,
            held_out_fraction=config.held_out_fraction,
        )
    except UserError as error:
        name, file = recipe.run.name, config.source.rpartition("/")[2]
        own = name in recipe_names() and file in find_recipe(name).read_text(encoding="utf-8")
        if not (str(error).startswith("no such file") and own):
            raise
        raise UserError(f"{error}; how it is made: strop recipes {name}") from error
    return [judged_by_own_tests(task) for task in tasks] if (judge or config.judge) == "own" else tasks


def extra_tasks(recipe: Recipe, check: ExtraEvaluation) -> list[Task]:
    """The tasks of an entry in evaluation.extra. Raises UserError if its window leaves none."""
    if check.source == HELD_OUT:
        tasks = [
            task
            for one in each(recipe).values()
            for task in split_tasks(one, tasks_of(one, judge="trusted"))[1]
        ]
    else:
        tasks = load_tasks(check.source)
    return windowed(tasks, check.window, f"window of evaluation.extra {check.name}").tasks[: check.limit]


def at_most(task: Task, most: int | None) -> Task:
    """The task with at most `most` tests, in order: those that the prompt shows, then the longest inputs; None: all.

    As in DeepCoder's rewards (at most 15): long inputs hold the corner cases and the slow ones. Of ties, the first are
    kept. Only tests that are data can be dropped: test code stays. `metadata["base_tests"]` counts the base tests left.
    """
    kept = None if most is None else task.check.longest(most)
    return task if kept is None else task.with_tests(kept)


def date_of(task: Task) -> str:
    """The day on which the task was published, as YYYY-MM-DD; "" if it names none or an unreadable one."""
    text = task.metadata.get("date")
    try:
        return date.fromisoformat(text[:10]).isoformat() if isinstance(text, str) else ""
    except ValueError:
        return ""


def in_window(tasks: Iterable[Task], first: str | None, last: str | None) -> InWindow:
    """The tasks of the days `first` to `last`, inclusive, as YYYY-MM-DD; None means no bound, two of them all tasks."""
    listed = list(tasks)
    if first is None and last is None:
        return InWindow(listed, 0, 0)
    dated = [(task, day) for task in listed if (day := date_of(task))]
    kept = [task for task, day in dated if (first is None or first <= day) and (last is None or day <= last)]
    return InWindow(kept, len(listed) - len(dated), len(dated) - len(kept))


def tried_tasks(sets: Iterable[TaskSet]) -> list[Task]:
    """The training tasks whose reference can be judged, without those whose answers bring their own tests."""
    return [
        task
        for one in sets
        if one.recipe.task_set.judge == "trusted"
        for task in one.train
        if task.reference.strip() and not task.check.rewards_alone
    ]
