"""Next-edit tasks: states of a commit that is being made, edit by edit. See docs/next-edit.md."""

from strop.core.checks import NextEditCheck
from strop.core.task import Task
from strop_curation.engine.tally import TallyLayout

FAMILY = "next-edit"


def _marks(task: Task) -> list[tuple[str, str]]:
    due = task.check.only(NextEditCheck).due
    return [
        ("states", str(task.metadata.get("state"))),
        ("right", "an edit" if due else "silence"),
        ("splits", str(task.split)),
        ("repositories", task.topic),
    ]


LAYOUT = TallyLayout(("tasks", "considered", "left_out", "states", "right", "splits", "repositories"), _marks)
