"""`strop tasks import|convert|formats`: converts any format to task lines or to another format.

An import ends with a table: what was imported, how strong its checks are, what was left out and why.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option, echo

from strop.cli.options import Source, TaskFilters, columns_of, grouped, say
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop_verify.core.task import Task

_CAUSES = 12
"""Maximum number of listed causes."""
_WHERE = re.compile(r"^\S*?(?::\[?\d+\]?|\[\w+\]:\d+)?: ")
"""The place at the start of a message about a row, such as file:line."""
_VALUE = re.compile(r"(['\"])(?:\\.|(?!\1).)*\1|\d+")
"""The parts that differ between messages with the same cause."""


SHOWN = 20
"""Default number of printed messages about left-out rows."""
_EVERY = 10_000


class Log:
    """Messages on stderr about left-out rows: the first `SHOWN`, or all. Counts tasks and left-out rows as they pass;
    keeps a short text of each kind, never a task.
    """

    def __init__(self, verbose: bool) -> None:
        self.count = 0
        self.verbose = verbose
        self.kinds: Counter[tuple[str, str, str, str]] = Counter()
        self.tests: Counter[tuple[str, str, str, str]] = Counter()
        self.causes: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.notes: Counter[str] = Counter()
        self.noted: dict[str, str] = {}

    def came_in(self, task: "Task") -> None:
        """Counts a task that is written."""
        from strop_verify.sandbox.limits import Limits

        check = task.check
        kind = (task.family, task.language, check.kind, check.strength())
        self.kinds[kind] += 1
        self.tests[kind] += check.different_tests()
        most = 16 * Limits().output_bytes
        if check.effective().largest_output() > most:
            self._note(
                task,
                f"have an expected output of more than {most >> 20} MiB, too long for any program: none can pass",
            )
        if not task.reference.strip() and not check.rewards_alone and check.answer != "label":
            self._note(task, "have no reference: they may be unsolvable")
        if "warning" in task.metadata:
            self._note(task, str(task.metadata["warning"]))

    def __call__(self, line: str) -> None:
        """Takes the message about a left-out row, and counts it by its cause."""
        self.count += 1
        key = _VALUE.sub("*", _WHERE.sub("", line, count=1))
        self.causes[key] += 1
        self.first.setdefault(key, line)
        if self.verbose or self.count <= SHOWN:
            tell(line)

    def _note(self, task: "Task", text: str) -> None:
        self.notes[text] += 1
        self.noted.setdefault(text, task.id)

    def lines(self) -> Iterator[str]:
        """The lines of the import's table, then notes on some tasks, then the causes with their first message."""
        head = ("tasks", "family", "language", "check", "a pass means", "different tests a task")
        rows = [head]
        for kind, count in self.kinds.most_common():
            rows.append((str(count), *kind, f"{self.tests[kind] / count:.3g}"))
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        for row in rows:
            cells = [row[0].rjust(widths[0]), *(c.ljust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
            yield printable("  ".join(cells).rstrip())
        for text, count in self.notes.most_common():
            yield printable(f"{count} of them {text} (first: {self.noted[text][:80]})")
        for key, count in self.causes.most_common(_CAUSES):
            line = self.first[key]
            yield printable(f"{count} left out: {line[:200]}" + (" ..." if count > 1 else ""))
        if len(self.causes) > _CAUSES:
            rest = sum(self.causes.values()) - sum(c for _, c in self.causes.most_common(_CAUSES))
            yield f"{rest} left out for {len(self.causes) - _CAUSES} further causes (--verbose prints all)"

    def close(self) -> None:
        """Prints how many messages were suppressed."""
        if not self.verbose and self.count > SHOWN:
            tell(f"... and {self.count - SHOWN} more (--verbose prints all)")


@dataclass(frozen=True)
class WrittenFile:
    """Options of the output and of the messages about rows that make no task."""

    output: Annotated[Path, Option("--output", "-o", help="file to write; may end in .gz, .zst or .parquet")]
    strict: Annotated[bool, Option("--strict", help="exit code 1 if anything was left out")] = False
    verbose: Annotated[bool, Option("--verbose", "-v", help="print a line for every left-out row")] = False


@grouped
def import_command(
    source: Source,
    written: WrittenFile,
    filters: TaskFilters,
    images: Annotated[
        Path | None,
        Option("--images", metavar="STORE", help="folder of images on disk, for tasks that name one"),
    ] = None,
) -> None:
    """Write the tasks of any source as Strop's task lines (docs/formats.md, docs/data-sets.md).

    Rows that make no task are reported on stderr and left out. Exit code 2 if no task is left.
    With --images, a task that names an image gets the image's place in the store; if the image is missing there, the
    task is left out and the message has the command that fetches it (docs/neighbours.md).
    """
    _run(source, "strop", written, filters, images)


@grouped
def convert_command(
    source: Source,
    written: WrittenFile,
    to: Annotated[str, Option("--to", help="format to write, see `strop tasks formats`")],
    filters: TaskFilters,
) -> None:
    """Write the tasks of any source in another format: JSON lines, parquet or a folder, depending on the format.

    Tasks that the format cannot hold are reported on stderr and left out. Exit code 2 if no task is left.
    """
    if to == "strop":
        raise UserError("strop is the format of `strop tasks import`: use that")
    _run(source, to, written, filters)


def formats_command() -> None:
    """List the formats, one per line, and whether they can also be written."""
    from strop.tasks.adapters import ADAPTERS

    for adapter in ADAPTERS.values():
        echo(f"{adapter.name}\t{'read, write' if adapter.write else 'read'}\t{adapter.about}")


def tell(line: str) -> None:
    """Prints a one-line message."""
    say(" ".join(line.split("\n")))


def _run(
    source: str, to: str, written: WrittenFile, filters: TaskFilters, images: Path | None = None
) -> None:
    from strop.tasks.formats import adapter_named, write_format
    from strop.tasks.sources import iter_tasks

    adapter = adapter_named(to)
    log = Log(written.verbose)
    found = iter_tasks(source, columns=columns_of(filters.column), on_bad=log, on_guess=tell)
    wanted = chosen(_usable(found, log), filters)
    if images is not None:
        wanted = _with_images(wanted, images, log)
    try:
        count = write_format(adapter, _counted(wanted, source, log), written.output, log)
    finally:
        log.close()
    if to == "strop":
        for line in log.lines():
            say(line)
    echo(f"{count} tasks, {log.count} rows left out: {written.output}")
    if written.strict and log.count:
        raise Exit(1)


def _usable(tasks: "Iterable[Task]", log: Log) -> "Iterator[Task]":
    """The tasks, without those that no toolchain can judge, that no answer can fail, or whose id repeats.

    Uses 8 bytes and a set's overhead per task.
    """
    from strop_verify.core.errors import VerificationError
    from strop_verify.core.ids import derive_seed
    from strop_verify.verification.command.languages import require_known

    seen: set[int] = set()
    for task in tasks:
        where, key = task.source or task.id[:80], derive_seed(task.id)
        try:
            require_known(task)
        except VerificationError as error:
            log(f"{where}: {error}")
            continue
        if why := task.check.effective().never_fails():
            log(f"{where}: no answer can fail the tests: {why}")
        elif key in seen:
            log(f"{where}: the id {task.id[:80]!r} occurs twice: left out")
        else:
            seen.add(key)
            yield task


def _with_images(tasks: "Iterable[Task]", store: Path, log: Log) -> "Iterator[Task]":
    """The tasks with the places of the images that they name; leaves out those whose image the store lacks."""
    from strop_verify.verification.terminal import with_image

    for task in tasks:
        try:
            yield task.model_copy(update={"check": with_image(task.check, store)})
        except UserError as error:
            log(f"{task.source or task.id[:80]}: {error}")


def chosen(tasks: "Iterable[Task]", filters: TaskFilters) -> "Iterator[Task]":
    """The first `filters.limit` tasks with the topics and levels of the filters."""
    from itertools import islice

    topics, levels = filters.topic, filters.level
    kept = (t for t in tasks if (not topics or t.topic in topics) and (not levels or t.level in levels))
    return islice(kept, filters.limit)


def _counted(tasks: "Iterable[Task]", source: str, log: Log) -> "Iterator[Task]":
    """The tasks, with a line on stderr every ten thousand. Raises UserError if there is none, so that no empty file is
    written.
    """
    number = 0
    for number, task in enumerate(tasks, start=1):
        log.came_in(task)
        yield task
        if number % _EVERY == 0:
            say(f"{number} tasks")
    if not number:
        why = "every row was left out" if log.count else "it is empty, or a filter leaves nothing"
        raise UserError(f"no task is left from {source!r}: {why}")
