"""From pydantic's errors to lines that name the place, the value, the cause and the remedy."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic_core import ErrorDetails

from strop.config.layers import shorten
from strop.config.model import POLICIES
from strop.config.schema import Recipe
from strop.config.section import Section
from strop.config.yaml12 import Origin, Path

ALIASES = {
    "adam_betas": "optim.betas",
    "base_model": "model.name",
    "batch_size": "optim.micro_batch",
    "clip": "grpo.epsilon_low",
    "clip_high": "grpo.epsilon_high",
    "clip_low": "grpo.epsilon_low",
    "clip_ratio_high": "grpo.epsilon_high",
    "clip_ratio_low": "grpo.epsilon_low",
    "epsilon": "grpo.epsilon_low",
    "kl_coef": "grpo.beta",
    "kl_weight": "grpo.beta",
    "loss_type": "grpo.loss",
    "lr": "optim.learning_rate",
    "lr_scheduler_type": "optim.schedule",
    "max_completion_length": "sampling.max_tokens",
    "max_new_tokens": "sampling.max_tokens",
    "max_prompt_length": "tasks.max_prompt_tokens",
    "max_steps": "optim.steps",
    "model_name": "model.name",
    "num_generations": "grpo.group_size",
    "num_iterations": "grpo.iterations",
    "output_dir": "run.dir",
    "per_device_train_batch_size": "optim.micro_batch",
    "timeout": "sandbox.wall_seconds",
}
"""Names from other projects and ours for the same thing."""

_WANTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def fault_lines(error: ErrorDetails, origins: dict[Path, Origin], engine: str) -> Iterator[str]:
    """The lines for one pydantic error; `engine` is the recipe's, to know which policy keys there are."""
    loc = error["loc"]
    path = (loc[0], *loc[2:]) if len(loc) > 1 and loc[0] == "policy" and loc[1] in POLICIES else loc
    if error["type"] == "complaints":
        for field, what in error["ctx"]["complaints"]:
            parts = (int(part) if part.isdecimal() else part for part in field.split("."))
            yield line((*path, *parts), what, origins)
    else:
        yield line(path, cause(error, path, engine), origins)


def line(path: Path, what: str, origins: dict[Path, Origin]) -> str:
    """One fault line: place, key, cause."""
    name = shorten(".".join(map(str, path)))
    above = [path[:depth] for depth in range(len(path), 0, -1) if path[:depth] in origins]
    below = [known for known in origins if path and known[: len(path)] == path]
    nearest = above[0] if above else below[-1] if below else None
    place = "recipe" if nearest is None else origins[nearest].place
    if place.startswith(f"command line: {name}="):
        return f"{place}: {what}"
    return f"{place} {name}: {what}" if name else f"{place}: {what}"


def suggest(path: Path, engine: str) -> str | None:
    """The key that was probably meant by an unknown one, dotted."""
    key, parent = str(path[-1]), path[:-1]
    prefix = "".join(f"{part}." for part in parent)
    section = section_at(parent, engine)
    siblings = _names(section) if section else []
    close = get_close_matches(key, siblings, 1, cutoff=0.7)
    if close:
        return prefix + close[0]
    if key in ALIASES and f"{prefix}{key}" != ALIASES[key]:
        return ALIASES[key]
    elsewhere = list(_all_keys(engine))
    leaves = {name.rpartition(".")[2]: name for name in reversed(elsewhere)}
    close = get_close_matches(key, leaves, 1, cutoff=0.8)
    if close:
        return leaves[close[0]]
    close = get_close_matches(key, siblings, 1, cutoff=0.5)
    return prefix + close[0] if close else None


def section_at(path: Path, engine: str) -> type[Section] | None:
    """The section class at a path, or None where there is none."""
    section: type[Section] | None = Recipe
    for part in path:
        if isinstance(part, int):
            continue
        if section is None or part not in section.model_fields:
            return None
        if section is Recipe and part == "policy":
            section = POLICIES.get(engine)
            continue
        annotation: Any = section.model_fields[part].annotation
        candidates = [annotation, *get_args(annotation)]
        section = next((c for c in candidates if isinstance(c, type) and issubclass(c, Section)), None)
    return section


def _all_keys(engine: str) -> Iterator[str]:
    for name in Recipe.model_fields:
        section = section_at((name,), engine)
        yield from [f"{name}.{key}" for key in _names(section)] if section else [name]


def _names(section: type[Section]) -> list[str]:
    """Its keys as a recipe writes them."""
    return [field.alias or name for name, field in section.model_fields.items()]


def cause(error: ErrorDetails, path: Path, engine: str) -> str:
    """What one pydantic error says: what is wrong with the value, and what to do."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    shown = shorten(_show(value))
    if value == "???":
        return "??? marks a value that is still missing; set it"
    if kind == "extra_forbidden":
        guess = suggest(path, engine)
        extra = f" for engine {engine}" if path[0] == "policy" else ""
        if path[0] == "stages" and (guess or "").rpartition(".")[0] != ".".join(map(str, path[:-1])):
            return f"cannot change between stages; {_known(path, engine)}"
        return f"unknown key{extra}" + (f"; did you mean {guess}?" if guess else f"; {_known(path, engine)}")
    if kind in _WANTED:
        return f"expected {_WANTED[kind]}, got {shown}{_remedy(kind, value)}"
    if kind in ("literal_error", "union_tag_invalid"):
        if kind == "union_tag_invalid":
            value, allowed = engine, list(POLICIES)
        else:
            allowed = [v for v in str(context["expected"]).replace("' or '", "', '").strip("'").split("', '")]
        close = get_close_matches(str(value), allowed, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return f"{shorten(_show(value))} is none of {', '.join(allowed)}{hint}"
    if kind == "missing":
        return "needs a value; give one"
    if kind == "string_pattern_mismatch":
        return f"{shown} does not match {context['pattern']}"
    return f"{error['msg'].replace('Input should', 'must').replace('String should', 'must')}, got {shown}"


def _known(path: Path, engine: str) -> str:
    section = section_at(path[:-1], engine)
    return f"there are {', '.join(_names(section))}" if section else "remove it"


def _show(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and (value[:1].isdigit() or value.lower() in ("true", "false", "null")):
        return f"{value!r} (text)"
    return repr(value)


def _remedy(kind: str, value: Any) -> str:
    if kind.startswith("bool") and isinstance(value, str):
        meant = {"yes": "true", "on": "true", "y": "true", "true": "true"}
        meant |= {"no": "false", "off": "false", "n": "false", "false": "false"}
        word = meant.get(value.lower())
        return f"; write {word}" if word else ""
    if kind.startswith("int") and isinstance(value, float) and value.is_integer():
        return f"; write {int(value)}"
    if kind.startswith(("int", "float")) and isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return ""
        return f"; write {value.replace('_', '')} without quotes"
    if kind == "string_type" and isinstance(value, bool):
        return f'; put it in quotes: "{str(value).lower()}"'
    if kind in ("list_type", "tuple_type") and isinstance(value, str | int | float):
        return f"; write [{value}]"
    by_index = kind == "list_type" and isinstance(value, dict)
    return "; a list is replaced as a whole, not by index" if by_index else ""
