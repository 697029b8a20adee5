"""Adapters of data sets: a schema, read into tasks, and a few of them written.

`ADAPTERS` maps names to adapters and imports a module when its name is asked for: Strop's own from here, others'
from `strop_tasks.formats`. A module has each of its adapters as a constant of that name: `SWE_BENCH` is `swe-bench`.
`samples/` beside it holds made-up rows of each. Rows come from anywhere
(see `strop.tasks.places`): an adapter knows one row, or one folder for sets that are folders, and never runs it.

Conventions. `reference` is a complete answer that passes. In `metadata`: `broken` is a complete answer that must fail,
`date` the day of publication ("YYYY-MM-DD"), `base_tests` how many of the first tests are the base set, `references`
further answers that pass, `original` the fields of a row that something else than the task needs.
"""

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strop.tasks import jsonl
from strop.tasks.rows import Row
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

    def sample(self) -> list[dict[str, Any]]:
        """Made-up rows of the schema, every variant of it at least once: `samples/NAME.jsonl`."""
        folder = Path(str(sys.modules[self.read.__module__].__file__)).parent / "samples"
        return [row for _, row in jsonl.read_rows(folder / f"{self.name}.jsonl")]


_MODULES = {
    "strop_tasks.formats.apps": ("apps", "taco"),
    "strop_tasks.formats.assert_rows": ("acecode", "mbpp"),
    "strop_tasks.formats.contests": ("code-contests", "codeforces"),
    "strop_tasks.formats.cruxeval": ("cruxeval",),
    "strop_tasks.formats.evalplus": ("evalplus",),
    "strop_tasks.formats.exercism": ("exercism-python", "exercism-rust"),
    "strop_tasks.formats.harbor": ("harbor",),
    "strop_tasks.formats.humaneval": ("humaneval", "humaneval-rust", "infilling"),
    "strop_tasks.formats.livecodebench": ("livecodebench",),
    "strop_tasks.formats.prime": ("prime",),
    "strop_tasks.formats.quixbugs": ("quixbugs",),
    "strop_tasks.formats.swe": ("swe-bench", "swe-smith"),
    "strop.tasks.adapters.task_lines": ("strop", "trl"),
    "strop_tasks.formats.translations": ("humaneval-x", "mbxp"),
    "strop_tasks.formats.verl": ("verl",),
    "strop_tasks.formats.vulnerability": ("primevul", "sven", "vulnerability"),
}
_MODULE_OF = dict(sorted((name, module) for module, names in _MODULES.items() for name in names))


class Adapters(Mapping[str, Adapter]):
    """Adapters by name, in alphabetical order."""

    def __getitem__(self, name: str) -> Adapter:
        """The adapter of that name. Raises KeyError."""
        module = importlib.import_module(_MODULE_OF[name])
        adapter: Adapter = getattr(module, name.replace("-", "_").upper())
        return adapter

    def __iter__(self) -> Iterator[str]:
        """The names of all."""
        return iter(_MODULE_OF)

    def __len__(self) -> int:
        return len(_MODULE_OF)


ADAPTERS = Adapters()
