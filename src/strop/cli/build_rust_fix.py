"""`strop build rust-fix`: programs with a fault and the compiler's message, from Rust tasks with a reference."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from strop.code.mutate.operators import Kind
    from strop.core.task import Task
    from strop.curation.rust_fix.tally import Tally

CPU_SECONDS, WALL_SECONDS = 2.0, 20.0
"""For the tests of one program: a fault that makes them run longer makes no task."""


def rust_fix(
    out: Annotated[Path, typer.Option("--output", "-o", help="file of task lines to write; .gz compresses")],
    source: Annotated[
        str, typer.Option("--source", "-s", help="Rust tasks with references and tests: a name or a file")
    ] = "rust-functions",
    seed: Annotated[int, typer.Option(help="decides which faults are made")] = 0,
    per_task: Annotated[int, typer.Option(min=1, max=100, help="maximum programs from one task")] = 6,
    kinds: Annotated[
        str | None, typer.Option(help="only these kinds of fault, such as moves,types; default: all")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="read only this many tasks of the source")] = None,
    topic: Annotated[list[str] | None, typer.Option("--topic", help="only this topic; repeatable")] = None,
    level: Annotated[list[int] | None, typer.Option("--level", help="only this level; repeatable")] = None,
    split: Annotated[
        Literal["train", "held-out"] | None, typer.Option("--split", help="only this side of the split")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="batches verified at a time; one per core by default")
    ] = None,
    allow_unsafe: Annotated[
        bool, typer.Option("--allow-unsafe", help="run without a jail if none is available")
    ] = False,
) -> None:
    """Make repair tasks: put faults into references and keep the programs that fail as intended.

    Also writes OUTPUT.manifest.json, with counts and reasons. See docs/rust-fix.md.
    """
    from strop.core.errors import UserError
    from strop.curation.rust_fix.build import fixes
    from strop.curation.rust_fix.rustc import open_rustc
    from strop.curation.rust_fix.tally import Tally
    from strop.reports import files
    from strop.reports.terminal.progress import Progress
    from strop.sandbox.limits import Limits
    from strop.tasks import load_tasks, write_tasks
    from strop.verification import open_verifier

    manifest = out.with_name(f"{out.name}.manifest.json")
    if not out.name.endswith((".jsonl", ".jsonl.gz")):
        raise UserError(f"--output {out}: name a file that ends in .jsonl or .jsonl.gz")
    for path in (out, manifest):
        files.check_writable(path)
    wanted = _kinds(kinds)
    tasks = load_tasks(source, limit=limit, topics=topic, levels=level, split=split)
    tally, started = Tally(), time.monotonic()
    originals = useful = 0
    limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
    with (
        open_verifier(workers=workers, limits=limits, allow_unsafe=allow_unsafe) as verifier,
        open_rustc(workers=workers, allow_unsafe=allow_unsafe) as compiler,
        Progress("tasks", len(tasks)) as progress,
    ):

        def done(kept: int) -> None:
            nonlocal originals, useful
            originals, useful = originals + 1, useful + (kept > 0)
            progress.at(originals, useful, len(tasks), f"{sum(tally.kept.values())} repair tasks made")

        made = fixes(tasks, verifier, compiler, tally, seed=seed, per_task=per_task, kinds=wanted, done=done)
        write_tasks(_some(made, source, tally), out)
    settings = {"source": source, "seed": seed, "per_task": per_task, "kinds": wanted, "limit": limit,
                "topics": topic, "levels": level, "split": split}  # fmt: skip
    files.write_json(manifest, {"settings": settings, **tally.manifest()})
    _summarise(tally.manifest(), time.monotonic() - started, out)


def _kinds(text: str | None) -> "list[Kind]":
    """The named kinds, in their own order; all if none is named."""
    from strop.code.mutate.operators import KINDS
    from strop.core.errors import UserError
    from strop.tasks.rows import suggestion

    named = [word.strip() for word in text.split(",")] if text is not None else list(KINDS)
    for name in named:
        if name not in KINDS:
            raise UserError(
                f"unknown kind of fault {name!r}{suggestion(name, KINDS)}: there are {', '.join(KINDS)}"
            )
    return [kind for kind in KINDS if kind in named]


def _some(made: "Iterator[Task]", source: str, tally: "Tally") -> "Iterator[Task]":
    """The tasks. Raises UserError if there is none."""
    from strop.core.errors import UserError

    yield from made
    if not tally.kept:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.unusable.items()))
        raise UserError(f"no fault could be put into the tasks of {source!r}: {reasons or 'none fits'}")


def _summarise(counts: dict[str, Any], seconds: float, out: Path) -> None:
    from strop.core.text import printable

    unusable = ", ".join(f"{count} {reason}" for reason, count in counts["unusable"].items())
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts["kinds"].items())
    print(
        printable(
            f"{counts['tasks']} repair tasks from {counts['originals']} tasks in {seconds:.0f} s: {kinds}; "
            f"left out: {unusable or 'none'}; {out}"
        )
    )
