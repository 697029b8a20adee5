"""Analyses test code of the *asserts* check by its syntax tree: which statements are tests, and whether any can fail.

Standard library only, because the jailed tester imports this.
"""

import ast
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from strop_verify.core.syntax import syntax_tree

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CATCHES_ALL = {"", "Exception", "BaseException"}
_LEAVES = {"exit", "_exit", "quit", "fail", "skipTest"}
_FINDS_BY_NAME = {
    "main", "TestLoader", "defaultTestLoader", "testmod", "globals", "locals", "vars", "eval", "exec", "modules",
    "__main__",
}  # fmt: skip
"""Names by which test code may reach functions and classes that it does not mention."""


def tests_among(body: Sequence[ast.stmt], functions: Collection[str]) -> list[bool]:
    """For each top-level statement, whether it is a test; at least one is.

    A test asserts or raises, or is a call of the answer's `functions` or of a function of the tests that asserts,
    raises or calls them. If no statement is a test by that rule, the last one is.
    """
    known = set(functions)
    checkers = {
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(n, ast.Assert | ast.Raise) or _named(n) in known for n in ast.walk(node))
    }
    found = [_is_test(node, known | checkers) for node in body]
    if body and not any(found):
        found[-1] = True
    return found


def last_name(node: ast.AST) -> str:
    """The name, or the one after the last dot; "" for other nodes."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_test(node: ast.stmt, judging: set[str]) -> bool:
    if isinstance(node, _DEFINITIONS):
        return False
    inner = list(ast.walk(node))
    if any(isinstance(n, ast.Assert | ast.Raise) for n in inner):
        return True
    calls = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return calls and any(_named(n) in judging for n in inner)


def names_bound(tree: ast.Module) -> frozenset[str] | None:
    """Every name that code binds anywhere, as a variable or otherwise; None if it may bind others too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and (not isinstance(node.ctx, ast.Load) or node.id in _BINDERS):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(name := getattr(node, "name", getattr(node, "rest", None)), str):
            names.add(name)
    return None if names & _BINDERS else frozenset(names)


_BINDERS = {"exec", "eval", "globals", "locals", "vars", "setattr", "*"}


@lru_cache(maxsize=256)
def never_fails(code: str, functions: tuple[str, ...]) -> str:
    """Why no answer can fail test code that calls these functions, in words; "" if one can, or if it is not valid
    Python.

    Either it never reaches a call of the answer, or its comparisons have no effect, always hold, or are caught.
    """
    try:
        body = syntax_tree(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    names = {part for function in functions for part in (function, "Solution")}
    reached = list(_reached(body))
    said = {_named(node) for node in reached}
    if said & {"exec", "eval"}:
        return ""
    if not said & names:
        return f"it never reaches a call of {next(iter(functions), 'the answer')}"
    reader = _Claims(names)
    for node in reached:
        if isinstance(node, ast.stmt):
            reader.take(node)
    if reader.claims or (reader.calls and not reader.hollow):
        return ""
    return (
        f"its comparison cannot fail: {reader.hollow[0]:.80}" if reader.hollow else "it catches every failure"
    )


def _reached(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Top-level statements, and those of functions and classes that they mention; names of both, each node once."""
    waiting: list[ast.stmt] = [node for node in body if not isinstance(node, _DEFINITIONS)]
    left = {node.name: node for node in body if isinstance(node, _DEFINITIONS)}
    for node in left.values():
        waiting += [ast.Expr(value) for value in node.decorator_list]
    while waiting:
        statement = waiting.pop()
        yield from _statements(statement)
        said = {_named(node) for node in ast.walk(statement)}
        wanted = left.keys() if said & _FINDS_BY_NAME else said & left.keys()
        for name in list(wanted):
            waiting += left.pop(name).body


def _statements(statement: ast.stmt) -> Iterator[ast.AST]:
    yield statement
    yield from (
        node for node in ast.walk(statement) if isinstance(node, ast.Name | ast.Attribute | ast.Constant)
    )


def _named(node: ast.AST) -> str:
    """What a node mentions by name."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return last_name(node)


class _Claims:
    """Reads statements that run: `claims` can fail on a wrong value, `calls` by an exception, `hollow` never."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.claims = self.calls = 0
        self.hollow: list[str] = []

    def take(self, node: ast.AST, *, caught: bool = False) -> None:
        """Counts what is in a node; `caught`: a failed assertion does not propagate."""
        match node:
            case ast.Raise():
                self.claims += 1
            case ast.Assert():
                if caught or self._holds(node.test):
                    self.hollow.append(ast.unparse(node))
                else:
                    self.claims += 1
            case ast.Expr(value=ast.Compare() | ast.BoolOp() | ast.UnaryOp() | ast.Tuple() as value):
                if any(_named(inner) in self.names for inner in ast.walk(value)):
                    self.hollow.append(ast.unparse(node))
            case ast.If(test=ast.Constant(value=value)) if not value:
                self._all(node.orelse, caught)
            case ast.Try():
                self._try(node, caught)
            case _:
                if isinstance(node, ast.Call):
                    called = _named(node.func)
                    self.claims += called.startswith("assert") or called in _LEAVES
                    self.calls += called in self.names or called not in _HARMLESS
                self._all(ast.iter_child_nodes(node), caught)

    def _try(self, node: ast.Try, caught: bool) -> None:
        silent = [_caught(handler) for handler in node.handlers if _is_silent(handler)]
        if not any(_CATCHES_ALL & names for names in silent):
            self._all(node.body, caught or any("AssertionError" in names for names in silent))
        self._all([*node.handlers, *node.orelse, *node.finalbody], caught)

    def _all(self, nodes: "Iterator[ast.AST] | Sequence[ast.AST]", caught: bool) -> None:
        for node in nodes:
            self.take(node, caught=caught)

    def _holds(self, test: ast.expr) -> bool:
        """Whether an assertion visibly holds whatever the answer does."""
        match test:
            case ast.Tuple():
                return bool(test.elts)
            case ast.Constant():
                return bool(test.value)
            case ast.BoolOp(op=ast.Or()):
                return any(map(self._holds, test.values))
            case ast.BoolOp(op=ast.And()):
                return all(map(self._holds, test.values))
        return isinstance(test, ast.Name) and test.id in self.names


_HARMLESS = {"print", "all", "any", "bool", "str", "repr", "len", "list", "append"}


def _caught(handler: ast.ExceptHandler) -> set[str]:
    """Names of the exceptions that it catches; "" for everything."""
    if handler.type is None:
        return {""}
    return {_named(node) for node in ast.walk(handler.type)} - {""}


def _is_silent(handler: ast.ExceptHandler) -> bool:
    inner = [node for statement in handler.body for node in ast.walk(statement)]
    return not any(
        isinstance(n, ast.Raise | ast.Assert) or (isinstance(n, ast.Call) and _named(n.func) in _LEAVES)
        for n in inner
    )
