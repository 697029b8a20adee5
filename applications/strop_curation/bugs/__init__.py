"""The bug factory: faults put into code that has tests, kept where the tests notice them."""

from collections.abc import Iterator

from strop.core.task import Task
from strop_curation.engine.tally import TallyLayout


def _marks(task: Task) -> Iterator[tuple[str, str]]:
    for operator in task.metadata["bug"]:
        yield "kept", operator
    yield "faults", str(len(task.metadata["bug"]))
    yield "splits", str(task.split)
    yield "levels", str(task.level)


LAYOUT = TallyLayout(
    ("tasks", "originals", "unusable", "skipped", "faults", "splits", "levels", "issues", "operators"),
    _marks,
    ("tried", "kept"),
)
