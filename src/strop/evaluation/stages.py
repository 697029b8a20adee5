"""Which stages an answer goes through (build, lint, test), and whether it came through one.

What counts as passed: of build and lint what the stage of the verdict says, and an answer in which a stage was never
reached did not pass it. Of test the verdict as a whole, so that answers whose tests ran green but which were refused
(unsafe code, tests that assert nothing) are no passes here either; the test rate is pass@1.
"""

from collections.abc import Set

from strop.core.task import CommandCheck, RustCheck, Task
from strop.core.verdict import Verdict

STAGES = ("build", "lint", "test")
"""In the order in which they run."""

GREEDY_PREFIX = "greedy-"
"""What stands before a stage's name for the greedy answers: greedy-build, ..."""


def kind_of(task: Task) -> tuple[str, str]:
    """Tasks alike in this go through the same stages, as far as the task does not say more."""
    return task.language, task.check.kind


def stages_of(task: Task, seen: Set[str] = frozenset()) -> list[str]:
    """Names of the stages that an answer to the task can go through, in their order.

    seen  stages of verdicts on tasks of the same `kind_of`; languages of one's own have a lint stage or not
    """
    if isinstance(task.check, RustCheck):
        return list(STAGES)
    if isinstance(task.check, CommandCheck):
        own = {step.stage for step in task.check.steps}
        return [name for name in STAGES if name in own]
    return [name for name in STAGES if name != "lint" or name in seen]


def came_through(verdict: Verdict, name: str) -> bool:
    """Whether a scored answer passed the stage of that name."""
    if name == "test":
        return verdict.passed
    stage = verdict.stage(name)
    if stage is None:
        return verdict.passed and name == "build"
    return stage.passed
