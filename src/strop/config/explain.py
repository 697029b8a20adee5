"""Describes every recipe key, from the schema: name, type, unit, default, allowed values and meaning."""

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from itertools import takewhile
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin
from typing import Union as AnyOf

import annotated_types
from pydantic_core import PydanticUndefined

from strop.config.forms import Forms
from strop.config.layers import PRESETS, preset_names
from strop.config.messages import ALIASES
from strop.config.schema import Recipe
from strop.config.tasks import TasksConfig, TaskSetConfig
from strop.config.unions import UNIONS, Union
from strop_verify.core.errors import UserError
from strop_verify.core.section import Section

UNITS = {
    "alpha": "", "at_once": "plays", "batch_rows": "rows", "batch_size": "examples", "bootstrap": "resamples",
    "concurrency": "requests", "continuations": "answers", "cpus": "cores", "cutoff": "day", "each": "answers",
    "epochs": "passes over the examples", "every": "steps",
    "every_limit": "tasks", "every_samples": "answers", "feedback": "times", "from": "day", "group_size": "rollouts",
    "iterations": "updates", "k": "answers", "keep_checkpoints": "checkpoints", "levels": "", "limit": "tasks",
    "max_model_len": "tokens", "max_num_seqs": "rows", "max_refill_rounds": "rounds", "max_staleness": "steps",
    "max_tests": "tests", "max_turns": "turns", "minibatches": "updates", "patience": "decoding steps",
    "processes": "processes", "rank": "", "room": "times", "samples": "answers", "save_every": "steps",
    "seconds": "s", "seed": "",
    "setups": "environments", "step": "step", "tasks_per_step": "groups", "tensor_parallel_size": "GPUs", "to": "day",
    "until": "step", "workers": "processes",
    "batch": "suggestions", "minutes": "min", "nodes": "nodes", "server_gpus": "GPUs", "servers": "servers",
    "verifier_cpus": "cores", "verifiers": "nodes",
}  # fmt: skip
"""Unit of a key's number, by the last part of the key; "" for a plain number."""

_ENDINGS = {"seconds": "s", "mb": "MiB", "gib": "GiB", "tokens": "tokens", "steps": "steps"}
"""Unit by the last word of a key."""

_WORDS = {int: "whole number", float: "number", bool: "true or false", str: "text"}
_BOUNDS = {
    annotated_types.Ge: ("at least", "ge"),
    annotated_types.Gt: ("above", "gt"),
    annotated_types.Le: ("at most", "le"),
    annotated_types.Lt: ("below", "lt"),
}


class Key(NamedTuple):
    """One key; `name` is dotted, with [] where a list is."""

    name: str
    type: str
    unit: str
    default: str
    bounds: str
    """Such as "at least 0, below 1"."""
    text: str
    only: str = ""
    """The forms that have the key, such as "policy.engine vllm"; "" if all do."""
    section: bool = False
    """Whether it holds other keys."""

    def __str__(self) -> str:
        kind = ", ".join(filter(None, (self.type, self.bounds)))
        lines = [f"{self.name}" + (f"  (only with {self.only})" if self.only else "")]
        if not self.section:
            lines += [f"  type     {kind}", f"  default  {self.default}"]
        lines += [f"  unit     {self.unit}"] if self.unit else []
        return "\n".join([*lines, f"  {self.text}"])


def keys() -> Iterator[Key]:
    """Every key that a recipe can have, each section before its contents."""
    for key in _of_section("", Recipe):
        yield key
        if key.section and (names := preset_names(key.name)):
            text = f"Preset to start from; the section's other keys override it. {_presets(key.name, names)}"
            yield Key(f"{key.name}.preset", f"one of {', '.join(names)}", "", "none", "", text)


def _presets(section: str, names: Sequence[str]) -> str:
    """Each preset with the comment at its top."""
    said = {}
    for name in names:
        lines = (PRESETS / section / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
        said[name] = " ".join(
            line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), lines)
        )
    return " ".join(f"{name}: {text}" for name, text in said.items())


def explain(word: str) -> list[Key]:
    """The keys with that name or last part; a section brings its keys along. Raises UserError if there are none."""
    wanted = ".".join("[]" if part.isdecimal() else part for part in word.split(".")).replace(".[]", "[]")
    known = list(keys())
    found = [key for key in known if key.name == wanted]
    if not found and (meant := ALIASES.get(wanted.rpartition(".")[2])):
        found = [key for key in known if key.name == meant]
    if not found and "." not in wanted:
        found = [key for key in known if key.name.rpartition(".")[2] == wanted]
    if found:
        held = tuple(f"{key.name}{end}" for key in found if key.section for end in (".", "[]."))
        return [*found, *(key for key in known if held and key.name.startswith(held))]
    names = [key.name for key in known]
    last = {name.rpartition(".")[2]: name for name in reversed(names)}
    close = get_close_matches(wanted, names, 1, cutoff=0.7)
    close = close or [
        last[leaf] for leaf in get_close_matches(wanted.rpartition(".")[2], last, 1, cutoff=0.7)
    ]
    remedy = f"did you mean {close[0]}?" if close else f"sections are {', '.join(Recipe.model_fields)}"
    raise UserError(f"no key {word!r}; {remedy}")


def _of_section(
    prefix: str, section: type[Section], only: str = "", skip: Collection[str] = ()
) -> Iterator[Key]:
    for name, field in section.model_fields.items():
        if name in skip:
            continue
        written = f"{prefix}{field.alias or name}"
        text = " ".join((field.description or "").split())
        inner, listed = _section_in(field.annotation)
        if (union := UNIONS.get(tuple(written.split(".")))) and union.classes:
            yield Key(written, "section", "", "", "", text, only, section=True)
            yield from _of_union(written, union)
        elif section is Recipe and name == "tasks":
            yield Key(written, "section, or a list of them", "", "", "", text, section=True)
            yield from _of_section("tasks.", TasksConfig)
            yield from _of_section("tasks[].", TaskSetConfig, "a list of task sets", TasksConfig.model_fields)
        elif inner is not None:
            kind, default = ("list of sections", value_text(field.default)) if listed else ("section", "")
            yield Key(written, kind, "", default, "", text, only, section=True)
            yield from _of_section(f"{written}[]." if listed else f"{written}.", inner, only)
        else:
            kind, bounds = type_text(field.annotation), ", ".join(bounds_of(field.metadata))
            yield Key(written, kind, _unit(written, kind), value_text(field.default), bounds, text, only)


def _of_union(place: str, union: Union) -> Iterator[Key]:
    """The key that selects the kind, then the keys of each kind, without duplicates."""
    name = f"{place}.{union.key}"
    classes = union.classes.builtin if isinstance(union.classes, Forms) else union.classes
    described = " ".join(
        f"{kind}: {' '.join((inner.__doc__ or '').split())}" for kind, inner in classes.items()
    )
    default = "by grpo.max_staleness and grpo.older" if place == "grpo.correction" else union.default
    own = ", another package's, or file.py:Name" if "file.py:Name" in union.classes else ""
    yield Key(name, f"one of {', '.join(classes)}{own}", "", default, "", f"Selects the form. {described}")
    kinds: dict[Key, list[str]] = {}
    for kind, inner in classes.items():
        for key in _of_section(f"{place}.", inner, skip=(union.key,)):
            kinds.setdefault(key, []).append(kind)
    yield from (key._replace(only=f"{name} {', '.join(with_it)}") for key, with_it in kinds.items())


def _section_in(annotation: Any) -> tuple[type[Section] | None, bool]:
    """(the section class in an annotation, whether a list of it)."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation, False
    for inner in get_args(annotation):
        section, listed = _section_in(inner)
        if section is not None:
            return section, listed or get_origin(annotation) is list
    return None, False


def type_text(annotation: Any) -> str:
    """An annotation in words, such as "list of text"."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_text(inner[0])
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin in (AnyOf, UnionType):
        parts = [type_text(one) for one in inner if one is not type(None)]
        return ", or ".join(dict.fromkeys([*parts, *(["null"] if type(None) in inner else [])]))
    if origin in (list, Sequence):
        return f"list of {_plural(type_text(inner[0]))}"
    if origin is tuple:
        return f"list of {len(inner)} {_plural(type_text(inner[0]))}"
    if origin is dict:
        return "mapping"
    return _WORDS.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _plural(kind: str) -> str:
    return kind if kind.startswith(("one of", "text")) else f"{kind}s"


def bounds_of(metadata: Sequence[Any]) -> Iterator[str]:
    """A field's constraints in words, such as "at least 0"."""
    for one in metadata:
        for kind, (word, name) in _BOUNDS.items():
            if isinstance(one, kind):
                limit = getattr(one, name)
                yield f"{word} {'2**63' if limit == 2**63 else limit}"
        if isinstance(one, annotated_types.MinLen) and one.min_length:
            yield "not empty"


def value_text(value: Any) -> str:
    """A value as written in YAML."""
    if value is PydanticUndefined:
        return "must be given"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, Section):
        return "{" + ", ".join(f"{key}: {value_text(item)}" for key, item in value) + "}"
    return f"{value:g}" if isinstance(value, float) else str(value) or '""'


def _unit(name: str, kind: str) -> str:
    if kind.startswith("one of"):
        return ""
    leaf = name.rpartition(".")[2]
    return UNITS.get(leaf, _ENDINGS.get(leaf.rpartition("_")[2], ""))
