"""Data-set adapters: each reads one schema into tasks, and some also write it.

Strop's own are here; others, such as those of `strop-tasks`, come through entry points in `strop.formats`. `samples/`
next to a module holds made-up rows of each of its adapters. Rows come from anywhere (see `strop.tasks.row_sources`): an
adapter sees one row, or one folder for sets that are folders, and never runs it.

Conventions. `reference` is a complete answer that passes. In `metadata`: `broken` is a complete answer that must fail,
`date` the day of publication ("YYYY-MM-DD"), `base_tests` how many of the first tests are the base set, `references`
further answers that pass, `original` the fields of a row that are needed by something other than the task.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strop.tasks import jsonl
from strop.tasks.rows import Row
from strop_verify.core.registry import Registry
from strop_verify.core.task import Task


@dataclass(frozen=True)
class Adapter:
    """One schema of code tasks."""

    name: str
    """The name in a source `NAME:PLACE`: the module's name with `-` for `_`."""
    about: str
    """One line: what it is and whose format."""
    read: Callable[[Row, str], Iterator[Task]]
    """The tasks of one row, usually one; the text says where the row is. Raises UserError for a bad row."""
    fits: Callable[[Row], bool]
    """Whether a row looks like one of this schema. Cheap; never raises."""
    write: Callable[[Task], dict[str, Any]] | None = None
    """The row of a task, JSON values only; None if the schema can only be read. Raises UserError for a task that it
    cannot hold."""
    folder: Callable[[Path], Iterator[tuple[str, Row]]] | None = None
    """(where, row) of each task of a set that is a folder. Raises UserError."""
    write_folder: Callable[[Iterable[Row], Path], int] | None = None
    """Writes rows as such a folder, and returns how many. Raises UserError."""
    as_json: tuple[str, ...] = ()
    """Fields that a table (parquet) stores as JSON text, because their objects differ from row to row; reading always
    accepts the text instead."""

    installed: Callable[[], Iterable[Task]] | None = None
    """The tasks of a set that an installed package brings, for a source without a place."""

    def sample(self) -> list[dict[str, Any]]:
        """Made-up rows of the schema, with every variant at least once: `samples/NAME.jsonl`."""
        folder = Path(str(sys.modules[self.read.__module__].__file__)).parent / "samples"
        return [row for _, row in jsonl.read_rows(folder / f"{self.name}.jsonl")]


ADAPTERS: Registry[Adapter] = Registry(
    "formats",
    {"strop": "strop.tasks.adapters.task_lines:STROP", "trl": "strop.tasks.adapters.task_lines:TRL"},
    fits=lambda found: isinstance(found, Adapter),
)
"""Adapters by name; a module is imported when one of its names is looked up."""
