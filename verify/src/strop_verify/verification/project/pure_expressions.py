"""Which expressions of a test file are *clean*: they use no code of the project, so their values do not depend on it.

A clean expression holds only literals, names bound once to a clean expression, pure builtins and methods, the listed
functions of the standard library, helpers of the same file made of these, and files opened for reading. Nothing in it
reads a clock, the environment or the process, and nothing changes its arguments.
"""

import ast
from collections import Counter
from collections.abc import Iterator

from strop_verify.verification.project.library import (
    BUILTINS,
    CHANGING,
    LIBRARY,
    LISTING,
    METHODS,
    OPENERS,
    permitted,
)

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MADE_OF_PARTS = (
    ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.Subscript, ast.Slice, ast.JoinedStr, ast.FormattedValue,
)  # fmt: skip
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
Function = ast.FunctionDef


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope, with the functions and classes in it but not their contents."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, _SCOPES):
            yield from own_nodes(child)


def times_bound(scope: ast.AST) -> Counter[str]:
    """How often each name is bound in a scope; a `global` or `nonlocal` counts twice."""
    found = Counter[str]()
    loops = (node for node in own_nodes(scope) if isinstance(node, ast.comprehension))
    inner = {id(name) for node in loops for name in ast.walk(node.target)}
    for node in own_nodes(scope):
        names: list[str] = []
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in inner:
            names = [node.id]
        elif isinstance(node, ast.arg):
            names = [node.arg]
        elif isinstance(node, _SCOPES) and not isinstance(node, ast.Lambda):
            names = [node.name]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.Global | ast.Nonlocal):
            names = node.names * 2
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names = [node.name]
        found.update(names)
    return found


class Module:
    """The clean names of a test file. `hidden`: modules of the project that shadow the standard library's."""

    def __init__(self, tree: ast.Module, hidden: frozenset[str]) -> None:
        self._hidden = hidden
        self.libraries: dict[str, str] = {}
        """Maps a name to a standard-library module or a member of one."""
        self.clean_names: set[str] = set()
        self._helpers: dict[str, Function] = {}
        self._known: dict[str, bool] = {}
        self._bound = times_bound(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Global):
                self._bound.update(node.names * 2)
        self.starred = any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(tree))
        for statement in tree.body:
            self._take(statement)

    def once(self, name: str) -> bool:
        """Whether the module binds this name once."""
        return self._bound[name] == 1

    def clean(self, node: ast.AST, inner: frozenset[str] = frozenset(), *, early: bool = False) -> bool:
        """Whether an expression is clean, given clean names `inner`; `early`: no test has run before it."""
        look = _PurityCheck(self, early)
        return not self.starred and look.at(node, inner)

    def member(self, name: str) -> str:
        """What a name of the module refers to in the standard library, or an empty text."""
        return self.libraries.get(name, "") if self.once(name) else ""

    def known(self, name: str) -> bool:
        """Whether a name that no function binds is clean."""
        if name in self._bound:
            return self.once(name) and (
                name in self.libraries or name in self.clean_names or self.helper(name)
            )
        return name in BUILTINS

    def helper(self, name: str) -> bool:
        """Whether a name refers to a function of the file whose body is clean."""
        function = self._helpers.get(name)
        if function is None or not self.once(name):
            return False
        if name not in self._known:
            self._known[name] = False  # a recursive helper is not clean
            self._known[name] = self._pure(function)
        return self._known[name]

    def read_by(self, name: str) -> frozenset[str]:
        """The module's clean names that a helper reads, itself or through other helpers."""
        found, todo = set[str](), {name}
        while todo:
            function = self._helpers.get(one := todo.pop())
            found.add(one)
            if function is not None:
                todo |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} - found
        return frozenset(found & self.clean_names)

    def _take(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                module = alias.name if alias.asname else alias.name.partition(".")[0]
                self._library(alias.asname or module, module)
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            for alias in statement.names:
                self._library(alias.asname or alias.name, f"{statement.module}.{alias.name}")
        elif isinstance(statement, ast.FunctionDef):
            self._helpers[statement.name] = statement
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if self.clean(statement.value, early=True):
                parts = (one.elts if isinstance(one, ast.Tuple) else [one] for one in targets)
                self.clean_names |= {one.id for part in parts for one in part if isinstance(one, ast.Name)}

    def _library(self, name: str, full: str) -> None:
        top = full.partition(".")[0]
        if top not in self._hidden and (full in LIBRARY or top == "urllib" or permitted(full)):
            self.libraries[name] = full

    def _pure(self, function: Function) -> bool:
        """Whether a helper's body is clean: it changes only objects that it made."""
        arguments = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        made = set(times_bound(function)) - arguments
        look = _PurityCheck(self, early=False, made=frozenset(made))
        if function.decorator_list or any(
            isinstance(
                node,
                ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await | ast.Import | ast.ImportFrom
                | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.NamedExpr | ast.Delete,
            )
            for statement in function.body
            for node in ast.walk(statement)
        ):  # fmt: skip
            return False
        inner = frozenset(arguments | made)
        for node in own_nodes(function):
            if not isinstance(node, ast.Attribute | ast.Subscript) or isinstance(node.ctx, ast.Load):
                continue
            if not (isinstance(node.value, ast.Name) and node.value.id in made):
                return False
        return all(look.statement(one, inner) for one in function.body)


class _PurityCheck:
    """Checks the expressions of one scope."""

    def __init__(self, module: Module, early: bool, made: frozenset[str] = frozenset()) -> None:
        self._module, self._early, self._made = module, early, made

    def statement(self, node: ast.AST, inner: frozenset[str]) -> bool:
        """Whether all expressions of a helper's statement are clean, and those of the statements in it."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                stored = isinstance(getattr(child, "ctx", None), ast.Store)
                if not stored and not self.at(child, inner):
                    return False
            elif isinstance(child, ast.withitem):
                if not self.at(child.context_expr, inner):
                    return False
            elif isinstance(child, ast.stmt | ast.ExceptHandler) and not self.statement(child, inner):
                return False
        return True

    def at(self, node: ast.AST, inner: frozenset[str]) -> bool:
        """Whether an expression is clean."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return isinstance(node.ctx, ast.Load) and (node.id in inner or self._module.known(node.id))
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return False  # identity is lost when the value is written as a literal
        if isinstance(node, _MADE_OF_PARTS):
            parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
            return all(self.at(one, inner) for one in parts)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, inner)
        if isinstance(node, ast.Call):
            values = [*node.args, *(one.value for one in node.keywords)]
            return self._callee(node, inner) and all(self.at(one, inner) for one in values)
        if isinstance(node, _COMPREHENSIONS):
            for generator in node.generators:
                if generator.is_async or not self.at(generator.iter, inner):
                    return False
                inner |= {one.id for one in ast.walk(generator.target) if isinstance(one, ast.Name)}
                if not all(self.at(one, inner) for one in generator.ifs):
                    return False
            made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return all(self.at(one, inner) for one in made)
        if isinstance(node, ast.Lambda) and not node.args.defaults and not node.args.kw_defaults:
            names = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
            return self.at(node.body, inner | names)
        return False

    def _attribute(self, node: ast.Attribute, inner: frozenset[str]) -> bool:
        if node.attr.startswith("_"):
            return False
        if full := self._dotted(node, inner):
            return permitted(full) or full in LIBRARY
        return self.at(node.value, inner)

    def _dotted(self, node: ast.expr, inner: frozenset[str]) -> str:
        """The full name of a library module's attribute, or an empty text."""
        if isinstance(node, ast.Name):
            return "" if node.id in inner else self._module.member(node.id)
        if isinstance(node, ast.Attribute):
            above = self._dotted(node.value, inner)
            if above in LIBRARY or above == "urllib":
                return f"{above}.{node.attr}"
        return ""

    def _callee(self, node: ast.Call, inner: frozenset[str]) -> bool:
        func = node.func
        if isinstance(func, ast.Name):
            if func.id in inner:
                return False
            if (self._module.member(func.id) or func.id).rpartition(".")[2] in OPENERS:
                return self._module.known(func.id) and _reads(node, 1)
            return self._module.known(func.id)
        if not isinstance(func, ast.Attribute) or func.attr.startswith("_"):
            return False
        if full := self._dotted(func, inner):
            return permitted(full) and (func.attr not in OPENERS or _reads(node, 1))
        if isinstance(func.value, ast.Name) and func.value.id in self._made and func.attr in CHANGING:
            return True
        if func.attr == "replace" and len(node.args) == 1 and not node.keywords:
            return False  # Path.replace renames a file
        if func.attr not in METHODS and not (self._early and func.attr in LISTING):
            return False
        return self.at(func.value, inner) and (func.attr not in OPENERS or _reads(node, 0))


def _reads(call: ast.Call, place: int) -> bool:
    """Whether a call that opens a file opens it for reading."""
    modes = [one.value for one in call.keywords if one.arg == "mode"] + call.args[place : place + 1]
    plain = not any(isinstance(one, ast.Starred) for one in call.args) and all(
        one.arg for one in call.keywords
    )
    return plain and all(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and not set(one.value) & set("wax+")
        for one in modes
    )
