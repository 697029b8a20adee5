"""What `strop build bugs` runs, from the source to the task file. Loaded when the command runs."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strop.cli.build_output import Output, Verifying, originals_shown

if TYPE_CHECKING:
    from strop.cli.build_bugs_options import BugMaking, OfProject
    from strop.core.task import Task
    from strop.curation.bugs.from_tasks import BugWish
    from strop.curation.bugs.models import Models
    from strop.curation.engine.tally import Tally

TEST_SECONDS = 2.0
"""CPU seconds that a test of a project may take; slower tests are not used."""
CPU_SECONDS, WALL_SECONDS = 1.0, 12.0
"""For the tests of one program: a bug that makes them run longer makes no task."""


def from_tasks(
    source: str,
    filters: dict[str, Any],
    file: Output,
    wish: "BugWish",
    verifying: Verifying,
    models: "Models",
    tally: "Tally",
) -> None:
    """Writes repair tasks made from a source of tasks. `filters`: as `load_tasks` takes them. Raises UserError."""
    from strop.curation.bugs.from_tasks import bugs_of_tasks
    from strop.reports.terminal.progress import Progress
    from strop.sandbox.limits import Limits
    from strop.tasks import load_tasks
    from strop.verification import open_verifier

    tasks = load_tasks(source, **filters)
    asked = {task.id: (task.statement or task.prompt or "").strip() for task in tasks}
    limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
    with (
        open_verifier(limits=limits, **asdict(verifying)) as verifier,
        Progress("tasks", len(tasks)) as progress,
    ):
        done = originals_shown(progress, len(tasks), tally, "repair tasks")
        made = bugs_of_tasks(tasks, verifier, tally, wish, rewriter=models.rewriter, done=done)
        _write(file, models.told(made, lambda task: asked[task.metadata["original"]]), source, tally)


def from_project(
    source: str,
    file: Output,
    making: "BugMaking",
    at_once: tuple[int, int],
    of_project: "OfProject",
    verifying: Verifying,
    models: "Models",
    tally: "Tally",
) -> None:
    """Writes repair tasks made from a project, and its snapshot beside them. Raises UserError."""
    from strop.core import files
    from strop.curation.bugs.from_project import Factory, ProjectPlace
    from strop.curation.bugs.issue_model import docstring
    from strop.curation.bugs.targets import targets
    from strop.reports.terminal.progress import Progress
    from strop.verification import open_verifier
    from strop.verification.project import open_project, pack
    from strop.verification.settings import Settings

    many = verifying.workers or min(16, len(os.sched_getaffinity(0)))
    final = file.path.resolve().with_name(
        f"{file.path.name.removesuffix('.gz').removesuffix('.jsonl')}.project.tar.gz"
    )
    files.check_writable(final)
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        digest = pack(Path(source), part)
        place = ProjectPlace(_project_name(Path(source)), str(part), str(final), digest)
        with (
            open_project(
                part,
                of_project.language or "",
                Settings(allow_unsafe=verifying.allow_unsafe),
                workers=many,
                test_seconds=TEST_SECONDS,
            ) as project,
            open_verifier(workers=many, allow_unsafe=verifying.allow_unsafe) as verifier,
            Progress("tasks", of_project.count) as progress,
        ):
            found = targets(
                project, seed=making.seed, at_once=at_once, max_file_chars=of_project.max_file_chars,
                rewriter=models.rewriter,
            )  # fmt: skip

            def done(kept: int) -> None:
                progress.at(kept, None, of_project.count, f"{len(found)} functions")

            factory = Factory(
                project, place, found, verifier, tally,
                format=making.format, per_function=making.per_task, ahead=models.ahead, done=done,
            )  # fmt: skip
            told = models.told(factory.tasks(of_project.count), docstring)
            _write(file, _then_in_place(told, part, final, tally), source, tally)
    finally:
        part.unlink(missing_ok=True)


def _then_in_place(tasks: "Iterator[Task]", part: Path, final: Path, tally: "Tally") -> "Iterator[Task]":
    """The tasks; after the last one the snapshot takes its name, before the file of tasks does."""
    from strop.core import files

    yield from tasks
    if not tally.tasks:
        return
    with files.writing(final):
        part.replace(final)
        files.sync_folder(final.parent)


def _project_name(source: Path) -> str:
    return source.resolve().name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar")


def _write(file: Output, tasks: "Iterator[Task]", source: str, tally: "Tally") -> None:
    nothing = f"no bug could be made from {source!r}"
    file.write(tasks, tally, nothing, "no tested function has a place for one")
