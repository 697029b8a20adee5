"""What is wrong with a task that can be seen without running anything: its statement, its tests, what they repeat."""

from collections.abc import Iterator

from strop.core.checks.base import SingleTest
from strop.core.task import Task
from strop.curation.audit.record import AuditSettings, Finding

FEWEST_ASSERTS = 3
"""Fewest assertions of test code, each of which may test more than one thing."""


def form_findings(task: Task, settings: AuditSettings) -> Iterator[Finding]:
    """Statement, reference, and the number of tests and what they repeat."""
    if not (task.statement.strip() or (task.prompt or "").strip()):
        yield Finding(code="no-statement", severity="fatal", text="nothing says what is asked")
    check = task.check.judged()
    if not task.reference.strip() and check.answer != "label":
        yield Finding(
            code="no-reference", severity="fatal", text="no reference: nobody has shown that it can be solved"
        )
    if (found := check.assertions()) is not None:
        yield from _few(found, min(FEWEST_ASSERTS, settings.min_tests), "assertions")
    elif check.answer in ("function", "program"):
        yield from _counted(check.single_tests(), settings.min_tests)
    elif not check.test_count():
        yield Finding(code="few-tests", severity="fatal", text="there is no test")
    elif check.single_tests() and check.different_tests() < settings.min_tests:
        text = f"{check.different_tests()} tests in the suite, fewer than {settings.min_tests}"
        yield Finding(code="few-tests", severity="warning", text=text)


def _few(found: int, fewest: int, what: str) -> Iterator[Finding]:
    if found < fewest:
        yield Finding(code="few-tests", severity="fatal", text=f"{found} {what}, fewer than {fewest}")


def _counted(tests: list[SingleTest], min_tests: int) -> Iterator[Finding]:
    yield from _few(len({test.given.strip() for test in tests}), min_tests, "different tests")
    shown = {test.given.strip() for test in tests if test.shown}
    hidden = [test.given.strip() for test in tests if not test.shown]
    if tests and not set(hidden) - shown:
        yield Finding(code="leak-tests", severity="fatal", text="every test is shown, none is hidden")
        return
    repeated = sum(given in shown for given in hidden) + len(hidden) - len(set(hidden))
    if repeated:
        text = f"{repeated} of {len(hidden)} hidden tests repeat another test"
        yield Finding(code="repeated-tests", severity="warning", text=text)
