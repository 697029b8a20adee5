"""The one task that the words of `strop play` and `strop answer` name, and the recipe with who answers.

Imported when a command runs, never for its help.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from strop.cli.models import check_there, quoted, read_models, recipes_of, split_words
from strop.cli.options import EngineOptions
from strop.config.load import load_recipe
from strop.config.recipes import is_recipe
from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.task import Task
from strop.core.text import printable
from strop.tasks.doctests import SUFFIX
from strop.tasks.jsonl import is_jsonl
from strop.tasks.task_sets import chosen_tasks


def chosen_task(
    command: str, words: list[str], options: list[str], answering: EngineOptions, model: str | None
) -> tuple[Recipe, Task]:
    """The recipe and the task that the words of `strop play` or its like name, with the overrides of its options.
    Raises UserError before anything is loaded.
    """
    names, overrides = split_words(words)
    recipes = [name for name in names if is_recipe(name)]
    tasks = [name for name in names if name not in recipes]
    if len(tasks) > 1:
        raise UserError(f"strop {command} takes one task, not {len(tasks)}: {' '.join(tasks)!r:.80}")
    file = next((name for name in tasks if name.endswith(SUFFIX) or is_jsonl(Path(name))), None)
    source = file
    if file is not None:
        if not Path(file).is_file():
            raise UserError(
                printable(f"there is no file {file}; a task of a set is named by its id or number")
            )
        source = f"doctests:{file}" if file.endswith(SUFFIX) else file
        options = [*options, f"tasks.source={quoted(source)}"]
    if model is not None:
        models = read_models([model], answering.engine, answering.base_url)
        named = recipes_of(models, options, overrides, recipes)
    elif recipes:
        named = {recipes[-1]: load_recipe(recipes, [*options, *overrides])}
    else:
        raise UserError("--model is missing: name one, such as smollm2-135m, a run, or scripted:FILE")
    recipe = next(iter(named.values()))
    if isinstance(recipe.tasks, list):
        raise UserError(f"strop {command} takes one task set; name it with --tasks")
    from strop.environments.kinds import find_environment

    find_environment(recipe.task_set.environment)
    found, _ = chosen_tasks(recipe, "all", None)
    if file is not None and len(found) > 1:
        which = f"--tasks {shlex.quote(str(source))}"
        raise UserError(
            printable(f"{file} holds {len(found)} tasks; name one: strop {command} {found[0].id:.40} {which}")
        )
    task = _task(tasks[0] if tasks and file is None else "1", found, recipe.task_set.source)
    check_there(named)
    return recipe, task


def _task(word: str, tasks: Sequence[Task], source: str) -> Task:
    """The task of that id, number (from 1) or beginning of an id. Raises UserError with those that are close."""
    from strop.reports.terminal.find import pick
    from strop.tasks.rows import suggestion

    by_id = {task.id: task for task in tasks}
    if word not in by_id and word.isdecimal() and 1 <= int(word) <= len(tasks):
        return tasks[int(word) - 1]
    if not any(name.startswith(word) for name in by_id):
        close = suggestion(word, list(by_id)) or f"; strop tasks list {source} shows them"
        raise UserError(printable(f"{source} has no task {word!r:.80}: it has 1 to {len(tasks)}{close}"))
    return by_id[pick(word, set(by_id), f"task of {source}")]
