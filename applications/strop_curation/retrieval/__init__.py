"""Retrieval tasks: a request, and the files and lines of a tree that matter for it. See docs/search.md."""

from strop.core.checks import RetrievalCheck
from strop.core.task import Task
from strop_curation.engine.tally import TallyLayout

FAMILY = "retrieval"


def _marks(task: Task) -> list[tuple[str, str]]:
    truth = task.check.only(RetrievalCheck).truth
    return [
        ("kinds", str(task.metadata.get("kind"))),
        ("splits", str(task.split)),
        ("repositories", task.topic),
        ("files_named", str(len(truth))),
    ]


LAYOUT = TallyLayout(
    ("tasks", "considered", "left_out", "kinds", "splits", "repositories", "files_named"),
    _marks,
    order={"files_named": int},
)
