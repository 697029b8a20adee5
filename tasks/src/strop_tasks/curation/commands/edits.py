"""`strop build edits`: tasks whose answer is an edit, from commits, rows with a patch, broken programs, and pairs."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from strop.cli.options import grouped
from strop_tasks.curation.edits import LAYOUT, EditSettings
from strop_tasks.curation.engine.output import Build, File, PromptLimit, edit_format
from strop_tasks.curation.engine.tally import Tally
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop_verify.core.task import Task

Family = Literal["swe-rl", "patch", "fix-compile", "infill", "vulnerability"]
FORMAT = dict.fromkeys(("swe-rl", "fix-compile"), "search-replace") | {
    "patch": "unified-diff",
    "infill": "infill",
}
"""The default edit format."""
CPU_SECONDS, WALL_SECONDS = 5.0, 30.0  # limits of one program of families fix-compile and infill
UNTOLD = ("workers", "allow_unsafe", "repositories")  # settings that the manifest omits


@grouped
def edits(
    source: Annotated[
        str, Argument(help="a git repository (swe-rl, patch), or tasks: a name, a file, FORMAT:PLACE")
    ],
    output: File,
    family: Annotated[Family, Option(help="kind of task to make")],
    settings: EditSettings,
    prompts: PromptLimit,
) -> None:
    """Make edit tasks from existing fixes; only those that an oracle or a compiler confirms are kept.

    Also writes OUTPUT.manifest.json, with counts and reasons. See docs/edits.md.
    """
    from strop.reports.terminal.progress import Progress
    from strop.tasks.sources import iter_tasks
    from strop_tasks.curation.edits.program_pairs import pairs

    build = Build(output, LAYOUT, prompts)
    tally = build.tally
    settings = replace(settings, format=_format(settings.format, family))
    with ExitStack() as stack:
        total: list[int] = []

        def done(_: int) -> None:
            known = total[0] if total else None
            progress.at(tally.considered, None, known, f"{tally.tasks} tasks made")

        tally.done = done
        if family in ("swe-rl", "patch"):
            made = _of_repositories(source, family, settings, tally, total)
        elif family == "vulnerability":
            made = pairs(iter_tasks(source, on_bad=tally.bad_row), tally)
        else:
            made = _of_programs(source, family, settings, tally, stack)
        progress = stack.enter_context(Progress("looked at"))  # starts before the source is read
        build.write(islice(made, settings.limit), f"no task could be made from {source!r}", "it is empty")
    told = {name: value for name, value in asdict(settings).items() if name not in UNTOLD}
    build.finish(
        {"source": source, "family": family, **told},
        f"{tally.tasks} tasks from {tally.considered} candidates in {build.seconds():.0f} s; "
        f"left out: {tally.told('left_out')}",
    )


def _of_repositories(
    source: str, family: str, settings: EditSettings, tally: Tally, total: list[int]
) -> "Iterator[Task]":
    """The tasks; adds the number of commits to `total`, if known."""
    from strop.tasks.sources import iter_tasks
    from strop_tasks.curation.edits.file_pairs import of_history, of_rows
    from strop_tasks.curation.edits.repository import Repository

    clones = settings.repositories
    if clones is None:
        folder = Path(source).expanduser()
        if not folder.is_dir():
            rows = "; for rows with a patch, add --repositories" if family == "swe-rl" else ""
            raise UserError(f"{source!r} is not a folder: name a git repository{rows}")
        repository = Repository(folder)
        commits = repository.commits(settings.newest)
        total.append(len(commits))
        return of_history(repository, commits, family, settings, tally)
    if family != "swe-rl":
        raise UserError(f"--repositories is for --family swe-rl, not {family}")
    if not clones.is_dir():
        raise UserError(f"--repositories {clones}: no such folder")
    return of_rows(iter_tasks(source, on_bad=tally.bad_row), clones, settings, tally)


def _of_programs(
    source: str, family: str, settings: EditSettings, tally: Tally, stack: ExitStack
) -> "Iterator[Task]":
    from strop.tasks import load_tasks
    from strop_tasks.curation.edits.program_pairs import fix_compile, infill
    from strop_verify.sandbox.limits import Limits
    from strop_verify.verification import open_verifier

    tasks = load_tasks(source)  # with splits: tasks made from a task keep its split
    limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
    opened = open_verifier(limits=limits, workers=settings.workers, allow_unsafe=settings.allow_unsafe)
    verifier = stack.enter_context(opened)
    make = infill if family == "infill" else fix_compile
    return make(tasks, verifier, settings, tally)


def _format(name: str, family: str) -> str:
    if not name:
        return FORMAT.get(family, "")
    if family == "vulnerability":
        raise UserError("--format is for edits: the answer of a vulnerability task is a label")
    return edit_format(name)
