"""Python files whose functions are tasks: `doctests:FILE.py`. The docstring's prose is the statement, doctests are
shown tests, and a body that does something is the reference. Helpers for docstrings in other task sets are here, too.
"""

import ast
from pathlib import Path
from typing import Any

from strop_verify.code.python import source as pysource
from strop_verify.code.python.source import UNPARSABLE, Function
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.syntax import expression_of
from strop_verify.core.task import Task

SUFFIX = ".py"
FLOAT_TOLERANCE = 1e-9
"""Tolerance of tasks with a float among the expected values, so that a different order of summation still passes."""


def load(place: str) -> list[Task]:
    """A task for each function in a file whose docstring has a doctest; its id is the function's name.

    The imports at the top of the file are part of each signature. The file is never run. Raises UserError.
    """
    try:
        source = Path(place).expanduser().read_text(encoding="utf-8")
        tree, lines = pysource.tree_of(source), pysource.lines_of(source)
    except OSError as error:
        raise UserError(
            f"cannot read {place or 'doctests:'}: {error.strerror}; write doctests:FILE.py"
        ) from error
    except UNPARSABLE as error:
        raise UserError(f"{place}: not valid Python: {' '.join(str(error).split())}") from error
    imports = [pysource.segment(lines, n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    found = [
        _task(node, lines, imports, place)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and ">>> " in (ast.get_docstring(node) or "")
    ]
    if not found:
        raise UserError(f"{place}: no function has a doctest (>>> f(1) and its value below)")
    return found


def _task(node: ast.FunctionDef, lines: list[str], imports: list[str], place: str) -> Task:
    prose, examples = split_doctests(ast.get_docstring(node) or "")
    where = f"{place}:{node.lineno}: {node.name}"
    try:
        cases = [doctest_case(call, expected, node.name) for call, expected in examples]
    except (ValueError, SyntaxError) as error:
        raise UserError(
            f"{where}: a doctest must be a call with literals, and its value a literal: {error}"
        ) from error
    cases = [case.model_copy(update={"expected": _listed(case.expected)}) for case in cases]
    if not prose:
        raise UserError(f"{where}: the docstring has no text; say above its doctests what the function does")
    if not all(is_json([case.args, case.kwargs, case.expected]) for case in cases):
        raise UserError(
            f"{where}: doctests hold only JSON values, and tuples as results; write a task line for others"
        )
    above = "\n".join(imports)
    head, code = pysource.header(lines, node), without_docstring(lines, node)
    return Task(
        id=node.name,
        statement=prose,
        signature=f"{above}\n\n\n{head}" if above else head,
        reference="" if _is_stub(node) else (f"{above}\n\n\n{code}\n" if above else f"{code}\n"),
        check=CasesCheck(
            entry_point=node.name,
            cases=cases,
            tolerance=FLOAT_TOLERANCE if any(has_float(case.expected) for case in cases) else 0.0,
        ),
        source=f"{place}:{node.lineno}",
    )


def _listed(value: Any) -> Any:
    """The value with lists for tuples, which count as equal."""
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value


def _is_stub(node: ast.FunctionDef) -> bool:
    """Whether the body holds only a docstring, `...`, `pass` or `raise NotImplementedError`."""
    return all(
        isinstance(line, ast.Pass)
        or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        or (isinstance(line, ast.Raise) and "NotImplementedError" in ast.unparse(line))
        for line in node.body
    )


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
    """A shown case from `entry_point(literals)` and its literal result. Raises ValueError for anything else."""
    call = expression_of(expression.strip())
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
    """Whether a JSON value contains a float anywhere."""
    if isinstance(value, dict):
        return any(map(has_float, value.values()))
    return any(map(has_float, value)) if isinstance(value, list) else isinstance(value, float)
