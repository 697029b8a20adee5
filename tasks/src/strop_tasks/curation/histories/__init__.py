"""Tasks from histories: a project's environment, built by rules, and its commits, judged by their own tests.

`installation` reads how a project is installed, `environment` builds it and runs the tests, `commits` finds those
that change programs and tests, `trial` runs these tests on both sides of one, `build` does so for whole histories.
See docs/build.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from strop_tasks.curation.engine.output import Issues
from strop_tasks.curation.engine.tally import TallyLayout

if TYPE_CHECKING:
    from strop_verify.core.task import Task

FAMILY = "repair"


@dataclass(frozen=True)
class HistorySettings:
    """Options for the commits to try."""

    newest: Annotated[int, Option(min=1, help="maximum commits of a repository to consider")] = 10_000
    limit: Annotated[int | None, Option(min=1, help="maximum tasks of one repository")] = None
    max_files: Annotated[int, Option(min=1, help="maximum source files that a commit changes")] = 5
    max_lines: Annotated[int, Option(min=1, help="maximum source lines that it adds and removes")] = 400
    seconds: Annotated[float, Option(min=1.0, help="maximum CPU seconds of all runs of a commit")] = 90.0
    mutants: Annotated[int, Option(min=0, help="faults planted in changed lines to try its tests")] = 4
    format: Annotated[str, Option(help="edit format of the repair")] = "search-replace"
    seed: Annotated[int, Option(help="seed for the choice of other files' tests and faults")] = 0
    untold: Annotated[
        bool,
        Option("--untold", help="leave out tasks whose statement quotes or names what only the patch has"),
    ] = False
    min_noticed: Annotated[
        int, Option(min=0, help="minimum planted faults that a task's tests catch, if some were tried")
    ] = 0
    issues: Issues = None


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
