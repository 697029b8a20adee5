"""What is wrong with a task that can be seen without running anything: its statement, its tests, what they repeat."""

import ast
from collections.abc import Iterator
from typing import Any

from strop.core.checks import (
    AssertsCheck,
    CasesCheck,
    EditCheck,
    LabelCheck,
    PytestCheck,
    RustCheck,
    StdioCheck,
)
from strop.core.task import Task
from strop.curation.audit.record import AuditSettings, Finding

FEWEST_ASSERTS = 3
"""Fewest assertions of test code, each of which may test more than one thing."""


def form_findings(task: Task, settings: AuditSettings) -> Iterator[Finding]:
    """Statement, reference, and the number of tests and what they repeat."""
    if not (task.statement.strip() or (task.prompt or "").strip()):
        yield Finding(code="no-statement", severity="fatal", text="nothing says what is asked")
    check = task.check
    if isinstance(check, EditCheck) and check.judge is not None:
        check = check.judge
    if not task.reference.strip() and not isinstance(check, LabelCheck):
        yield Finding(
            code="no-reference", severity="fatal", text="no reference: nobody has shown that it can be solved"
        )
    if isinstance(check, CasesCheck):
        yield from _counted([(key(c.args, c.kwargs), c.shown) for c in check.cases], settings.min_tests)
    elif isinstance(check, StdioCheck):
        yield from _counted([(c.stdin.strip(), c.shown) for c in check.cases], settings.min_tests)
    elif isinstance(check, AssertsCheck):
        yield from _few(assertions(check.code), min(FEWEST_ASSERTS, settings.min_tests), "assertions")
    elif isinstance(check, PytestCheck):
        yield from _suite(check, settings.min_tests)
    elif isinstance(check, RustCheck) and check.tests.strip():
        found = check.tests.count("assert") + check.tests.count("#[should_panic")
        yield from _few(found, min(FEWEST_ASSERTS, settings.min_tests), "assertions")
    elif not isinstance(check, LabelCheck) and not task.test_count and not isinstance(check, RustCheck):
        yield Finding(code="few-tests", severity="fatal", text="there is no test")


def key(args: Any, kwargs: Any) -> str:
    """A text that is equal for equal arguments; 1, 1.0 and True differ."""
    return repr((args, sorted(kwargs.items())))


def assertions(code: str) -> int:
    """How many assertions the code makes; one in a loop counts as many. 0 for code that cannot be parsed."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    return sum(_weight(node) for node in ast.walk(tree))


def _weight(node: ast.AST) -> int:
    if isinstance(node, ast.Assert):
        return 1
    if isinstance(node, ast.For | ast.While):
        return 10 if any(isinstance(inner, ast.Assert) for inner in ast.walk(node)) else 0
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        return int(name.startswith("assert"))
    return 0


def _few(found: int, fewest: int, what: str) -> Iterator[Finding]:
    if found < fewest:
        yield Finding(code="few-tests", severity="fatal", text=f"{found} {what}, fewer than {fewest}")


def _suite(check: PytestCheck, min_tests: int) -> Iterator[Finding]:
    if not check.tests:
        yield Finding(code="few-tests", severity="fatal", text="there is no test")
    elif len(set(check.tests)) < min_tests:
        found = f"{len(set(check.tests))} tests in the suite, fewer than {min_tests}"
        yield Finding(code="few-tests", severity="warning", text=found)


def _counted(cases: list[tuple[str, bool]], min_tests: int) -> Iterator[Finding]:
    """`cases`: (what is given, whether it is shown)."""
    yield from _few(len({given for given, _ in cases}), min_tests, "different tests")
    shown = {given for given, is_shown in cases if is_shown}
    hidden = [given for given, is_shown in cases if not is_shown]
    if cases and not set(hidden) - shown:
        yield Finding(code="leak-tests", severity="fatal", text="every test is shown, none is hidden")
        return
    repeated = sum(given in shown for given in hidden) + len(hidden) - len(set(hidden))
    if repeated:
        text = f"{repeated} of {len(hidden)} hidden tests repeat another test"
        yield Finding(code="repeated-tests", severity="warning", text=text)
