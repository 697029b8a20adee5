"""The recipes that come with the package, and how recipe names and the paths inside recipes are resolved.

A name is a file, or a packaged recipe: `demo`, `rubrics/rust-strict`. Paths in a file are relative to that file's
folder, paths on the command line to the working directory. Files that a packaged recipe names and the package lacks,
such as tasks to be made first, are looked up in the working directory.
"""

import os
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from strop_verify.core.errors import UserError
from strop_verify.core.registry import added
from strop_verify.core.section import Path as Place

RECIPES = Path(__file__).parents[1] / "recipes"
GENERATED = ("openenv", "tool-worlds", "verifiers", "hub")
"""Prefixes of task sources that are not followed by a path; packages may add others."""
_FILES = (".yaml", ".yml")
_DATA = re.compile(r".+\.(jsonl|ndjson|csv|parquet)(\.gz|\.zst)?")
_KEY = re.compile(r"[a-z_]+(\.[a-z_]+)+")
_FACT = re.compile(r"# (What|Needs|Time|Result|Measured|Controls): (.+)")


def recipe_names(kind: str = "") -> list[str]:
    """The names of the packaged recipes, or of those in the folder `kind`, such as "rubrics" or "curate"."""
    return sorted(path.stem for path in (RECIPES / kind).glob("*.yaml"))


def is_recipe(word: str) -> bool:
    """Whether a word must be a recipe: a YAML file, or the name of a packaged one."""
    return word.endswith(_FILES) or _packaged(word, "") is not None


def find_recipe(word: str | Path, kind: str = "") -> Path:
    """The file of a recipe name; `kind` is the folder of packaged ones. Raises UserError for an unknown name."""
    path, name = Path(word), str(word)
    if (found := _packaged(name, kind)) is not None:
        return found
    what, source = ("pipeline", "source: ") if kind else ("recipe", "tasks.source=")
    if _DATA.fullmatch(name):
        raise UserError(f"{name}: a data file is not a {what}; name it in one as {source}{name}")
    if os.path.exists(path) or path.is_absolute():
        return path
    known = [*recipe_names(kind), *(f"rubrics/{one}" for one in recipe_names("rubrics") if not kind)]
    close = get_close_matches(path.stem if name.endswith(_FILES) else name, known, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    if name.endswith(_FILES):
        raise UserError(f"{name}: there is no such file{hint}")
    if not hint and _KEY.fullmatch(name):
        hint = f"; a key is set by {name}=VALUE"
    listed = f"; there are {', '.join(recipe_names(kind))}; your own is a file, such as mine.yaml"
    raise UserError(f"no {what} named {name!r}{hint or listed}")


def facts_of(path: Path) -> dict[str, str]:
    """The head of a recipe: `# What: ...`, then `Needs`, `Time`, `Result`, `Measured` (yes or no) and, if measured,
    `Controls`: what else was trained for the same time, if anything."""
    found: dict[str, str] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not (fact := _FACT.match(line)):
                break
            found[fact[1].lower()] = fact[2]
    return found


def _packaged(name: str, kind: str) -> Path | None:
    folder, _, stem = name.rpartition("/")
    known = folder in ("", "rubrics" if not kind else "") and stem in recipe_names(folder or kind)
    return RECIPES / kind / f"{name}.yaml" if known else None


def anchor(data: Any, base: Path, at: Place = ()) -> None:
    """Makes the paths in a recipe's data absolute, relative to `base`. `at`: the place of the data in the recipe."""
    for key, value in list(data.items() if isinstance(data, dict) else enumerate(data)):
        here = (*at, key)
        if isinstance(value, dict | list):
            anchor(value, base, here)
        elif isinstance(value, str) and value and (reader := _reader(here)):
            data[key] = reader(value, base.absolute())


def _reader(at: Place) -> "Callable[[str, Path], str] | None":
    """The function that resolves the value at this place, None if it is not a path; task sets in a list are treated
    like a single one."""
    names = [part for part in at if not (isinstance(part, int) or part.isdecimal())]
    return _code if names[:2] == ["tasks", "environment"] else _READERS.get(".".join(map(str, names)))


def _joined(text: str, base: Path) -> str:
    path = base / os.path.expanduser(text)
    if base.is_relative_to(RECIPES) and not os.path.exists(path):
        path = Path.cwd() / os.path.expanduser(text)
    return os.path.normpath(path)


def _file(text: str, base: Path) -> str:
    """A file; leaves other bare words unchanged, such as names of packaged templates."""
    is_path = "." in text or "/" in text or os.path.exists(base / text)
    return _joined(text, base) if is_path else text


def _model(text: str, base: Path) -> str:
    """A folder or GGUF file if it exists or nothing else is possible; otherwise a Hub id or a package's name."""
    is_path = text.startswith((".", "~")) or text.endswith(".gguf") or os.path.isdir(base / text)
    return _joined(text, base) if is_path else text


def _code(text: str, base: Path) -> str:
    """`file.py:Name`; anything else is a name."""
    path, colon, name = text.rpartition(":")
    return f"{_joined(path, base)}:{name}" if colon and path.endswith(".py") else text


def _reward(text: str, base: Path) -> str:
    """`file.py:Name`, or `model:` and a folder; anything else is a name."""
    head, colon, place = text.partition(":")
    if not (colon and head == "model"):
        return _code(text, base)
    path = _joined(place, base)
    return f"model:{path}" if place.startswith((".", "~")) or os.path.isdir(path) else text


def _source(text: str, base: Path, edits: bool = False) -> str:
    """A task source: a name or a path, alone or after a format; for `edits:` its inner source."""
    head, colon, rest = text.partition(":")
    if not colon or not head.replace("-", "").isalnum():
        return _file(text, base)
    if not rest or head in GENERATED or head in added("tasks"):
        return text
    edits = edits or head == "edits"
    return f"{head}:{_source(rest, base, edits) if edits or ':' in rest else _joined(rest, base)}"


_READERS: Mapping[str, Callable[[str, Path], str]] = {
    "grpo.advantage": _code,
    "grpo.advantage.type": _code,
    "grpo.loss": _code,
    "grpo.loss.type": _code,
    "model.name": _model,
    "grpo.teacher.name": _model,
    "grpo.teacher.tokenizer": _model,
    "model.chat_template": _file,
    "policy.answers": _file,
    "tasks.source": _source,
    "tasks.template": _file,
    "tasks.rewards.name": _reward,
    "rewards.name": _reward,
    "sft.source": _source,
    "sft.demos": _file,
    "reward_model.pairs": _file,
    "evaluation.extra.source": _source,
    "sandbox.rust_vendor": _joined,
    "source": _source,
    "source.source": _source,
    "steps.decontaminate.against": _source,
    "steps.difficulty.model.name": _model,
    "steps.difficulty.policy.answers": _file,
    "steps.difficulty.scores": _file,
    "steps.difficulty.template": _file,
}
"""Keys of recipes and pipelines that hold a path. Output (run.dir) is relative to the working directory."""
