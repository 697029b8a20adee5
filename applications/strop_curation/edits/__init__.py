"""Edit tasks out of known repairs: commits, rows with a patch, programs with a compiler's message.

See docs/edit-tasks.md, "strop build edits".
"""

from collections.abc import Iterator
from dataclasses import dataclass

from strop.core.task import Task
from strop_curation.engine.tally import TallyLayout


def _marks(task: Task) -> Iterator[tuple[str, str]]:
    yield "languages", task.language
    yield "files_changed", str(len(getattr(task.check, "oracle", ())))


LAYOUT = TallyLayout(
    ("tasks", "considered", "left_out", "languages", "files_changed"), _marks, order={"files_changed": int}
)


@dataclass(frozen=True)
class EditSettings:
    """What edits a build makes."""

    format: str
    """How the edit is to be written."""
    seed: int = 0
    context: int = 1
    """Files to show that the edit leaves alone, at most."""
    max_files: int = 5
    """Files that an edit changes, at most."""
    max_chars: int = 60_000
    """Of all files that are shown."""
