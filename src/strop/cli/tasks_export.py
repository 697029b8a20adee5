"""`strop tasks export`: tasks as packages and folders of other projects."""

from pathlib import Path
from typing import Annotated

from typer import Exit, Option, echo

from strop.cli.options import Side, Source, TaskFilters, grouped
from strop.cli.tasks_import import Log, chosen, tell
from strop.core.errors import UserError


@grouped
def export_command(
    source: Source,
    filters: TaskFilters,
    verifiers: Annotated[
        str | None, Option("--verifiers", metavar="NAME", help="a package of that name for verifiers 0.4")
    ] = None,
    output: Annotated[
        Path | None, Option("--output", "-o", help="folder to write; default: the name, here")
    ] = None,
    split: Side = None,
    strict: Annotated[bool, Option("--strict", help="exit code 1 if a task was left out")] = False,
) -> None:
    """Write tasks for another project (docs/neighbours.md): for verifiers, a package whose rewards ask our verifier.

    Tasks that it cannot hold are reported on stderr and left out. Exit code 2 if no task came through.
    """
    from strop.cli.options import columns_of
    from strop.tasks.sources import iter_tasks, load_tasks
    from strop.tasks.verifiers_package import write_package

    if verifiers is None:
        raise UserError("say what for: --verifiers NAME")
    log, columns = Log(verbose=False), columns_of(filters.column)
    folder = output or Path(verifiers.replace("-", "_"))
    if split:
        tasks = iter(load_tasks(source, columns=columns, split=split))
    else:
        tasks = iter_tasks(source, columns=columns, on_bad=log, on_guess=tell)
    try:
        count = write_package(chosen(tasks, filters), verifiers, folder, source=source, report=log)
    finally:
        log.close()
    echo(f"{count} tasks, {log.count} left out: {folder}; next: pip install -e {folder}")
    if strict and log.count:
        raise Exit(1)
