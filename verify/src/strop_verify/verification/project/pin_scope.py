"""Reads a test file's surroundings from its text: parameters, files that it names, what it patches."""

import ast
import os
import re
from collections.abc import Collection, Iterator, Mapping

from strop_verify.verification.project.expression_sites import Site
from strop_verify.verification.project.library import is_library
from strop_verify.verification.project.pure_expressions import Function, Module, times_bound

_PATCHES = frozenset({"monkeypatch", "mocker", "patch", "mock", "setattr", "freeze_time"})
_STAYS = frozenset({"raises", "warns", "subTest", "assertRaises", "assertRaisesRegex", "assertWarns", "open"})
Marked = tuple[str, Function, list[ast.expr]]
"""A function's qualified name, the function, and the marks on it and on its classes."""


def functions_of(tree: ast.Module, wanted: set[str]) -> list[Marked]:
    """Functions and methods whose qualified name is unique; of the tests only the wanted ones."""

    def below(body: list[ast.stmt], above: str, marks: list[ast.expr]) -> Iterator[Marked]:
        for one in body:
            if isinstance(one, ast.ClassDef):
                yield from below(one.body, f"{above}{one.name}::", [*marks, *one.decorator_list])
            elif isinstance(one, ast.FunctionDef) and (one.name in wanted or not one.name.startswith("test")):
                yield f"{above}{one.name}", one, [*marks, *one.decorator_list]

    found = list(below(tree.body, "", []))
    names = [owner for owner, _, _ in found]
    return [one for one in found if names.count(one[0]) == 1]


def unread(
    tree: ast.Module, wanted: set[str], module: Module, known: Collection[ast.AST]
) -> Iterator[ast.AST]:
    """Functions that may run and are not in `known`."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    owners: list[ast.Module | ast.ClassDef] = [tree, *classes]
    for owner in owners:
        for one in owner.body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one not in known:
                left_out = one.name.startswith("test") and one.name not in wanted
                if not left_out and not (owner is tree and module.helper(one.name)):
                    yield one


def clean_parameters(function: Function, marks: list[ast.expr], module: Module) -> frozenset[str]:
    """Parameters of a test whose values are clean."""
    clean, other = set[str](), set[str]()
    for mark in marks:
        if not isinstance(mark, ast.Call) or len(mark.args) < 2:
            continue
        if not ast.unparse(mark.func).endswith("parametrize"):
            continue
        try:
            given = ast.literal_eval(mark.args[0])
        except ValueError:
            return frozenset()
        names = [n.strip() for n in given.split(",")] if isinstance(given, str) else [*given]
        indirect = len(mark.args) > 2 or any(one.arg in ("indirect", None) for one in mark.keywords)
        values = mark.args[1]
        rows = values.elts if isinstance(values, ast.List | ast.Tuple) else [values]
        fine = not indirect and all(
            all(module.clean(part, early=True) for part in one.args)
            if isinstance(one, ast.Call) and ast.unparse(one.func) == "pytest.param"
            else module.clean(one, early=True)
            for one in rows
        )
        (clean if fine else other).update(names)
    arguments = {one.arg for one in function.args.args}
    return frozenset((clean - other) & arguments) if times_bound(function) else frozenset()


def texts_of(function: Function, tops: Collection[ast.AST]) -> set[str]:
    """Strings of a function outside its clean expressions."""
    found: set[str] = set()
    bound = times_bound(function)

    def below(node: ast.AST) -> None:
        if node in tops or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            target = node.targets[0]
            if isinstance(target, ast.Name) and bound.get(target.id) == 1:
                return
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and any(map(str.isalnum, node.value))
        ):
            found.add(node.value)
        for child in ast.iter_child_nodes(node):
            below(child)

    for statement in function.body:
        below(statement)
    return found


def names_file(text: str, path: str) -> bool:
    """Whether a text may name the file at `path` or a folder above it."""
    if os.path.basename(path) in text or text == ".":
        return True
    plain = os.path.normpath(text)
    return path == plain or path.startswith(plain + "/")


def patches_text(text: str) -> bool:
    """Whether the text of conftest files looks as if it patched the standard library."""
    return any(word in text for word in ("monkeypatch", "patch(", "mock")) and bool(
        re.search(r"[\"'(]\s*(builtins|os|io|json|pathlib|re|csv|codecs)\b", text)
    )


def enters(function: ast.AST, sites: Mapping[ast.AST, Site]) -> bool:
    """Whether it has a `with` of unknown effect."""
    for node in ast.walk(function):
        if isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                name = ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
                if call not in sites and name not in _STAYS:
                    return True
    return False


def patches(function: Function, module: Module) -> bool:
    """Whether it patches part of the standard library."""
    words = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    words |= {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    words |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    if not words & _PATCHES:
        return False
    texts = [n.value for n in ast.walk(function) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    passed = [arg for n in ast.walk(function) if isinstance(n, ast.Call) for arg in n.args]
    given = {
        ast.unparse(arg).partition(".")[0] for arg in passed if isinstance(arg, ast.Name | ast.Attribute)
    }
    return any("." in text and is_library(text) for text in texts) or any(
        is_library(module.libraries.get(name, name)) for name in given
    )
