"""`strop build implement`: functions masked in their files, from Python sources."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from strop.cli.options import grouped
from strop_tasks.curation.engine.output import Build, File, PromptLimit, Verifying
from strop_tasks.curation.engine.tally import Tally
from strop_tasks.curation.implement import LAYOUT, ImplementSettings

if TYPE_CHECKING:
    from strop.reports.terminal.progress import Progress
    from strop_tasks.curation.implement.sources import SourceFile
    from strop_verify.core.task import Task
    from strop_verify.verification.project import Project


@grouped
def implement(
    source: Annotated[
        str, Argument(help="Python sources: a folder, a .py file, a .tar.gz, or a data set that holds files")
    ],
    output: File,
    settings: ImplementSettings,
    verifying: Verifying,
    prompts: PromptLimit,
) -> None:
    """Make implementation tasks: a function is masked in its file, and its docstring says what it does.

    Also writes OUTPUT.manifest.json, with counts and reasons. Without --tests none of the source code is run; with
    it a snapshot of the project is written, OUTPUT.project.tar.gz. See docs/build.md.
    """
    from strop.reports.terminal.progress import Progress
    from strop_tasks.curation.implement.build import tasks
    from strop_tasks.curation.implement.filters import chosen
    from strop_tasks.curation.implement.sources import read_sources
    from strop_verify.verification.project import open_project

    archive = output.with_name(f"{output.name}.project.tar.gz")
    build, filters = Build(output, LAYOUT, prompts, archive), chosen(settings.filters)
    tally = build.tally
    with ExitStack() as stack:
        progress = stack.enter_context(Progress("files"))
        if settings.tests:
            workers = verifying.workers or os.cpu_count() or 1
            opened = open_project(Path(source).expanduser(), "python", verifying.jail(), workers=workers)
            made = _tested(stack.enter_context(opened), archive, source, settings, tally, progress)
        else:
            found = read_sources(source, tally, max_chars=settings.max_file_chars, column=settings.column)
            stack.enter_context(closing(found))
            made = islice(tasks(_shown(found, tally, progress), settings, tally), settings.limit)
        build.write(map(tally.keep, made), f"no function of {source!r} makes a task", "there is none")
    build.finish(
        {"source": source, **asdict(settings), "filters": filters},
        f"{tally.tasks} implementation tasks ({tally.told('splits')}) from {tally.functions} functions with docstrings "
        f"in {tally.files} files in {build.seconds():.0f} s; left out: {tally.reasons() or 'none'}",
    )


def _tested(
    project: "Project", archive: Path, source: str, settings: ImplementSettings, tally: Tally,
    progress: "Progress",
) -> "Iterator[Task]":  # fmt: skip
    """Tasks judged by the project's tests. Its snapshot is written after the last one."""
    from strop_tasks.curation.implement.build import tasks
    from strop_tasks.curation.implement.project import judged, project_files
    from strop_tasks.curation.implement.sources import stem
    from strop_verify.core import files
    from strop_verify.core.snapshots import archive as packed

    origin = stem(Path(source).resolve())
    found = _shown(project_files(project, origin, tally, settings.max_file_chars), tally, progress)
    made = judged(tasks(found, settings, tally), project, str(archive.resolve()), tally, settings.seed)
    yield from islice(made, settings.limit)
    with files.atomic(archive) as file:
        file.write(packed(project.files))


def _shown(files: "Iterator[SourceFile]", tally: Tally, progress: "Progress") -> "Iterator[SourceFile]":
    """The files, with a progress line."""
    for file in files:
        yield file
        progress.at(tally.files, None, None, f"{tally.tasks} tasks")
