"""What can be seen in test code that does not cross to an answer in another process; docs/formats.md lists the rest."""

import ast
from collections.abc import Collection

_CROSS = ("NamedTuple", "namedtuple", "Exception", "BaseException")


def uncrossed(code: str, functions: Collection[str]) -> list[str]:
    """Objects of the test code's own classes as arguments of the answer's functions, classes that extend the answer's,
    and coroutines; in words. Empty for code that cannot be parsed.
    """
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    classes = {node.name: [_last(b) for b in node.bases] for node in nodes if isinstance(node, ast.ClassDef)}
    own = {
        name
        for name, bases in classes.items()
        if not any(base in _CROSS or base.endswith("Error") for base in bases)
    }
    called = set(functions)
    for node in nodes:
        if isinstance(node, ast.FunctionDef):  # check(candidate)
            called.update(a.arg for a in node.args.args)
    given = {
        inner.func.id
        for node in nodes
        if isinstance(node, ast.Call) and _last(node.func) in called
        for argument in (*node.args, *(k.value for k in node.keywords))
        for inner in ast.walk(argument)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in own
    }
    found = [f"an object of the tests' class {name} is an argument" for name in sorted(given)]
    extended = [name for name, bases in classes.items() if not called.isdisjoint(bases)]
    found += [f"the tests' class {name} extends a class of the answer" for name in sorted(extended)]
    if any(isinstance(node, ast.Await | ast.AsyncFunctionDef) or _is_asyncio(node) for node in nodes):
        found.append("the tests use coroutines")
    return found


def imported(code: str, module: str) -> set[str]:
    """What test code imports from a module of the answer by name."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = (n for n in nodes if isinstance(n, ast.ImportFrom) and (n.module or "").endswith(module))
    return {alias.asname or alias.name for node in names for alias in node.names}


def _last(node: ast.expr) -> str:
    """The last name of a dotted one."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_asyncio(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "asyncio"
