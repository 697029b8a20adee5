"""The functions of a source text, found by its syntax tree. Nothing is run."""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

Node = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields in which statements hold statements."""


class Unreadable(Exception):
    """A text that is no source which a task can be made of; the message is the reason, the same for all such texts."""


@dataclass(frozen=True)
class Function:
    """One function of a file; lines count from 1."""

    node: Node
    name: str
    qualified_name: str
    """With the classes and functions that it stands in: `Stack.push`."""
    docstring: str
    """As `inspect.getdoc` shows it; empty = none."""
    first: int
    """First line, decorators included."""
    last: int


def parse(text: str) -> ast.Module:
    """The syntax tree of a source text. Raises Unreadable for syntax errors, for what is too deep, and for line ends

    that Python and editors count differently (a `\\r` without `\\n`).
    """
    if re.search(r"\r(?!\n)", text):
        raise Unreadable("a lone carriage return")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError) as error:
        raise Unreadable("syntax error") from error
    except (RecursionError, MemoryError) as error:
        raise Unreadable("too deep") from error


def functions(tree: ast.Module) -> list[Function]:
    """Every function, methods and nested ones included, in the order of the file."""
    return sorted(_found(tree), key=lambda f: (f.first, f.node.col_offset))


def _found(tree: ast.Module) -> Iterator[Function]:
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, scope = stack.pop()
        if isinstance(node, Node):
            yield _function(node, scope)
        inner = scope + node.name + "." if isinstance(node, Node | ast.ClassDef) else scope
        stack += [(child, inner) for name in _BLOCKS for child in getattr(node, name, ())]


def _function(node: Node, scope: str) -> Function:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return Function(
        node=node,
        name=node.name,
        qualified_name=scope + node.name,
        docstring=ast.get_docstring(node) or "",
        first=first,
        last=node.end_lineno or node.lineno,
    )
