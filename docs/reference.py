"""Writes docs/reference/ from the code: every recipe key, environment, command, and name that can be added, those of
installed packages included.

python docs/reference.py; a test fails while what is there is older than the code.
"""

import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import typer

from strop.algorithms.advantages import ADVANTAGES
from strop.algorithms.losses import LOSSES
from strop.cli import app
from strop.config import algorithms
from strop.config.explain import Key, bounds_of, keys, type_text, value_text
from strop.config.forms import Forms
from strop.config.model import POLICIES
from strop.environments.registry import ENVIRONMENTS
from strop.evaluation.selectors import SELECTORS
from strop.policies.open import ENGINES
from strop.reports.alarms import RULES
from strop.rewards.rubric import REWARDS
from strop.tasks.adapters import ADAPTERS
from strop.tasks.sources import GENERATED
from strop_tasks.curation.commands import build
from strop_tasks.curation.pipeline.read import STEPS
from strop_verify.core.checks import CHECKS
from strop_verify.core.registry import added
from strop_verify.core.section import Section
from strop_verify.verification.toolchains import OTHERS

FOLDER = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """{file name: its text}."""
    found = {
        "recipe": recipe(),
        "commands": commands(),
        "names": chain(names(), environments()),
    }
    note = "<!-- written by docs/reference.py; do not edit -->\n"
    return {f"{name}.md": note + "\n".join(lines).rstrip() + "\n" for name, lines in found.items()}


def recipe() -> Iterator[str]:
    """Every key."""
    yield "# Keys of a recipe\n"
    yield (
        "A recipe is YAML, each key also settable as `KEY=VALUE` on the command line; `strop explain KEY` says what "
        "stands here. A file is laid over the defaults, later files over earlier ones, the command line over all. "
        "Lists are replaced as a whole; `[]` in a key stands for a list's items. `--print-config` shows the whole."
    )
    plain = [key for key in keys() if not key.section and not re.search(r"[.\[]", key.name)]
    yield f"\n## {', '.join(key.name for key in plain)}\n\n{_table(plain)}"
    for top in [key for key in keys() if key.section and not re.search(r"[.\[]", key.name)]:
        yield f"\n## {top.name}\n\n{_sentence(top.text)}\n"
        held = [key for key in keys() if re.match(rf"{top.name}(\[\])?\.", key.name)]
        yield _table(held)


def _table(rows: list[Key]) -> str:
    lines = ["| key | value | meaning |", "|---|---|---|"]
    for key in rows:
        unit = f"in {key.unit}" if key.unit else ""
        value = ", ".join(filter(None, (key.type, key.bounds, unit)))
        default = f"<br>default `{_cell(key.default)}`" if key.default else ""
        only = f" Only with {key.only}." if key.only else ""
        lines.append(f"| `{key.name}` | {_cell(value)}{default} | {_cell(_sentence(key.text) + only)} |")
    return "\n".join(lines)


def environments() -> Iterator[str]:
    """Every environment with its options."""
    yield "\n## Options of environments\n"
    yield (
        "Values of `tasks.environment.type`, each with its options beside it, such as "
        "`tasks.environment: {type: feedback}`. How to write one: [plays](../plays.md).\n"
    )
    for name in ENVIRONMENTS:
        kind = ENVIRONMENTS[name]
        about, *more = (inspect.getdoc(kind) or "").split("\n\n")
        said = dict(match for part in more for match in re.findall(r"^(\w+) {2,}(.+(?:\n .+)*)", part, re.M))
        yield f"### {name}\n\n{_lines(about)}\n"
        options = [p for p in inspect.signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
        if options:
            yield "| option | type | default | meaning |\n|---|---|---|---|"
        hints = typing.get_type_hints(kind.__init__, include_extras=True) if options else {}
        for option in options:
            hint = hints[option.name]
            bounds = bounds_of([c for one in getattr(hint, "__metadata__", ()) for c in one.metadata])
            default = "must be given" if option.default is option.empty else value_text(option.default)
            cells = (
                f"`{option.name}`",
                ", ".join([type_text(hint), *bounds]),
                f"`{default}`",
                said.get(option.name, ""),
            )
            yield f"| {' | '.join(map(_cell, cells))} |"
        yield ""


class Group(NamedTuple):
    """What has names of one kind."""

    title: str
    points: str
    """The entry points' group."""
    where: str
    """Where a name of it is written."""
    names: Mapping[str, str]
    """{name: what it is, in a line}."""
    own: str = "strop"
    """The part that brings those that come by no entry point."""


def names() -> Iterator[str]:
    """Every name of what a package can add, and where it comes from."""
    yield "# Names\n"
    yield (
        "What a recipe, a task or a command line can name, what it is, and the package that adds it. Your package is "
        "listed too once it is installed and `python docs/reference.py` is run "
        "([api](../api.md#a-package-of-your-own)).\n"
    )
    for group in _groups():
        yield f"## {group.title}\n\n{group.where} Entry points: `{group.points}`.\n"
        yield "| name | what it is | from |\n|---|---|---|"
        for name, text in group.names.items():
            origin = [point.dist.name for point in added(group.points).get(name, ()) if point.dist]
            yield f"| `{name}` | {_cell(text)} | {', '.join(origin) or group.own} |"
        yield ""


def _groups() -> Iterator[Group]:
    def about(named: Mapping[str, Any], of: Callable[[Any], str] = _first) -> dict[str, str]:
        return {name: of(named[name]) for name in named}

    def forms(named: Mapping[str, Any], sections: Forms[Section]) -> dict[str, str]:
        """Ours are described where their keys are."""
        return {n: _first(named[n] if sections[n] is sections.other else sections[n]) for n in named}

    judged: dict[str, list[str]] = {name: [] for name in OTHERS}
    for kind, check in CHECKS.items():
        for name in dict.fromkeys(check.toolchains.values()):
            judged.setdefault(name, []).append(f"`{kind}`")
    judges = {
        name: f"Judges {', '.join(kinds)}." if kinds else _first(OTHERS[name])
        for name, kinds in judged.items()
    }
    ways = {name: _first(ENGINES[name]) or _first(POLICIES[name]) for name in ENGINES}
    command: Any = typer.main.get_command(app)
    context = command.make_context("strop", ["doctor"], resilient_parsing=True)
    told = {
        n: command.get_command(context, n).get_short_help_str(200) for n in command.list_commands(context)
    }
    builders: Any = typer.main.get_command(build.app)
    made = {n: one.get_short_help_str(200) for n, one in builders.commands.items()}
    tasks = "strop-tasks"
    yield Group("Sources of tasks", "strop.tasks", "`tasks.source`, before a colon.", about(GENERATED))
    yield Group(
        "Formats of tasks", "strop.formats", "`tasks.source`, before a colon and a file.",
        about(ADAPTERS, lambda one: str(one.about)),
    )  # fmt: skip
    yield Group("Environments", "strop.environments", "`tasks.environment`.", about(ENVIRONMENTS))
    yield Group(
        "Kinds of checks", "strop_verify.checks", "`check.kind` of a task.", about(CHECKS), "strop-verify"
    )
    yield Group("Toolchains", "strop.toolchains", "`toolchains` of a kind of check.", judges, "strop-verify")
    rewards = "`rewards[].name`; how to write one: [rewards](../rewards.md)."
    yield Group("Rewards", "strop.rewards", rewards, about(REWARDS, _doc))
    yield Group("Losses", "strop.losses", "`grpo.loss`.", forms(LOSSES, algorithms.LOSSES))
    yield Group(
        "Advantages", "strop.advantages", "`grpo.advantage`.", forms(ADVANTAGES, algorithms.ADVANTAGES)
    )
    yield Group("Engines", "strop.policies", "`policy.engine`.", ways)
    yield Group(
        "Selectors",
        "strop.selectors",
        "`--select` of `strop scale`.",
        about(SELECTORS, lambda one: str(one.about)),
    )
    yield Group("Alarms", "strop.alarms", "What a run is watched for.", about(RULES))
    yield Group("Steps of a pipeline", "strop.steps", "`steps` of a pipeline.", about(STEPS), tasks)
    yield Group("Builders of tasks", "strop.builders", "`strop build NAME`.", made, tasks)
    yield Group("Commands", "strop.commands", "`strop NAME`.", told)


def _first(thing: Any) -> str:
    """The first sentences of what a thing says of itself: "" for one that has no text of its own."""
    while isinstance(thing, partial):
        thing = thing.func
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return ""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def commands() -> Iterator[str]:
    """What each command's --help says."""
    yield "# Commands\n"
    yield "What `strop COMMAND --help` says. Exit codes: 0 done, 1 failed, 2 the input is wrong, 130 interrupted.\n"
    group: Any = typer.main.get_command(app)
    context = group.make_context("strop", ["doctor"], resilient_parsing=True)
    for name in group.list_commands(context):
        yield from _command(name, group.get_command(context, name), context)


def _command(name: str, command: Any, above: Any) -> Iterator[str]:
    context = command.context_class(command, info_name=name, parent=above, terminal_width=100)
    for word, one in getattr(command, "commands", {}).items():
        yield from _command(word, one, context)
    if not hasattr(command, "commands"):
        yield f"## {context.command_path}\n\n```text\n{command.get_help(context).strip()}\n```\n"


def _doc(thing: Any) -> str:
    return _lines(inspect.getdoc(thing) or "")


def _lines(text: str) -> str:
    """Paragraphs, each on one line."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", ":")) else f"{text}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
