"""Turns test code of kind `asserts` into a pytest file with one test, beside the answer's module.

Its statements become the body of a function, so that control tests (`verification.project.control_tests`) see them; the
names that they bind are global, as in a program. Code that a function cannot hold (`from x import *`) runs in `exec`.
"""

import ast

from strop_verify.core.checks import AssertsCheck
from strop_verify.core.syntax import syntax_tree
from strop_verify.verification.python.names import bound_names

NAME = "test_asserts.py"
TEST = "test_code"
MODULE = "answer_under_test"
"""Name of the answer's module."""
ENDINGS = """import pytest


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except SystemExit as stop:
        trace, files = stop.__traceback__, set()
        while trace:
            files.add(trace.tb_frame.f_code.co_filename)
            trace = trace.tb_next
        if stop.code or any(file.endswith("{module}.py") for file in files):
            raise AssertionError("sys.exit() with a status, or called by the answer") from None
        return True
"""
"""The conftest.py beside it: test code may end with `sys.exit()`, as a program does; an answer may not."""
_HEAD = """import {module}


def {test}():
    own = {{name: value for name, value in vars({module}).items() if name[:2] != "__" and name != {test!r}}}
    if {entry!r} not in own and "Solution" in own:
        own[{entry!r}] = getattr(own["Solution"](), {entry!r})
    globals().update(own, __name__="__main__")
"""


def files_of(check: AssertsCheck) -> dict[str, str]:
    """The test file and its conftest.py, by name."""
    head = _HEAD.format(module=MODULE, test=TEST, entry=check.entry_point)
    executed = f"{head}    exec(compile({check.code!r}, '<tests>', 'exec'), globals())\n"
    body = _as_function(check.code, head) or executed
    return {NAME: body, "conftest.py": ENDINGS.replace("{module}", MODULE)}


def _as_function(code: str, head: str) -> str:
    """The file's text; empty if the code cannot be the body of a function."""
    try:
        tree, file = syntax_tree(code), syntax_tree(head)
        function = next(one for one in file.body if isinstance(one, ast.FunctionDef))
        names = sorted(bound_names(tree.body) - {TEST})
        shared: list[ast.stmt] = [ast.Global(names=names)] if names else []
        function.body[:] = [*shared, *function.body, *map(_Unannotated().visit, tree.body)]
        text = ast.unparse(ast.fix_missing_locations(file))
        compile(text, NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return text


class _Unannotated(ast.NodeTransformer):
    """Removes annotations of names outside functions and classes: they are a syntax error for global names."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            return node
        return ast.Assign(targets=[node.target], value=node.value) if node.value else ast.Pass()
