"""`strop build next-edit`: states of commits in progress, from histories."""

import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from strop.cli.options import grouped
from strop_tasks.curation.engine.output import Build, File, HeldOut, PromptLimit
from strop_tasks.curation.engine.tally import Tally, once
from strop_tasks.curation.next_edit import LAYOUT, NextEditSettings

if TYPE_CHECKING:
    from strop_verify.core.task import Task


@grouped
def next_edit(
    sources: Annotated[list[str], Argument(help="git repositories and bundles")],
    output: File,
    settings: NextEditSettings,
    split: HeldOut,
    prompts: PromptLimit,
) -> None:
    """Make next-edit tasks: a commit is split into edits, and a task asks which edit, if any, follows
    the edits so far.

    Also writes OUTPUT.manifest.json, with counts and reasons. See docs/next-edit.md.
    """
    from strop_tasks.curation.next_edit.states import balanced

    build = Build(output, LAYOUT, prompts)
    tally = build.tally
    made = list(once(_states(sources, settings, tally), tally))
    sides = split.sides(made)
    found = balanced(sides, settings.silence, settings.seed, tally)
    build.write(map(tally.keep, found), f"no task could be made from {', '.join(sources)}", "no commit")
    build.finish(
        {"sources": sources, **asdict(settings), **asdict(split)},
        f"{tally.tasks} next-edit tasks ({tally.told('splits')}; right: {tally.told('right')}) from "
        f"{tally.considered} states and commits in {build.seconds():.0f} s; left out: {tally.told('left_out')}",
    )


def _states(sources: list[str], settings: NextEditSettings, tally: Tally) -> "Iterator[Task]":
    """The tasks of all sources, without splits."""
    from strop_tasks.curation.edits.repository import Repository, gather
    from strop_tasks.curation.next_edit.states import of_commits

    with tempfile.TemporaryDirectory(prefix="strop-histories-") as folder:
        store = Path(folder) / "histories.git"
        for history in gather(sources, store):
            repository = Repository(store)
            commits = repository.commits(settings.newest, history.ref)
            yield from of_commits(repository, commits, history.name, settings, tally)
