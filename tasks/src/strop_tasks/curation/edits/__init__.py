"""Edit tasks from known repairs: commits, rows with a patch, programs with a compiler's message.

See docs/edits.md, "strop build edits".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from strop_tasks.curation.engine.output import Verifying
from strop_tasks.curation.engine.tally import TallyLayout

if TYPE_CHECKING:
    from strop_verify.core.task import Task


def _marks(task: "Task") -> Iterator[tuple[str, str]]:
    yield "languages", task.language
    yield "files_changed", str(len(getattr(task.check, "oracle", ())))


LAYOUT = TallyLayout(
    ("tasks", "considered", "left_out", "languages", "files_changed"), _marks, order={"files_changed": int}
)


@dataclass(frozen=True)
class EditLimits:
    """Limits on an edit and the files shown with it."""

    context: Annotated[int, Option(min=0, max=20, help="swe-rl: maximum unchanged files to show")] = 1
    max_files: Annotated[int, Option(min=1, help="maximum number of files that an edit changes")] = 5
    max_chars: Annotated[int, Option(min=100, help="maximum characters in all shown files together")] = 60_000


@dataclass(frozen=True)
class EditSettings(Verifying, EditLimits):
    """Options of `strop build edits`."""

    repositories: Annotated[Path | None, Option(help="folder of clones that hold the rows' files")] = None
    format: Annotated[
        str, Option(help="edit format of the answer; default: search-replace; unified-diff for patch")
    ] = ""
    newest: Annotated[int, Option(min=1, help="maximum commits of a repository to consider")] = 10_000
    limit: Annotated[int | None, Option(min=1, help="maximum number of tasks")] = None
    holes: Annotated[int, Option(min=1, help="infill: maximum tasks from one program")] = 2
    seed: Annotated[int, Option(help="seed for the choice of unchanged files and holes")] = 0
