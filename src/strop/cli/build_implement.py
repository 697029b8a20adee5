"""`strop build implement`: functions masked in their files, from Python sources."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from strop.core.task import Task
    from strop.curation.implement.build import Options
    from strop.curation.implement.sources import SourceFile
    from strop.curation.implement.tally import Tally
    from strop.reports.terminal.progress import Progress
    from strop.verification.project import Project

Format = Literal["search-replace", "unified-diff", "whole-file", "line-range", "infill"]


def implement(
    source: Annotated[
        str,
        typer.Argument(
            help="Python sources: a folder, a .py file, a .tar.gz, or a data set that holds files"
        ),
    ],
    out: Annotated[Path, typer.Option("--output", "-o", help="file of task lines to write; .gz compresses")],
    format: Annotated[Format, typer.Option(help="how the answer must write its edit")] = "search-replace",
    mask: Annotated[
        Literal["body", "function"],
        typer.Option(
            help="part to mask: everything after the docstring, or the whole function, as published"
        ),
    ] = "body",
    filters: Annotated[
        str, typer.Option(help="which functions: published, sound, none, or names separated by commas")
    ] = "published",
    column: Annotated[str, typer.Option(help="for a data set: the column that holds the files")] = "content",
    max_file_chars: Annotated[int, typer.Option(min=1, help="longer files are left out")] = 20_000,
    per_file: Annotated[
        int | None, typer.Option(min=1, help="maximum tasks from one file, chosen by the seed")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="stop after this many tasks")] = None,
    held_out: Annotated[float, typer.Option(min=0.0, max=1.0, help="share of files to hold out")] = 0.35,
    seed: Annotated[int, typer.Option(help="decides the split, and the tasks that --per-file keeps")] = 0,
    tests: Annotated[
        bool,
        typer.Option(
            "--tests", help="the source is a project: its tests, run in the jail, judge the answers"
        ),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="test runs at a time; one per core by default")
    ] = None,
    allow_unsafe: Annotated[
        bool, typer.Option("--allow-unsafe", help="run tests without a jail if none is available")
    ] = False,
) -> None:
    """Make implementation tasks: a function is masked in its file, and its docstring says what it does.

    Also writes OUTPUT.manifest.json, with counts and reasons. Without --tests none of the source code is run; with
    it a snapshot of the project is written, OUTPUT.project.tar.gz. See docs/implement.md.
    """
    from strop.core.errors import UserError
    from strop.curation.implement.build import Options, kept, tasks
    from strop.curation.implement.filters import chosen
    from strop.curation.implement.sources import read_sources
    from strop.curation.implement.tally import Tally
    from strop.reports import files
    from strop.reports.terminal.progress import Progress
    from strop.tasks import write_tasks

    manifest, archive = (out.with_name(f"{out.name}.{end}") for end in ("manifest.json", "project.tar.gz"))
    if not out.name.endswith((".jsonl", ".jsonl.gz")):
        raise UserError(f"--output {out}: name a file that ends in .jsonl or .jsonl.gz")
    for path in (out, manifest, archive):
        files.check_writable(path)
    options = Options(format, mask, chosen(filters), per_file, held_out, seed)
    tally, started = Tally(), time.monotonic()
    with ExitStack() as stack:
        progress = stack.enter_context(Progress("files"))
        if tests:
            project = stack.enter_context(_project(source, workers, allow_unsafe))
            made = _tested(project, archive, source, options, tally, progress, max_file_chars, limit)
        else:
            found = stack.enter_context(
                closing(read_sources(source, tally, max_chars=max_file_chars, column=column))
            )
            made = islice(tasks(_shown(found, tally, progress), options, tally), limit)
        write_tasks(_some(kept(made, tally), source, tally), out)
    settings = {"source": source, "format": format, "mask": mask, "filters": options.filters, "column": column,
                "max_file_chars": max_file_chars, "per_file": per_file, "limit": limit, "held_out": held_out,
                "seed": seed, "tests": tests}  # fmt: skip
    files.write_json(manifest, {"settings": settings, **tally.manifest()})
    _summarise(tally.manifest(), time.monotonic() - started, out)


def _project(source: str, workers: int | None, allow_unsafe: bool) -> "Project":
    """The project whose tests judge."""
    import os

    from strop.verification.project import open_project
    from strop.verification.settings import Settings

    settings = Settings(allow_unsafe=allow_unsafe)
    return open_project(Path(source).expanduser(), "python", settings, workers=workers or os.cpu_count() or 1)


def _tested(
    project: "Project", archive: Path, source: str, options: "Options", tally: "Tally", progress: "Progress",
    max_chars: int, limit: int | None,
) -> "Iterator[Task]":  # fmt: skip
    """Tasks that the project's tests judge. Its snapshot is written after the last one."""
    from strop.curation.implement.archive import stem
    from strop.curation.implement.build import tasks
    from strop.curation.implement.project import Place, judged, project_files
    from strop.reports import files
    from strop.verification.project.snapshot import archive as packed

    origin = stem(Path(source).resolve())
    found = _shown(project_files(project, origin, tally, max_chars), tally, progress)
    place = Place(str(archive.resolve()), project.digest)
    yield from islice(judged(tasks(found, options, tally), project, place, tally, options.seed), limit)
    with files.atomic(archive) as file:
        file.write(packed(project.files))


def _shown(files: "Iterator[SourceFile]", tally: "Tally", progress: "Progress") -> "Iterator[SourceFile]":
    """The files, with a progress line."""
    for file in files:
        yield file
        progress.at(tally.files, None, None, f"{tally.tasks} tasks")


def _some(made: "Iterator[Task]", source: str, tally: "Tally") -> "Iterator[Task]":
    """The tasks. Raises UserError if there is none."""
    from strop.core.errors import UserError

    yield from made
    if not tally.tasks:
        raise UserError(
            f"no function of {source!r} makes a task: {_reasons(tally.manifest()) or 'there is none'}"
        )


def _reasons(counts: dict[str, Any]) -> str:
    """Why files and functions were left out, the most frequent first."""
    found = {**counts["skipped"], **counts["filtered"], **counts["unusable"]}
    return ", ".join(f"{found[reason]} {reason}" for reason in sorted(found, key=lambda r: (-found[r], r)))


def _summarise(counts: dict[str, Any], seconds: float, out: Path) -> None:
    from strop.core.text import printable

    splits = ", ".join(f"{count} {side}" for side, count in counts["splits"].items())
    print(
        printable(
            f"{counts['tasks']} implementation tasks ({splits}) from {counts['functions']} functions with docstrings "
            f"in {counts['files']} files in {seconds:.0f} s; left out: {_reasons(counts) or 'none'}; {out}"
        )
    )
