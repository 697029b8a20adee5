"""Where tasks come from: one name for every source, one function to load them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from strop.core.errors import UserError
from strop.core.task import Split, Task
from strop.tasks import (
    builtin,
    builtin_rust,
    exercism,
    hub,
    humaneval,
    humaneval_rust,
    jsonl,
    parquet,
    rust_from_python,
    splits,
)
from strop.tasks.rows import Row, check_columns, mapped_task, own_task, suggestion

NAMED: dict[str, Callable[[], list[Task]]] = {
    "python-functions": builtin.load,
    "rust-functions": lambda: builtin_rust.load() + rust_from_python.load(),
    "humaneval": humaneval.load,
}
"""Sources that are a name alone."""

READERS: dict[str, Callable[[str], Iterator[tuple[str, Row]]]] = {
    "jsonl": lambda rest: jsonl.read_rows(Path(rest).expanduser()),
    "parquet": lambda rest: parquet.read_rows(Path(rest).expanduser()),
    "hub": hub.read_rows,
    "exercism-rust": lambda rest: exercism.read_rows(Path(rest).expanduser()),
    "humaneval-rust": lambda rest: humaneval_rust.read_rows(Path(rest).expanduser()),
}
"""Sources written KIND:REST, as readers of (where, row)."""

SUFFIXES = {
    ".jsonl": "jsonl",
    ".jsonl.gz": "jsonl",
    ".json.gz": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
"""How a bare path's end names its kind."""


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
    """Loads, checks and splits a source, then keeps the tasks of the topics, levels and split asked for.

    source   "python-functions", "rust-functions", "humaneval", "jsonl:PATH", "parquet:PATH",
             "hub:ID[:CONFIG][@SPLIT]", "exercism-rust:PATH", "humaneval-rust:PATH" (JSONL files of those sets), or a
             bare path that ends in .jsonl, .jsonl.gz or .parquet
    columns  for foreign rows: part of the task -> name of the column, see `strop.tasks.rows.COLUMNS`
    limit    keep at most so many tasks, the first ones

    Splits are assigned before anything is left out, so that filters do not move a task to the other side. Raises
    UserError, one line, for whatever is wrong with the source or leaves no task.
    """
    tasks = _load(source, columns)
    if not tasks:
        raise UserError(f"the data set {source!r} is empty: it holds no task")
    _refuse_duplicates(tasks, source)
    if split not in (None, "train", "held-out"):
        raise UserError(f"unknown split {split!r}: 'train' or 'held-out'")
    _refuse_unknown_topics(tasks, topics)
    kept = [
        task
        for task in splits.assign_splits(tasks, held_out_fraction)
        if (topics is None or task.topic in topics)
        and (levels is None or task.level in levels)
        and (split is None or task.split == split)
    ][:limit]
    if not kept:
        raise UserError(
            f"no task of {source!r} is left of {len(tasks)} with topics={_listed(topics)}, levels={_listed(levels)}, "
            f"split={split or 'any'}, limit={limit}: loosen a filter"
        )
    return kept


def _load(source: str, columns: Mapping[str, str] | None) -> list[Task]:
    if source in NAMED:
        if columns:
            raise UserError(f"{source!r} takes no column mapping: its tasks are complete")
        return NAMED[source]()
    rows = read_rows(source)
    if columns:
        check_columns(columns)
        return [mapped_task(row, columns, where) for where, row in rows]
    return [own_task(row, where) for where, row in rows]


def read_rows(source: str) -> Iterator[tuple[str, Row]]:
    """(where, row) of each row of a source that is not a name alone, read as they are asked for.

    Raises UserError, one line, for a source that is unknown; the rows raise it for one that cannot be read.
    """
    kind, colon, rest = source.partition(":")
    if not (colon and kind in READERS):
        kind, rest = _kind_of_path(source), source
    if not rest:
        raise UserError(f"{source!r} names no data set: write {kind}:{'ID' if kind == 'hub' else 'PATH'}")
    return READERS[kind](rest)


def _kind_of_path(source: str) -> str:
    for suffix, kind in SUFFIXES.items():
        if source.endswith(suffix):
            return kind
    known = [*NAMED, *(f"{kind}:{'ID' if kind == 'hub' else 'PATH'}" for kind in READERS)]
    hint = suggestion(source, [*NAMED, *READERS]) or suggestion(source.partition(":")[0], [*NAMED, *READERS])
    raise UserError(f"unknown task source {source!r}{hint}: one of {', '.join(known)}")


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
            raise UserError(f"unknown topic {topic!r}{suggestion(topic, known)}: there are {listed}")


def _listed(values: Collection[object] | None) -> str:
    return "any" if values is None else ",".join(map(str, sorted(values, key=str))) or "none"
