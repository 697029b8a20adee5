"""min-tests: a task needs enough tests. DeepCoder asks for five (Together, "DeepCoder", 2025, section on data)."""

import ast
from collections.abc import Iterator

from pydantic import Field

from strop.config.section import Section
from strop.core.checks import AssertsCheck, CasesCheck, PytestCheck, StdioCheck
from strop.core.ids import canonical_json
from strop.core.task import Task
from strop.curation.pipeline.step import Context, Dropped, Read, Step, drop


class Config(Section):
    """Settings of min-tests."""

    at_least: int = Field(default=5, ge=1)
    """Fewest tests of a task."""
    hidden: bool = False
    """Count only tests that the prompt does not show."""


class MinTests(Step[Config]):
    """Drops tasks with too few different tests."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`."""
        for done, task in enumerate(read(), start=1):
            context.progress(done, context.size)
            count = different_tests(task, hidden=self.config.hidden)
            if count >= self.config.at_least:
                yield task
            else:
                what = "hidden tests" if self.config.hidden else "tests"
                yield drop(task, f"fewer than {self.config.at_least} {what}", f"{count} different {what}")


def different_tests(task: Task, *, hidden: bool = False) -> int:
    """How many tests differ in what they give the answer; asserts differ by their text.

    Tests of other kinds count as the task counts them (`Task.test_count`).
    """
    check = task.check
    if isinstance(check, StdioCheck):
        return len({case.stdin for case in check.cases if not (hidden and case.shown)})
    if isinstance(check, CasesCheck):
        given = (case for case in check.cases if not (hidden and case.shown))
        return len({canonical_json([case.args, case.kwargs]) for case in given})
    if isinstance(check, AssertsCheck):
        try:
            return len(
                {ast.dump(node) for node in ast.walk(ast.parse(check.code)) if isinstance(node, ast.Assert)}
            )
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return 0
    return len(set(check.tests)) if isinstance(check, PytestCheck) else task.test_count
