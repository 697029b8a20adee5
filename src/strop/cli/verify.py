"""`strop verify`: judges answers from any source, with the same code as in training."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Exit, Option

from strop.cli.options import (
    AllowUnsafe,
    CpuSeconds,
    Jail,
    MemoryMb,
    RustVendor,
    Workers,
    folder_of_crates,
    grouped,
    limits_of,
    say,
    usual_limits,
)  # fmt: skip
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop.cli.verdict_log import VerdictLog
    from strop_verify.core.task import Task
    from strop_verify.verification.verifier import OpenVerifier

IN_FLIGHT = 512
"""Maximum answers submitted but not yet written; bounds memory."""
MAX_ERROR_RATE = 0.05


@dataclass(frozen=True)
class VerifierOptions:
    """Options for where answers are judged, and within which limits."""

    workers: Workers = None
    cpu_seconds: CpuSeconds = None
    wall_seconds: Annotated[float | None, Option(min=0.01, help="wall-clock seconds for one answer")] = None
    memory_mb: MemoryMb = None
    jail: Jail = "auto"
    root: Annotated[
        str, Option(help="image for terminal tasks without their own, as `sandbox.root`", metavar="oci:PLACE")
    ] = ""
    allow_unsafe: AllowUnsafe = False
    rust_verdict: Annotated[
        Literal["strict", "cargo"], Option(help="strict: no forged passes; cargo: cargo's exit statuses")
    ] = "strict"
    rust_vendor: RustVendor = None
    trust: Annotated[
        Literal["value", "typed", "same-process"] | None,
        Option(help="minimum trust of a pass, as `sandbox.trust` in a recipe; a pass with less fails"),
    ] = None
    url: Annotated[
        str | None, Option(help="a `strop serve-verifier` to use instead of this machine", metavar="URL")
    ] = None
    ray: Annotated[
        str | None,
        Option(
            help="a Ray cluster to use instead: auto, HOST:PORT, or local to start one", metavar="ADDRESS"
        ),
    ] = None

    def open(self) -> "OpenVerifier":
        """Opens the verifier here, at `url` or on `ray`; a server's limits apply unless some are given here. Raises
        UserError.
        """
        from strop_verify.verification import open_on_ray, open_remote, open_verifier
        from strop_verify.verification.settings import fingerprint

        limits = limits_of(self.cpu_seconds, self.memory_mb, self.wall_seconds)
        if self.url and self.ray:
            raise UserError("--url and --ray both choose a verifier; give one of them")
        if self.url:
            if self.rust_vendor:
                raise UserError(
                    "--rust-vendor is for answers judged here; a server at --url has its own crates"
                )
            if self.root:
                raise UserError("--root is for answers judged here; a server at --url has its own settings")
            return open_remote(self.url, settings=fingerprint(limits, self.rust_verdict, self.trust))
        options: dict[str, Any] = {
            "limits": limits or usual_limits(),
            "rust_verdict": self.rust_verdict,
            "rust_vendor": folder_of_crates(self.rust_vendor),
            "workers": self.workers,
            "jail": self.jail,
            "allow_unsafe": self.allow_unsafe,
            "root": self.root,
            "trust": self.trust or "same-process",
        }
        if self.ray:
            return open_on_ray(None if self.ray == "local" else self.ray, **options)
        return open_verifier(**options)


@grouped
def verify(
    tasks: Annotated[str, Argument(metavar="TASKS", help="file of task lines, or a name such as humaneval")],
    answers: Annotated[Path, Argument(metavar="ANSWERS", help='file of {"task_id", "answer"} lines')],
    output: Annotated[Path, Option("--output", "-o", help="file for the verdict lines")],
    options: VerifierOptions,
) -> None:
    """Verify answers and write one verdict line for each, in the same order.

    After an interrupt or a kill the same command resumes. Exit code 1 if more than 5 % of
    the answers could not be verified because the grader failed.
    """
    from strop import __version__
    from strop.cli.verdict_log import VerdictLog
    from strop.reports.terminal.progress import Progress
    from strop.tasks import load_tasks
    from strop_verify.core.bounded_map import Work, bounded_map

    is_lines = Path(tasks).is_file() and not tasks.endswith(".parquet")
    by_id = {task.id: task for task in load_tasks(f"jsonl:{tasks}" if is_lines else tasks)}
    total = sum(1 for _ in _read(answers, by_id, tasks)) if answers.is_file() else None
    started = time.monotonic()
    settings = {**asdict(replace(options, workers=None)), "strop": __version__}
    with VerdictLog(output, settings) as log:
        try:
            with options.open() as verifier, Progress("verified", total) as progress:

                def judged(key: str, task: "Task", code: str) -> "Work[None]":
                    future = verifier.submit(task, code)
                    yield [future]
                    log.keep(key, task, future.result())
                    progress.step(future.result().passed)

                judging = (judged(*one) for one in log.missing(_read(answers, by_id, tasks)))
                for _ in bounded_map(judging, IN_FLIGHT, ordered=False):
                    pass
            outcomes = log.finish()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(log.remedy) from None
        except SystemExit:
            say(f"terminated; {log.remedy}")
            raise
    _summarise(outcomes, log, time.monotonic() - started)


def _read(path: Path, by_id: "dict[str, Task]", source: str) -> "Iterator[tuple[Task, str]]":
    """(task, code) of every answer line. Raises UserError with file:line, also for a file without answers."""
    from strop.tasks.answers import answer_in
    from strop.tasks.jsonl import read_rows

    empty = True
    for where, row in read_rows(path):
        empty = False
        for key in ("task_id", "answer"):
            if not isinstance(row.get(key), str):
                found = f"{key!r} is {row[key]!r:.60}" if key in row else f"it has no {key!r}"
                raise UserError(f'{where}: an answer line is {{"task_id": TEXT, "answer": TEXT}}; {found}')
        task = by_id.get(row["task_id"])
        if task is None:
            raise UserError(f"{where}: unknown task_id {row['task_id']!r}: {source} has no such task")
        yield task, answer_in(row["answer"], task)
    if empty:
        raise UserError(f"{path}: the file is empty: it holds no answer")


def _summarise(outcomes: Counter[str], log: "VerdictLog", seconds: float) -> None:
    count = outcomes.total()
    parts = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
    before = f" ({log.earlier} of them before)" if log.earlier else ""
    print(f"{count} answers verified in {seconds:.1f} s{before}: {parts}")
    if log.beside:
        say(
            f"{len(log.beside)} tasks passed only in one process with their tests (trust same-process, "
            f"docs/verification.md), such as {next(iter(log.beside))}"
        )
    if log.cause:
        say(f"error: {outcomes['error']} could not be verified; first cause: {log.cause}")
    if outcomes["error"] > MAX_ERROR_RATE * count:
        raise Exit(1)
