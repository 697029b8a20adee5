"""Histories as tasks: a project's environment, built by rules, and its commits, judged by their own tests.

`installation` reads how a project is installed, `environment` builds and proves that, `commits` finds those that
change programs and tests, `trial` runs these tests on both sides of one, `build` does so for whole histories. See
docs/build.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from strop_tasks.curation.engine.tally import TallyLayout

if TYPE_CHECKING:
    from strop_verify.core.task import Task

FAMILY = "repair"


@dataclass(frozen=True)
class HistorySettings:
    """Which commits are tried, and how."""

    newest: Annotated[int, Option(min=1, help="number of commits of a repository to consider")] = 10_000
    limit: Annotated[int | None, Option(min=1, help="maximum tasks of one repository")] = None
    max_files: Annotated[int, Option(min=1, help="program files that a commit changes, at most")] = 5
    max_lines: Annotated[int, Option(min=1, help="lines of programs that it adds and removes, at most")] = 400
    seconds: Annotated[float, Option(min=1.0, help="CPU seconds that the runs of one commit may take")] = 90.0
    mutants: Annotated[int, Option(min=0, help="faults in the changed lines that its tests are tried on")] = 4
    format: Annotated[str, Option(help="how the repair must be written")] = "search-replace"
    seed: Annotated[int, Option(help="decides which tests of other files judge, and about faults")] = 0
    untold: Annotated[
        bool,
        Option("--untold", help="leave out tasks whose statement quotes or names what only the patch has"),
    ] = False
    min_noticed: Annotated[
        int, Option(min=0, help="planted faults that a task's tests notice, at least, where some were tried")
    ] = 0
    issues: Annotated[
        list[str] | None,
        Option(
            metavar="REPOSITORY=FILE.json",
            help="texts of its issues, as gh issue list --json number,title,body writes them: the statement where a "
            "commit closes one; may be repeated",
        ),
    ] = None


def _marks(task: "Task") -> Iterator[tuple[str, str]]:
    from strop_verify.core.checks import ProjectCheck

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
