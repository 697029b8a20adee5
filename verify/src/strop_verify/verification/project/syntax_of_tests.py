"""Reads the text of tests: which function a test is, what is a literal, what is compared with what."""

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Mapping

from strop_verify.core.test_code import last_name

_MARKS = ("pytest.mark.", "mark.")
_PAIRS = frozenset(
    f"assert{kind}Equal" for kind in ("", "List", "Tuple", "Dict", "Set", "Sequence", "Count", "MultiLine", "Almost")
) | {"assertEquals"}  # fmt: skip
_LITERAL_CHARS = 4000
_MOST_CHARS = 600_000


def by_file(tree: Mapping[str, bytes], tests: Iterable[str]) -> dict[str, list[str]]:
    """Test ids without the file, by file; only for Python files that exist and are not too long."""
    found: dict[str, list[str]] = {}
    for test in tests:
        home, _, rest = test.partition("::")
        if home in tree and home.endswith(".py") and len(tree[home]) <= _MOST_CHARS:
            found.setdefault(home, []).append(rest)
    return found


def test_function(tree: ast.Module, names: list[str]) -> ast.FunctionDef | None:
    """The test of that name, own or inherited within the file; None for generators.

    Also None if it has decorators other than those of pytest and the standard library.
    """
    body: list[ast.stmt] = tree.body
    for name in names[:-1]:
        classes = (one for one in body if isinstance(one, ast.ClassDef) and one.name == name)
        body = _with_bases(tree, next(classes, None))
    found = [one for one in body if isinstance(one, ast.FunctionDef) and one.name == names[-1]]
    if not found or not all(_known_mark(tree, mark) for mark in found[0].decorator_list):
        return None
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(found[0]))
    return None if yields else found[0]


def _with_bases(tree: ast.Module, owner: ast.ClassDef | None) -> list[ast.stmt]:
    """The statements of a class, then of its base classes in the same file.

    Without methods that a class defines twice.
    """
    classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    body: list[ast.stmt] = []
    todo, seen = [owner], set[str]()
    while todo:
        one = todo.pop(0)
        if one is None or one.name in seen:
            continue
        seen.add(one.name)
        names = [inner.name for inner in one.body if isinstance(inner, ast.FunctionDef)]
        body += [inner for inner in one.body if names.count(getattr(inner, "name", "")) < 2]
        todo += [classes.get(base.id) for base in one.bases if isinstance(base, ast.Name)]
    return body


def _known_mark(tree: ast.Module, mark: ast.expr) -> bool:
    if ast.unparse(mark).startswith(_MARKS):
        return True
    node = mark.func if isinstance(mark, ast.Call) else mark
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    for one in tree.body:
        if isinstance(one, ast.Import | ast.ImportFrom):
            for alias in one.names:
                if (alias.asname or alias.name).partition(".")[0] == node.id:
                    home = one.module if isinstance(one, ast.ImportFrom) else alias.name
                    return (home or "").partition(".")[0] in {"pytest", *sys.stdlib_module_names}
    return node.id in ("staticmethod", "classmethod")


def module_literals(tree: ast.Module) -> dict[str, ast.expr]:
    """Module-level names that are bound once, to a literal, and of which no attribute is used."""
    once: dict[str, ast.expr] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and is_literal(statement.value):
                once[target.id] = statement.value
    bound = Counter[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] += 1
        elif isinstance(node, ast.arg):
            bound[node.arg] += 1
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name):
            if isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                once.pop(node.value.id, None)
        elif isinstance(node, ast.Global):
            for name in node.names:
                once.pop(name, None)
    return {name: value for name, value in once.items() if bound[name] == 1}


def compared_only(tree: ast.AST) -> set[str]:
    """Names that are read only in comparisons for equality."""
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    loads = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
    for node in ast.walk(tree):
        loads.subtract(side.id for side in pair_of(node) or () if isinstance(side, ast.Name))
    return {name for name, count in loads.items() if count == 0}


def is_literal(node: ast.expr) -> bool:
    """Whether it is a literal of at most `_LITERAL_CHARS` characters."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return len(ast.unparse(node)) <= _LITERAL_CHARS


def pair_of(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Both sides of a comparison for equality."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return node.left, node.comparators[0]
    if isinstance(node, ast.Call) and called(node) in _PAIRS and len(node.args) >= 2:
        starred = any(isinstance(one, ast.Starred) for one in node.args)
        return None if starred else (node.args[0], node.args[1])
    return None


def called(node: object) -> str:
    """The last name of the called expression, or an empty text."""
    return last_name(node.func) if isinstance(node, ast.Call) else ""
