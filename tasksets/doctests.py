"""Docstrings and doctests of the functions that tasks are read from, and the values in them."""

import ast
from typing import Any

from strop.code.python.source import Function
from strop.core.checks import Case


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
