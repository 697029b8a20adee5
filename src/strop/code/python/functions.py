"""The functions of a source text, found by its syntax tree. Nothing is run."""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields in which statements hold statements."""


class Unreadable(Exception):
    """A text that cannot be used as source for a task; the message is a fixed reason."""


@dataclass(frozen=True)
class PythonFunction:
    """One function of a file; lines count from 1."""

    node: Definition
    name: str
    qualified_name: str
    """With its enclosing classes and functions: `Stack.push`."""
    outermost: bool
    """Whether no function is around it."""

    @property
    def docstring(self) -> str:
        """As `inspect.getdoc` shows it; empty = none."""
        return ast.get_docstring(self.node) or ""

    @property
    def first(self) -> int:
        """First line, decorators included."""
        return min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])

    @property
    def last(self) -> int:
        """Its last line."""
        return self.node.end_lineno or self.node.lineno


UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `ast.parse` and `compile` raise for texts."""


def tree_of(text: str) -> ast.Module:
    """The syntax tree of a source text, without warnings. Raises one of `UNPARSABLE`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parse(text: str) -> ast.Module:
    """The syntax tree of a source text.

    Raises Unreadable for syntax errors, too deep nesting, and line ends that Python and editors count differently
    (a `\\r` without `\\n`).
    """
    if re.search(r"\r(?!\n)", text):
        raise Unreadable("a lone carriage return")
    try:
        return tree_of(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError) as error:
        raise Unreadable("syntax error") from error
    except (RecursionError, MemoryError) as error:
        raise Unreadable("too deep") from error


def functions(tree: ast.Module) -> list[PythonFunction]:
    """Every function in file order, methods and nested ones included."""
    return sorted(_found(tree), key=lambda f: (f.first, f.node.col_offset))


def _found(tree: ast.Module) -> Iterator[PythonFunction]:
    stack: list[tuple[ast.AST, str, bool]] = [(tree, "", True)]
    while stack:
        node, scope, outermost = stack.pop()
        if isinstance(node, Definition):
            yield PythonFunction(node, node.name, scope + node.name, outermost)
            outermost = False
        inner = scope + node.name + "." if isinstance(node, Definition | ast.ClassDef) else scope
        stack += [(child, inner, outermost) for name in _BLOCKS for child in getattr(node, name, ())]
