"""Assertions that say several things at once, taken apart, so that each can be changed in a false control."""

import ast
import copy
from collections.abc import Callable

from strop.verification.project.control_helpers import ControlHelpers
from strop.verification.project.syntax_of_tests import called


def asserts(statement: ast.stmt) -> bool:
    """Whether it is an assertion: the statement, or a call of a method of that name."""
    return isinstance(statement, ast.Assert) or called(getattr(statement, "value", None)).startswith("assert")


def split(statement: ast.stmt, new_name: Callable[[], str]) -> list[ast.stmt]:
    """One assertion for each part of `a and b` and of `a == b == c`, whose inner values are evaluated once before.

    Nothing where there is one part.
    """
    test = _claim(statement)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [_claiming(statement, value) for value in test.values]
    if not isinstance(test, ast.Compare) or len(test.ops) < 2:
        return []
    made: list[ast.stmt] = []
    sides: list[ast.expr] = []
    for value in (test.left, *test.comparators):
        if any(isinstance(node, ast.Call) for node in ast.walk(value)):
            kept = new_name()
            made.append(ast.Assign(targets=[ast.Name(id=kept, ctx=ast.Store())], value=value))
            value = ast.Name(id=kept, ctx=ast.Load())
        sides.append(value)
    pairs = zip(sides, test.ops, sides[1:], strict=False)
    return [
        *made,
        *(
            _claiming(statement, ast.Compare(left=copy.deepcopy(a), ops=[op], comparators=[copy.deepcopy(b)]))
            for a, op, b in pairs
        ),
    ]


def ordered(statement: ast.stmt, helpers: ControlHelpers) -> ast.stmt | None:
    """For `a < b` and `a > b`: the same, or in a false control the other, which holds for what says yes to all.

    None for others.
    """
    test = _claim(statement)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    name = {ast.Lt: helpers.less, ast.Gt: helpers.greater}.get(type(test.ops[0]))
    return _claiming(statement, helpers.call(name, test.left, test.comparators[0])) if name else None


def _claim(statement: ast.stmt) -> ast.expr | None:
    """What an assertion says to be true."""
    if isinstance(statement, ast.Assert):
        return statement.test
    call = getattr(statement, "value", None)
    return call.args[0] if isinstance(call, ast.Call) and called(call) == "assertTrue" and call.args else None


def _claiming(statement: ast.stmt, claim: ast.expr) -> ast.stmt:
    """A copy of an assertion that says this instead."""
    made = copy.copy(statement)
    if isinstance(made, ast.Assert):
        made.test = claim
    elif isinstance(made, ast.Expr) and isinstance(made.value, ast.Call):
        call = made.value
        made.value = ast.Call(func=call.func, args=[claim, *call.args[1:]], keywords=call.keywords)
    return made
