"""`strop audit`: checks that tasks are fit to train on. Exit code 1 if one is not."""

import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Exit, Option

from strop.cli import options
from strop_tasks.curation.engine.output import known
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop_tasks.curation.audit import AuditSettings, TaskAudit
    from strop_tasks.curation.audit.record import Summary
    from strop_verify.core.task import Task

_WIDTH = 140  # columns of the table without a terminal
_BAD_SHOWN = 20  # maximum unreadable rows to name


def audit(
    tasks: Annotated[
        str,
        Argument(metavar="TASKS", help="file of tasks, built-in set, or FORMAT:PLACE; see docs/formats.md"),
    ],
    output: Annotated[Path | None, Option("--output", "-o", help="file for the audits, JSON lines")] = None,
    keep: Annotated[Path | None, Option(help="file for the fit tasks, as task lines")] = None,
    fail_on: Annotated[
        Literal["fatal", "warning", "never"], Option(help="findings that make the exit code 1")
    ] = "fatal",
    quick: Annotated[bool, Option("--quick", help="stop at a task's first fatal finding")] = False,
    ignore: Annotated[list[str] | None, Option(help="code to ignore; may be repeated")] = None,
    runs: Annotated[int, Option(min=1, help="runs of a reference that looks deterministic")] = 5,
    chance_runs: Annotated[int, Option(min=1, help="runs of a reference with a source of randomness")] = 24,
    min_tests: Annotated[int, Option(min=1, help="minimum number of different tests per task")] = 5,
    mutants: Annotated[int, Option(min=0, help="maximum faulty versions of a reference; 0: none")] = 12,
    limit: Annotated[int | None, Option(min=1, help="read at most this many tasks")] = None,
    column: options.Column = None,
    show: Annotated[int, Option(min=0, help="unfit tasks to list")] = 20,
    workers: options.Workers = None,
    cpu_seconds: options.CpuSeconds = None,
    memory_mb: options.MemoryMb = None,
    rust_vendor: options.RustVendor = None,
    jail: options.Jail = "auto",
    allow_unsafe: options.AllowUnsafe = False,
) -> None:
    """Find tasks that teach the wrong thing: wrong, flaky or leaked references, tests that any answer passes.

    With --output or --keep, the same command resumes a stopped audit.
    """
    from strop_tasks.curation.audit import CODES, AuditSettings
    from strop_tasks.curation.audit.audit import paired
    from strop_tasks.curation.audit.journal import audits_beside, resumed
    from strop_tasks.curation.audit.record import Summary

    limits = options.limits_of(cpu_seconds, memory_mb) or options.usual_limits()
    settings = AuditSettings(
        runs=runs, chance_runs=max(runs, chance_runs), min_tests=min_tests, mutants=mutants, quick=quick,
        ignore=tuple(known("code in --ignore", ignore or (), CODES)),
        cpu_seconds=limits.cpu_seconds, memory_bytes=limits.memory_bytes,
    )  # fmt: skip
    _refuse_early(output, keep)
    bad, place = [0], output or keep
    summary = Summary(show)
    crates = options.folder_of_crates(rust_vendor)
    opened = {"limits": limits, "jail": jail, "allow_unsafe": allow_unsafe, "rust_vendor": crates}
    audits = partial(_audits, settings=settings, workers=workers, opened=opened)
    with ExitStack() as stack:
        memory = stack.enter_context(audits_beside(place)) if place else None
        source = islice(_tasks(tasks, column, bad), limit)
        pairs = paired(source, audits) if memory is None else resumed(source, memory, settings, audits)
        _go(pairs, output, keep, summary, f"the data set {tasks!r} is empty: it holds no task", bad)
    _report(summary, bad[0], output)
    if fail_on != "never" and (summary.unfit or bad[0] or (fail_on == "warning" and summary.warned)):
        raise Exit(1)


def _audits(
    tasks: "Iterable[Task]", settings: "AuditSettings", workers: int | None, opened: dict[str, Any]
) -> "Iterator[TaskAudit]":
    """Audits tasks; opens the verifier, with the options `opened`, at the first one."""
    from strop_tasks.curation.audit import audit_tasks
    from strop_verify.verification import open_verifier

    with open_verifier(workers=workers, **opened) as verifier:
        reseeded = partial(open_verifier, workers=1, **opened)
        yield from audit_tasks(tasks, verifier, settings, reseeded=lambda seed: reseeded(hash_seed=seed))


def _go(
    pairs: "Generator[tuple[Task, TaskAudit], None, None]",
    output: Path | None,
    keep: Path | None,
    summary: "Summary",
    empty: str,
    bad: list[int],
) -> None:
    """Audits all tasks. Audits and fit tasks go into files that get their names at the end. Raises UserError with the
    text `empty` when there were neither tasks nor bad rows.
    """
    from strop.reports.terminal.progress import Progress
    from strop.tasks.jsonl import whole_file
    from strop_verify.core.files import json_line, remove_parts

    with ExitStack() as stack:
        for path in filter(None, (output, keep)):
            # No other audit runs: an unfinished file is from a killed one.
            remove_parts(path.parent, path.name)
        audited, kept = (stack.enter_context(whole_file(path)) if path else None for path in (output, keep))
        progress = stack.enter_context(Progress("audited"))
        stack.enter_context(closing(pairs))
        try:
            for number, (task, found) in enumerate(pairs, start=1):
                summary.add(found)
                if audited is not None:
                    audited.write(json_line(found.model_dump(mode="json")))
                if kept is not None and found.ok:
                    kept.write(task.model_dump_json().encode() + b"\n")
                progress.at(number, number - summary.unfit, None)
            if not summary.tasks and not bad[0]:
                raise UserError(empty)
        except KeyboardInterrupt:
            if output is None and keep is None:
                raise
            raise KeyboardInterrupt("run the same command again to resume") from None


def _tasks(source: str, column: list[str] | None, bad: list[int]) -> "Iterator[Task]":
    """The tasks of the source; rows without a task are counted, with a line on stderr each."""
    from strop.tasks.sources import iter_tasks

    def report(line: str) -> None:
        bad[0] += 1
        if bad[0] <= _BAD_SHOWN:
            print(f"error: {printable(line)}", file=sys.stderr)

    return iter_tasks(source, columns=options.columns_of(column), on_bad=report, on_guess=options.say)


def _refuse_early(*paths: Path | None) -> None:
    """Raises UserError for a path that cannot be written."""
    from strop_verify.core.files import check_writable

    given = [path for path in paths if path is not None]
    if len(set(given)) < len(given):
        raise UserError(f"--output and --keep are both {given[0]}: give them different files")
    for path in given:
        check_writable(path)


def _report(summary: "Summary", bad: int, output: Path | None) -> None:
    from rich.console import Console

    for line in summary.lines():
        print(line)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    if summary.counts:
        console.print(summary.table())
    print(summary.verdict() + (f", {bad} rows could not be read" if bad else ""))
    if output is not None:
        print(f"audits written to {output}")
