"""README and docs are true: links lead somewhere, commands and keys exist, the reference is that of the code."""

import ast
import importlib.util
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from tests.installs import PARTS

from strop.cli import app
from strop.config.explain import keys
from strop.config.load import load_recipe
from strop.config.recipes import find_recipe
from strop_verify.core.errors import UserError

ROOT = Path(__file__).parents[1]
READMES = [ROOT / part / "README.md" for part in PARTS]
PAGES = [*READMES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = ROOT / "docs" / "reference"
WRITTEN = [page for page in PAGES if REFERENCE not in page.parents]
"""Those that people write."""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
KEYS = {re.sub(r"\[\]", "", key.name) for key in keys()} | {"model.preset", "grpo.preset", "policy.preset"}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def slugs(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ +(.+)$", FENCE.sub("", text), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).replace("`", "").lower() for head in heads]
    return {re.sub(r"[^\w\- ]", "", head).strip().replace(" ", "-") for head in plain}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text):
        place, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", place):
            continue
        file = (page.parent / place).resolve() if place else page
        if not file.exists() or (anchor and anchor not in slugs(file.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


@cache
def commands() -> dict[str, Any]:
    """{"train": command, "tasks list": command, ...}"""
    group: Any = typer.main.get_command(app)
    context = group.make_context("strop", ["doctor"], resilient_parsing=True)
    found: dict[str, Any] = {}
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        found |= {f"{word} {inner}": one for inner, one in getattr(command, "commands", {}).items()}
        if not hasattr(command, "commands"):
            found[word] = command
    return found


def said(text: str) -> Iterator[str]:
    """Every `strop ...` of a page: lines of code blocks, and code in sentences."""
    for kind, block in FENCE.findall(text):
        if kind in ("", "sh", "bash", "console"):
            for line in block.replace("\\\n", " ").splitlines():
                yield from re.findall(r"(?:^|[;&|] )(?:\.venv/bin/|\$ )?(strop .*)", line.strip())
    yield from re.findall(r"`(strop [^`]+)`", FENCE.sub("", text))


def fault(line: str) -> str:
    """What is wrong with a command line; "" where nothing is."""
    words = shlex.split(line.replace("...", ""), comments=True)[1:]
    words = [word.strip("[]") for word in words if word.strip("[]")]
    if not words or words[0].startswith("--") or words[0].isupper():
        return ""
    groups = {one.partition(" ")[0] for one in commands() if " " in one}
    names = [words[0]]
    if words[0] in groups:
        names = [f"{words[0]} {inner}" for inner in words[1].split("|")] if len(words) > 1 else []
    for named in names:
        if named not in commands():
            return f"no command {named}"
        options = {word for p in commands()[named].params for word in (*p.opts, *p.secondary_opts)} | {
            "--help"
        }
        for word in words[1:]:
            option = word.partition("=")[0]
            if option.startswith("-") and option != "-" and option.split("|")[0] not in options:
                return f"{named} has no option {option}"
    for word in words[1:]:
        key, equals, _ = word.partition("=")
        if (
            words[0] in ("train", "sft")
            and equals
            and re.match(r"[a-z_]+(\.[a-z_]+)*$", key)
            and key not in KEYS
        ):
            return f"no key {key}"
    kind = {"train": "", "sft": "", "curate": "curate"}.get(words[0])
    for before, word in pairwise(words):
        named = not (before.startswith("-") or word.startswith("-") or "=" in word or word.isupper())
        if kind is not None and named and (not word.endswith(".yaml") or word.startswith("recipes/")):
            try:
                find_recipe(word, kind)
            except UserError as error:
                return str(error)
    return ""


@pytest.mark.parametrize("page", WRITTEN, ids=name)
def test_commands_are_those_of_the_command_line(page: Path) -> None:
    lines = list(said(page.read_text(encoding="utf-8")))
    assert {line: found for line in lines if (found := fault(line))} == {}


def test_a_false_command_would_be_found() -> None:
    for line in ("strop trian x", "strop train --dryrun", "strop tasks lst", "strop train recipes/none.yaml"):
        assert fault(line), line
    assert fault("strop train x.yaml optim.step=3") and not fault("strop train x.yaml optim.steps=3")


@pytest.mark.parametrize("page", [page for page in WRITTEN if "yaml\n" in page.read_text()], ids=name)
def test_recipes_in_the_text_are_recipes(page: Path, tmp_path: Path) -> None:
    top = {key.partition(".")[0] for key in KEYS}
    for kind, block in FENCE.findall(page.read_text(encoding="utf-8")):
        data = yaml.safe_load(block) if kind == "yaml" else None
        if isinstance(data, dict) and data.keys() <= top:
            (tmp_path / "recipe.yaml").write_text(block, encoding="utf-8")
            load_recipe([tmp_path / "recipe.yaml"])


def test_the_reference_is_that_of_the_code() -> None:
    """Where it is not: python docs/reference.py (`make docs` does it too)."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for file, text in module.pages().items():
        assert (REFERENCE / file).read_text(encoding="utf-8").split() == text.split(), file
    written = (REFERENCE / "recipe.md").read_text(encoding="utf-8")
    assert [
        key.name for key in keys() if f"`{key.name}`" not in written and f"## {key.name}\n" not in written
    ] == []


def test_the_results_are_those_of_the_experiments() -> None:
    """Where they are not: python docs/results.py."""
    spec = importlib.util.spec_from_file_location("results", ROOT / "docs" / "results.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for file, text in module.written().items():
        assert file.read_text(encoding="utf-8") == text, file


def test_every_number_of_a_recipe_has_a_unit_or_is_plain() -> None:
    plain = {"alpha", "levels", "rank", "seed"}
    counts = [
        key for key in keys() if key.type.startswith(("whole number", "list of whole")) and not key.unit
    ]
    assert {key.name for key in counts if key.name.rpartition(".")[2] not in plain} == set()
    assert [key.name for key in keys() if not key.text] == []


def test_every_page_is_in_the_navigation_and_the_index() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    named = set(re.findall(r"[\w\-/]+\.md", yaml.safe_dump(settings["nav"])))
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if ROOT / "docs" in page.parents}
    assert pages - named == set() and len(pages) <= 35
    links = set(re.findall(r"\]\(([\w\-/]+\.md)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    assert pages - links == {"index.md"}


def test_the_readmes_are_short() -> None:
    """Of the other parts: one screen."""
    for page in READMES:
        most = 120 if page.parent == ROOT else 40
        assert len(page.read_text(encoding="utf-8").splitlines()) <= most, page


def test_where_a_new_thing_goes_is_a_file_that_exists() -> None:
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("## Where does")[2]
    rows = re.findall(r"^\| ([\w ,()-]+) \|.*?\| (.*) \| (.*) \|$", table, re.M)[1:]
    asked = {"environment", "reward", "loss", "language", "format of a data set", "task set", "engine"}
    assert asked <= {re.split(r",| \(", thing)[0] for thing, _, _ in rows}
    for thing, *places in rows:
        for place in places:
            named = re.findall(r"`([^`]+)`", place)
            assert named and all((ROOT / name).exists() for name in named), (thing, place)


def test_the_picture_has_every_room() -> None:
    picture = (ROOT / "docs" / "images" / "rooms.svg").read_text(encoding="utf-8")
    packages = [path for part in PARTS for path in (ROOT / part / "src").glob("strop*/*/__init__.py")]
    rooms = {path.parent.name for path in packages} | {"api", "recipes"}
    assert set(re.findall(r'class="room"[^>]*>(\w+)<', picture)) == rooms


def test_readme_s_table_is_made_of_the_raw_results() -> None:
    from benchmarks.controls import overview

    folder = ROOT / "experiments" / "controls"
    for name in ("demo", "feedback-0.5b", "python-0.5b"):
        data = json.loads((folder / f"{name}.json").read_text())
        assert len(data["runs"]) >= 3 and {"ssd", "rft"} <= set(data["controls"])
    shown = [*sorted(folder.glob("*-0.5b.json")), folder / "demo.json"]
    assert overview(shown) in (ROOT / "README.md").read_text()


def test_every_extra_is_on_the_page_of_installation() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {
        name for row in re.findall(r"^\| (`.+?) \|", page, re.M) for name in re.findall(r"`([\w-]+)`", row)
    }
    assert named == extras.keys() - {"all"}


def test_the_messages_of_the_trouble_page_are_in_the_code() -> None:
    said = []
    for path in (file for part in PARTS for file in (ROOT / part / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [getattr(piece, "value", None) for piece in pieces]
            said.append("\0".join(text if isinstance(text, str) else "\0" for text in texts))
    code = "\n".join(said)
    page = (ROOT / "docs" / "trouble.md").read_text(encoding="utf-8")
    rows = [row for row in re.findall(r"^\| (`.+?`) \| ", page, re.M)]
    pieces = {
        p for row in rows for one in re.findall(r"`(.+?)`", row) for p in re.split(r"\.\.\.|\(\d+\)", one)
    }
    assert len(rows) > 40
    assert [piece for piece in pieces if len(piece.strip()) > 3 and piece.strip() not in code] == []
