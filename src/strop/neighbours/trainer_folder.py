"""Shared by all folders for other trainers: prompts, judge, files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from strop.config.schema import Recipe
from strop.rewards.rubric import WeightedRubric, total
from strop.rollouts.trl_reward import OpenedVerifier, judged_rollout, task_of_line
from strop.tasks.answers import answer_in
from strop.tasks.parquet import write_rows
from strop.tasks.prompts import render
from strop.tasks.task_sets import split_tasks
from strop_verify.core.errors import UserError
from strop_verify.core.files import writing
from strop_verify.core.task import Task


def single_turn(recipe: Recipe, trainer: str) -> None:
    """Raises UserError unless tasks take one turn and use a chat template."""
    config = recipe.task_set
    if config.environment.type != "single-turn":
        raise UserError(
            f"tasks.environment={config.environment.type}: only single-turn can be exported to {trainer}"
        )
    if config.style != "chat":
        raise UserError(
            f"tasks.style={config.style}: {trainer} prompts by chat templates; set tasks.style=chat"
        )


def known_form(recipe: Recipe, trainer: str, losses: Sequence[str], advantages: Sequence[str]) -> None:
    """Raises UserError unless the trainer has the recipe's loss and advantage, and tasks take one turn."""
    grpo = recipe.grpo
    if grpo.loss.type not in losses:
        raise UserError(
            f"grpo.loss={grpo.loss.type} has no counterpart in {trainer}; these have: {', '.join(losses)}"
        )
    if grpo.advantage.type not in advantages:
        raise UserError(
            f"grpo.advantage={grpo.advantage.type} has no counterpart in {trainer}; {' and '.join(advantages)} have"
        )
    single_turn(recipe, trainer)


def checked_folder(folder: Path) -> None:
    """Makes the folder. Raises UserError if it is not empty or cannot be made."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty; name another folder")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def weights_of(recipe: Recipe) -> dict[str, float]:
    """The recipe's rewards with a weight. Raises UserError for one over a whole group."""
    weights = {one.name: one.weight for one in recipe.rewards if one.weight}
    WeightedRubric.from_names([*weights.items()])
    return weights


def scores_of(weights: Mapping[str, float]) -> Callable[[str, str], tuple[float | None, dict[str, float]]]:
    """Judges a text by a task's line: (the weighted sum, or None if the grader failed; each reward by name)."""
    rubric, opened = WeightedRubric.from_names([*weights.items()]), OpenedVerifier(None)

    def scores(text: str, line: str) -> tuple[float | None, dict[str, float]]:
        task = task_of_line(line)
        code = answer_in(text, task)
        verdict = opened.get().submit(task, code).result()
        (found,) = rubric.score_all([judged_rollout(task, "", code, verdict)])
        return total(found), {one.name: 0.0 if one.value is None else one.value for one in found}

    return scores


Row = Callable[[Task, list[dict[str, Any]], str], dict[str, Any]]
"""A trainer's row: a task, its messages and the split's name."""


def write_folder(
    recipe: Recipe,
    folder: Path,
    splits: tuple[str, str],
    row: Row,
    files: Mapping[str, str],
    left: Sequence[str],
) -> None:
    """Writes the tasks as parquet (training, held out) and the files. Fills in README.md: {name}, {tasks}, {held_out},
    and {left}, the settings that are not carried over.
    """
    checked_folder(folder)
    tasks = split_tasks(recipe)
    for name, part in zip(splits, tasks, strict=True):
        write_rows(_rows(part, recipe, name, row), folder / f"{name}.parquet")
    counts = {"tasks": len(tasks[0]), "held_out": len(tasks[1])}
    told = {"name": recipe.run.name, "left": "\n".join(f"- {line}" for line in left), **counts}
    for name, text in files.items():
        with writing(folder / name):
            (folder / name).write_text(text.format(**told) if name == "README.md" else text)


def _rows(tasks: Sequence[Task], recipe: Recipe, split: str, row: Row) -> Iterator[dict[str, Any]]:
    config = recipe.task_set
    for task in tasks:
        prompt = render(task, config.style, config.template, config.answer)
        yield row(task, [one.model_dump(include={"role", "content"}) for one in prompt.messages], split)
