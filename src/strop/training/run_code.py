"""The user's code of a run, kept beside its data: rewards, environments, templates, and what they import locally.

    RUN/code/files.json          one entry for each time that code was taken in: after which step, and of each file
                                 where it lay, its copy and its digest
    RUN/code/000000/rewards.py   the copies; a number is the steps that were done before

A resumed run uses the files where they lay, and its copies where those are gone; what has changed meanwhile is said,
and copied too.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from strop.config.schema import Recipe
from strop.core import files
from strop.core.user_code import files_used
from strop.reports.run_folder import CODE

_MANIFEST = "files.json"
_NAMED = re.compile(r"(.+\.py):\w+")

Entry = dict[str, Any]
"""path   where the file lay
copy   where its copy is, below the run folder
files  {file: SHA-256} of it and of what it imports, relative to its folder
"""


def keep_code(run: Path, recipe: Recipe) -> None:
    """Copies the user's code that a new run uses."""
    named = {text: Path(text) for text in _paths(recipe.model_dump(by_alias=True)) if Path(text).is_file()}
    if named:
        _keep(run, named, 0)


def find_code(run: Path, recipe: Recipe, step: int, say: Callable[[str], None], *, main: bool) -> Recipe:
    """The recipe of a resumed run with paths to its code as it is now; `main` also notes what has changed."""
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
    """Copies the files that a recipe names, one folder for each that they lie in, and what they import."""
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
        entries[text] = {
            "path": str(path.resolve()),
            "copy": str(place / path.name),
            "files": _digests(path),
        }
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
    """Files of code and templates that a recipe names, as it writes them."""
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
