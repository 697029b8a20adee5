"""Equally correct variants of the reference: lists reversed, sets iterated in reverse.

One that fails shows that the tests demand more than the task says.
"""

import ast
from collections.abc import Iterator

from strop.code.python.source import module_of
from strop.core.task import Task
from strop.curation.audit.judge import ANY_ORDER, finding
from strop.curation.audit.record import Finding


def variants(task: Task) -> Iterator[tuple[Finding, str]]:
    """(what it shows when it fails, answer): the reference, made to differ in ways that do no harm."""
    check = task.check
    if task.language == "python" and check.answer in ("function", "program") and not check.decides():
        function = check.answer == "function"
        text = " ".join(f"{task.statement} {task.prompt or ''}".split())
        if function and ANY_ORDER.search(text):
            said = "the task allows any order, and the reference's result fails when it is reversed"
            yield finding("fatal", said), task.reference + _REVERSED.replace("NAME", check.function)
        if (turned := _turned(task.reference)) is not None:
            does = "puts a set into an order" if function else "prints a set in an order"
            yield (
                finding("fatal", f"the reference {does} by chance, and fails when it is another one"),
                turned,
            )
    more = task.metadata.get("references")
    for number, answer in enumerate(more[:3] if isinstance(more, list) else [], start=1):
        if isinstance(answer, str) and answer.strip():
            said = f"known-good answer {number} besides the reference does not pass"
            yield finding("warning", said), answer


_REVERSED = """


def _strop_reversed(function):
    inside = []
    def outermost(*args, **kwargs):
        if inside:
            return function(*args, **kwargs)
        inside.append(1)
        try:
            found = function(*args, **kwargs)
        finally:
            inside.pop()
        return type(found)(found[::-1]) if type(found) in (list, tuple) else found
    return outermost


NAME = _strop_reversed(NAME)
"""

_TURN = """def _strop_turn(items):
    return list(items)[::-1] if type(items) in (set, frozenset) else items
"""


def _turned(code: str) -> str | None:
    """The program with sets walked the other way round; None where it walks none, or cannot be parsed."""
    if "set" not in code and "{" not in code:
        return None
    turn = _Turn()
    tree = turn.visit(module_of(code))
    if not turn.count:
        return None
    future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    rest = [n for n in tree.body if n not in future]
    tree.body = [*future, *ast.parse(_TURN).body, *rest]
    return ast.unparse(ast.fix_missing_locations(tree))


class _Turn(ast.NodeTransformer):
    """Puts a turn around what a loop, a comprehension, `list`, `tuple`, `join` or `enumerate` walks."""

    def __init__(self) -> None:
        self.count = 0

    def _wrap(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant | ast.List | ast.ListComp | ast.JoinedStr | ast.Dict):
            return node
        self.count += 1
        return ast.Call(ast.Name("_strop_turn", ast.Load()), [node], [])

    def visit_For(self, node: ast.For | ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._wrap(node.iter)
        return node

    visit_comprehension = visit_For

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        joins = isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "extend")
        if node.args and (joins or name in ("list", "tuple", "enumerate", "map", "filter", "zip", "iter")):
            last = len(node.args) - 1 if name in ("map", "filter") else 0
            node.args[last] = self._wrap(node.args[last])
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self._wrap(node.value)
        return node
