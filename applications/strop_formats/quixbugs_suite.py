"""The suites of QuixBugs as *pytest* checks: which tests they hold, and the modules that they import.

Nothing is run to find that out: the test text is read as a syntax tree.
"""

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from strop.core.checks import PytestCheck

Pair = tuple[list[Any], Any]
"""Arguments and expected value of one case."""

_CONFTEST = """\
import pytest


def pytest_configure(config):
    pytest.use_correct = False
    pytest.run_slow = True


def pytest_make_parametrize_id(config, val, argname):
    return argname
"""
_LOADER = """\
import json
from pathlib import Path


def load_json_testcases(algorithm):
    return json.loads(Path(__file__).with_name("cases.json").read_text())
"""


def is_plain(tests: str, name: str, correct: str) -> bool:
    """Whether the suite only compares calls with `==`; without a suite, whether the function is no generator."""
    if not tests.strip():
        return not _is_generator(correct, name)
    found = [ast.unparse(node.test) for node in ast.walk(ast.parse(tests)) if isinstance(node, ast.Assert)]
    return found == [f"{name}(*input_data) == expected"]


def slow_cases(tests: str) -> list[list[Any]]:
    """Arguments for which the suite skips itself: the literals that `input_data` is compared with above the skip."""
    found: list[list[Any]] = []
    for node in ast.walk(ast.parse(tests)):
        if isinstance(node, ast.If) and any("skip(" in ast.unparse(line) for line in node.body):
            for inner in ast.walk(node.test):
                if isinstance(inner, ast.Compare) and ast.unparse(inner.left) == "input_data":
                    found += [literal for c in inner.comparators if isinstance(literal := _literal(c), list)]
    return found


def classes_of(support: Mapping[str, str], tests: str, module: str) -> tuple[str, dict[str, str]]:
    """(source of the support modules that the suite imports, or "", files that import them from `module`)."""
    imported = {
        node.module for node in ast.walk(ast.parse(tests)) if isinstance(node, ast.ImportFrom) and node.module
    } | {a.name for node in ast.walk(ast.parse(tests)) if isinstance(node, ast.Import) for a in node.names}
    above, files = "", {}
    for path, source in support.items():
        stem = path.removesuffix(".py").replace("/", ".")
        if not path.endswith(".py") or stem not in imported:
            continue
        names = [
            node.name
            for node in ast.parse(source).body
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        above += source.strip("\n") + "\n\n\n"
        files[path] = f"from {module} import {', '.join(names)}\n" if names else ""
    return above, files


def suite(name: str, tests: str, cases: Sequence[Pair], files: Mapping[str, str]) -> PytestCheck:
    """The suite with what it imports. Raises ValueError if it has no test."""
    path = f"test_{name}.py"
    found = [f"{path}::{test}" for test in _test_ids(ast.parse(tests), len(cases))]
    if not found:
        raise ValueError("the suite holds no test")
    given = {"cases.json": json.dumps([[args, value] for args, value in cases])} if cases else {}
    return PytestCheck(
        path=f"python_programs/{name}.py",
        files={path: tests, "conftest.py": _CONFTEST, "load_testdata.py": _LOADER, **given, **files},
        tests=found,
    )


def case_suite(name: str, cases: Sequence[Pair]) -> PytestCheck:
    """A suite of our own for a generator function with JSON cases: its items are listed, then compared."""
    path = f"test_{name}.py"
    text = f"""\
import pytest
from load_testdata import load_json_testcases
from python_programs.{name} import {name}


@pytest.mark.parametrize("input_data,expected", load_json_testcases("{name}"))
def test_{name}(input_data, expected):
    assert list({name}(*input_data)) == expected
"""
    return suite(name, text, cases, {path: text})


def _test_ids(tree: ast.Module, cases: int) -> list[str]:
    """Ids after the file's name, as `_CONFTEST` makes them: `test`, `test[a-b]`, `test[a-b0]`, `test[a-b1]`, ..."""
    ids: list[str] = []
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test") else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        for test in inner:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test"):
                ids += [f"{prefix}{test.name}{suffix}" for suffix in _suffixes(test, cases)]
    return ids


def _suffixes(test: ast.FunctionDef, cases: int) -> list[str]:
    marks = [
        d for d in test.decorator_list if isinstance(d, ast.Call) and "parametrize" in ast.unparse(d.func)
    ]
    if not marks:
        return [""]
    if len(marks) > 1 or len(marks[0].args) < 2:
        raise ValueError(f"{test.name}: its parameters cannot be read without running it")
    names, values = (_literal(argument) for argument in marks[0].args[:2])
    listed = names.split(",") if isinstance(names, str) else list(names or ())
    joined = "-".join(str(name).strip() for name in listed)
    count = len(values) if isinstance(values, list | tuple) else cases
    return [f"[{joined}]"] if count == 1 else [f"[{joined}{number}]" for number in range(count)]


def _is_generator(source: str, name: str) -> bool:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            waiting: list[ast.AST] = list(node.body)
            while waiting:
                inner = waiting.pop()
                if isinstance(inner, ast.Yield | ast.YieldFrom):
                    return True
                if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                    waiting += ast.iter_child_nodes(inner)
    return False


def _literal(node: ast.AST) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
