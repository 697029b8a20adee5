"""A pipeline file: YAML with sources, steps and a seed; all mistakes are reported at once.

The schema is `Pipeline`; a step is a name, or a mapping of one name to its settings.
"""

import json
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from strop.config.layers import UnreadableRecipe, read_text, shorten
from strop.config.messages import cause, line
from strop.config.model import POLICIES
from strop.config.recipes import find_recipe
from strop.config.tasks import WindowConfig
from strop.config.unions import DEFAULT_KINDS
from strop.config.yaml12 import Origin
from strop_tasks.curation.pipeline.step import Step
from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.registry import Registry
from strop_verify.core.section import Complaint, Path, Section
from strop_verify.verification.config import LocalVerifierConfig, SandboxConfig, VerifierConfig

S = TypeVar("S", bound=Section)


class SourceEntry(Section):
    """A source of tasks. A plain string in the list is short for `source`."""

    source: str = Field(min_length=1)
    """As in `strop tasks list`: a name, KIND:REST, or a path."""
    name: str = Field(default="", pattern=r"^[A-Za-z0-9._+-]*$")
    """The tasks' `metadata.set`, and the prefix of colliding ids; "": from `source`."""
    columns: dict[str, str] = Field(default={})
    """For rows without an adapter: field to column."""
    limit: int | None = Field(default=None, ge=1)
    """Read at most this many tasks, from the start."""
    window: WindowConfig = WindowConfig()
    """Only tasks published in this window, by `metadata.date`: {from: 2024-08-01, to: 2025-02-01}, both included."""


class Pipeline(Section):
    """A whole pipeline: sources, steps and settings."""

    about: str = ""
    """Its purpose; goes into the manifest."""
    source: list[SourceEntry] = Field(min_length=1)
    """One source or several, read in this order."""
    collisions: Literal["prefix", "drop"] = "prefix"
    """For a task whose id another source has: prefix the id with `NAME:`, or drop the task. The same task under the
    same id is always dropped."""
    steps: list[dict[str, Any]] = Field(default=[])
    """The steps in order; each step's settings under its name."""
    seed: int = Field(default=0, ge=0)
    """Seed of every random choice."""
    sandbox: SandboxConfig = SandboxConfig()
    """The jail and the limits of one answer: all tests of a task together."""
    verifier: VerifierConfig = LocalVerifierConfig()
    """Who judges answers, and where."""

    def complaints(self) -> Iterator[Complaint]:
        """Complains about repeated names."""
        given = [source.name for source in self.source if source.name]
        for name in sorted({name for name in given if given.count(name) > 1}):
            yield "source", f"two sources are named {name!r}; name them differently"


STEPS: Registry[type[Step[Any]]] = Registry("steps", {})
"""Step classes by name, such as `Shuffle(Step[ShuffleConfig])`; entry points of packages add them."""


def settings_of(step: type[Step[Any]]) -> type[Section]:
    """The class of a step's settings."""
    (settings,) = get_args(vars(step)["__orig_bases__"][0])
    return cast(type[Section], settings)


class Planned(NamedTuple):
    """A valid pipeline with its steps."""

    pipeline: Pipeline
    steps: list[tuple[str, Step[Any]]]

    def resolved(self) -> dict[str, Any]:
        """The pipeline with every default spelled out, as JSON."""
        data = self.pipeline.model_dump(mode="json", by_alias=True)
        data["steps"] = [{name: step.config.model_dump(mode="json")} for name, step in self.steps]
        return data


def read_pipeline(word: FilePath | str, changes: dict[str, Any] | None = None) -> Planned:
    """The pipeline in a file, or the packaged one of that name; `changes` replaces top-level keys.

    Raises ConfigError with one line per mistake: place, cause, remedy.
    """
    path = find_recipe(word, "curate")
    try:
        layer = read_text(path.read_text(encoding="utf-8"), str(path), path.parent)
    except UnreadableRecipe as error:
        raise ConfigError([str(error)]) from None
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; name a pipeline, such as small") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as a pipeline: {error}") from None
    data, origins = layer.data, layer.origins
    for key, value in (changes or {}).items():
        data[key] = value
        origins = {where: origin for where, origin in origins.items() if where[0:1] != (key,)}
        origins[(key,)] = Origin("command line")
    origins.setdefault((), Origin(str(path)))
    return plan(data, origins)


def plan(data: dict[str, Any], origins: dict[Path, Origin] | None = None) -> Planned:
    """Checks a pipeline given as plain data. Raises ConfigError; see `read_pipeline`."""
    where, faults = origins or {(): Origin("pipeline")}, list[str]()
    steps = list(_steps(data.get("steps"), where, faults))
    sources = data.get("source")
    listed = sources if isinstance(sources, list) else [] if sources is None else [sources]
    data = {**data, "source": [{"source": s} if isinstance(s, str) else s for s in listed], "steps": []}
    if sources is None:
        what = "a pipeline needs a source; add one, such as source: tasks.jsonl"
        faults.append(line(("source",), what, where))
        data["source"] = [{"source": "none"}]
    pipeline = _validated(Pipeline, data, (), where, faults)
    if faults or pipeline is None:
        raise ConfigError(list(dict.fromkeys(faults)))
    return Planned(pipeline, steps)


def _steps(items: Any, origins: dict[Path, Origin], faults: list[str]) -> Iterator[tuple[str, Step[Any]]]:
    """Each step that is valid, by name."""
    if items is not None and not isinstance(items, list):
        what = "expected a list, such as [min-tests: {at_least: 5}, shuffle]"
        faults.append(line(("steps",), what, origins))
        return
    for number, item in enumerate(items or []):
        path: Path = ("steps", number)
        single = isinstance(item, dict) and len(item) == 1
        name, settings = next(iter(item.items())) if single else (item, None)
        if not isinstance(name, str):
            what = "expected a step's name, or one name with its settings, such as min-tests: {at_least: 5}"
            faults.append(line(path, f"{what}; indent settings two spaces more than the name", origins))
        elif name not in STEPS:
            close = get_close_matches(name.replace("_", "-"), STEPS, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(STEPS)}"
            faults.append(line(path, f"unknown step {shorten(name)!r}; {hint}", origins))
        else:
            kind = STEPS[name]
            given = {} if settings is None else settings
            config = _validated(settings_of(kind), given, (*path, name), origins, faults)
            if config is not None:
                yield name, kind(config)


def _validated(
    section: type[S], data: Any, path: Path, origins: dict[Path, Origin], faults: list[str]
) -> S | None:
    """Validates strictly, as JSON: text is never read as a number."""
    try:
        return section.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            faults += _fault(detail, section, path, origins)
    except ValueError as error:
        faults.append(line(path, str(error), origins))
    return None


def _fault(
    error: ErrorDetails, section: type[Section], path: Path, origins: dict[Path, Origin]
) -> Iterator[str]:
    where: Path = (*path, *error["loc"])
    if error["type"] == "complaints":
        for field, what in error["ctx"]["complaints"]:
            yield line((*where, *field.split(".")), what, origins)
    elif error["type"] == "extra_forbidden":
        known = _fields(section, error["loc"][:-1])
        close = get_close_matches(str(error["loc"][-1]), known, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known) or 'no settings here'}"
        yield line(where, f"unknown key; {hint}", origins)
    else:
        yield line(where, cause(error, where, DEFAULT_KINDS), origins)


def _fields(section: type[Section], path: Sequence[int | str]) -> list[str]:
    """The keys of the section at a path below `section`; none if it is unknown."""
    here: type[Section] | None = section
    for part in path:
        if isinstance(part, str) and here is not None and part in here.model_fields:
            annotation: Any = here.model_fields[part].annotation
            options = [annotation, *get_args(annotation)]
            here = next((o for o in options if isinstance(o, type) and issubclass(o, Section)), None)
        elif isinstance(part, str):  # the engine of a union
            here = POLICIES.get(part)
    return list(here.model_fields) if here else []
