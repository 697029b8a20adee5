"""Sections of a recipe that are one of several classes: where they are, which key says the class, and the classes."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from strop.config.algorithms import ADVANTAGES, CORRECTIONS, LOSSES, usual_correction
from strop.config.forms import ADDED_TAG, Forms
from strop.config.model import POLICIES
from strop_verify.core.section import Path, Section
from strop_verify.verification.config import VERIFIERS


class Union(NamedTuple):
    """`key` says which of `classes` a section is; `default` where it is not given."""

    key: str
    default: str
    classes: Mapping[str, type[Section]]
    """Of an environment none: it checks its options itself."""


UNIONS: Mapping[Path, Union] = {
    ("policy",): Union("engine", "transformers", POLICIES),
    ("verifier",): Union("engine", "local", VERIFIERS),
    ("tasks", "environment"): Union("type", "single-turn", {}),
    ("grpo", "loss"): Union("type", "dapo", LOSSES),
    ("grpo", "advantage"): Union("type", "group", ADVANTAGES),
    ("grpo", "correction"): Union("type", "none", CORRECTIONS),
}

Kinds = Mapping[Path, str]
"""By its place, what a recipe says that a section is."""
DEFAULT_KINDS: Kinds = {path: union.default for path, union in UNIONS.items()}

TASK_SET_TAGS = ("one", "several")
"""What pydantic calls the two forms of `tasks`."""


def kinds_of(data: Mapping[str, Any]) -> Kinds:
    """What nested data, a whole recipe or a part, says that its sections are, or what they are where it does not."""
    kinds = {**DEFAULT_KINDS, **dict(_named(data))}
    grpo = data.get("grpo")
    if isinstance(grpo, Mapping) and ("grpo", "correction") not in named_kinds(data):
        stale = grpo.get("max_staleness"), grpo.get("older")
        kinds["grpo", "correction"] = usual_correction(kinds["grpo", "loss"], *stale)
    return kinds


def named_kinds(data: Mapping[str, Any]) -> Kinds:
    """The same, only where it is said."""
    return dict(_named(data))


def without_tags(loc: Path) -> Path:
    """The place of a value as a recipe writes it: pydantic adds which kind of section it took it for."""
    tags: dict[Path, tuple[str, ...]] = {path: tuple(union.classes) for path, union in UNIONS.items()}
    tags["tasks",] = TASK_SET_TAGS
    tags |= {p: (*tags[p], ADDED_TAG) for p, union in UNIONS.items() if isinstance(union.classes, Forms)}
    for path, names in tags.items():
        depth = len(path)
        if loc[:depth] == path and len(loc) > depth and loc[depth] in names:
            return (*path, *loc[depth + 1 :])
    return loc


def _named(data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for path, union in UNIONS.items():
        node: Any = data
        for part in path:
            node = node.get(part) if isinstance(node, Mapping) else None
        if isinstance(node, Mapping) and union.key in node:
            yield path, str(node[union.key])
