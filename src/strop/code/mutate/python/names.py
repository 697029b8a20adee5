"""Operators on names: another variable, attribute or exception than the right one."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from strop.code.mutate.operators import PYTHON, Edit, replace
from strop.code.python.routines import Routine
from strop.code.trees import having

_MOST_NAMES = 8
"""Other variables that are tried in one place."""
_EXCEPTIONS = {
    "ValueError": ("TypeError", "KeyError"), "KeyError": ("IndexError", "ValueError"), "IndexError": ("KeyError",),
    "TypeError": ("ValueError",), "AttributeError": ("TypeError",), "ZeroDivisionError": ("ValueError",),
    "StopIteration": ("IndexError",), "RuntimeError": ("ValueError",), "NotImplementedError": ("TypeError",),
    "OSError": ("ValueError",), "ImportError": ("OSError",), "LookupError": ("ValueError",), "Exception": ("OSError",),
    "FileNotFoundError": ("PermissionError",), "UnicodeDecodeError": ("LookupError",), "OverflowError": ("KeyError",),
    "AssertionError": ("ValueError",),
}  # fmt: skip


@PYTHON.add("wrong-variable")
def _wrong_variable(routine: Routine) -> Iterator[Edit]:
    """`a` as `b`, another variable of the same function."""
    known = _variables(routine.tree)
    for node in _plain_names(routine.tree):
        others = known if node.id in known else []
        place = routine.offset(node.lineno, node.col_offset)
        for other in _nearest(node.id, others):
            yield place, place + len(node.id.encode()), other


@PYTHON.add("wrong-attribute")
def _wrong_attribute(routine: Routine) -> Iterator[Edit]:
    """`self.a` as `self.b`, another attribute of the same thing."""
    attributes: dict[str, set[str]] = defaultdict(set)
    found = []
    for node, name, owner in having(routine.all("attribute"), "attribute", "object"):
        around = routine.source.parent(node)
        called = around is not None and around.type == "call" and around.children[0] == node
        if owner.type == "identifier" and not called:
            attributes[routine.string(owner)].add(routine.string(name))
            found.append((owner, name))
    for owner, name in found:
        for other in _nearest(routine.string(name), sorted(attributes[routine.string(owner)])):
            yield replace(name, other)


@PYTHON.add("wrong-exception")
def _wrong_exception(routine: Routine) -> Iterator[Edit]:
    """`except KeyError` as `except IndexError`, and so where one is raised."""
    for around in routine.all("except_clause", "raise_statement"):
        body = next((n for n in around.named_children if n.type == "block"), None)
        end = body.start_byte if body is not None else around.end_byte
        for node in routine.source.inner(around, "identifier"):
            for other in _EXCEPTIONS.get(routine.string(node), ()) if node.end_byte <= end else ():
                yield replace(node, other)


def _variables(tree: ast.Module) -> list[str]:
    """Names that the function binds, `self` and `cls` left out."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return sorted(found - {"self", "cls", "_"})


def _plain_names(tree: ast.Module) -> Iterator[ast.Name]:
    """Names that are read; without those in f-strings, whose places are not known, and in annotations."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
                continue
            children = value if isinstance(value, list) else [value]
            waiting += [child for child in children if isinstance(child, ast.AST)]


def _nearest(name: str, others: list[str]) -> list[str]:
    """The names that are most like `name`: same length first."""
    rest = [other for other in others if other != name]
    return sorted(rest, key=lambda other: (abs(len(other) - len(name)), other))[:_MOST_NAMES]
