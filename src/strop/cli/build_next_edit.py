"""`strop build next-edit`: states of commits that are being made, from histories."""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.build_output import File, Output
from strop.cli.build_retrieval import RetrievalSplit
from strop.cli.options import grouped
from strop.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strop.core.task import Task
    from strop.curation.engine.tally import Tally


@dataclass(frozen=True)
class NextEditMaking:
    """What is made."""

    newest: Annotated[int, Option(min=1, help="number of commits of a repository to consider")] = 10_000
    lines: Annotated[int, Option(min=3, max=26, help="lines of the window around the cursor")] = 12
    history: Annotated[int, Option(min=1, help="past edits that are shown, at most")] = 3
    chars: Annotated[int, Option(min=100, help="characters of a prompt, at most")] = 900
    answer_lines: Annotated[
        int, Option(min=1, help="lines that an edit to be foreseen adds, at most; else silence is right")
    ] = 4
    answer_chars: Annotated[int, Option(min=8, help="characters of its answer, at most")] = 160
    silence: Annotated[
        float, Option(min=0.4, max=0.95, help="share of the states in which silence is right")
    ] = 0.5
    seed: Annotated[int, Option(help="decides about orders of edits, and where lines are cut")] = 0


@grouped
def next_edit(
    sources: Annotated[list[str], Argument(help="git repositories and bundles")],
    output: File,
    making: NextEditMaking,
    split: RetrievalSplit,
) -> None:
    """Make next-edit tasks: a commit is cut into edits; what comes next after some of them, or silence?

    Also writes OUTPUT.manifest.json, with counts and reasons. See docs/next-edit.md.
    """
    from strop.curation.engine.tally import Tally, listed, once, split_of
    from strop.curation.next_edit import LAYOUT
    from strop.curation.next_edit.balance import balanced

    file, tally = Output(output), Tally(LAYOUT)
    made = list(once(_made(sources, making, tally), tally))
    sides = list(split_of(made, split.held_out or [], split.newest_share))
    found = balanced(sides, making.silence, making.seed, tally)
    file.write(map(tally.keep, found), tally, f"no task could be made from {', '.join(sources)}", "no commit")
    counts = tally.manifest()
    file.finish(
        {"settings": {"sources": sources, **asdict(making), **asdict(split)}, **counts},
        f"{tally.tasks} next-edit tasks ({listed(counts['splits'])}; right: {listed(counts['right'])}) from "
        f"{tally.considered} states and commits in {{seconds}}; left out: {listed(counts['left_out']) or 'none'}",
    )


def _made(sources: list[str], making: NextEditMaking, tally: "Tally") -> "Iterator[Task]":
    """The tasks of all sources, without splits."""
    from strop.curation.edits.repository import Repository
    from strop.curation.next_edit.states import StateLimits, of_commits
    from strop.curation.retrieval.trees import gather

    settings = asdict(making)
    limits = StateLimits(
        **{name: settings[name] for name in StateLimits.__dataclass_fields__ if name in settings}
    )
    if missing := next((source for source in sources if not Path(source).expanduser().exists()), ""):
        raise UserError(f"{missing}: no such repository or bundle")
    with tempfile.TemporaryDirectory(prefix="strop-histories-") as folder:
        store = Path(folder) / "histories.git"
        for history in gather(sources, store):
            repository = Repository(store)
            commits = repository.commits(making.newest, history.ref)
            yield from of_commits(repository, commits, history.name, limits, tally)
