"""The single tests of a task, where its check can be cut into single tests: cases, programs' cases, asserts, pytest."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from strop.core.checks import AssertsCheck, CasesCheck, PytestCheck, StdioCheck
from strop.core.ids import canonical_json
from strop.core.task import Task


class TaskTest(NamedTuple):
    """One test; its place in the list is its number."""

    given: str
    """What it gives the answer: two tests that give the same are one test and its repetition."""
    size: int
    """Characters of its input."""
    shown: bool = False
    """Whether the prompt shows it."""


def tests_of(task: Task) -> list[TaskTest]:
    """The tests in their order; empty for a check that is not made of single tests (Rust, commands, labels)."""
    check = task.check
    if isinstance(check, StdioCheck):
        return [TaskTest(case.stdin, len(case.stdin), case.shown) for case in check.cases]
    if isinstance(check, CasesCheck):
        given = (canonical_json([case.args, case.kwargs]) for case in check.cases)
        return [TaskTest(text, len(text), case.shown) for text, case in zip(given, check.cases, strict=True)]
    if isinstance(check, AssertsCheck):
        return [TaskTest(ast.dump(node), len(ast.unparse(node))) for node in _asserts(check)]
    return [TaskTest(name, len(name)) for name in check.tests] if isinstance(check, PytestCheck) else []


def with_tests(task: Task, numbers: Sequence[int]) -> Task:
    """The task with these of its tests, in their order, and nothing else of it changed.

    `metadata.base_tests`, the count of leading tests that are the base set, follows. Raises ValueError for a check that
    is not made of single tests.
    """
    wanted = set(numbers)
    metadata: dict[str, Any] = dict(task.metadata)
    if isinstance(base := metadata.get("base_tests"), int):
        metadata["base_tests"] = sum(number < base for number in wanted)
    check = task.check
    kept: Any
    if isinstance(check, StdioCheck | CasesCheck):
        kept = {"cases": [case for number, case in enumerate(check.cases) if number in wanted]}
    elif isinstance(check, AssertsCheck):
        kept = {"code": _without(check, {n for n in range(len(_asserts(check))) if n not in wanted})}
    elif isinstance(check, PytestCheck):
        kept = {"tests": [name for number, name in enumerate(check.tests) if number in wanted]}
    else:
        raise ValueError(f"a check of kind {check.kind} is not made of single tests")
    return task.model_copy(update={"check": check.model_copy(update=kept), "metadata": metadata})


def _asserts(check: AssertsCheck) -> list[ast.stmt]:
    """The top-level statements that are assert statements; empty where the code has another form, such as HumanEval's

    function that holds them all.
    """
    try:
        body = ast.parse(check.code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if any(isinstance(inner, ast.Assert) for node in _others(body) for inner in ast.walk(node)):
        return []
    return [node for node in body if isinstance(node, ast.Assert)]


def _others(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    return (node for node in body if not isinstance(node, ast.Assert))


def _without(check: AssertsCheck, gone: set[int]) -> str:
    """The test code without these asserts; layout and comments of the rest are normalised."""
    number = 0
    body: list[ast.stmt] = []
    for node in ast.parse(check.code).body:
        if isinstance(node, ast.Assert):
            number += 1
            if number - 1 in gone:
                continue
        body.append(node)
    return ast.unparse(ast.Module(body, [])) + "\n"
