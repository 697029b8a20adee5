"""The interface of a pipeline's steps: a step's input and output.

A step reads its tasks as often as it likes, each pass from disk, and yields each of them once: kept, perhaps changed,
or dropped with a reason. The pipeline checks that no task vanishes or appears, so a step never changes an id. Memory:
a step holds numbers and ids of all tasks, never all tasks.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from strop_tasks.curation.engine.memory import Memory
from strop_verify.core.section import Section
from strop_verify.core.task import Task
from strop_verify.verification.config import SandboxConfig

if TYPE_CHECKING:
    from strop_verify.verification.verifier import OpenVerifier

Read = Callable[[], Iterator[Task]]  # each call is a new pass over the tasks, in order


@dataclass(frozen=True)
class Dropped:
    """A task that was dropped."""

    task_id: str
    source: str
    reason: str
    """A few words, the same for all such tasks; counted in the manifest."""
    detail: str = ""
    """Details of this task, one line. May quote data sets, so it is hostile text."""


def drop(task: Task, reason: str, detail: str = "") -> Dropped:
    """The record of dropping `task`."""
    return Dropped(task.id, task.source, reason, detail)


def part_of(task: Task) -> str:
    """The name of the task's part; empty for none."""
    return str(task.metadata.get("split") or task.split or "")


def _no_verifier(*_: Any) -> "OpenVerifier":
    raise RuntimeError("this context has no verifier")


@dataclass
class Context:
    """What a step gets besides its tasks."""

    seed: int
    """Derived from the pipeline's seed and the step. Make random choices with `core.ids.derive_seed(seed, task.id)`."""
    folder: Path
    """This step's scratch folder, removed when it is done; keeps what a killed run left."""
    verifier: Callable[[], "OpenVerifier"] = _no_verifier
    """The pipeline's verifier, opened on first use; do not close it."""
    reseeded: "Callable[[int], OpenVerifier]" = _no_verifier
    """Opens another verifier with one worker, whose Python answers run under this hash seed; close it."""
    sandbox: SandboxConfig = field(default_factory=SandboxConfig)
    """The verifier's limits."""
    say: Callable[[str], None] = lambda text: None
    """Prints one line for the user."""
    progress: Callable[[int, int | None], None] = lambda done, total: None
    """Reports (done, total), at any time; total is None if unknown."""
    size: int | None = None
    """Number of input tasks, if known."""
    note: Callable[[str, Mapping[str, Any]], None] = lambda task_id, what: None
    """Writes (task id, what was changed) as a line of changes.jsonl. Only for tasks that are kept."""
    totals: Counter[str] = field(default_factory=Counter)
    """Further counts for the step's entry in the manifest, by name."""

    def memory(self, name: str = "memory") -> Memory:
        """Results of a costly step so far, by task id: on disk, available to a resumed run."""
        return Memory(self.folder / f"{name}.jsonl")


Settings = TypeVar("Settings", bound=Section)


class Step(ABC, Generic[Settings]):
    """One step with its settings; a new object for every run."""

    def __init__(self, config: Settings) -> None:
        self.config = config

    @abstractmethod
    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Yields every task of `read` once, kept or dropped, in the order of the result.

        Costly steps make two passes: one fills `context.memory()`, so a killed run loses little, and one yields.
        Raises UserError, one line, if the settings do not fit the tasks.
        """

    def check(self) -> None:
        """Raises UserError for anything that would stop the step later, such as a missing package or file.

        Called for every step before the first one runs.
        """

    def inputs(self) -> Sequence[Path]:
        """Files and folders, besides the tasks, that the result depends on."""
        return ()
