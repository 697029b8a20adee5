"""`strop build retrieval`: which files and lines matter for a request, from histories, docstrings and bugs."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from strop.cli.options import grouped
from strop_tasks.curation.engine.output import Build, File, HeldOut, PromptLimit
from strop_tasks.curation.engine.tally import Tally, once
from strop_tasks.curation.retrieval import LAYOUT, RetrievalSettings
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop_verify.core.task import Task


@grouped
def retrieval(
    sources: Annotated[
        list[str], Argument(help="repositories, bundles, and tasks made by `strop build bugs` from a project")
    ],
    output: File,
    settings: RetrievalSettings,
    split: HeldOut,
    prompts: PromptLimit,
) -> None:
    """Make search tasks: a commit's message is the request, and the answer is the lines that it changes.

    Also writes OUTPUT.manifest.json, with counts and reasons, and OUTPUT.trees.git, which holds the files. See
    docs/search.md.
    """
    plain = output.name.removesuffix(".gz").removesuffix(".jsonl")
    store = output.with_name(f"{plain}.trees.git")
    build = Build(output, LAYOUT, prompts)
    tally = build.tally
    part = store.with_name(f".{store.name}.part")
    try:
        made = list(once(_made(sources, part, store.name, settings, tally), tally))
        found = split.sides(made)
        if found and part.is_dir():
            shutil.rmtree(store, ignore_errors=True)
            part.rename(store)
        build.write(map(tally.keep, found), f"no task could be made from {', '.join(sources)}", "no commit")
    finally:
        shutil.rmtree(part, ignore_errors=True)
    build.finish(
        {"sources": sources, **asdict(settings), **asdict(split)},
        f"{tally.tasks} search tasks ({tally.told('splits')}) from {tally.considered} candidates in "
        f"{build.seconds():.0f} s; left out: {tally.told('left_out')}",
    )


def _made(
    sources: list[str], part: Path, store: str, settings: RetrievalSettings, tally: Tally
) -> "Iterator[Task]":
    """The tasks of all sources, without splits."""
    from strop.reports.terminal.progress import Progress
    from strop.tasks.sources import iter_tasks
    from strop_tasks.curation.edits.history import read_issues
    from strop_tasks.curation.edits.repository import Repository, gather
    from strop_tasks.curation.retrieval.commits import of_commits
    from strop_tasks.curation.retrieval.function_tasks import of_bugs, of_docstrings

    issues = read_issues(settings.issues or [])
    files = [source for source in sources if source.endswith((".jsonl", ".jsonl.gz"))]
    histories = gather([source for source in sources if source not in files], part)
    if missing := next((file for file in files if not Path(file).is_file()), ""):
        raise UserError(f"{missing}: no such file; make one with strop build bugs")
    repository = Repository(part) if histories else None
    names = [history.name for history in histories]
    if unknown := next((name for name in issues if name not in names), ""):
        raise UserError(
            f"--issues {unknown}=...: no source has this name; there are {', '.join(names) or 'none'}"
        )
    with Progress("looked at") as progress:

        def done(_: int) -> None:
            progress.at(tally.considered, None, None, "commits and bugs")

        tally.done = done
        for history in histories:
            assert repository is not None
            commits = repository.commits(settings.newest, history.ref) if settings.newest else []
            merges = repository.merges(settings.newest, history.ref) if settings.newest else 0
            tally.considered += merges
            tally.left_out.update({"a merge": merges} if merges else {})
            texts = issues.get(history.name, {})
            yield from of_commits(repository, commits, history, store, settings, texts, tally)
            yield from of_docstrings(repository, history, store, settings.docstrings, settings.seed, tally)
        for file in files:
            yield from of_bugs(iter_tasks(file), Path(file), tally)
