"""What a project imports and is called, in drawn texts, against Python's own readers."""

import ast
import configparser
import sys
import tomllib

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st
from tests import scale

from strop_verify.verification.project.needs import imported, needs_of, project_names

MODULES = ("yaml", "numpy", "attr", "os", "json", "zzz_other", "typing_extensions")
NAME, OTHER = st.sampled_from(MODULES), st.sampled_from(MODULES)
LINES = (
    "import {a}", "import {a} as x", "import {a}.{b}.c", "import {a}, {b}", "import {a} as x, {b}.sub as y  # and why",
    "from {a} import x", "from {a}.{b} import (\n    x,\n    y,\n)", "from {a} import *", "import {a}, \\\n    {b}",
    "from \\\n  {a} import x", "x = 1; import {a}", "import {a}; import {b}", "import os; from {a} import x",
    "try: import {a}\nexcept ImportError: {b} = None", "if x: from {a} import y",
    "def f():\n    import {a}\n    from {b} import x", "class A:\n    from {a} import x", "import\t{a}",
    "try:\n    import {a}\nexcept ImportError:\n    import {b}", "from . import {a}", "from .{a} import x",
    "text = 'import ' + '{a}'", "# import {a}", "from __future__ import annotations", "import {a}\r", "x = [\n  1]",
)  # fmt: skip
ASKED = (
    "m = pytest.importorskip('{a}')", "m = pytest.importorskip(\"{a}.{b}\", reason='none')",
    "m = importlib.import_module(\n    '{a}.x')", "m = __import__('{a}')", "m = import_module( '{a}' )",
    '"""\n    >>> import {a}\n    >>> if 1:\n    ...     from {a} import x\n"""',
)  # fmt: skip


@seed(scale.seed())
@given(st.lists(st.tuples(st.sampled_from(LINES), NAME, OTHER), max_size=6))
def test_what_is_imported(lines: list[tuple[str, str, str]]) -> None:
    text = "\n".join(line.format(a=a, b=b) for line, a, b in lines) + "\n"
    wanted = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            wanted |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            wanted.add(str(node.module).partition(".")[0])
    assert imported({"a.py": text.encode()}) == wanted - sys.stdlib_module_names
    assert imported({"a.txt": text.encode()}) == set()


@pytest.mark.parametrize("line", ASKED)
def test_what_is_asked_for_otherwise(line: str) -> None:
    assert imported({"a.py": line.format(a="yaml", b="nodes").encode()}) == {"yaml"}


WORD = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,6}([-_.][a-z]{1,4})?", fullmatch=True)
HEADS = (
    "[project]\nname = {q}{n}{q}", "[ project ]  # ours\nversion = '1'\nname={q}{n}{q} # its name",
    "project.name = {q}{n}{q}",
    "project = {{name = {q}{n}{q}}}", "[tool.poetry]\n{q}name{q} = {q}{n}{q}", "[tool.black]\nname = {q}{n}{q}",
    "[project]\ndescription = '''\nname = nothing\n'''\nname = {q}{n}{q}", "[[project.x]]\nname = {q}{n}{q}",
    "not toml",
)  # fmt: skip
CONFIGS = (
    "[metadata]\nname = {n}", "[metadata]\nname: {n}\n", "[metadata]\nversion = 1\nNAME={n}", "[other]\nname = {n}",
    "[metadata]\ndescription =\n    name = nothing\nname = {n}", "name = {n}",
)  # fmt: skip


@seed(scale.seed())
@given(st.sampled_from(HEADS), st.sampled_from(CONFIGS), WORD, WORD, st.sampled_from("\"'"))
def test_what_a_project_is_called(head: str, config: str, one: str, other: str, quote: str) -> None:
    texts = {"pyproject.toml": head.format(n=one, q=quote), "setup.cfg": config.format(n=other)}
    wanted = set()
    try:
        told = tomllib.loads(texts["pyproject.toml"])
        at = told.get("project") if isinstance(told.get("project"), dict) else {}
        wanted |= {at.get("name", ""), told.get("tool", {}).get("poetry", {}).get("name", "")}
    except tomllib.TOMLDecodeError:
        pass
    settings = configparser.ConfigParser()
    try:
        settings.read_string(texts["setup.cfg"])
        wanted.add(settings.get("metadata", "name", fallback=""))
    except configparser.Error:
        pass
    names = {
        name.lower().replace("_", "-").replace(".", "-") for name in wanted if isinstance(name, str) and name
    }
    assert project_names({path: text.encode() for path, text in texts.items()}) == names


def test_packages_that_are_asked_for_beside_are_not_those_of_another_question() -> None:
    tree = {"a.py": b"x = 1\n"}
    assert "numpy" not in dict(needs_of(tree).site.held)
    assert "numpy" in dict(needs_of(tree, more=["numpy"]).site.held)
    assert "numpy" not in dict(needs_of(tree).site.held)
