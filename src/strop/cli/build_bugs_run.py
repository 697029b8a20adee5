"""What `strop build bugs` runs, from the source to the task file. Loaded when the command runs."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop.core.task import Task
    from strop.curation.bugs.from_tasks import Wish
    from strop.curation.bugs.models import Models
    from strop.curation.bugs.tally import Tally

TEST_SECONDS = 2.0
"""CPU seconds that a test of a project may take; slower tests are not used."""
CPU_SECONDS, WALL_SECONDS = 1.0, 12.0
"""For the tests of one program: a bug that makes them run longer makes no task."""


def from_tasks(
    source: str,
    filters: dict[str, Any],
    out: Path,
    wish: "Wish",
    workers: int | None,
    allow_unsafe: bool,
    models: "Models",
    tally: "Tally",
) -> None:
    """Writes repair tasks made from a source of tasks. `filters`: as `load_tasks` takes them. Raises UserError."""
    from strop.curation.bugs.from_tasks import bugs_of_tasks
    from strop.reports.terminal.progress import Progress
    from strop.sandbox.limits import Limits
    from strop.tasks import load_tasks, write_tasks
    from strop.verification import open_verifier

    tasks = load_tasks(source, **filters)
    asked = {task.id: (task.statement or task.prompt or "").strip() for task in tasks}
    originals = useful = 0
    limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
    with (
        open_verifier(workers=workers, limits=limits, allow_unsafe=allow_unsafe) as verifier,
        Progress("tasks", len(tasks)) as progress,
    ):

        def done(kept: int) -> None:
            nonlocal originals, useful
            originals, useful = originals + 1, useful + (kept > 0)
            progress.at(originals, useful, len(tasks), f"{tally.tasks} repair tasks made")

        made = bugs_of_tasks(tasks, verifier, tally, wish, rewriter=models.rewriter, done=done)
        told = models.told(made, lambda task: asked[task.metadata["original"]])
        write_tasks(_some(told, source, tally), out)


def from_project(
    source: Path,
    out: Path,
    seed: int,
    at_once: tuple[int, int],
    format: str,
    count: int,
    per_function: int | None,
    language: str | None,
    max_file_chars: int | None,
    workers: int | None,
    allow_unsafe: bool,
    models: "Models",
    tally: "Tally",
) -> None:
    """Writes repair tasks made from a project, and its snapshot beside them. Raises UserError."""
    from strop.curation.bugs.from_project import Factory, Place
    from strop.curation.bugs.issue_model import docstring
    from strop.curation.bugs.targets import targets
    from strop.reports import files
    from strop.reports.terminal.progress import Progress
    from strop.tasks import write_tasks
    from strop.verification import open_verifier
    from strop.verification.project import open_project, pack
    from strop.verification.settings import Settings

    many = workers or min(16, len(os.sched_getaffinity(0)))
    final = out.resolve().with_name(f"{out.name.removesuffix('.gz').removesuffix('.jsonl')}.project.tar.gz")
    files.check_writable(final)
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        digest = pack(source, part)
        place = Place(_project_name(source), str(part), str(final), digest)
        with (
            open_project(
                part,
                language or "",
                Settings(allow_unsafe=allow_unsafe),
                workers=many,
                test_seconds=TEST_SECONDS,
            ) as project,
            open_verifier(workers=many, allow_unsafe=allow_unsafe) as verifier,
            Progress("tasks", count) as progress,
        ):
            found = targets(
                project, seed=seed, at_once=at_once, max_file_chars=max_file_chars, rewriter=models.rewriter
            )

            def done(kept: int) -> None:
                progress.at(kept, None, count, f"{len(found)} functions")

            factory = Factory(
                project, place, found, verifier, tally,
                format=format, per_function=per_function, ahead=models.ahead, done=done,
            )  # fmt: skip
            told = models.told(factory.tasks(count), docstring)
            write_tasks(_then_in_place(_some(told, str(source), tally), part, final), out)
    finally:
        part.unlink(missing_ok=True)


def _then_in_place(tasks: "Iterator[Task]", part: Path, final: Path) -> "Iterator[Task]":
    """The tasks. After the last one the snapshot gets its name, before the task file does."""
    from strop.reports import files

    yield from tasks
    with files.writing(final):
        part.replace(final)
        files.sync_folder(final.parent)


def _project_name(source: Path) -> str:
    return source.resolve().name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar")


def _some(made: "Iterator[Task]", source: str, tally: "Tally") -> "Iterator[Task]":
    """The tasks. Raises UserError if there is none."""
    from strop.core.errors import UserError

    yield from made
    if not tally.tasks:
        why = tally.unusable + sum(tally.dropped.values(), Counter[str]())
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(why.items()))
        raise UserError(
            f"no bug could be made from {source!r}: {reasons or 'no tested function has a place for one'}"
        )
