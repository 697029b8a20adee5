"""`strop eval --subagent`: measures what a search tool saves a main agent on search tasks."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from strop.cli.options import EngineOptions
from strop.cli.search import finder_of
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.files import check_writable, write_json
from strop_verify.core.ranges import Ranges

if TYPE_CHECKING:
    from strop.evaluation.statistics import Difference, Estimate


def show_subagent(
    word: str,
    source: str | None,
    split: Literal["all", "train", "held-out"],
    limit: int | None,
    answering: EngineOptions,
    output: Path | None,
) -> None:
    """Prints the table of `evaluation.main_agent`. `word`: `words` for BM25, or a model. Raises UserError."""
    from strop.evaluation.main_agent import MEASURES, TURNS, compared
    from strop.evaluation.table import new_table, show
    from strop.reports.terminal.progress import Progress
    from strop.tasks.sources import load_tasks

    if source is None:
        raise UserError(
            "--subagent needs search tasks: make some with strop build retrieval, and name them with --tasks"
        )
    if output is not None:
        check_writable(output)
    tasks = load_tasks(source, split=None if split == "all" else split)
    tasks = [task for task in sorted(tasks, key=lambda one: one.id) if task.check.maybe(RetrievalCheck)][
        :limit
    ]
    if not tasks:
        raise UserError(f"{source} holds no search task; make some with strop build retrieval")
    with (
        finder_of("" if word == "words" else word, answering, [], 120.0) as finder,
        Progress("tasks", len(tasks)) as said,
    ):

        def ask(folder: Path, question: str) -> tuple[Ranges, str]:
            found = finder.find(folder, question)
            return found.places, found.text(lines=True)

        alone, helped, differences = compared(tasks, ask, lambda count: said.at(count, None, len(tasks)))
    table = new_table("main agent", "", *MEASURES)
    for name, means in (("by itself", alone), ("with the tool", helped)):
        table.add_row(name, *(f"{means[one].value:.3g}" for one in MEASURES))
    told = (differences[one] for one in MEASURES)
    table.add_row("difference", *(f"{one.delta:+.3g} [{one.low:+.3g}, {one.high:+.3g}]" for one in told))
    table.caption = (
        f"{len(tasks)} tasks, at most {TURNS} turns; found: a relevant line was seen; 95% intervals"
    )
    show(table)
    if output is not None:
        sides: Mapping[str, Mapping[str, Estimate | Difference]]
        sides = {"alone": alone, "with": helped, "difference": differences}
        numbers = {name: {side: found[name]._asdict() for side, found in sides.items()} for name in MEASURES}
        write_json(output, {"tasks": len(tasks), **numbers})
