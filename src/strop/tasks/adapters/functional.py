"""Asserts on an answer in the form of a script: which function they call, with LeetCode's `Solution()` taken out."""

import ast
import builtins
import re
import warnings

from strop.code.python import source as pysource
from strop.core.checks import AssertsCheck
from strop.core.errors import UserError

_METHOD = re.compile(r"\bSolution\(\)\.(\w+)")


def read(code: str, entry_point: str, reference: str, where: str) -> AssertsCheck:
    """The check of a script. `entry_point` may be empty, or `Solution().name`. Raises UserError.

    The function is the one named, else what `check(...)` is given at the end, else the only name that the script uses
    and neither binds nor finds among the builtins, else the only such one that the reference defines.
    """
    plain = _METHOD.sub(r"\1", code)
    name = _METHOD.sub(r"\1", entry_point)
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(plain)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"{where}: functional tests are no Python: {str(error)[:100]}") from error
    name = name or _checked(tree) or _only(tree, reference)
    if not name.isidentifier():
        raise UserError(f"{where}: cannot tell which function the tests call")
    return AssertsCheck(entry_point=name, code=plain)


def _checked(tree: ast.Module) -> str:
    """X of a last line `check(X)`."""
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and len(last.value.args) == 1:
        call, argument = last.value, last.value.args[0]
        if isinstance(call.func, ast.Name) and call.func.id == "check" and isinstance(argument, ast.Name):
            return argument.id
    return ""


def _only(tree: ast.Module, reference: str) -> str:
    nodes = list(ast.walk(tree))
    bound = {name for statement in tree.body for name in pysource.bound_names(statement)}
    bound |= {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    free = sorted(n for n in pysource.used_names(tree) if n not in bound and not hasattr(builtins, n))
    if len(free) != 1:
        free = [name for name in free if re.search(rf"^\s*def {re.escape(name)}\b", reference, re.M)]
    return free[0] if len(free) == 1 else ""
