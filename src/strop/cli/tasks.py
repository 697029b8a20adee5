"""`strop tasks`: lists, shows, imports, converts and exports task sets."""

from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option, Typer, echo

from strop.cli.options import Column, Side, Source, TaskFilters, columns_of, grouped
from strop.cli.tasks_import import Log, chosen, convert_command, formats_command, import_command, tell
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strop_verify.core.task import Task


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

    Both get their rewards from Strop's verifier. Tasks that cannot be exported are reported on stderr and left out.
    Exit code 2 if no task is left.
    """
    from strop.tasks.formats import adapter_named, write_format
    from strop.tasks.sources import iter_tasks

    if (verifiers is None) == (harbor is None):
        raise UserError("name a target: --verifiers NAME, or --harbor DIR")
    if harbor is not None and output is not None:
        raise UserError("-o is for --verifiers; --harbor DIR names the folder itself")
    log = Log(verbose=False)
    if split:
        tasks = _stream(source, filters.column, log, split)
    else:  # their reader assigns the splits
        tasks = iter_tasks(source, columns=columns_of(filters.column), on_bad=log, on_guess=tell)
    wanted = chosen(tasks, filters)
    try:
        if verifiers is not None:
            folder = output or Path(verifiers.replace("-", "_"))
            write_package = resolve_name("strop.neighbours.verifiers_package:write_package")
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


app = Typer(help="List, show, import and convert task sets.", no_args_is_help=True)
app.command("import")(import_command)
app.command("convert")(convert_command)
app.command("export")(export_command)
app.command("formats")(formats_command)


@app.command("list")
@grouped
def list_command(filters: TaskFilters, source: Source = "python-functions", split: Side = None) -> None:
    """List tasks, one per line: id, split (- if not assigned yet), level, number of tests, topic, source."""
    log = Log(verbose=False)
    for task in chosen(_stream(source, filters.column, log, split), filters):
        first = (task.statement.strip().splitlines() or [""])[0]
        numbers = (task.level, task.test_count)
        _print(
            "\t".join(map(str, (task.id, task.split or "-", *numbers, task.topic or "-", task.source, first)))
        )
    log.close()


@app.command("show")
def show_command(
    task_id: Annotated[
        str, Argument(metavar="[ID]", help="a task id or the name of a function", show_default=False)
    ] = "",
    source: Annotated[str, Option("--source", "-s", help="task set to search")] = "python-functions",
    style: Annotated[str, Option("--style", help="prompt style")] = "continue",
    template: Annotated[str | None, Option("--template", help="prompt template file")] = None,
    column: Column = None,
    format_name: Annotated[
        str,
        Option("--format", help="show example rows of that format instead of a task", metavar="FORMAT"),
    ] = "",
) -> None:
    """Show the prompt, the reference and the tests of one task, or example rows of a format."""
    from strop.tasks import render

    if format_name:
        return _show_format(format_name)
    if not task_id:
        raise UserError("name a task: `strop tasks show ID`, or a format: `strop tasks show --format NAME`")
    task = _find(task_id, source, column)
    prompt = render(task, style, template)
    _print(
        f"id {task.id}   split {task.split or '-'}   level {task.level}   topic {task.topic or '-'}   {task.source}"
    )
    _print(f"\n--- prompt ({style}) ---")
    for message in prompt.messages:
        _print(f"[{message.role}]\n{message.content}")
    _print(f"[assistant]\n{prompt.prefill}" if prompt.prefill else prompt.text)
    _print(f"\n--- reference ---\n{task.reference or '(none known)'}")
    _print(f"\n--- check ({task.check.kind}) ---")
    _print(task.check.readable())


def _stream(
    source: str, column: list[str] | None, on_bad: "Callable[[str], None]", split: "Side" = None
) -> "Iterator[Task]":
    """Yields the tasks; with their split if a `split` is asked for or the source is only a name."""
    from strop.tasks.sources import alone, iter_tasks, load_tasks

    columns = columns_of(column)
    if split or (alone(source) and not columns):
        return iter(load_tasks(source, columns=columns, split=split))
    return iter_tasks(source, columns=columns, on_bad=on_bad, on_guess=tell)


def _show_format(name: str) -> None:
    import json

    from strop.tasks.formats import adapter_named

    for row in adapter_named(name).sample():
        _print(json.dumps(row, indent=2, ensure_ascii=False))


def _find(wanted: str, source: str, column: list[str] | None) -> "Task":
    """The task with that id, else the one whose source ends with that name."""
    from strop.tasks.row_sources import is_place
    from strop.tasks.rows import suggestion

    names: set[str] = set()
    by_name = None
    for task in _stream(source, column, tell):
        if task.id == wanted:
            return task
        name = task.source.rpartition("/")[2]
        by_name = task if name == wanted else by_name
        names |= {task.id, name}
    if by_name is None:
        if is_place(wanted):
            remedy = (
                f"`strop tasks list {wanted}` shows its tasks, `strop tasks show ID -s {wanted}` one of them"
            )
            raise UserError(f"{wanted!r} is a task set, not a task: {remedy}")
        hint = suggestion(wanted, sorted(names))
        raise UserError(f"no task {wanted!r} in {source!r}{hint}: `strop tasks list {source}` shows them")
    return by_name


def _print(text: str) -> None:
    echo(printable(text))
