"""Adapters of data sets: a schema, read into tasks, and a few of them written.

Strop's own are here, others come by the entry points `strop.formats`, as those of `strop-tasks` do. `samples/` beside a
module holds made-up rows of each of its adapters. Rows come from anywhere (see `strop.tasks.row_sources`): an adapter
knows one row, or one folder for sets that are folders, and never runs it.

Conventions. `reference` is a complete answer that passes. In `metadata`: `broken` is a complete answer that must fail,
`date` the day of publication ("YYYY-MM-DD"), `base_tests` how many of the first tests are the base set, `references`
further answers that pass, `original` the fields of a row that something else than the task needs.
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
    """As in the source `NAME:PLACE`; the module's name with `-` for `_`."""
    about: str
    """One line: what it is and whose format."""
    read: Callable[[Row, str], Iterator[Task]]
    """The tasks of one row, mostly one; the text is where the row is. Raises UserError for a bad row."""
    fits: Callable[[Row], bool]
    """Whether a row looks like one of this schema: cheap, and never raises."""
    write: Callable[[Task], dict[str, Any]] | None = None
    """The row of a task, JSON values only; None: the schema is only read. Raises UserError for a task that it cannot
    hold."""
    folder: Callable[[Path], Iterator[tuple[str, Row]]] | None = None
    """(where, row) of each task of a set that is a folder. Raises UserError."""
    write_folder: Callable[[Iterable[Row], Path], int] | None = None
    """Writes rows as such a folder, and returns how many. Raises UserError."""
    as_json: tuple[str, ...] = ()
    """Fields that a table (parquet) holds as JSON text, because their objects differ from row to row; reading accepts
    the text in their place anywhere."""

    installed: Callable[[], Iterable[Task]] | None = None
    """The tasks of the set where a package that is installed brings it, for a source that is the name alone."""

    def sample(self) -> list[dict[str, Any]]:
        """Made-up rows of the schema, every variant of it at least once: `samples/NAME.jsonl`."""
        folder = Path(str(sys.modules[self.read.__module__].__file__)).parent / "samples"
        return [row for _, row in jsonl.read_rows(folder / f"{self.name}.jsonl")]


ADAPTERS: Registry[Adapter] = Registry(
    "formats",
    {"strop": "strop.tasks.adapters.task_lines:STROP", "trl": "strop.tasks.adapters.task_lines:TRL"},
    fits=lambda found: isinstance(found, Adapter),
)
"""By name; a module is imported when one of its names is asked for."""
