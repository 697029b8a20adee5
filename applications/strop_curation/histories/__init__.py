"""Histories as tasks: a project's environment, built by rules, and its commits, judged by their own tests.

`installation` reads how a project is installed, `environment` builds and proves that, `commits` finds those that
change programs and tests, `trial` runs these tests on both sides of one, `build` does so for whole histories. See
docs/histories.md.
"""

from collections.abc import Iterator

from strop.core.checks import ProjectCheck
from strop.core.task import Task
from strop_curation.engine.tally import TallyLayout

FAMILY = "repair"


def _marks(task: Task) -> Iterator[tuple[str, str]]:
    judge = task.check.effective().only(ProjectCheck)
    yield "repositories", task.topic
    yield "splits", str(task.split)
    yield "failing", str(len(judge.failing))
    for why in task.metadata.get("quarantined", {}).values():
        yield "quarantined", why


LAYOUT = TallyLayout(
    ("tasks", "considered", "left_out", "repositories", "splits", "quarantined", "failing"),
    _marks,
    order={"failing": int},
)
