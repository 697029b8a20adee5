"""Looks up what a project's files define, by name, and which definitions can fail a test."""

import ast
import re
from collections.abc import Iterator

from strop_verify.code.python.source import Function, module_of
from strop_verify.core.snapshots import Files
from strop_verify.core.test_code import last_name
from strop_verify.verification.project.layout import is_protected
from strop_verify.verification.project.syntax_of_tests import called

DEEP = 3
"""Maximum depth of calls between a test and the code that asserts."""
_FAILING = frozenset({"fail", "failureException", "raises", "AssertionError"})
_DEFINED = re.compile(
    rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=[^=]", re.MULTILINE
)
_NAMED = re.compile(rb"fixture\([^)]*\bname\s*=\s*[\"'](\w+)")
_AUTOUSE = re.compile(rb"\bautouse\s*=\s*True")
_ENTRANCES = ("__init__", "__call__", "__enter__", "__exit__")
Definition = Function | ast.ClassDef


class Definitions:
    """What the project's files define, except its tests, by last name."""

    def __init__(self, base: Files) -> None:
        self._base = {
            path: data for path, data in base.items() if path.endswith(".py") and not is_protected(path)
        }
        self._homes: dict[str, set[str]] = {}
        self._trees: dict[str, ast.Module] = {}
        self._fails: dict[str, bool] = {}
        for path, data in self._base.items():
            names = {one for found in _DEFINED.findall(data) for one in found if one}
            for name in names | {*_NAMED.findall(data)}:
                self._homes.setdefault(name.decode(errors="replace"), set()).add(path)

    def _tree(self, path: str) -> ast.Module:
        if path not in self._trees:
            self._trees[path] = module_of(self._base[path])
        return self._trees[path]

    def named(self, name: str) -> Iterator[tuple[str, str, Definition]]:
        """Path, qualified name and node of every definition with that last name, and of fixtures of that name."""
        for path in sorted(self._homes.get(name, ())):
            for full, node in defined(self._tree(path)):
                if name in (node.name, fixture_name(node)):
                    yield path, full, node

    def behind(self, name: str) -> set[str]:
        """Names from which a module makes `name`: `name = other` or `name = partial(other)`."""
        found = set[str]()
        for path in self._homes.get(name, ()):
            for node in self._tree(path).body:
                if isinstance(node, ast.Assign) and name in map(last_name, node.targets):
                    found |= names_in(node.value)
        return found - {name}

    def autouse(self) -> set[str]:
        """Fixtures that every test gets."""
        paths = [path for path, data in self._base.items() if _AUTOUSE.search(data)]
        nodes = [node for path in paths for _, node in defined(self._tree(path))]
        return {
            name for node in nodes if (name := fixture_name(node)) and _AUTOUSE.search(_marks(node).encode())
        }

    def can_fail(self, node: ast.AST, deep: int = DEEP) -> bool:
        """Whether a function can fail a test, by itself or by what it calls."""
        inner = [*ast.walk(node)]
        kinds = {
            called(one.exc) or last_name(one.exc) for one in inner if isinstance(one, ast.Raise) and one.exc
        }
        return (
            any(isinstance(one, ast.Assert) or called(one).startswith("assert") for one in inner)
            or any(isinstance(one, ast.Name | ast.Attribute) and last_name(one) in _FAILING for one in inner)
            or any(
                isinstance(one, ast.ClassDef) and not _FAILING.isdisjoint(map(last_name, one.bases))
                for kind in kinds
                for *_, one in self.named(kind)
            )
            or (deep > 0 and any(self.fails(name, deep - 1) for name in calls_of(node)))
        )

    def fails(self, name: str, deep: int = DEEP) -> bool:
        """Whether a function of that name, or a method that its class calls, can fail a test."""
        if name not in self._fails:
            self._fails[name] = False  # ends the recursion of functions that call themselves
            nodes = [one for *_, node in self.named(name) for one in entered(node)]
            self._fails[name] = any(self.can_fail(node, deep) for node in nodes)
        return self._fails[name]


def entered(node: Definition) -> list[Function]:
    """The functions that run when a function, or a class and its instance, is called or entered."""
    if not isinstance(node, ast.ClassDef):
        return [node]
    return [one for one in node.body if isinstance(one, Function) and one.name in _ENTRANCES]


def fixture_name(node: Definition) -> str:
    """The name by which tests request a fixture, "" for other definitions."""
    if isinstance(node, ast.ClassDef) or "fixture" not in (marks := _marks(node)):
        return ""
    given = _NAMED.search(marks.encode())
    return given[1].decode() if given else node.name


def _marks(node: Definition) -> str:
    return " ".join(map(ast.unparse, node.decorator_list))


def calls_of(node: ast.AST) -> set[str]:
    """The functions that a function calls as a statement, or whose result it returns."""
    values = (one.value for one in ast.walk(node) if isinstance(one, ast.Expr | ast.Return))
    calls = (one.value if isinstance(one, ast.Await) else one for one in values)
    return {one.func.id for one in calls if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}


def names_in(tree: ast.AST) -> set[str]:
    """Every name in a tree, with fixtures that are requested by a string."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            found.add(last_name(node))
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.ImportFrom):
            found |= {one.name for one in node.names}
        elif called(node) in ("usefixtures", "getfixturevalue"):
            constants = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
            found |= {value for value in constants if isinstance(value, str)}
    return found


def defined(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Functions and classes with their qualified names, outermost first; duplicate definitions are kept."""
    waiting: list[tuple[str, list[ast.stmt]]] = [("", list(tree.body))]
    while waiting:
        above, body = waiting.pop()
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{above}.{node.name}" if above else node.name
                yield name, node
                if isinstance(node, ast.ClassDef):
                    waiting.append((name, node.body))
            elif isinstance(node, ast.If | ast.Try):
                inner = [*node.body, *node.orelse, *getattr(node, "finalbody", [])]
                inner += (one for h in getattr(node, "handlers", []) for one in h.body)
                waiting.append((above, inner))
