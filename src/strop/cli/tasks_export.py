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
    harbor: Annotated[
        Path | None, Option("--harbor", metavar="DIR", help="task folders of Harbor, in a new folder")
    ] = None,
    output: Annotated[
        Path | None, Option("--output", "-o", help="the package's folder; default: its name, here")
    ] = None,
    split: Side = None,
    strict: Annotated[bool, Option("--strict", help="exit code 1 if a task was left out")] = False,
) -> None:
    """Write tasks for another project (docs/neighbours.md): a package for verifiers, or task folders for Harbor.

    Both ask our verifier for their rewards. Tasks that it cannot hold are reported on stderr and left out. Exit
    code 2 if no task came through.
    """
    from strop.cli.options import columns_of
    from strop.tasks.formats import adapter_named, write_format
    from strop.tasks.sources import iter_tasks, load_tasks
    from strop.tasks.verifiers_package import write_package

    if (verifiers is None) == (harbor is None):
        raise UserError("say what for: --verifiers NAME, or --harbor DIR")
    if harbor is not None and output is not None:
        raise UserError("-o is for --verifiers; --harbor DIR names the folder itself")
    log, columns = Log(verbose=False), columns_of(filters.column)
    if split:
        tasks = iter(load_tasks(source, columns=columns, split=split))
    else:
        tasks = iter_tasks(source, columns=columns, on_bad=log, on_guess=tell)
    wanted = chosen(tasks, filters)
    try:
        if verifiers is not None:
            folder = output or Path(verifiers.replace("-", "_"))
            count = write_package(wanted, verifiers, folder, source=source, report=log)
            then = f"pip install -e {folder}"
        else:
            assert harbor is not None
            count = write_format(adapter_named("harbor"), wanted, harbor, log)
            then = f"harbor run -p {harbor} -a oracle --env strop.neighbours.harbor:JailEnvironment -y"
            folder = harbor
    finally:
        log.close()
    echo(f"{count} tasks, {log.count} left out: {folder}; next: {then}")
    if strict and log.count:
        raise Exit(1)
