"""`strop build implement`: functions masked in their files, from Python sources."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from strop.cli.options import grouped
from strop_curation.commands.output import File, Output, Verifying

if TYPE_CHECKING:
    from strop.core.task import Task
    from strop.reports.terminal.progress import Progress
    from strop.verification.project import Project
    from strop_curation.engine.tally import Tally
    from strop_curation.implement.build import MaskOptions
    from strop_curation.implement.sources import SourceFile

Format = Literal["search-replace", "unified-diff", "whole-file", "line-range", "infill"]


@dataclass(frozen=True)
class ImplementMaking:
    """What is made of which functions."""

    format: Annotated[Format, Option(help="how the answer must write its edit")] = "search-replace"
    mask: Annotated[
        Literal["body", "function"],
        Option(help="part to mask: everything after the docstring, or the whole function, as published"),
    ] = "body"
    filters: Annotated[
        str, Option(help="which functions: published, sound, none, or names separated by commas")
    ] = "published"
    column: Annotated[str, Option(help="for a data set: the column that holds the files")] = "content"
    max_file_chars: Annotated[int, Option(min=1, help="longer files are left out")] = 20_000
    per_file: Annotated[int | None, Option(min=1, help="maximum tasks from one file, chosen by the seed")] = (
        None
    )
    limit: Annotated[int | None, Option(min=1, help="stop after this many tasks")] = None
    held_out: Annotated[float, Option(min=0.0, max=1.0, help="share of files to hold out")] = 0.35
    seed: Annotated[int, Option(help="decides the split, and the tasks that --per-file keeps")] = 0
    tests: Annotated[
        bool,
        Option("--tests", help="the source is a project: its tests, run in the jail, judge the answers"),
    ] = False


@grouped
def implement(
    source: Annotated[
        str,
        Argument(help="Python sources: a folder, a .py file, a .tar.gz, or a data set that holds files"),
    ],
    output: File,
    making: ImplementMaking,
    verifying: Verifying,
) -> None:
    """Make implementation tasks: a function is masked in its file, and its docstring says what it does.

    Also writes OUTPUT.manifest.json, with counts and reasons. Without --tests none of the source code is run; with
    it a snapshot of the project is written, OUTPUT.project.tar.gz. See docs/implement.md.
    """
    from strop.reports.terminal.progress import Progress
    from strop.verification.project import open_project
    from strop.verification.settings import Settings
    from strop_curation.engine.tally import Tally, listed
    from strop_curation.implement import LAYOUT
    from strop_curation.implement.build import MaskOptions, tasks
    from strop_curation.implement.filters import chosen
    from strop_curation.implement.sources import read_sources

    archive = output.with_name(f"{output.name}.project.tar.gz")
    file, tally = Output(output, archive), Tally(LAYOUT)
    options = MaskOptions(
        making.format, making.mask, chosen(making.filters), making.per_file, making.held_out, making.seed
    )
    with ExitStack() as stack:
        progress = stack.enter_context(Progress("files"))
        if making.tests:
            settings = Settings(allow_unsafe=verifying.allow_unsafe)
            workers = verifying.workers or os.cpu_count() or 1
            project = stack.enter_context(
                open_project(Path(source).expanduser(), "python", settings, workers=workers)
            )
            made = _tested(project, archive, source, options, tally, progress, making)
        else:
            found = stack.enter_context(
                closing(read_sources(source, tally, max_chars=making.max_file_chars, column=making.column))
            )
            made = islice(tasks(_shown(found, tally, progress), options, tally), making.limit)
        file.write(map(tally.keep, made), tally, f"no function of {source!r} makes a task", "there is none")
    file.finish(
        {"settings": {"source": source, **asdict(making), "filters": options.filters}, **tally.manifest()},
        f"{tally.tasks} implementation tasks ({listed(tally.manifest()['splits'])}) from {tally.functions} functions "
        f"with docstrings in {tally.files} files in {{seconds}}; left out: {tally.reasons() or 'none'}",
    )


def _tested(
    project: "Project", archive: Path, source: str, options: "MaskOptions", tally: "Tally", progress: "Progress",
    making: ImplementMaking,
) -> "Iterator[Task]":  # fmt: skip
    """Tasks that the project's tests judge. Its snapshot is written after the last one."""
    from strop.core import files
    from strop.core.snapshots import archive as packed
    from strop_curation.implement.archive import stem
    from strop_curation.implement.build import tasks
    from strop_curation.implement.project import SnapshotPlace, judged, project_files

    origin = stem(Path(source).resolve())
    found = _shown(project_files(project, origin, tally, making.max_file_chars), tally, progress)
    place = SnapshotPlace(str(archive.resolve()), project.digest)
    yield from islice(judged(tasks(found, options, tally), project, place, tally, options.seed), making.limit)
    with files.atomic(archive) as file:
        file.write(packed(project.files))


def _shown(files: "Iterator[SourceFile]", tally: "Tally", progress: "Progress") -> "Iterator[SourceFile]":
    """The files, with a progress line."""
    for file in files:
        yield file
        progress.at(tally.files, None, None, f"{tally.tasks} tasks")
