"""Reading Python source: signatures, docstrings, doctests and what a function needs to run."""

import ast
from typing import Any

from strop.core.checks import Case

Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_function(tree: ast.Module, name: str) -> Function | None:
    """The last top-level function of that name, or None."""
    found = [n for n in tree.body if isinstance(n, Function) and n.name == name]
    return found[-1] if found else None


def segment(source_lines: list[str], node: ast.stmt) -> str:
    """The source lines of a statement, without its decorators."""
    return "\n".join(source_lines[node.lineno - 1 : node.end_lineno])


def header(source_lines: list[str], node: Function) -> str:
    """`def name(args) -> type:` as written, possibly over several lines."""
    first = node.body[0]
    if first.lineno == node.lineno:  # the body stands behind the colon
        return source_lines[node.lineno - 1][: first.col_offset].rstrip()
    lines = source_lines[node.lineno - 1 : first.lineno - 1]
    while len(lines) > 1 and not lines[-1].split("#")[0].rstrip().endswith(":"):
        lines.pop()  # comments and blank lines between the colon and the body
    return "\n".join(lines)


def without_docstring(source_lines: list[str], node: Function) -> str:
    """The function's source without decorators and docstring."""
    lines = source_lines[node.lineno - 1 : node.end_lineno]
    if ast.get_docstring(node, clean=False) is None or len(node.body) == 1:
        return "\n".join(lines)
    doc = node.body[0]
    start, end = doc.lineno - node.lineno, (doc.end_lineno or doc.lineno) - node.lineno + 1
    while end < len(lines) and not lines[end].strip():
        end += 1
    return "\n".join(lines[:start] + lines[end:])


def used_names(*nodes: ast.AST | None) -> set[str]:
    """Every name that the nodes mention."""
    return {n.id for node in nodes if node is not None for n in ast.walk(node) if isinstance(n, ast.Name)}


def bound_names(node: ast.stmt) -> set[str]:
    """The names that a top-level import, assignment, function or class binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    if isinstance(node, Function | ast.ClassDef):
        return {node.name}
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return used_names(*targets)


def signature_of(source: str, entry_point: str) -> str:
    """The entry point's header with everything that stands above it, or "" when the source does not define it.

    The source need not have a body behind the docstring. Raises SyntaxError when it cannot be parsed.
    """
    node = find_function(ast.parse(source), entry_point)
    if node is None:
        return ""
    lines = source.splitlines()
    above = "\n".join(lines[: node.lineno - 1 - len(node.decorator_list)]).strip("\n")
    return f"{above}\n\n\n{header(lines, node)}" if above else header(lines, node)


def split_doctests(docstring: str) -> tuple[str, list[tuple[str, str]]]:
    """(prose, [(expression, expected literal)]) of a cleaned docstring."""
    prose: list[str] = []
    examples: list[tuple[str, str]] = []
    wanted = False
    for line in docstring.splitlines():
        if line.startswith(">>> "):
            examples.append((line[4:], ""))
            wanted = True
        elif wanted and line.startswith("... "):
            examples[-1] = (examples[-1][0] + "\n" + line[4:], "")
        elif wanted and line.strip():
            examples[-1] = (examples[-1][0], (examples[-1][1] + "\n" + line).lstrip("\n"))
        else:
            wanted = False
            prose.append(line.rstrip())
    return "\n".join(prose).strip(), examples


def doctest_case(expression: str, expected: str, entry_point: str) -> Case:
    """A shown case from `entry_point(literals)` and the literal that it gives; ValueError for anything else."""
    call = ast.parse(expression.strip(), mode="eval").body
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == entry_point):
        raise ValueError(f"the doctest `{expression}` is not a call of {entry_point}")
    return Case(
        args=[ast.literal_eval(a) for a in call.args],
        kwargs={str(k.arg): ast.literal_eval(k.value) for k in call.keywords},
        expected=ast.literal_eval(expected) if expected else None,
        shown=True,
    )


def is_json(value: Any) -> bool:
    """Whether the value reads back from JSON as itself: no tuples, sets, bytes, NaN or keys that are not text."""
    if isinstance(value, dict):
        return all(type(k) is str and is_json(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(is_json, value))
    if isinstance(value, float):
        return value - value == 0
    return value is None or type(value) in (bool, int, str)


def has_float(value: Any) -> bool:
    """Whether a float stands anywhere in a JSON value."""
    if isinstance(value, dict):
        return any(map(has_float, value.values()))
    return any(map(has_float, value)) if isinstance(value, list) else isinstance(value, float)
