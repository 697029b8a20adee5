"""Recognises the form of the tests in a mapped column of a foreign row, and makes a check of them.

1. `{"inputs", "outputs"}`, with or without `fn_name`, and lists of inputs and outputs with a function: `io_tests`.
2. `{"args", "expected"}` each: calls. `{"stdin", "stdout"}` or `{"input", "output"}` each: a program.
3. Python code, one text or a list: assert statements, or a suite of unittest or pytest, which runs as one. Code that
   asserts nothing is refused: code that only prints, or returns its result, cannot fail an answer.
"""

import ast
import builtins
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from strop.tasks import case_lists, io_tests
from strop.tasks.suite_tests import UnreadableTests, test_ids
from strop_verify.code.python import source as pysource
from strop_verify.code.python.source import UNPARSABLE, tree_of
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, Check, PytestCheck, StdioCase, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.test_code import names_bound

SUITE = "test_answer.py"
_USUAL = {*sys.stdlib_module_names, "pytest", "hypothesis", "numpy", "pandas", "parameterized"}
"""Modules that suites import for other purposes, never as the answer."""


def decoded(tests: Any) -> Any:
    """Tests that were stored as JSON text, as lists or mappings; anything else unchanged."""
    if isinstance(tests, str) and tests.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(tests)
        except ValueError:
            return tests
    return tests


def joined(code: Any) -> str:
    """Code given as one text or a list of texts, as one text."""
    return "\n".join(map(str, code)) if isinstance(code, list) else str(code or "")


def check_of(
    tests: Any,
    setup: str,
    entry_point: str,
    where: str,
    *,
    language: str = "python",
    reference: str = "",
    starter: str = "",
) -> Check:
    """The check that a column of tests makes. Raises a one-line UserError for tests that cannot be run as intended."""
    check = _of_values(tests, entry_point, where, starter)
    if check is None and _is_code(tests):
        if language != "python":
            raise UserError(
                f"{where}: tests that are code are read in Python only, not in {language}: wanted stdin and stdout"
            )
        check = _of_code(tests, setup, entry_point, where, reference)
    if check is None:
        raise UserError(
            f"{where}: tests of an unknown form: wanted assert statements, or cases with args and expected, "
            "or cases with stdin and stdout"
        )
    return check


def _is_code(tests: Any) -> bool:
    return isinstance(tests, str) or (isinstance(tests, list) and all(isinstance(t, str) for t in tests))


def _of_values(tests: Any, entry_point: str, where: str, starter: str) -> Check | None:
    if isinstance(tests, Mapping):
        name = tests.get("fn_name") or tests.get("func_name")
        return io_tests.read_tests({**tests, "fn_name": name}, starter, where)
    if not (isinstance(tests, list) and tests and all(isinstance(t, Mapping) for t in tests)):
        return None
    if all("expected" in t for t in tests):
        cases = [
            Case(args=t.get("args", []), kwargs=t.get("kwargs", {}), expected=t["expected"]) for t in tests
        ]
        return CasesCheck(entry_point=known(entry_point, where), cases=cases)
    plain = [
        {**t, "input": t.get("stdin", t.get("input")), "output": t.get("stdout", t.get("output"))}
        for t in tests
    ]
    if case_lists.says_kind(plain):
        return case_lists.check_of(plain, where, entry_point, starter)
    pairs = [(t["input"], t["output"]) for t in plain]
    if all(isinstance(i, str) and isinstance(o, str) for i, o in pairs):
        return StdioCheck(cases=[StdioCase(stdin=i, stdout=o) for i, o in pairs])
    return None


def with_call(test: str, entry_point: str) -> str:
    """Tests with a function `check(candidate)`, followed by its call. If the answer's function is also called `check`,
    the one in the tests is renamed.
    """
    name = "check" if entry_point != "check" else "check_answer"
    return re.sub(r"^def check\(", f"def {name}(", test, flags=re.M) + f"\n{name}({entry_point})\n"


def called_most(tests: str) -> str:
    """The function that test code calls most often without binding or importing it; but if the code ends in a call
    `check(NAME)`, that name. "" if there is none.
    """
    try:
        tree = syntax_tree(tests)
    except UNPARSABLE:
        return ""
    bound = names_bound(tree) or frozenset()
    match tree.body[-1:]:
        case [ast.Expr(ast.Call(ast.Name("check"), [ast.Name(name)]))]:
            return name
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    called = (f.id for f in calls if isinstance(f, ast.Name) and f.id not in bound)
    names = Counter(name for name in called if not hasattr(builtins, name))
    return next((name for name, _ in names.most_common(1)), "")


def known(entry_point: str, where: str) -> str:
    """The entry point. Raises UserError if it is unknown."""
    if not entry_point:
        raise UserError(f"{where}: cannot tell which function the tests call: map a column to 'entry_point'")
    return entry_point


def _of_code(tests: Any, setup: str, entry_point: str, where: str, reference: str) -> Check:
    code = "\n".join(filter(None, [setup, joined(tests)]))
    try:
        tree = tree_of(code)
    except UNPARSABLE as error:
        raise UserError(f"{where}: the tests are not Python: {' '.join(str(error).split())[:100]}") from error
    if is_suite(tree):
        return suite(code, tree, entry_point, where, reference)
    for number, text in enumerate(tests if isinstance(tests, list) else (), start=1):
        _refuse_idle(text, f"{where}: test {number}", entry_point)
    name = known(entry_point, where)
    if "def check(" in code and "\ncheck(" not in code:
        code = with_call(code, name)
    if not any(can_fail(node) for node in ast.walk(tree)):
        raise UserError(f"{where}: the tests assert nothing: {' '.join(joined(tests).split())[:60]!r}")
    return AssertsCheck(entry_point=name, code=code)


def can_fail(node: ast.AST) -> bool:
    """Whether a node can fail on a value: an assert, a raise, or a call such as `assertEqual(...)` or `sys.exit(1)`."""
    called = getattr(node, "func", None)
    name = getattr(called, "attr", getattr(called, "id", ""))
    return isinstance(node, ast.Assert | ast.Raise) or name.startswith("assert") or name in ("exit", "fail")


def _refuse_idle(text: str, where: str, entry_point: str) -> None:
    """Raises UserError for one test of a list that calls the answer and asserts nothing."""
    try:
        tree = tree_of(text)
    except UNPARSABLE:  # a fragment; only the whole is valid Python
        return
    values = [statement.value for statement in tree.body if isinstance(statement, ast.Expr)]
    idle = len(values) == len(tree.body) and not all(isinstance(value, ast.Constant) for value in values)
    if idle and not any(map(can_fail, ast.walk(tree))) and not _calls_checker(values):
        raise UserError(f"{where} asserts nothing: {' '.join(text.split())[:60]!r}")


def _calls_checker(values: Sequence[ast.expr]) -> bool:
    """Whether a value is a call such as `check(f)` or `test_f()`, which asserts elsewhere."""
    calls = [value.func for value in values if isinstance(value, ast.Call)]
    names = [
        f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else "" for f in calls
    ]
    return any(name.startswith(("check", "test", "assert", "run", "main")) for name in names)


def is_suite(tree: ast.Module) -> bool:
    """Whether the code has tests that nothing in it calls: classes of unittest, or functions `test...` for pytest."""
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if any("TestCase" in ast.unparse(base) for node in classes for base in node.bases):
        return True
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]
    return any(f.name not in called and not _required(f) for f in functions) or any(
        node.name.startswith("Test") and any(isinstance(n, ast.FunctionDef) for n in node.body)
        for node in classes
    )


def _required(function: ast.FunctionDef) -> int:
    return len(function.args.args) - len(function.args.defaults)


def suite(code: str, tree: ast.Module, entry_point: str, where: str, reference: str) -> PytestCheck:
    """The suite in a text of tests. They import the answer, or use its names, for which an import is added.

    Raises UserError if its tests cannot be found without running it.
    """
    names = set(pysource.defined(reference, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    names |= {entry_point} if entry_point else set()
    path = _module(tree, names) or "solution"
    imported = any(isinstance(n, ast.ImportFrom | ast.Import) and _home(n) == path for n in ast.walk(tree))
    if not imported:
        bound = {name for statement in tree.body for name in pysource.bound_names(statement)}
        wanted = sorted((pysource.used_names(tree) & names) - bound)
        if not wanted:
            raise UserError(
                f"{where}: the tests are a suite and use no name of the answer: map 'reference' or 'entry_point'"
            )
        code = pysource.below(f"from {path} import {', '.join(wanted)}\n", code)
    files = {SUITE: code.rstrip("\n") + "\n"}
    try:
        found = test_ids(files)
    except UnreadableTests as error:
        raise UserError(f"{where}: the tests cannot be read from their source: {error}") from error
    if not found:
        raise UserError(f"{where}: the task has no tests: the suite holds none that is not skipped")
    return PytestCheck(path=f"{path}.py", files=files, tests=found)


def _home(node: ast.AST) -> str:
    """The module that a statement imports or imports from; "" for other statements."""
    if isinstance(node, ast.ImportFrom):
        return node.module or "" if not node.level else ""
    return node.names[0].name if isinstance(node, ast.Import) else ""


def _module(tree: ast.Module, names: set[str]) -> str:
    """The module that the suite imports the answer from: an unknown one, preferably with the answer's names in it."""
    foreign = [node for node in ast.walk(tree) if _home(node).isidentifier() and _home(node) not in _USUAL]
    for node in foreign:
        got = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set[str]()
        if got & names or _home(node) in ("solution", "answer", "main", "code"):
            return _home(node)
    return _home(foreign[0]) if foreign else ""
