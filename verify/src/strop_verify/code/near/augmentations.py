"""Variants of a Python program: with comments, renamed locals, or padding.

Each function returns None if it has nothing to change or this Python cannot parse the source. The result has the same
normal form (`code.near.labels`), except for the padding, an unused function.
"""

import ast
from collections.abc import Callable, Iterator, Mapping

from strop_verify.code.near.labels import python_labels
from strop_verify.code.python.source import UNPARSABLE, tree_of

Dress = Callable[[str], str | None]


def commented(source: str) -> str | None:
    """The source with a comment above every statement of its functions."""
    tree = _tree(source)
    lines = source.split("\n")
    starts = sorted({node.lineno for node in _inner(tree)} if tree else set(), reverse=True)
    for number in starts:
        line = lines[number - 1]
        indent = line[: len(line) - len(line.lstrip())]
        lines.insert(number - 1, f"{indent}# Handle the next step carefully.")
    return _same(source, "\n".join(lines)) if starts else None


def renamed(source: str) -> str | None:
    """The source with other names for the variables of its functions, except parameters."""
    tree = _tree(source)
    if tree is None:
        return None
    kept = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    kept |= {
        name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    kept |= {name for node in tree.body if _outer(node) for name in _stored(node)}
    inside = [name for node in tree.body if not _outer(node) for name in ast.walk(node)]
    bound = dict.fromkeys(
        name for node in tree.body if not _outer(node) for name in _stored(node) if name not in kept
    )
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | kept
    fresh = (name for number in range(len(bound) + len(taken)) if (name := f"value_{number}") not in taken)
    names = dict(zip(bound, fresh, strict=False))
    places = [node for node in inside if isinstance(node, ast.Name) and node.id in names]
    return _same(source, _replaced(source, places, names)) if places else None


def padded(source: str) -> str | None:
    """The source with an unused function at its end."""
    if _tree(source) is None or not source.strip() or "_unused" in source:
        return None
    return f"{source.rstrip()}\n\n\ndef _unused(value):\n    return value\n"


DRESSES: Mapping[str, Dress] = {"comments": commented, "renamed locals": renamed, "padding": padded}


def _tree(source: str) -> ast.Module | None:
    try:
        return tree_of(source)
    except UNPARSABLE:
        return None


def _inner(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements inside functions that begin their own line."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            decorated = getattr(node, "decorator_list", None)
            if isinstance(node, ast.stmt) and node.lineno > function.lineno and not decorated:
                yield node


def _outer(node: ast.stmt) -> bool:
    """Whether a module's statement is not a function; others may import what it binds."""
    return not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _stored(node: ast.stmt) -> Iterator[str]:
    """Names bound in it, except functions and parameters."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id


def _replaced(source: str, places: list[ast.Name], names: Mapping[str, str]) -> str:
    lines = [line.encode() for line in source.split("\n")]
    for node in sorted(places, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        line, end = lines[node.lineno - 1], node.col_offset + len(node.id.encode())
        lines[node.lineno - 1] = line[: node.col_offset] + names[node.id].encode() + line[end:]
    return b"\n".join(lines).decode(errors="replace")


def _same(source: str, changed: str) -> str | None:
    """The changed source, if its normal form is unchanged."""
    return changed if changed != source and python_labels(changed) == python_labels(source) else None
