"""Python's parser for processes in which several threads parse.

Before 3.11.8, `ast.parse` counts its depth in one place for all threads. If the garbage collector runs Python code
within it and another thread parses meanwhile, it raises a SystemError by chance (CPython gh-106905). The text itself is
not at fault, so it is parsed again. Standard library only, because the jailed tester imports this.
"""

import ast
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_ATTEMPTS = 50
"""With four threads at work, about one parse in 2,000 fails."""


def syntax_tree(source: str | bytes, path: str = "<unknown>") -> ast.Module:
    """As `ast.parse`."""
    tree: ast.Module = retried(ast.parse, source, path)
    return tree


def expression_of(text: str) -> ast.expr:
    """The syntax tree of one expression. Raises what `ast.parse` raises."""
    tree: ast.Expression = retried(ast.parse, text, mode="eval")
    return tree.body


def literal_value(text: str) -> Any:
    """As `ast.literal_eval` of a text."""
    return retried(ast.literal_eval, text)


def retried(parse: Callable[..., T], *values: Any, **options: Any) -> T:
    """What a parser of `ast` returns for these arguments, however often it fails by chance."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return parse(*values, **options)
        except SystemError as error:
            if "recursion depth" not in str(error):
                raise
    return parse(*values, **options)
