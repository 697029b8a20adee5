"""`strop build commits`: repair tasks from histories, verified by the commits' own tests."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.options import grouped, say
from strop_tasks.curation.commands.env import Folder
from strop_tasks.curation.engine.output import Build, HeldOut, PromptLimit, Verifying, edit_format
from strop_tasks.curation.engine.tally import Tally
from strop_tasks.curation.histories import LAYOUT, HistorySettings
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop_tasks.curation.histories.issue_rows import IssueRows
    from strop_verify.core.task import Task


@grouped
def commits(
    sources: Annotated[list[str], Argument(help="git repositories and bundles; or rows in SWE-bench format")],
    output: Folder,
    settings: HistorySettings,
    split: HeldOut,
    verifying: Verifying,
    prompts: PromptLimit,
    repositories: Annotated[Path | None, Option(help="folder of clones, for rows (swe-bench:FILE)")] = None,
) -> None:
    """Make repair tasks from commits that change programs and tests, judged by these tests.

    With --repositories, the tasks come from issues: rows of SWE-bench, SWE-Gym, SWE-smith or R2E. If the project can be
    installed here as of the issue's date, its own tests judge in the jail; every other row gets a line with the reason.

    Writes OUTPUT/tasks.jsonl.gz, the snapshots that the tasks name beside it, and OUTPUT/manifest.json, with counts and
    reasons. After a kill or an interrupt, the same command resumes. See docs/build.md.
    """
    from strop.tasks.sources import iter_tasks
    from strop_tasks.curation.histories.build import manifest_of
    from strop_tasks.curation.histories.issue_rows import IssueRows
    from strop_verify.core import files

    edit_format(settings.format)
    if repositories is not None and len(sources) > 1:
        raise UserError(f"--repositories is for one source of rows, not {len(sources)}")
    missing = next((source for source in sources if not Path(source).expanduser().exists()), "")
    if missing and repositories is None:
        hint = "; for rows, add --repositories" if ":" in missing else ""
        raise UserError(f"{missing}: no such repository or bundle{hint}")
    with files.writing(output):
        output.mkdir(parents=True, exist_ok=True)
    build = Build(output / "tasks.jsonl.gz", LAYOUT, prompts, manifest=output / "manifest.json")
    tally = build.tally
    rows = None
    if repositories is not None:
        rows = IssueRows(iter_tasks(sources[0], on_bad=tally.bad_row), repositories, tally)
    made, stopped = list["Task"](), None
    try:
        for task in _made(sources, output, settings, verifying, tally, rows):
            made.append(task)
    except (KeyboardInterrupt, SystemExit) as stop:
        say("stopped: results so far are written; the same command resumes")
        if not made:
            raise
        stopped = stop
    tasks = list(map(tally.keep, split.sides(list(_fit(made, settings, tally)))))
    for instance, why in rows.left_out.items() if rows else ():
        say(f"not judged: {instance}: {why}")
    build.write(tasks, f"no commit of {', '.join(sources)} makes a task", "there is none")
    tasks = [task for task in tasks if task.id not in build.too_long]
    build.finish(
        {"sources": sources, **asdict(settings), **asdict(split)},
        f"{len(tasks)} tasks ({tally.told('repositories')}) from {tally.considered} commits in "
        f"{build.seconds():.0f} s; left out: {tally.told('left_out')}",
        seconds=build.seconds(),
        **({"not_judged": rows.left_out} if rows else {}),
        **manifest_of(tasks, output),
    )
    if stopped is not None:
        raise stopped


def _fit(tasks: "list[Task]", settings: HistorySettings, tally: Tally) -> "Iterator[Task]":
    """The tasks that pass the options' filters."""
    for task in tasks:
        noticed, tried = task.metadata["strength"]
        if settings.untold and task.metadata.get("tells"):
            tally.left_out["reveals content of the patch"] += 1
        elif tried and noticed < settings.min_noticed:
            tally.left_out["its tests catch too few planted faults"] += 1
        else:
            yield task


def _made(
    sources: list[str],
    output: Path,
    settings: HistorySettings,
    verifying: Verifying,
    tally: Tally,
    rows: "IssueRows | None",
) -> "Iterator[Task]":
    """The tasks, as they are found."""
    from strop.reports.terminal.progress import Progress
    from strop_tasks.curation.histories.build import HistoryBuild
    from strop_verify.verification import open_verifier

    say("reading histories")
    with (
        open_verifier(workers=verifying.many, allow_unsafe=verifying.allow_unsafe) as verifier,
        Progress("commits tried") as progress,
    ):
        jail, workers = verifying.jail(), verifying.many
        build = HistoryBuild(
            sources, output, settings, verifier, tally, jail=jail, workers=workers, rows=rows
        )

        def show(repository: str, done: int, total: int, tasks: int) -> None:
            progress.at(done, None, total or None, f"{tasks} tasks, now in {repository}")

        try:
            yield from build.tasks(show)
        finally:
            build.close()
            for why in build.folders.failures[:3]:
                say(f"note: packages could not be installed as requested: {why}")
