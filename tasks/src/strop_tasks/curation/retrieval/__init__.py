"""Retrieval tasks: a request, and the files and lines of a tree that matter for it. See docs/search.md."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from strop_tasks.curation.engine.tally import TallyLayout

if TYPE_CHECKING:
    from strop_verify.core.task import Task

FAMILY = "retrieval"


@dataclass(frozen=True)
class RetrievalSettings:
    """What is made."""

    newest: Annotated[int, Option(min=0, help="number of commits of a repository to consider")] = 10_000
    docstrings: Annotated[
        int,
        Option(min=0, help="also ask for at most this many functions of a repository by their docstrings"),
    ] = 0
    max_files: Annotated[int, Option(min=1, help="files that matter for one request, at most")] = 5
    max_lines: Annotated[int, Option(min=1, help="lines that matter for one request, at most")] = 200
    named: Annotated[bool, Option("--named", help="also take messages that name a file that matters")] = False
    issues: Annotated[
        list[str] | None,
        Option(
            metavar="REPOSITORY=FILE.json",
            help="texts of its issues, as gh issue list --json number,title,body writes them: the request where a "
            "commit closes one; may be repeated",
        ),
    ] = None
    seed: Annotated[int, Option(help="decides which docstrings are taken")] = 0


def _marks(task: "Task") -> list[tuple[str, str]]:
    from strop_verify.core.checks import RetrievalCheck

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
