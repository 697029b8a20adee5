"""QuixBugs, Python part (MIT): classic algorithms with one bug each, the correct version and tests.

Reference: github.com/jkoppel/QuixBugs; Lin et al. 2017, doi:10.1145/3135932.3135941. Rows: id, name, buggy, correct,
json_cases ([[arguments], expected] each, or null), pytest (the text of a suite, or null), support (path to text).

1. Family `repair`: `metadata.broken` is the buggy program, `reference` the correct one. The statement is the buggy
   program's docstring and a note that there is one bug.
2. JSON cases whose suite compares what the function returns with `==` are a *cases* check. If the suite does more
   (lists a generator, allows a tolerance), the suite itself is the check, with the cases beside it.
3. The suite is unchanged: the answer is the module that it imports, `conftest.py` selects the version, and
   `load_testdata.py` provides the cases, as in the data set's own harness.
4. Classes of support modules (`Node`) are put above program and reference, because the tests' objects do not cross
   into the answer's process. An answer must keep them; the support module re-exports them from the answer.
5. Cases for which the suite skips itself as too slow are left out.

A suite's tests are found by parsing its text, without running it.
"""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_tasks.formats.fields import has, items, text
from strop_verify.code.python import source as pysource
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.checks import Case, CasesCheck, PytestCheck
from strop_verify.core.errors import UserError
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Task

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
    """Whether the suite only compares calls with `==`; without a suite, whether the function is not a generator."""
    if not tests.strip():
        return not _is_generator(correct, name)
    found = [ast.unparse(node.test) for node in ast.walk(syntax_tree(tests)) if isinstance(node, ast.Assert)]
    return found == [f"{name}(*input_data) == expected"]


def slow_cases(tests: str) -> list[list[Any]]:
    """Arguments that the suite skips: the literals that `input_data` is compared with before the skip."""
    found: list[list[Any]] = []
    for node in ast.walk(syntax_tree(tests)):
        if isinstance(node, ast.If) and any("skip(" in ast.unparse(line) for line in node.body):
            for inner in ast.walk(node.test):
                if isinstance(inner, ast.Compare) and ast.unparse(inner.left) == "input_data":
                    found += [literal for c in inner.comparators if isinstance(literal := _literal(c), list)]
    return found


def classes_of(support: Mapping[str, str], tests: str, module: str) -> tuple[str, dict[str, str]]:
    """(source of the support modules that the suite imports, or "", files that import them from `module`)."""
    nodes = list(ast.walk(syntax_tree(tests)))
    imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    imported |= {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
    above, files = "", {}
    for path, source in support.items():
        stem = path.removesuffix(".py").replace("/", ".")
        if not path.endswith(".py") or stem not in imported:
            continue
        names = [n.name for n in syntax_tree(source).body if isinstance(n, pysource.Function | ast.ClassDef)]
        above += source.strip("\n") + "\n\n\n"
        files[path] = f"from {module} import {', '.join(names)}\n" if names else ""
    return above, files


def suite(name: str, tests: str, cases: Sequence[Pair], files: Mapping[str, str]) -> PytestCheck:
    """The suite with its imports. Raises ValueError if it has no test."""
    path = f"test_{name}.py"
    found = [f"{path}::{test}" for test in _test_ids(syntax_tree(tests), len(cases))]
    if not found:
        raise ValueError("the suite holds no test")
    given = {"cases.json": json.dumps([[args, value] for args, value in cases])} if cases else {}
    return PytestCheck(
        path=f"python_programs/{name}.py",
        files={path: tests, "conftest.py": _CONFTEST, "load_testdata.py": _LOADER, **given, **files},
        tests=found,
    )


def case_suite(name: str, cases: Sequence[Pair]) -> PytestCheck:
    """A suite written here for a generator function with JSON cases: it lists the items and compares them."""
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
    for node in ast.walk(syntax_tree(source)):
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


def _read(row: Row, where: str) -> Iterator[Task]:
    try:
        yield _task(row, where)
    except UNPARSABLE as error:
        raise UserError(f"{where}: program or tests are not valid Python: {error}") from error


def _task(row: Row, where: str) -> Task:
    name, buggy, correct = (text(row, field, where) for field in ("name", "buggy", "correct"))
    if pysource.find_function(syntax_tree(correct), name) is None:
        raise UserError(f"{where}: the correct program does not define {name!r}")
    tests = text(row, "pytest", where, default="")
    cases = _cases(items(row, "json_cases", where, default=[]), where)
    slow = slow_cases(tests)
    cases = [case for case in cases if case[0] not in slow]
    if not cases and not tests.strip():
        raise UserError(f"{where}: the task has no tests: neither json_cases nor pytest")
    support = row.get("support") or {}
    if not isinstance(support, dict) or not all(isinstance(code, str) for code in support.values()):
        raise UserError(f"{where}: field 'support' must map paths to strings")
    above, files = classes_of(support, tests, f"python_programs.{name}")
    check: CasesCheck | PytestCheck
    if cases and is_plain(tests, name, correct):
        check = CasesCheck(entry_point=name, cases=[Case(args=args, expected=value) for args, value in cases])
    elif tests.strip():
        check = suite(name, tests, cases, files)
    else:
        check = case_suite(name, cases)
    return Task(
        id=text(row, "id", where, default="") or f"quixbugs/{name}",
        family="repair",
        statement=_statement(name, buggy),
        signature=above + pysource.signature_of(correct, name),
        reference=above + correct,
        check=check,
        topic="repair",
        source=f"quixbugs/{name}",
        metadata={"broken": above + buggy},
    )


def _cases(rows: list[Any], where: str) -> list[tuple[list[Any], Any]]:
    """(arguments, expected) of each case; a single argument that is not a list is wrapped in one, as in the
    harness."""
    found: list[tuple[list[Any], Any]] = []
    for number, pair in enumerate(rows, start=1):
        if not isinstance(pair, list) or len(pair) != 2:
            raise UserError(
                f"{where}: json_cases: case {number} is not a pair of arguments and expected value"
            )
        found.append((pair[0] if isinstance(pair[0], list) else [pair[0]], pair[1]))
    return found


def _statement(name: str, buggy: str) -> str:
    """The bare strings of the buggy program, and the request."""
    notes = [
        node.value.value.strip()
        for node in syntax_tree(buggy).body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    asked = f"This program has one bug. Mend it; the function `{name}` must keep its name and arguments."
    return "\n\n".join([*notes, asked])


QUIXBUGS = Adapter(
    name="quixbugs",
    about="QuixBugs, Python part: programs with one bug each",
    read=_read,
    fits=lambda row: has(row, name=str, buggy=str, correct=str) and ("json_cases" in row or "pytest" in row),
    as_json=("json_cases", "support"),
)
