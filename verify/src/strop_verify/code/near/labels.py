"""The normal form of Python source: its syntax tree as labels, without free choices of the author.

Removed: names that the source binds itself (numbered by first use), layout, comments, docstrings, annotations,
decorators, imports (what they bind is called by its origin), `pass`, the guard `__name__ == "__main__"`. `a += b` is
`a = a + b`, `a > b` is `b < a`. Kept: structure, operators, constants, names of builtins and attributes.
"""

import ast

from strop_verify.code.python.source import UNPARSABLE, tree_of

_SKIPPED = frozenset(
    {"annotation", "returns", "decorator_list", "ctx", "type_comment", "type_ignores", "kind"}
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TWO_WAYS = frozenset({ast.AnnAssign, ast.AugAssign, ast.Compare, ast.UnaryOp})
_NAMED = (*_FUNCTIONS, ast.ExceptHandler)


def python_labels(source: str) -> list[str] | None:
    """Labels of the tree, parents first; None if this Python cannot parse it. Constants begin with `=`."""
    try:
        return _Form(tree_of(source)).found
    except UNPARSABLE:
        return None


class _Form:
    """The names of one source, and the walk over its tree."""

    def __init__(self, tree: ast.Module) -> None:
        self.own: set[str] = set()
        self.origins: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self.found: list[str] = []
        """One label per node, parents first, and `)` at the end of a node with children."""
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            self._bind(node)
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, ast.AST):
                    waiting.append(value)
                elif isinstance(value, list):
                    waiting.extend(child for child in value if isinstance(child, ast.AST))
        self._walk(tree)

    def _bind(self, node: ast.AST) -> None:
        """Records the names that a node binds."""
        kind = type(node)
        if kind is ast.Name:
            if not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                self.own.add(node.id)  # type: ignore[attr-defined]
        elif kind is ast.arg:
            self.own.add(node.arg)  # type: ignore[attr-defined]
        elif isinstance(node, _NAMED):
            if node.name:
                self.own.add(node.name)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                self.own.add(f".{node.attr}")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                self.origins[alias.asname or alias.name] = f"{module}{alias.name}"

    def _walk(self, node: ast.AST) -> None:
        node = _plain(node)
        add = self.found.append
        if isinstance(node, ast.Name):
            add(self._named(node.id))
            return
        if isinstance(node, ast.Constant):
            add(f"={type(node.value).__name__}:{node.value!r}")
            return
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id in self.origins:
                add(f"{self.origins[node.value.id]}.{node.attr}")
                return
            add(self._named(f".{node.attr}"))
            self._walk(node.value)
            return
        add(type(node).__name__)
        if isinstance(node, _FUNCTIONS):
            add(self._named(node.name))
        elif isinstance(node, ast.keyword | ast.arg) and node.arg:
            add(self._named(node.arg))
        children = 0
        for name in node._fields:
            value = getattr(node, name, None)
            if value is None or name in _SKIPPED:
                continue
            if isinstance(value, list):
                for child in _statements(value) if name == "body" else value:
                    if isinstance(child, ast.AST):
                        children += 1
                        self._walk(child)
            elif isinstance(value, ast.AST):
                children += 1
                self._walk(value)
        if children:
            add(")")

    def _named(self, name: str) -> str:
        if name in self.own:
            return f"own{self.numbers.setdefault(name, len(self.numbers))}"
        return self.origins.get(name, name)


def _plain(node: ast.AST) -> ast.AST:
    """The canonical form of equivalent notations."""
    if type(node) not in _TWO_WAYS:
        return node
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.Assign(targets=[node.target], value=node.value)
    if isinstance(node, ast.AugAssign):
        return ast.Assign(targets=[node.target], value=ast.BinOp(node.target, node.op, node.value))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.GtE):
        turned = ast.Lt() if isinstance(node.ops[0], ast.Gt) else ast.LtE()
        return ast.Compare(left=node.comparators[0], ops=[turned], comparators=[node.left])
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return ast.Constant(-value)
    return node


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """A body without statements that do nothing; the guard of a script is unwrapped."""
    kept: list[ast.stmt] = []
    for one in body:
        if isinstance(one, ast.Import | ast.ImportFrom | ast.Pass):
            continue
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            continue  # a docstring, or `...`
        if isinstance(one, ast.AnnAssign) and one.value is None:
            continue
        if isinstance(one, ast.If) and not one.orelse and "__name__" in ast.dump(one.test):
            kept.extend(_statements(one.body))
        else:
            kept.append(one)
    return kept
