"""Whether Python test code may see more of an answer than values (docs/formats.md)."""

import ast
from collections.abc import Collection

from strop_verify.core.syntax import syntax_tree
from strop_verify.core.test_code import last_name

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Exceptions of parsing."""
_CROSS = ("NamedTuple", "namedtuple", "Exception", "BaseException")
_NAMES = frozenset(
    {
        "inspect", "monkeypatch", "patch", "caplog", "assertLogs", "recwarn", "warns", "catch_warnings", "assertWarns",
        "assertWarnsRegex", "deprecated_call", "environ", "putenv", "seed", "setstate", "chdir", "redirect_stdout",
        "redirect_stderr", "get_type_hints", "is_dataclass", "asdict", "astuple", "singledispatch", "gc", "weakref",
        "tracemalloc", "getrefcount", "setrecursionlimit", "freeze_time", "pickle", "logging",
    }
)  # fmt: skip
"""Names, attributes, arguments and modules by which tests reach into their process."""
_OF_OBJECTS = frozenset(
    f"__{name}__"
    for name in (
        "doc", "annotations", "wrapped", "defaults", "kwdefaults", "code", "closure", "dict", "qualname", "module",
        "mro", "bases", "subclasses", "slots", "cause", "context", "traceback", "suppress_context", "notes",
        "dataclass_fields", "members", "name", "class", "self", "globals",
    )
)  # fmt: skip
"""Attributes by which tests inspect more than values."""


def tree_of(code: str) -> ast.Module:
    """The code's tree; an empty one for code that cannot be parsed."""
    try:
        return syntax_tree(code)
    except UNREADABLE:
        return ast.Module([], [])


def beyond_values(code: str) -> bool:
    """Whether test code may distinguish an object from an equal copy: it changes objects, compares identity, uses
    coroutines, reaches into the process or inspects more than values.
    """
    return any(_reaches(node) or _changes(node) for node in ast.walk(tree_of(code)))


def shares_process(code: str, functions: Collection[str]) -> bool:
    """Whether test code visibly needs the answer's process: objects of its own classes as arguments of the answer's
    functions, classes that extend the answer's, coroutines, a change inside an object, a look at more than values.
    """
    nodes = list(ast.walk(tree_of(code)))
    if any(_reaches(node) or _changes_inside(node) for node in nodes):
        return True
    bases = {node.name: [*map(last_name, node.bases)] for node in nodes if isinstance(node, ast.ClassDef)}
    own = {
        name
        for name, known in bases.items()
        if not any(base in _CROSS or base.endswith("Error") for base in known)
    }
    called = {*functions}
    for node in nodes:
        if isinstance(node, ast.FunctionDef):  # check(candidate)
            called.update(a.arg for a in node.args.args)
    calls = [node for node in nodes if isinstance(node, ast.Call) and last_name(node.func) in called]
    given = [part for call in calls for part in (*call.args, *(k.value for k in call.keywords))]
    made = {last_name(one.func) for part in given for one in ast.walk(part) if isinstance(one, ast.Call)}
    return not own.isdisjoint(made) or any(not called.isdisjoint(known) for known in bases.values())


def imported(code: str, module: str) -> set[str]:
    """What test code imports from a module of the answer by name."""
    nodes = ast.walk(tree_of(code))
    names = (n for n in nodes if isinstance(n, ast.ImportFrom) and (n.module or "").endswith(module))
    return {alias.asname or alias.name for node in names for alias in node.names}


_CHANGING = frozenset(
    {
        "append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem", "remove", "clear",
        "update", "setdefault", "add", "discard", "sort", "reverse", "rotate", "shuffle", "write", "id",
    }
)  # fmt: skip
"""Functions by which tests change an object, or distinguish it from an equal one."""


def _reaches(node: ast.AST) -> bool:
    if isinstance(node, ast.Await | ast.AsyncFunctionDef) or _asks_which(node):
        return True
    names = _named(node)
    of_objects = isinstance(node, ast.Attribute) and node.attr in _OF_OBJECTS
    return of_objects or "asyncio" in names or not _NAMES.isdisjoint(names)


def _changes(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in _CHANGING
    if isinstance(node, ast.AugAssign):
        return not isinstance(node.value, ast.Constant)
    stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    return stored and isinstance(node, ast.Subscript | ast.Attribute)


def _changes_inside(node: ast.AST) -> bool:
    """Whether it is a call such as `account.items.append(3)`, of an object that is not the test's own."""
    if not (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING
    ):
        return False
    held = node.func.value
    if not isinstance(held, ast.Attribute):
        return False
    return not (isinstance(held.value, ast.Name) and held.value.id in ("self", "sys"))


def _asks_which(node: ast.AST) -> bool:
    """Whether it is `a is b` of two non-constants."""
    if not isinstance(node, ast.Compare) or any(
        isinstance(one, ast.Constant) for one in (node.left, *node.comparators)
    ):
        return False
    return any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops)


def _named(node: ast.AST) -> list[str]:
    """Names that a node imports or reads; [""] for a node without a name."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = (getattr(node, "module", "") or "").split(".")
        return [*module, *(part for alias in node.names for part in alias.name.split("."))]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.Name):
        return [node.id]
    return [node.arg] if isinstance(node, ast.arg) else [""]
