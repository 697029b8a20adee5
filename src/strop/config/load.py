"""Turns recipe files and overrides into a valid Recipe, or reports every mistake at once.

Layers are merged left to right: defaults, then each file (the presets it names before its own keys), then the command
line. Lists are replaced as a whole. A layer that changes `policy.engine` resets the policy section, because engines
have different keys; so does a change of `type` in `grpo.loss` and the like (`config.unions`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import yaml
from pydantic import ValidationError

from strop import __version__
from strop.config.layers import RecipeLayer, UnreadableRecipe, read_data, read_file, read_overrides
from strop.config.messages import fault_lines, line
from strop.config.revision import VERSIONS
from strop.config.schema import Recipe
from strop.config.unions import UNIONS, Kinds, kinds_of, named_kinds, without_tags
from strop.config.yaml12 import Dumper, Origin
from strop_verify.core.errors import ConfigError
from strop_verify.core.section import Path, laid_over


def load_recipe(
    files: Sequence[FilePath | str | Mapping[str, Any]] = (), overrides: Sequence[str] = ()
) -> Recipe:
    """The recipe from files and KEY=VALUE overrides, merged left to right over the defaults.

    A file may be a packaged recipe's name; a mapping among them is nested data as a file would hold it. Paths become
    absolute (`config.recipes`).

    Raises ConfigError with one line per mistake: place, cause, remedy.
    """
    faults: list[str] = []
    layers: list[RecipeLayer] = []
    readable = True
    for file in files:
        try:
            layers += read_data(file, faults) if isinstance(file, Mapping) else read_file(file, faults)
        except UnreadableRecipe as fault:
            readable = False
            faults.append(str(fault))
    layers += read_overrides(overrides, faults)
    if not readable:  # an unreadable file's content is unknown, so further mistakes might not be real
        raise ConfigError(faults)
    merged, origins = _merge(layers, faults)
    kinds = kinds_of(merged)
    recipe = _validate(merged, origins, kinds, faults)
    if faults or recipe is None:
        raise ConfigError([*dict.fromkeys(faults), *_of_other_versions(files)])
    return recipe


def _of_other_versions(files: Sequence[FilePath | str | Mapping[str, Any]]) -> Iterator[str]:
    """A line for each recipe written by another version of Strop, whose keys may differ."""
    for file in files:
        versions = None if isinstance(file, Mapping) else FilePath(file).with_name(VERSIONS)
        try:
            found = json.loads(versions.read_text())["strop"] if versions else __version__
        except (OSError, ValueError, LookupError, TypeError):
            continue
        if found != __version__:
            yield f"{file}: written by strop {found}, this is {__version__}: correct those keys or install that version"


def dump_recipe(recipe: Recipe) -> str:
    """The recipe as YAML with every key; `load_recipe` reads the same recipe from it."""
    data = recipe.model_dump(mode="json", by_alias=True)
    text: str = yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    return text


def _merge(layers: Sequence[RecipeLayer], faults: list[str]) -> tuple[dict[str, Any], dict[Path, Origin]]:
    """All layers merged into one, and the origin of each surviving value."""
    merged: dict[str, Any] = {}
    origins: dict[Path, Origin] = {}
    for layer in layers:
        if isinstance(merged.get("tasks"), list) and isinstance(layer.data.get("tasks"), dict):
            what = "the recipe has a list of task sets, which is replaced as a whole; write tasks=[{name: ...}, ...]"
            faults.append(line(("tasks", *layer.data["tasks"]), what, layer.origins))
            del layer.data["tasks"]
        _spell_out(layer)
        before = kinds_of(merged)
        for path, kind in named_kinds(layer.data).items():
            if kind != before[path] and isinstance(_at(merged, path), dict):
                _at(merged, path[:-1])[path[-1]] = {}
                origins = {old: o for old, o in origins.items() if old[: len(path)] != path}
        merged = laid_over(merged, layer.data)
        for path in layer.origins:
            if not isinstance(_at(layer.data, path), dict):
                origins = {old: o for old, o in origins.items() if old[: len(path)] != path}
        origins |= layer.origins
    return merged, origins


def _spell_out(layer: RecipeLayer) -> None:
    """`grpo.loss: cispo` is short for `grpo.loss: {type: cispo}`; likewise for other sections of several forms."""
    for path, union in UNIONS.items():
        name = _at(layer.data, path)
        if isinstance(name, str) and union.key == "type" and union.classes:
            _at(layer.data, path[:-1])[path[-1]] = {union.key: name}
            if path in layer.origins:
                layer.origins[(*path, union.key)] = layer.origins[path]


def _validate(data: Any, origins: dict[Path, Origin], kinds: Kinds, faults: list[str]) -> Recipe | None:
    """Validates strictly, as JSON: text is never read as a number, but a number in a text field is kept as written.

    Sections of several forms get their default `type` if none is given.
    """
    for path, kind in kinds.items():
        parent = _at(data, path[:-1])
        if isinstance(parent, dict) and isinstance(section := parent.setdefault(path[-1], {}), dict):
            section.setdefault(UNIONS[path].key, kind)
    for attempt in range(2):
        try:
            return Recipe.model_validate_json(json.dumps(data), strict=True)
        except ValidationError as error:
            errors = error.errors(include_url=False)
        if attempt or not [e for e in errors if _give_text_back(data, e["loc"], e["type"], origins)]:
            break
    for detail in errors:
        faults += fault_lines(detail, origins, kinds)
    return None


def _give_text_back(data: Any, loc: Path, kind: str, origins: dict[Path, Origin]) -> bool:
    path = without_tags(loc)
    origin = origins.get(path)
    if kind != "string_type" or origin is None or origin.text is None:
        return False
    _at(data, path[:-1])[path[-1]] = origin.text
    return True


def _at(data: Any, path: Path) -> Any:
    for part in path:
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data
