"""`strop build commits`: repair tasks out of histories, proved by the commits' own tests."""

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.options import grouped, say
from strop.core.errors import UserError
from strop.core.text import printable
from strop_curation.commands.env import Folder
from strop_curation.commands.output import Verifying, edit_format
from strop_curation.commands.retrieval import RetrievalSplit

if TYPE_CHECKING:
    from strop.core.task import Task
    from strop_curation.engine.tally import Tally
    from strop_curation.histories.build import HistoryProgress


@dataclass(frozen=True)
class CommitOptions:
    """Which commits are tried, and how."""

    newest: Annotated[int, Option(min=1, help="number of commits of a repository to consider")] = 10_000
    limit: Annotated[int | None, Option(min=1, help="maximum tasks of one repository")] = None
    max_files: Annotated[int, Option(min=1, help="program files that a commit changes, at most")] = 5
    max_lines: Annotated[int, Option(min=1, help="lines of programs that it adds and removes, at most")] = 400
    seconds: Annotated[float, Option(min=1.0, help="CPU seconds that the runs of one commit may take")] = 90.0
    mutants: Annotated[int, Option(min=0, help="faults in the changed lines that its tests are tried on")] = 4
    format: Annotated[str, Option(help="how the repair must be written")] = "search-replace"
    seed: Annotated[int, Option(help="decides which tests of other files judge, and about faults")] = 0
    issues: Annotated[
        list[str] | None,
        Option(
            metavar="REPOSITORY=FILE.json",
            help="texts of its issues, as gh issue list --json number,title,body writes them: the statement where a "
            "commit closes one; may be repeated",
        ),
    ] = None


@grouped
def commits(
    sources: Annotated[list[str], Argument(help="git repositories and bundles")],
    output: Folder,
    options: CommitOptions,
    split: RetrievalSplit,
    verifying: Verifying,
) -> None:
    """Make repair tasks of commits that change programs and tests, judged by these tests.

    Writes OUTPUT/tasks.jsonl.gz, the snapshots that the tasks name beside it, and OUTPUT/manifest.json, with counts and
    reasons. After a kill or an interrupt, the same command resumes. See docs/histories.md.
    """
    from strop.core import files
    from strop.tasks import write_tasks
    from strop_curation.engine.tally import Tally, listed, split_of
    from strop_curation.histories import LAYOUT
    from strop_curation.histories.build import manifest_of

    edit_format(options.format)
    if missing := next((source for source in sources if not Path(source).expanduser().exists()), ""):
        raise UserError(f"{missing}: no such repository or bundle")
    with files.writing(output):
        output.mkdir(parents=True, exist_ok=True)
    began, tally = time.monotonic(), Tally(LAYOUT)
    made = list(_made(sources, output, options, verifying, tally))
    if not made:
        raise UserError(
            f"no commit of {', '.join(sources)} makes a task: {tally.reasons() or 'there is none'}"
        )
    tasks = [tally.keep(task) for task in split_of(made, split.held_out or [], split.newest_share)]
    write_tasks(tasks, output / "tasks.jsonl.gz")
    counts, seconds = tally.manifest(), time.monotonic() - began
    settings = {"sources": sources, **asdict(options), **asdict(split)}
    files.write_json(
        output / "manifest.json",
        {"settings": settings, "seconds": seconds, **counts, **manifest_of(tasks, output)},
    )
    print(
        printable(
            f"{len(tasks)} tasks ({listed(counts['repositories'])}) from {tally.considered} commits in "
            f"{seconds:.0f} s; "
            f"left out: {listed(counts['left_out']) or 'none'}; {output}/tasks.jsonl.gz"
        )
    )


def _made(
    sources: list[str], output: Path, options: CommitOptions, verifying: Verifying, tally: "Tally"
) -> "Iterator[Task]":
    """The tasks so far; Ctrl-C and SIGTERM end them."""
    from strop.reports.terminal.progress import Progress
    from strop.verification import open_verifier
    from strop.verification.settings import Settings
    from strop_curation.histories.build import HistoryBuild, HistoryPlan
    from strop_curation.histories.commits import HistoryLimits
    from strop_curation.histories.trial import TrialSettings
    from strop_curation.retrieval.commits import read_issues

    many = verifying.workers or min(16, len(os.sched_getaffinity(0)))
    plan = HistoryPlan(
        sources, output, HistoryLimits(options.max_files, options.max_lines, read_issues(options.issues or [])),
        TrialSettings(options.format, options.mutants, options.seconds, options.seed), options.newest, options.limit,
        many,
    )  # fmt: skip
    say("reading histories")
    with (
        open_verifier(workers=many, allow_unsafe=verifying.allow_unsafe) as verifier,
        Progress("commits tried") as progress,
    ):
        build = HistoryBuild(plan, Settings(allow_unsafe=verifying.allow_unsafe), verifier, tally)

        def show(now: "HistoryProgress") -> None:
            rate = f"{now.tasks} tasks, now in {now.repository}"
            progress.at(now.done, None, now.total or None, rate)

        try:
            yield from build.tasks(show)
        except (KeyboardInterrupt, SystemExit):
            say("stopped: what is known so far is written; the same command resumes")
        finally:
            build.close()
            for why in build.folders.failures[:3]:
                say(f"note: packages could not be installed as asked for: {why}")
