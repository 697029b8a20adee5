"""What may change when a run is resumed: some settings, and the user's code.

Settings: the run's length, and what affects only memory, speed and files. RUN/changes.jsonl records what changed and
when; recipe.yaml has the settings for the remaining steps.

Code: rewards, environments, templates, and what they import locally, copied to RUN/code (docs/formats.md). A resumed
run uses the original files, or the copies if those are gone; changed files are reported and copied again.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from strop.config.load import dump_recipe, load_recipe
from strop.config.schema import Recipe
from strop.reports.run_folder import CHANGES, CODE, EVALUATION, RECIPE, step_name
from strop_verify.core import files
from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.user_code import files_used

CHANGEABLE = (
    "optim.steps", "optim.learning_rate", "optim.micro_batch_tokens", "optim.shared_prefix",
    "model.gradient_checkpointing", "policy.concurrency", "policy.gpu_memory_utilization", "run.save_every",
    "run.keep_checkpoints", "run.keep_optimizer", "run.report_to", "run.commit", "limits", "sandbox.workers",
    "launch", "verifier",
)  # fmt: skip
"""Keys that may change, and sections in which every key may."""
Changes = dict[str, tuple[Any, Any]]
"""{key: (old value, new value)}."""


def changed_recipe(folder: Path, words: Sequence[str], done: int) -> tuple[Recipe, Changes]:
    """(the recipe of a run folder with KEY=VALUE words applied, what differs). Raises ConfigError for a key that cannot
    change, and UserError for fewer steps than are `done`.
    """
    if wrong := [word for word in words if "=" not in word]:
        raise UserError(f"--resume takes KEY=VALUE only, not {wrong[0]!r}: the recipe is the run's own")
    file, place = folder / RECIPE, f"run.dir={folder}"
    old, new = load_recipe([file], [place]), load_recipe([file], [*words, place])
    changes = dict(_differences("", old.model_dump(by_alias=True), new.model_dump(by_alias=True)))
    fixed = [key for key in changes if not any(f"{key}.".startswith(f"{may}.") for may in CHANGEABLE)]
    if fixed:
        fault = f"cannot change in a run that has begun; start a new one. These can: {', '.join(CHANGEABLE)}"
        raise ConfigError([f"{key} {fault}" for key in fixed])
    if new.optim.steps < done:
        raise UserError(f"optim.steps={new.optim.steps} is less than the {done} steps that {folder} has done")
    return new, changes


def note_changes(
    folder: Path, recipe: Recipe, changes: Changes, done: int, say: Callable[[str], None]
) -> None:
    """Records and reports changes after `done` steps; if the run gets longer, renames the old final evaluation."""
    line = {"after_step": done, "changes": {key: list(values) for key, values in changes.items()}}
    files.append_line(folder / CHANGES, files.json_line(line))
    place = load_recipe([folder / RECIPE]).run.dir
    with files.atomic(folder / RECIPE) as file:
        file.write(dump_recipe(recipe.having({"run.dir": place})).encode())
    for key, (before, now) in changes.items():
        say(f"from step {done + 1} on {key} is {now}, not {before}")
    if "optim.steps" not in changes:
        return
    if recipe.optim.schedule != "constant":
        say(f"optim.schedule={recipe.optim.schedule} now ends at step {recipe.optim.steps}")
    for path in (folder / EVALUATION).glob("after*"):
        side, _, rest = path.name.partition(".")
        path.replace(path.with_name(f"{step_name(done)}{side.removeprefix('after')}.{rest}"))


def _differences(place: str, old: Any, new: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """(key, (old, new)) for each difference between two dumped recipes; a section of another type counts as one key."""
    same_kind = isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys()
    if not same_kind:
        if old != new:
            yield place, (old, new)
        return
    for key in old:
        yield from _differences(f"{place}.{key}" if place else key, old[key], new[key])


_MANIFEST = "files.json"
_NAMED = re.compile(r"(.+\.py):\w+")

Entry = dict[str, Any]
"""path   the original file
copy   its copy, relative to the run folder
files  {file relative to its folder: SHA-256} of it and what it imports
"""


def keep_code(run: Path, recipe: Recipe) -> None:
    """Copies the user's code that a new run uses."""
    named = {text: Path(text) for text in _paths(recipe.model_dump(by_alias=True)) if Path(text).is_file()}
    if named:
        _keep(run, named, 0)


def find_code(run: Path, recipe: Recipe, step: int, say: Callable[[str], None], *, main: bool) -> Recipe:
    """A resumed run's recipe with current paths to its code; `main` also reports and copies what has changed."""
    manifest = run / CODE / _MANIFEST
    kept: dict[str, Entry] = json.loads(manifest.read_text())[-1]["files"] if manifest.is_file() else {}
    now = {text: path if (path := Path(e["path"])).is_file() else run / e["copy"] for text, e in kept.items()}
    asked = _paths(recipe.model_dump(by_alias=True))
    now |= {text: Path(text) for text in asked if text not in now and Path(text).is_file()}
    changed = [path.name for text, path in now.items() if kept.get(text, {}).get("files") != _digests(path)]
    if changed and main:
        if kept:
            what = f"{', '.join(changed)} changed since this run began"
            say(f"{what}: steps after {step} use the new code; {run / CODE} has both")
        _keep(run, now, step)
    places = {text: str(path) for text, path in now.items()}
    return Recipe.model_validate(_with_paths(recipe.model_dump(by_alias=True), places)) if places else recipe


def _keep(run: Path, named: dict[str, Path], step: int) -> None:
    """Copies the files that a recipe names, and what they import; one folder per original folder."""
    manifest, entries = run / CODE / _MANIFEST, {}
    homes = list(dict.fromkeys(path.resolve().parent for path in named.values()))
    for text, path in named.items():
        home, number = path.resolve().parent, homes.index(path.resolve().parent)
        place = Path(CODE, f"{step:06d}", *([f"folder-{number + 1}"] if number else []))
        for file in _used(path):
            copy = run / place / file.relative_to(home)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with files.atomic(copy) as written:
                written.write(file.read_bytes())
        entries[text] = {"path": str(path.resolve()), "copy": str(place / path.name), "files": _digests(path)}
    before = json.loads(manifest.read_text()) if manifest.is_file() else []
    files.write_json(manifest, [*before, {"after_step": step, "files": entries}])


def _used(path: Path) -> list[Path]:
    return files_used(path) if path.suffix == ".py" else [path.resolve()]


def _digests(path: Path) -> dict[str, str]:
    home = path.resolve().parent
    return {
        str(file.relative_to(home)): hashlib.sha256(file.read_bytes()).hexdigest() for file in _used(path)
    }


def _paths(value: Any, key: str = "") -> Iterator[str]:
    """Code files and templates that a recipe names, as written there."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _paths(inner, name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _paths(inner)
    elif isinstance(value, str) and (found := _NAMED.fullmatch(value)):
        yield found[1]
    elif isinstance(value, str) and key == "template":
        yield value


def _with_paths(value: Any, places: dict[str, str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _with_paths(inner, places, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with_paths(inner, places) for inner in value]
    if isinstance(value, str) and (found := _NAMED.fullmatch(value)) and found[1] in places:
        return places[found[1]] + value[len(found[1]) :]
    return places.get(value, value) if isinstance(value, str) and key == "template" else value
