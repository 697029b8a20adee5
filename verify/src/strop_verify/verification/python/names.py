"""Module names, and names that test code binds, which an answer's names may not hide. Standard library only."""

import ast
import contextlib
import importlib
import symtable
import sys
from pathlib import PurePosixPath

from strop_verify.core.syntax import syntax_tree

_LIBRARIES = {*sys.stdlib_module_names, "pytest", "_pytest"}


def bound_names(body: list[ast.stmt]) -> set[str]:
    """Names that the statements may bind outside functions and classes."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        waiting += ast.iter_child_nodes(node)
    return names


def star_names(body: list[ast.stmt]) -> set[str]:
    """Names that any `from module import *` of the standard library or of pytest binds.

    Imports the modules: call it only where test code may run.
    """
    names: set[str] = set()
    for node in ast.walk(ast.Module(body, [])):
        if not isinstance(node, ast.ImportFrom) or not node.module or node.level or node.names[0].name != "*":
            continue
        if node.module.partition(".")[0] in _LIBRARIES:
            with contextlib.suppress(ImportError):
                module = importlib.import_module(node.module)
                public = [name for name in vars(module) if not name.startswith("_")]
                names.update(getattr(module, "__all__", public))
    return names


def used_names(text: str) -> set[str]:
    """Names that test code refers to: imported names, attributes and globals. Raises SyntaxError, ValueError."""
    names: set[str] = set()
    for node in ast.walk(syntax_tree(text)):
        if isinstance(node, ast.ImportFrom):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    tables = [symtable.symtable(text, "<tests>", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names.update(s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced())
    return names


def module_names(path: str) -> list[str]:
    """Dotted names for a file: the whole path first, then without its leading folders, one more each time."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    names = [".".join(parts[n:]) for n in range(len(parts))]
    return [n for n in names if n == names[0] or n not in sys.stdlib_module_names]
