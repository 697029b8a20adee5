"""Writes docs/reference/: every recipe key, reward, environment and command, from the code that they are in.

python docs/reference.py; a test fails while what is there is older than the code.
"""

import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from strop.cli import app
from strop.config.explain import Key, bounds_of, keys, type_text, value_text
from strop.config.layers import PRESETS, preset_names
from strop.environments.registry import ENVIRONMENTS
from strop.rewards.rubric import REWARDS

FOLDER = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """{file name: its text}."""
    found = {"recipe": recipe(), "rewards": rewards(), "environments": environments(), "commands": commands()}
    note = "<!-- written by docs/reference.py; do not edit -->\n"
    return {f"{name}.md": note + "\n".join(lines).rstrip() + "\n" for name, lines in found.items()}


def recipe() -> Iterator[str]:
    """Every key."""
    yield "# Keys of a recipe\n"
    yield (
        "A recipe is YAML, each key also settable as `KEY=VALUE` on the command line; `strop explain KEY` says what "
        "stands here. A file is laid over the defaults, later files over earlier ones, the command line over all. "
        "Lists are replaced as a whole; `[]` in a key stands for a list's items. `--print-config` shows the whole.\n"
    )
    yield "A section may name a preset, whose keys it then starts from:\n"
    for section in sorted(path.name for path in PRESETS.iterdir() if path.is_dir()):
        yield f"- `{section}.preset`: {', '.join(f'`{name}`' for name in preset_names(section))}"
    plain = [key for key in keys() if key.name.startswith("seed")]
    yield f"\n## seed\n\n{_table(plain)}"
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


def rewards() -> Iterator[str]:
    """Every built-in reward."""
    yield "# Rewards\n"
    yield (
        "Names for `rewards[].name`. Each score is logged by itself, and a rollout's reward is their weighted sum. "
        "Your own function is `file.py:NAME`. How to write one, and the published mixes: [rewards](../rewards.md).\n"
    )
    yield "| name | what it gives |\n|---|---|"
    for name in REWARDS:
        yield f"| `{name}` | {_cell(_doc(REWARDS[name]))} |"


def environments() -> Iterator[str]:
    """Every built-in environment with its options."""
    yield "# Environments\n"
    yield (
        "Values of `tasks.environment.type`, each with its options beside it, such as "
        "`tasks.environment: {type: feedback}`. How to write one: [plays](../plays.md).\n"
    )
    for name in [
        "single-turn",
        "feedback",
        "workspace",
        "world",
        "search",
        "next-edit",
        "harness",
        "openenv",
        "verifiers",
    ]:
        kind = ENVIRONMENTS[name]
        about, *more = (inspect.getdoc(kind) or "").split("\n\n")
        said = dict(match for part in more for match in re.findall(r"^(\w+) {2,}(.+(?:\n .+)*)", part, re.M))
        yield f"## {name}\n\n{_lines(about)}\n"
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
