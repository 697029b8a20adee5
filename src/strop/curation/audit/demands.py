"""What test code plainly demands: pairs of a call's arguments and the value that it must return.

Two demands that differ rule out every constant answer, so that none need be run.
"""

import ast
import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

Demand = tuple[tuple[Any, ...] | None, Any]
"""Literal positional arguments (None where they are no literals), and the value."""


@lru_cache(maxsize=8)
def demands(entry_point: str, code: str) -> tuple[Demand, ...]:
    """Of every `assert NAME(ARGUMENTS) == LITERAL` in the code; NAME the entry point or the name of a parameter."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    names = {entry_point} | {
        a.arg for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for a in f.args.args
    }
    return tuple(itertools.islice(_found(tree, names), 64))


def _found(tree: ast.AST, names: set[str]) -> Iterator[Demand]:
    for node in ast.walk(tree):
        test = node.test if isinstance(node, ast.Assert) else None
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
            continue
        for call, value in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names:
                try:
                    wanted = ast.literal_eval(value)
                except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                    continue
                yield _arguments(call), wanted


def _arguments(call: ast.Call) -> tuple[Any, ...] | None:
    try:
        return tuple(ast.literal_eval(a) for a in call.args) if not call.keywords else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def constant_possible(entry_point: str, code: str) -> bool:
    """Whether some constant could meet every plain demand."""
    wanted = [value for _, value in demands(entry_point, code)]
    return not wanted or all(_same(wanted[0], value) for value in wanted)


def first_argument_possible(entry_point: str, code: str) -> bool:
    """Whether returning the first argument could."""
    return all(
        not args or _same(args[0], wanted) for args, wanted in demands(entry_point, code) if args is not None
    )


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except RecursionError:
        return True
