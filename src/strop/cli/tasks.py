"""`strop tasks`: list, show, export and audit task sets."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from strop.core.task import Task

app = typer.Typer(help="List, show, export and audit task sets.", no_args_is_help=True)

Source = Annotated[
    str,
    typer.Argument(
        help="python-functions, rust-functions, humaneval, jsonl:PATH, parquet:PATH, hub:ID[@SPLIT], or a path"
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option("--column", "-c", help="PART=COLUMN of a foreign data set, e.g. tests=test_list"),
]
Topic = Annotated[list[str] | None, typer.Option("--topic", help="only this topic; may be repeated")]
Level = Annotated[list[int] | None, typer.Option("--level", help="only this level; may be repeated")]
Side = Annotated[
    Literal["train", "held-out"] | None, typer.Option("--split", help="only this side of the split")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="at most so many tasks")]


@app.command("list")
def list_command(
    source: Source = "python-functions",
    column: Column = None,
    topic: Topic = None,
    level: Level = None,
    split: Side = None,
    limit: Limit = None,
) -> None:
    """One line a task: id, split, level, number of tests, topic, source."""
    tasks = _load(source, column, topics=topic, levels=level, split=split, limit=limit)
    for task in tasks:
        first = (task.statement.strip().splitlines() or [""])[0]
        _print(
            f"{task.id}\t{task.split}\t{task.level}\t{task.test_count}\t{task.topic or '-'}\t{task.source}\t{first}"
        )


@app.command("show")
def show_command(
    task_id: Annotated[str, typer.Argument(metavar="ID", help="a task id, or the function's name")],
    source: Annotated[str, typer.Option("--source", "-s", help="where to look for it")] = "python-functions",
    style: Annotated[str, typer.Option("--style", help="prompt style")] = "continue",
    template: Annotated[str | None, typer.Option("--template", help="prompt template file")] = None,
    column: Column = None,
) -> None:
    """The prompt, the reference and the tests of one task."""
    from strop.tasks import render

    task = _find(_load(source, column), task_id, source)
    prompt = render(task, style, template)
    _print(
        f"id {task.id}   split {task.split}   level {task.level}   topic {task.topic or '-'}   {task.source}"
    )
    _print(f"\n--- prompt ({style}) ---")
    for message in prompt.messages:
        _print(f"[{message.role}]\n{message.content}")
    _print(f"[assistant]\n{prompt.prefill}" if prompt.prefill else prompt.text)
    _print(f"\n--- reference ---\n{task.reference or '(none known)'}")
    _print(f"\n--- check ({task.check.kind}) ---")
    if task.check.kind == "asserts":
        _print(task.check.code)
    elif task.check.kind in ("cases", "stdio"):
        for case in task.check.cases:
            _print(case.model_dump_json())
    else:
        _print(task.check.model_dump_json(indent=2))


@app.command("export")
def export_command(
    source: Source,
    output: Annotated[str, typer.Option("--output", "-o", help="file to write; .gz compresses")],
    column: Column = None,
    topic: Topic = None,
    level: Level = None,
    split: Side = None,
    limit: Limit = None,
) -> None:
    """Write tasks as Strop task lines (docs/formats.md)."""
    from strop.tasks import write_tasks

    tasks = _load(source, column, topics=topic, levels=level, split=split, limit=limit)
    write_tasks(tasks, output)
    _print(f"{len(tasks)} tasks written to {output}")


@app.command("audit")
def audit_command(
    source: Source = "python-functions",
    column: Column = None,
    topic: Topic = None,
    level: Level = None,
    split: Side = None,
    limit: Limit = None,
    min_tests: Annotated[
        int, typer.Option("--min-tests", min=1, help="fewest different tests of a task")
    ] = 6,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="verifier processes")] = None,
    allow_unsafe: Annotated[
        bool, typer.Option("--allow-unsafe", help="run without a jail where there is none")
    ] = False,
) -> None:
    """Run every reference and many trivial answers; exit code 1 when a task is not fit."""
    from strop.curation.audit import audit
    from strop.verification import open_verifier

    tasks = _load(source, column, topics=topic, levels=level, split=split, limit=limit)
    with open_verifier(workers=workers, allow_unsafe=allow_unsafe) as verifier:
        audits = audit(tasks, verifier, min_tests=min_tests)
    unfit = [a for a in audits if not a.ok]
    for found in unfit:
        for reason in found.reasons:
            _print(f"{found.task_id}\t{found.source}\t{' '.join(reason.split())}")
    _print(f"{len(audits)} tasks audited, {len(unfit)} not fit")
    if unfit:
        raise typer.Exit(1)


def _load(source: str, column: list[str] | None, **filters: Any) -> "list[Task]":
    from strop.tasks import load_tasks

    return load_tasks(source, columns=_columns(column), **filters)


def _columns(pairs: list[str] | None) -> dict[str, str] | None:
    """The column mapping of `PART=COLUMN` options, None when there are none."""
    from strop.core.errors import UserError

    columns: dict[str, str] = {}
    for pair in pairs or []:
        part, equals, column = pair.partition("=")
        if not (part and equals and column):
            raise UserError(f"bad --column {pair!r}: write PART=COLUMN, such as statement=prompt")
        columns[part] = column
    return columns or None


def _find(tasks: "list[Task]", wanted: str, source: str) -> "Task":
    """The task with that id, or with a source that ends in that name."""
    from difflib import get_close_matches

    from strop.core.errors import UserError

    names = {task.source.rpartition("/")[2]: task for task in tasks} | {task.id: task for task in tasks}
    if wanted not in names:
        close = get_close_matches(wanted, names, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise UserError(f"no task {wanted!r} in {source!r}{hint}: `strop tasks list {source}` shows them")
    return names[wanted]


def _print(text: str) -> None:
    from strop.core.text import printable

    typer.echo(printable(text))
