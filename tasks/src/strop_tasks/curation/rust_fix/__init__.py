"""Repair tasks: Rust programs with one fault, the compiler's message, and the tests of the original task."""

from collections.abc import Iterator

from strop_tasks.curation.engine.tally import TallyLayout
from strop_tasks.curation.faults.operators import KINDS
from strop_verify.core.task import Task

_KINDS: list[str] = [*KINDS]


def _marks(task: Task) -> Iterator[tuple[str, str]]:
    yield "kept", task.metadata["operator"]
    yield "kinds", task.metadata["kind"]
    yield "error_codes", task.metadata["error_code"] or "none"
    yield "splits", str(task.split)
    yield "levels", str(task.level)


LAYOUT = TallyLayout(
    ("tasks", "originals", "unusable", "kinds", "error_codes", "splits", "levels", "operators"),
    _marks,
    ("made", "tried", "kept"),
    {"kinds": _KINDS.index},
)
