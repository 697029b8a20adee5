"""`strop tasks`: list, show, import and convert task sets."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer, echo

from strop.cli.options import Column, Side, Source, TaskFilters, columns_of, grouped
from strop.cli.tasks_export import export_command
from strop.cli.tasks_import import chosen, convert_command, formats_command, import_command
from strop.core.errors import UserError
from strop.core.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from strop.core.task import Task

app = Typer(help="List, show, import and convert task sets.", no_args_is_help=True)
app.command("import")(import_command)
app.command("convert")(convert_command)
app.command("export")(export_command)
app.command("formats")(formats_command)


@app.command("list")
@grouped
def list_command(filters: TaskFilters, source: Source = "python-functions", split: Side = None) -> None:
    """List tasks, one per line: id, split (- if not assigned yet), level, number of tests, topic, source."""
    from strop.cli.tasks_import import Log, tell

    log = Log(verbose=False)
    if split:
        asked: dict[str, Any] = {"topics": filters.topic, "levels": filters.level, "limit": filters.limit}
        tasks: Iterable[Task] = _load(source, filters.column, split=split, **asked)
    else:
        tasks = chosen(_stream(source, filters.column, log, tell), filters)
    for task in tasks:
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


def _load(source: str, column: list[str] | None, **filters: Any) -> "list[Task]":
    from strop.tasks import load_tasks

    return load_tasks(source, columns=columns_of(column), **filters)


def _stream(
    source: str, column: list[str] | None, on_bad: "Callable[[str], None]", on_guess: "Callable[[str], None]"
) -> "Iterator[Task]":
    """The tasks one by one; sources that are only a name come with their split."""
    from strop.tasks.sources import NAMED, iter_tasks

    if source in NAMED and not column:
        return iter(_load(source, column))
    return iter_tasks(source, columns=columns_of(column), on_bad=on_bad, on_guess=on_guess)


def _show_format(name: str) -> None:
    import json

    from strop.tasks.formats import adapter_named

    for row in adapter_named(name).sample():
        _print(json.dumps(row, indent=2, ensure_ascii=False))


def _find(wanted: str, source: str, column: list[str] | None) -> "Task":
    """The task with that id, else the one whose source ends in that name."""
    from strop.cli.tasks_import import tell
    from strop.tasks.rows import suggestion

    names: set[str] = set()
    by_name = None
    for task in _stream(source, column, tell, tell):
        if task.id == wanted:
            return task
        name = task.source.rpartition("/")[2]
        by_name = task if name == wanted else by_name
        names |= {task.id, name}
    if by_name is None:
        hint = suggestion(wanted, sorted(names))
        raise UserError(f"no task {wanted!r} in {source!r}{hint}: `strop tasks list {source}` shows them")
    return by_name


def _print(text: str) -> None:
    echo(printable(text))
