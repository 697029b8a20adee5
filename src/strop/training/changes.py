"""Settings that may change when a run is resumed: its length, and what decides about memory, speed and files alone.

What was changed, and when, is written to RUN/changes.jsonl; recipe.yaml has the settings of the steps to come.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from strop.config.load import dump_recipe, load_recipe
from strop.config.schema import Recipe
from strop.core import files
from strop.core.errors import ConfigError, UserError
from strop.reports.run_folder import CHANGES, EVALUATION, RECIPE, step_name

CHANGEABLE = (
    "optim.steps", "optim.learning_rate", "optim.micro_batch_tokens", "optim.shared_prefix",
    "model.gradient_checkpointing", "policy.concurrency", "policy.gpu_memory_utilization", "run.save_every",
    "run.keep_checkpoints", "run.keep_optimizer", "run.report_to", "run.commit", "limits", "sandbox.workers",
    "launch", "verifier",
)  # fmt: skip
"""Keys, and sections with all their keys."""
Changes = dict[str, tuple[Any, Any]]
"""{key: (old value, new value)}."""


def changed_recipe(folder: Path, words: Sequence[str], done: int) -> tuple[Recipe, Changes]:
    """The recipe of a run folder with KEY=VALUE words applied, and what differs. Raises ConfigError for a key that a
    run cannot change, and UserError for fewer steps than are `done`.
    """
    if wrong := [word for word in words if "=" not in word]:
        raise UserError(f"--resume takes KEY=VALUE only, not {wrong[0]!r}: the recipe is the run's own")
    file, place = folder / RECIPE, f"run.dir={folder}"
    old, new = load_recipe([file], [place]), load_recipe([file], [*words, place])
    changes = dict(_differences("", old.model_dump(by_alias=True), new.model_dump(by_alias=True)))
    fixed = [key for key in changes if not any(f"{key}.".startswith(f"{may}.") for may in CHANGEABLE)]
    if fixed:
        may = ", ".join(CHANGEABLE)
        raise ConfigError(
            [
                f"{key} cannot change in a run that has begun; start a new one. What may: {may}"
                for key in fixed
            ]
        )
    if new.optim.steps < done:
        raise UserError(f"optim.steps={new.optim.steps} is less than the {done} steps that {folder} has done")
    return new, changes


def note_changes(
    folder: Path, recipe: Recipe, changes: Changes, done: int, say: Callable[[str], None]
) -> None:
    """Writes down and says what is different after `done` steps. What was measured at the former end of the run is
    kept under the name of its step.
    """
    line = {"after_step": done, "changes": {key: list(values) for key, values in changes.items()}}
    files.append_line(folder / CHANGES, files.json_line(line))
    place = load_recipe([folder / RECIPE]).run.dir
    with files.atomic(folder / RECIPE) as file:
        there = recipe.run.model_copy(update={"dir": place})
        file.write(dump_recipe(recipe.model_copy(update={"run": there})).encode())
    for key, (before, now) in changes.items():
        say(f"from step {done + 1} on {key} is {now}, not {before}")
    if "optim.steps" not in changes:
        return
    if recipe.optim.schedule != "constant":
        say(
            f"optim.schedule={recipe.optim.schedule} now ends with the last of the {recipe.optim.steps} steps"
        )
    for path in (folder / EVALUATION).glob("after*"):
        side, _, rest = path.name.partition(".")
        path.replace(path.with_name(f"{step_name(done)}{side.removeprefix('after')}.{rest}"))


def _differences(place: str, old: Any, new: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Keys at which two dumped recipes differ; a section whose type changed is one key."""
    same_kind = isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys()
    if not same_kind:
        if old != new:
            yield place, (old, new)
        return
    for key in old:
        yield from _differences(f"{place}.{key}" if place else key, old[key], new[key])
