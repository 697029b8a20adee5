"""Retrieval tasks: a request, and the relevant files and lines of a tree. See docs/search.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from strop_tasks.curation.engine.output import Issues
from strop_tasks.curation.engine.tally import TallyLayout

if TYPE_CHECKING:
    from strop_verify.core.task import Task

FAMILY = "retrieval"


@dataclass(frozen=True)
class RetrievalSettings:
    """Settings of `strop build retrieval`."""

    newest: Annotated[int, Option(min=0, help="maximum commits of a repository to consider")] = 10_000
    docstrings: Annotated[
        int, Option(min=0, help="also make requests from at most this many docstrings per repository")
    ] = 0
    max_files: Annotated[int, Option(min=1, help="maximum relevant files per request")] = 5
    max_lines: Annotated[int, Option(min=1, help="maximum relevant lines per request")] = 200
    named: Annotated[bool, Option("--named", help="also use messages that name a relevant file")] = False
    issues: Issues = None
    seed: Annotated[int, Option(help="seed for the choice of docstrings")] = 0


def _marks(task: "Task") -> Iterator[tuple[str, str]]:
    from strop_verify.core.checks import RetrievalCheck

    yield "kinds", str(task.metadata.get("kind"))
    yield "splits", str(task.split)
    yield "repositories", task.topic
    yield "files_named", str(len(task.check.only(RetrievalCheck).truth))


LAYOUT = TallyLayout(
    ("tasks", "considered", "left_out", "kinds", "splits", "repositories", "files_named"),
    _marks,
    order={"files_named": int},
)
