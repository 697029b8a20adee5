"""The decorator that makes a plain function with doctests a task: its hidden tests' arguments."""

from collections.abc import Callable
from typing import Any


def cases(level: int, *hidden: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Marks a reference solution: `level` 1 to 3, then one tuple of positional arguments per hidden test."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__dict__["level"] = level
        function.__dict__["hidden"] = hidden
        return function

    return mark
