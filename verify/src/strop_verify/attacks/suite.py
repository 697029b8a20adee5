"""Reads the attacks from `suite/LANGUAGE-FAMILY.yaml` and makes them trials of one run.

A text of an attack may hold placeholders such as @CANARY@ (see `strop_verify.attacks.canary`), which differ in every
run. The hidden number @SECRET@, on which every built-in task rests, is filled into honest answers only: a hostile
answer that passes has stolen it or has forged its verdict.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

import yaml
from pydantic import ValidationError, model_validator

from strop_verify.attacks.plays import environment_of
from strop_verify.attacks.projects import PIECES, RIGHT, as_answer
from strop_verify.core.errors import UserError
from strop_verify.core.records import Record
from strop_verify.core.task import Task

Family = Literal["forge", "read", "escape", "exhaust", "outlive", "compile"]
"""forge a verdict, read secrets, reach the world outside, use up the host, live on, act at compile time."""
FAMILIES: tuple[str, ...] = get_args(Family)

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader in C needs a tenth of the time."""
_PLACEHOLDER = re.compile(r"@([A-Z_]+)@")


class Attack(Record):
    """One way to cheat or to do harm, and a similar answer that is honest."""

    name: str
    """Unique within its language."""
    language: str
    family: Family
    tries: str
    """What it tries, in one line."""
    task: str
    """Name of a built-in task, see `strop_verify.attacks.tasks`."""
    layer: str
    """What should stop it: the layer of the jail or the rule of the grader that it would have to defeat."""
    hostile: str
    honest: str
    harmless: bool
    """Whether it may be run by a grader without any jail: no flood, no daemon, no signal, nothing written outside."""

    @model_validator(mode="after")
    def _keep_the_secret(self) -> "Attack":
        for word in ("SECRET", *RIGHT):
            if f"@{word}@" in self.hostile:
                raise ValueError(f"{self.name}: a hostile answer may not hold @{word}@")
        return self

    @property
    def id(self) -> str:
        """Language and name."""
        return f"{self.language}/{self.name}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to try on a grader: a hostile answer that must not pass, an honest one that must, or both."""

    name: str
    language: str
    family: str
    layer: str
    task: Task
    hostile: str | None
    honest: str | None
    harmless: bool = True


@cache
def load_suite() -> list[Attack]:
    """Every attack, by language and family. Raises ValueError for a mistake in the suite's own files."""
    folder = files("strop_verify.attacks") / "suite"
    sources = sorted((p for p in folder.iterdir() if p.name.endswith(".yaml")), key=lambda p: p.name)
    found = [attack for path in sources for attack in _read(path)]
    twice = [name for name, times in Counter(a.id for a in found).items() if times > 1]
    if twice:
        raise ValueError(f"attacks of the same name: {', '.join(sorted(twice))}")
    return found


def read_yaml(path: Any) -> Any:
    """The data in a YAML file of attacks, cheats or the grammar."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)


def _read(path: Any) -> Iterator[Attack]:
    language, family = path.name.removesuffix(".yaml").split("-")
    usually_harmless = family in ("forge", "read", "compile") and language != "play"
    for row in read_yaml(path):
        try:
            yield Attack(**{"language": language, "family": family, "harmless": usually_harmless, **row})
        except (ValidationError, TypeError) as error:
            raise ValueError(f"{path.name}: {row.get('name')}: {error}") from error


def choose(
    attacks: list[Attack], *, language: str | None, family: str | None, name: str | None
) -> list[Attack]:
    """The attacks that match every choice that is not None. Raises UserError, with the known values, if none do."""
    for what, value, known in (
        ("language", language, {a.language for a in attacks}),
        ("family", family, set(FAMILIES)),
        ("name", name, {a.name for a in attacks} | {a.id for a in attacks}),
    ):
        if value is not None and value not in known:
            shown = sorted(known) if len(known) < 20 else ["see `strop attack --list`"]
            raise UserError(f"no attack of {what} {value!r}; known: {', '.join(shown)}")
    chosen = [
        a
        for a in attacks
        if language in (None, a.language) and family in (None, a.family) and name in (None, a.name, a.id)
    ]
    if not chosen:
        raise UserError(f"no attack has language {language}, family {family} and name {name}")
    return chosen


def trial(attack: Attack, tasks: Mapping[str, Task], facts: Mapping[str, str]) -> Trial:
    """The attack with this run's facts filled in. Raises KeyError for an unknown task or placeholder."""
    same = {name: getattr(attack, name) for name in ("name", "language", "family", "layer", "harmless")}
    task = tasks[attack.task]
    hostile, honest = (
        as_given(task, text, facts, honest=text is attack.honest) for text in (attack.hostile, attack.honest)
    )
    return Trial(**same, task=task, hostile=hostile, honest=honest)


def as_given(task: Task, text: str, facts: Mapping[str, str], *, honest: bool) -> str:
    """An answer to the task, its placeholders filled in; only an honest one gets those of the solution."""
    known = {**facts, **PIECES, **RIGHT} if honest else {**facts, **PIECES}
    if not honest:
        del known["SECRET"]
    language = "play" if environment_of(task) else task.language
    filled = fill(text, known, language)
    return filled if language == "play" else as_answer(task, filled)


def fill(text: str, facts: Mapping[str, str], language: str) -> str:
    """The text with its placeholders replaced. @REACHED@ becomes an expression, so that echoed source lacks it."""

    def value(match: "re.Match[str]") -> str:
        found = facts[match[1]]
        if match[1] != "REACHED":
            return found
        first, second = found[:8], found[8:]
        if language == "play":  # in a shell
            return f'"{first}""{second}"'
        if language == "rust":
            return f'concat!("{first}", "{second}")'
        plus = " + " if language == "javascript" else " "
        return f'"{first}"{plus}"{second}"'

    return _PLACEHOLDER.sub(value, text)
