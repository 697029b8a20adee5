"""Makes bugs: puts faults into code that has tests, and keeps those that the tests catch."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from strop_tasks.curation.engine.output import ChosenTasks
from strop_tasks.curation.engine.tally import TallyLayout
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop_verify.core.task import Task


@dataclass(frozen=True)
class BugSettings:
    """Options for the choice and format of bugs."""

    seed: Annotated[int, Option(help="seed for the choice of bugs")] = 0
    per_task: Annotated[
        int | None, Option(min=1, help="maximum bugs from one task (default 6) or one function of a project")
    ] = None
    faults: Annotated[str, Option(help="faults in one bug: a number, or a range such as 1-2")] = "1"
    format: Annotated[str, Option(help="edit format of the repair")] = "search-replace"

    def at_once(self) -> tuple[int, int]:
        """Minimum and maximum number of faults per bug. Raises UserError."""
        found = re.fullmatch("0*([1-8])(?:-0*([1-8]))?", self.faults)
        if found and found[1] <= (most := found[2] or found[1]):
            return int(found[1]), int(most)
        raise UserError(f"--faults {self.faults!r}: write a number from 1 to 8, or a range such as 1-2")


@dataclass(frozen=True)
class ProjectChoice:
    """Options that apply only to projects."""

    count: Annotated[int, Option(min=1, help="for a project: maximum number of tasks")] = 300
    pairs: Annotated[
        int, Option(min=0, help="for a project: maximum additional tasks that combine two bugs of a file")
    ] = 0
    undo: Annotated[
        str | None,
        Option(metavar="HISTORY", help="Python project: make bugs only by undoing fixes of this history"),
    ] = None
    language: Annotated[
        Literal["python", "rust"] | None, Option(help="for a project; default: rust if there is a Cargo.toml")
    ] = None
    max_file_chars: Annotated[
        int | None, Option(min=1, help="for a project: maximum characters of a file")
    ] = None


@dataclass(frozen=True)
class TaskChoice(ChosenTasks):
    """Options that apply only to a source of tasks."""

    min_passing: Annotated[int, Option(min=0, help="minimum number of tests that pass despite the bug")] = 0
    max_lines: Annotated[int | None, Option(min=1, help="maximum lines of a reference")] = None


@dataclass(frozen=True)
class BugModels:
    """Options for the models that write bugs and statements."""

    rewrite_url: Annotated[str, Option(help="OpenAI-compatible server, such as http://127.0.0.1:8000/v1")] = (
        ""
    )
    rewrite_model: Annotated[str, Option(help="model on that server that writes bugs into functions")] = ""
    rewrite_share: Annotated[float, Option(min=0.0, max=1.0, help="model's share of tried bugs")] = 1.0
    issue_model: Annotated[str, Option(help="model that writes the statements, on the same server")] = ""
    api_key_env: Annotated[str, Option(help="environment variable that holds the key")] = "OPENAI_API_KEY"
    concurrency: Annotated[int, Option(min=1, max=1024, help="concurrent calls")] = 16
    timeout: Annotated[float, Option(min=1.0, help="maximum seconds per call")] = 600.0

    @property
    def named(self) -> bool:
        """Whether the options name a model."""
        return bool(self.rewrite_model or self.issue_model)

    def told(self) -> dict[str, Any]:
        """The manifest's entries for these options; empty without a model."""
        names = ("rewrite_model", "rewrite_share", "issue_model")
        return {name: getattr(self, name) for name in names} if self.named else {}


def _marks(task: "Task") -> Iterator[tuple[str, str]]:
    for operator in task.metadata["bug"]:
        yield "kept", operator
    yield "faults", str(len(task.metadata["bug"]))
    yield "splits", str(task.split)
    yield "levels", str(task.level)
    yield "tests", str(task.test_count)


LAYOUT = TallyLayout(
    ("tasks", "originals", "unusable", "skipped", "faults", "splits", "levels", "issues", "operators"),
    _marks,
    ("tried", "kept"),
)
