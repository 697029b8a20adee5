"""Next-edit tasks: states of a commit in progress, edit by edit. See docs/next-edit.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from strop_tasks.curation.engine.tally import TallyLayout

if TYPE_CHECKING:
    from strop_verify.core.task import Task

FAMILY = "next-edit"


@dataclass(frozen=True)
class NextEditSettings:
    """Settings of `strop build next-edit`."""

    newest: Annotated[int, Option(min=1, help="maximum commits of a repository to consider")] = 10_000
    lines: Annotated[int, Option(min=3, max=26, help="lines of the window around the cursor")] = 12
    history: Annotated[int, Option(min=1, help="maximum past edits to show")] = 3
    chars: Annotated[int, Option(min=100, help="maximum characters of a prompt")] = 900
    answer_lines: Annotated[
        int, Option(min=1, help="maximum lines that an edit adds; silence is the answer for larger ones")
    ] = 4
    answer_chars: Annotated[int, Option(min=8, help="maximum characters of an answer")] = 160
    silence: Annotated[float, Option(min=0.4, max=0.95, help="share of states answered with silence")] = 0.5
    seed: Annotated[int, Option(help="seed for the order of edits and where lines are cut")] = 0


def _marks(task: "Task") -> Iterator[tuple[str, str]]:
    from strop_verify.core.checks import NextEditCheck

    yield "states", str(task.metadata.get("state"))
    yield "right", "an edit" if task.check.only(NextEditCheck).due else "silence"
    yield "splits", str(task.split)
    yield "repositories", task.topic


LAYOUT = TallyLayout(("tasks", "considered", "left_out", "states", "right", "splits", "repositories"), _marks)
