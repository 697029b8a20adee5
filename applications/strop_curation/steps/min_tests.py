"""min-tests: a task needs enough tests. DeepCoder asks for five (Together, "DeepCoder", 2025, section on data)."""

from collections.abc import Iterator

from pydantic import Field

from strop.config.section import Section
from strop.core.task import Task
from strop_curation.pipeline.step import Context, Dropped, Read, Step, drop


class MinTestsConfig(Section):
    """Settings of min-tests."""

    at_least: int = Field(default=5, ge=1)
    """Fewest tests of a task."""
    hidden: bool = False
    """Count only tests that the prompt does not show."""


class MinTests(Step[MinTestsConfig]):
    """Drops tasks with too few different tests."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`."""
        for done, task in enumerate(read(), start=1):
            context.progress(done, context.size)
            count = task.check.different_tests(hidden=self.config.hidden)
            if count >= self.config.at_least:
                yield task
            else:
                what = "hidden tests" if self.config.hidden else "tests"
                yield drop(task, f"fewer than {self.config.at_least} {what}", f"{count} different {what}")
