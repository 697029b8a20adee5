"""Task sources: one name for every source, read one task at a time or loaded as a whole."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

from strop.tasks import (
    builtin,
    doctests,
    edit_tasks,
    row_sources,
    splits,
)
from strop.tasks.adapters import ADAPTERS, Adapter
from strop.tasks.formats import guessed, tasks_of
from strop.tasks.lines import Report, each_sound, fail
from strop.tasks.rows import Row, check_columns, mapped_task, suggestion
from strop_verify.core.errors import UserError
from strop_verify.core.registry import Registry
from strop_verify.core.task import Split, Task

BUILTIN = {"python-functions": "python", "rust-functions": "rust"}
"""{built-in source: its language}."""

GENERATED: Registry[Callable[[str], Iterable[Task]]] = Registry(
    "tasks",
    {
        "tool-worlds": "strop.tasks.tool_worlds:load",
        "doctests": doctests.load,
        "openenv": "strop.neighbours.openenv:load",
        "verifiers": "strop.neighbours.verifiers_tasks:load",
    },
    reserved={*BUILTIN, edit_tasks.PREFIX, *ADAPTERS, *row_sources.KINDS},
)
"""Sources that are a name, alone or followed by a colon and parameters; other packages add to them."""


def alone(source: str) -> Callable[[], Iterable[Task]] | None:
    """A function that loads the tasks of a source that is only a name; None for other sources."""
    if source in BUILTIN:
        return partial(builtin.load, BUILTIN[source])
    return ADAPTERS[source].installed if source in ADAPTERS else None


def iter_tasks(
    source: str,
    *,
    columns: Mapping[str, str] | None = None,
    on_bad: Report | None = None,
    on_guess: Report | None = None,
) -> Iterator[Task]:
    """Yields the tasks of a source in its order, without assigning splits or looking for duplicates.

    source    "python-functions", "rust-functions", "humaneval"; "stdio-problems[:COUNT[@SEED][/kinds]]" (see
              docs/task-sets.md), "needs-feedback[:COUNT[@SEED]]",
              "toy-repositories[:COUNT[@SEED]]", "tool-worlds[:COUNT[@SEED]]", "doctests:FILE.py"; or FORMAT:PLACE,
              where FORMAT is one of `ADAPTERS` and PLACE a file, a folder or "hub:ID[:CONFIG][@SPLIT]" (see
              `strop.tasks.row_sources`); or a PLACE alone; or "edits:[FORMAT:]SOURCE", another source's tasks as edits
              (see `strop.tasks.edit_tasks`); or NAME[:REST], where NAME is another package's entry point
              in strop.tasks (docs/api.md)
    columns   for foreign rows: part of the task -> name of the column, see `strop.tasks.rows.COLUMNS`
    on_bad    takes one line for each row that makes no task and for damage to a file; the rest is read. Without it, the
              first such row raises UserError.
    on_guess  takes one line when the first row determined the format of a PLACE alone, or of a file in a folder

    Raises a one-line UserError for a source that is unknown or cannot be opened.
    """
    name, _, rest = source.partition(":")
    if name == edit_tasks.PREFIX:
        form, inner = edit_tasks.named(rest)
        found = iter_tasks(inner, columns=columns, on_bad=on_bad, on_guess=on_guess)
        return edit_tasks.wrapped(found, form, on_bad or fail)
    load = alone(source)
    if load or name in GENERATED:
        if columns:
            raise UserError(f"{source!r} takes no column mapping: its tasks are complete")
        return iter(load() if load else GENERATED[name](rest))
    report = on_bad or fail
    adapter, rows = _opened(source, report)
    if columns:
        if adapter:
            raise UserError(f"{source!r} takes no column mapping: its format says what the columns are")
        check_columns(columns)
        return each_sound(lambda one: mapped_task(one[1], columns, one[0]), rows, report)
    if adapter is None:
        parts = row_sources.parts(source)
        return chain.from_iterable(
            row_sources.beside(part, _guessed(part, report, on_guess)) for part in parts
        )
    return row_sources.beside(rest, tasks_of(adapter, rows, report))


def load_tasks(
    source: str,
    *,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    topics: Collection[str] | None = None,
    levels: Collection[int] | None = None,
    split: Split | None = None,
    held_out_fraction: float = 0.35,
) -> list[Task]:
    """Loads, checks and splits a source (see `iter_tasks`), then keeps the first `limit` tasks of the topics, levels
    and split.

    Splits are assigned first, so that filters do not move a task to the other side. Raises a one-line UserError for a
    mistake in the source, a bad row, a repeated id, and if no task is left.
    """
    tasks = _all_of(source, columns, held_out_fraction)
    if not tasks:
        raise UserError(f"the data set {source!r} is empty: it holds no task")
    _refuse_duplicates(tasks, source)
    if split not in (None, "train", "held-out"):
        raise UserError(f"unknown split {split!r}: 'train' or 'held-out'")
    _refuse_unknown_topics(tasks, topics)
    if not all(task.split for task in tasks):
        tasks = splits.assign_splits(tasks, held_out_fraction)
    kept = [
        task
        for task in tasks
        if (topics is None or task.topic in topics)
        and (levels is None or task.level in levels)
        and (split is None or task.split == split)
    ][:limit]
    if not kept:
        raise UserError(
            f"none of the {len(tasks)} tasks in {source!r} is left with topics={_listed(topics)}, "
            f"levels={_listed(levels)}, split={split or 'any'}, limit={limit}: loosen a filter"
        )
    return kept


def read_rows(source: str) -> Iterator[tuple[str, Row]]:
    """(where, row) of each row of a source that is more than a name, read lazily. Raises a one-line UserError."""
    return _opened(source, fail)[1]


def _all_of(source: str, columns: Mapping[str, str] | None, held_out_fraction: float) -> list[Task]:
    """The tasks of a source; edits have the split of their original, built-in tasks their own."""
    name, _, rest = source.partition(":")
    if source in BUILTIN and not columns:
        return builtin.load(BUILTIN[source], held_out_fraction)
    if name != edit_tasks.PREFIX:
        return list(iter_tasks(source, columns=columns))
    form, inner = edit_tasks.named(rest)
    originals = _all_of(inner, columns, held_out_fraction)
    return list(edit_tasks.wrapped(splits.assign_splits(originals, held_out_fraction), form))


def _opened(source: str, report: Report) -> tuple[Adapter | None, Iterator[tuple[str, Row]]]:
    """The format that a source names, and its rows."""
    name, colon, place = source.partition(":")
    adapter = ADAPTERS.get(name) if colon else None
    if adapter is None:
        if not row_sources.is_place(source):
            raise _unknown(source)
        return None, row_sources.read_place(source, report)
    path = Path(place).expanduser()
    if not place:
        raise UserError(f"{source!r} names no data set: write {name}:PATH or {name}:hub:ID")
    if adapter.folder and path.is_dir() and not row_sources.has_files(path):
        return adapter, adapter.folder(path)
    return adapter, row_sources.read_place(place, report)


def _guessed(place: str, report: Report, on_guess: Report | None) -> Iterator[Task]:
    """The tasks of a place whose format is guessed from its first row."""
    adapter, rows = guessed(row_sources.read_place(place, report))
    if on_guess and adapter.name != "strop":
        on_guess(f"{place}: read as format {adapter.name!r} ({adapter.about})")
    return tasks_of(adapter, rows, report)


def _unknown(source: str) -> UserError:
    words = [*BUILTIN, *GENERATED, edit_tasks.PREFIX, *ADAPTERS, *row_sources.KINDS]
    hint = suggestion(source, words) or suggestion(source.partition(":")[0], words)
    return UserError(
        f"unknown task source {source!r}{hint}: one of {', '.join([*BUILTIN, *GENERATED])}, edits:SOURCE, a path "
        "that ends in .jsonl or .parquet, a folder of such files, hub:ID, or FORMAT:PLACE with one of the formats "
        f"{', '.join(ADAPTERS)}"
    )


def _refuse_duplicates(tasks: Iterable[Task], source: str) -> None:
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise UserError(f"duplicate task id {task.id!r} in {source!r}: ids must differ")
        seen.add(task.id)


def _refuse_unknown_topics(tasks: Iterable[Task], topics: Collection[str] | None) -> None:
    known = sorted({task.topic for task in tasks})
    for topic in topics or ():
        if topic not in known:
            listed = ", ".join(filter(None, known)) or "none"
            raise UserError(
                f"tasks.topics: unknown topic {topic!r}{suggestion(topic, known)}: there are {listed}; tasks.topics=[] "
                "takes all"
            )


def _listed(values: Collection[object] | None) -> str:
    return "any" if values is None else ",".join(map(str, sorted(values, key=str))) or "none"
