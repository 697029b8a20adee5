"""The layers of a recipe: files, presets and overrides, each read as data with the origin of each value."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path as FilePath
from typing import Any

from strop.config.recipes import anchor, find_recipe
from strop.config.schema import Recipe
from strop.config.unions import named_kinds
from strop.config.yaml12 import Origin, YamlFault, is_unicode, plain_scalar, read_yaml
from strop_verify.core.errors import UserError
from strop_verify.core.section import Path

_FIRST = {"tasks": "source", "run": "name", "sampling": "max_tokens", "optim": "learning_rate"}
PRESETS = FilePath(__file__).parent / "presets"


@dataclass
class RecipeLayer:
    """Nested data, and the origin of each value."""

    data: dict[str, Any]
    origins: dict[Path, Origin] = field(default_factory=dict)


class UnreadableRecipe(Exception):
    """A file is not a readable recipe; the message is one line."""


def read_file(word: FilePath | str, faults: list[str]) -> list[RecipeLayer]:
    """The layers of one recipe (a file, or a packaged name): its presets, then itself.

    Raises UnreadableRecipe.
    """
    try:
        path = find_recipe(word)
        text = path.read_text(encoding="utf-8")
    except UserError as error:
        raise UnreadableRecipe(str(error)) from None
    except FileNotFoundError:
        raise UnreadableRecipe(f"{path}: there is no such file") from None
    except UnicodeDecodeError:
        raise UnreadableRecipe(f"{path}: not UTF-8 text; a recipe is a YAML file") from None
    except OSError as error:
        raise UnreadableRecipe(f"{path}: cannot be read: {error.strerror}") from None
    return _expand(read_text(text, str(path), path.parent), faults)


def read_data(data: Mapping[str, Any], faults: list[str]) -> list[RecipeLayer]:
    """The layers of nested data from the calling process. Raises UnreadableRecipe for values that no file could
    hold."""
    try:
        text = json.dumps(data)
    except (TypeError, ValueError) as error:
        raise UnreadableRecipe(f"recipe: not plain data as in a file: {error}") from None
    return _expand(read_text(text, "recipe", FilePath()), faults)


def read_overrides(overrides: Sequence[str], faults: list[str]) -> list[RecipeLayer]:
    """The layers of KEY=VALUE overrides: presets first, then changes of engine or `type`, then the others."""
    ranked: list[tuple[int, list[RecipeLayer]]] = []
    for override in overrides:
        layer = _read_override(override, faults)
        if layer is None:
            continue
        (name, value), *_ = layer.data.items()
        is_preset = isinstance(value, str) and name in section_names()
        rank = 0 if is_preset else 1 if named_kinds(layer.data) else 2
        ranked.append((rank, _expand(layer, faults)))
    return [layer for _, group in sorted(ranked, key=lambda item: item[0]) for layer in group]


@cache
def section_names() -> frozenset[str]:
    """Names at the top of a recipe that hold a section, so that a bare string there is a preset."""
    return frozenset(set(Recipe.model_fields) - {"seed", "feed", "rewards", "stages"})


def preset_names(section: str) -> list[str]:
    """The presets of a section."""
    return sorted(path.stem for path in (PRESETS / section).glob("*.yaml"))


def shorten(text: str, limit: int = 100) -> str:
    """The text on one line, without control characters, cut to `limit`."""
    clean = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return clean if len(clean) <= limit else clean[: limit - 3] + "..."


def read_text(text: str, name: str, base: FilePath | None = None) -> RecipeLayer:
    """The layer of a text; its paths are relative to `base`. Raises UnreadableRecipe."""
    layer = RecipeLayer({})

    def remember(path: Path, line: int, number: str | None) -> None:
        layer.origins[path] = Origin(f"{name}:{line}", number)

    try:
        data = read_yaml(text, remember)
    except YamlFault as fault:
        where = f"{name}:{fault.line}" if fault.line else name
        raise UnreadableRecipe(f"{where}: {shorten(fault.what, 200)}") from None
    if data is None:
        raise UnreadableRecipe(f"{name}: the file is empty; a recipe needs at least one section")
    if not isinstance(data, dict):
        raise UnreadableRecipe(f"{name}: a recipe is a mapping of sections, not {type(data).__name__}")
    layer.data = data
    if base is not None:
        anchor(data, base)
    return layer


def _read_override(override: str, faults: list[str]) -> RecipeLayer | None:
    place = f"command line: {shorten(override)}"
    key, equals, text = override.partition("=")
    keys: Path = tuple(key.split("."))
    if not equals or not all(keys) or key != key.strip():
        faults.append(f"{place}: not KEY=VALUE with a dotted key, such as grpo.beta=0.01")
        return None
    text = text.strip(" ")
    if not text:
        faults.append(f"{place}: no value; write {key}=null for none or {key}='\"\"' for empty text")
        return None
    layer = RecipeLayer({})

    def remember(path: Path, _line: int, number: str | None) -> None:
        layer.origins[(*keys, *path)] = Origin(place, number)

    try:
        value = _override_value(text, remember)
    except YamlFault as fault:
        faults.append(f"{place}: {shorten(fault.what, 200)}")
        return None
    for depth in range(1, len(keys)):
        layer.origins[keys[:depth]] = Origin(place)
    for part in reversed(keys):
        value = {part: value}
    layer.data = value
    anchor(layer.data, FilePath())
    return layer


def _override_value(text: str, remember: Any) -> Any:
    """Quotes, [ and { are read as YAML; anything else is one plain word, so that `#` and `: ` are text."""
    if text[0] in "\"'[{":
        return read_yaml(text, remember)
    try:
        value = plain_scalar(text)
    except ValueError as error:
        raise YamlFault(0, f"{error} is too long") from None
    if isinstance(value, str) and not is_unicode(value):
        raise YamlFault(0, "not Unicode text")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    remember((), 0, text if is_number else None)
    return value


def _expand(layer: RecipeLayer, faults: list[str]) -> list[RecipeLayer]:
    """One layer per preset that the layer names, then the layer without these names."""
    found: list[RecipeLayer] = []
    for section in sorted(section_names() & set(layer.data)):
        value = layer.data[section]
        path: Path
        if isinstance(value, str):
            name, path = value, (section,)
            layer.data[section] = {}
        elif isinstance(value, dict) and isinstance(value.get("preset"), str):
            name, path = value.pop("preset"), (section, "preset")
        else:
            continue
        place = layer.origins[path].place
        preset = _read_preset(section, name, place, faults)
        found += [preset] if preset else []
    return [*found, layer]


def _read_preset(section: str, name: str, place: str, faults: list[str]) -> RecipeLayer | None:
    names = preset_names(section)
    if name not in names:
        close = get_close_matches(name, names, 1, cutoff=0.4)
        where = place if place.startswith(f"command line: {section}=") else f"{place} {section}"
        hint = f"{section} has no presets; set its keys, such as {section}.{_FIRST.get(section, 'KEY')}=..."
        if names:
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
        faults.append(f"{where}: no preset {shorten(repr(name))}; {hint}")
        return None
    inner = read_text(
        (PRESETS / section / f"{name}.yaml").read_text(encoding="utf-8"), f"preset {section}/{name}"
    )
    origins = {(section, *path): Origin(f"{place} ({o.place})", o.text) for path, o in inner.origins.items()}
    return RecipeLayer({section: inner.data}, origins)
