"""Reads the test ids of a pytest suite from its source, without importing or running anything.

Follows what pytest collects without configuration (docs.pytest.org, "Conventions for Python test discovery") and what
unittest's loader takes: methods whose names begin with `test` in classes that derive from `unittest.TestCase` directly
or through classes of the same file, in classes named `Test...` without `__init__`, and functions `test...`.

1. Tests that are marked as skipped or expected to fail, directly or by their class, even conditionally, are left out:
   no answer can pass them.
2. Parametrised tests, and classes or methods made at run time, cannot be read from source: see `UnreadableTests`.
"""

import ast
from collections.abc import Iterator, Mapping

from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.syntax import syntax_tree

_OUT = {"skip", "skipIf", "skipUnless", "skipif", "xfail", "expectedFailure"}
_CASES = {"TestCase", "IsolatedAsyncioTestCase"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class UnreadableTests(ValueError):
    """The ids of test code cannot be read without running it; the message says where."""


def test_ids(files: Mapping[str, str]) -> list[str]:
    """Ids as `pytest --collect-only -q FILE...` prints them, in the order of the source. Raises UnreadableTests."""
    return [name for path, text in files.items() if path.endswith(".py") for name in _of_file(path, text)]


test_ids.__test__ = False  # type: ignore[attr-defined]  # not a test of Strop's own suite


def _of_file(path: str, text: str) -> Iterator[str]:
    try:
        body = syntax_tree(text, path).body
    except UNPARSABLE as error:
        raise UnreadableTests(f"{path}: {type(error).__name__}: {error}") from error
    classes: dict[str, ast.ClassDef] = {}
    for node in body:
        if isinstance(node, _Function) and node.name.startswith("test") and not _left_out(node, path):
            yield f"{path}::{node.name}"
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = node
            yield from _of_class(node, classes, path)


def _of_class(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef], path: str) -> Iterator[str]:
    family = _family(node, classes)
    is_case = any(_last(base) in _CASES for one in family for base in one.bases)
    methods: dict[str, bool] = {}
    for one in reversed(family):
        whole = _left_out(one, path)
        for item in one.body:
            if isinstance(item, _Function) and item.name.startswith("test"):
                methods[item.name] = not (_left_out(item, path) or whole)
            elif isinstance(item, ast.Assign):
                for target in item.targets:
                    if isinstance(target, ast.Name) and target.id in methods:
                        del methods[target.id]  # `test_x = None` removes a test of a base class
    own = {item.name for one in family for item in one.body if isinstance(item, _Function)}
    plain = node.name.startswith("Test") and not {"__init__", "__new__"} & own
    if is_case or plain:
        yield from (f"{path}::{node.name}::{name}" for name, counts in methods.items() if counts)


def _family(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """The class and its bases in the same file, nearest first."""
    found = [node]
    for one in found:
        names = [base.id for base in one.bases if isinstance(base, ast.Name)]
        found += [classes[name] for name in names if name in classes and classes[name] not in found]
    return found


def _left_out(node: _Function | ast.ClassDef, path: str) -> bool:
    marks = {_last(mark.func if isinstance(mark, ast.Call) else mark) for mark in node.decorator_list}
    if "parametrize" in marks:
        raise UnreadableTests(f"{path}: {node.name} has parameters")
    return bool(marks & _OUT)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
