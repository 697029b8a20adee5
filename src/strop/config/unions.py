"""Recipe sections with several forms: their place, the key that selects the form, and the classes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from strop.config.algorithms import ADVANTAGES, CORRECTIONS, LOSSES, usual_correction
from strop.config.forms import ADDED_TAG, Forms
from strop.config.model import POLICIES
from strop_verify.core.section import Path, Section
from strop_verify.verification.config import VERIFIERS


class Union(NamedTuple):
    """`key` selects one of `classes`; `default` applies if it is missing."""

    key: str
    default: str
    classes: Mapping[str, type[Section]]
    """Empty for an environment, which checks its options itself."""


UNIONS: Mapping[Path, Union] = {
    ("policy",): Union("engine", "transformers", POLICIES),
    ("verifier",): Union("engine", "local", VERIFIERS),
    ("tasks", "environment"): Union("type", "single-turn", {}),
    ("grpo", "loss"): Union("type", "dapo", LOSSES),
    ("grpo", "advantage"): Union("type", "group", ADVANTAGES),
    ("grpo", "correction"): Union("type", "none", CORRECTIONS),
}

Kinds = Mapping[Path, str]
"""{place of a section: the form that a recipe gives it}."""
DEFAULT_KINDS: Kinds = {path: union.default for path, union in UNIONS.items()}

TASK_SET_TAGS = ("one", "several")
"""pydantic's tags for the two forms of `tasks`."""


def kinds_of(data: Mapping[str, Any]) -> Kinds:
    """The forms of the sections in nested data, a recipe or a part of one, with defaults."""
    named, grpo = named_kinds(data), data.get("grpo")
    kinds = {**DEFAULT_KINDS, **named}
    if isinstance(grpo, Mapping) and ("grpo", "correction") not in named:
        stale = grpo.get("max_staleness"), grpo.get("older")
        kinds["grpo", "correction"] = usual_correction(kinds["grpo", "loss"], *stale)
    return kinds


def named_kinds(data: Mapping[str, Any]) -> Kinds:
    """The forms that the data itself names, without defaults."""
    found: dict[Path, str] = {}
    for path, union in UNIONS.items():
        node: Any = data
        for part in path:
            node = node.get(part) if isinstance(node, Mapping) else None
        if isinstance(node, Mapping) and union.key in node:
            found[path] = str(node[union.key])
    return found


def without_tags(loc: Path) -> Path:
    """The place of a value as a recipe writes it, without the form names that pydantic adds."""
    tags: dict[Path, tuple[str, ...]] = {path: tuple(union.classes) for path, union in UNIONS.items()}
    tags["tasks",] = TASK_SET_TAGS
    tags |= {p: (*tags[p], ADDED_TAG) for p, union in UNIONS.items() if isinstance(union.classes, Forms)}
    for path, names in tags.items():
        depth = len(path)
        if loc[:depth] == path and len(loc) > depth and loc[depth] in names:
            return (*path, *loc[depth + 1 :])
    return loc
