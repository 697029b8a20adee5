"""`strop build rust-fix`: programs with a fault and the compiler's message, from Rust tasks with a reference."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from typer import Option

from strop.cli.build_output import ChosenTasks, File, Output, Verifying, originals_shown
from strop.cli.options import grouped

if TYPE_CHECKING:
    from strop.code.mutate.operators import Kind

CPU_SECONDS, WALL_SECONDS = 2.0, 20.0
"""For the tests of one program: a fault that makes them run longer makes no task."""


@grouped
def rust_fix(
    output: File,
    chosen: ChosenTasks,
    verifying: Verifying,
    source: Annotated[
        str, Option("--source", "-s", help="Rust tasks with references and tests: a name or a file")
    ] = "rust-functions",
    seed: Annotated[int, Option(help="decides which faults are made")] = 0,
    per_task: Annotated[int, Option(min=1, max=100, help="maximum programs from one task")] = 6,
    kinds: Annotated[
        str | None, Option(help="only these kinds of fault, such as moves,types; default: all")
    ] = None,
) -> None:
    """Make repair tasks: put faults into references and keep the programs that fail as intended.

    Also writes OUTPUT.manifest.json, with counts and reasons. See docs/rust-fix.md.
    """
    from strop.curation.engine.tally import Tally, listed
    from strop.curation.rust_fix import LAYOUT
    from strop.curation.rust_fix.build import fixes
    from strop.curation.rust_fix.rustc import open_rustc
    from strop.reports.terminal.progress import Progress
    from strop.sandbox.limits import Limits
    from strop.tasks import load_tasks
    from strop.verification import open_verifier

    file, wanted, tally = Output(output), _kinds(kinds), Tally(LAYOUT)
    tasks = load_tasks(source, **chosen.filters())
    limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
    with (
        open_verifier(limits=limits, **asdict(verifying)) as verifier,
        open_rustc(**asdict(verifying)) as compiler,
        Progress("tasks", len(tasks)) as progress,
    ):
        done = originals_shown(progress, len(tasks), tally, "repair tasks")
        made = fixes(tasks, verifier, compiler, tally, seed=seed, per_task=per_task, kinds=wanted, done=done)
        file.write(made, tally, f"no fault could be put into the tasks of {source!r}", "none fits")
    settings = {"source": source, "seed": seed, "per_task": per_task, "kinds": wanted, **chosen.filters()}
    counts = tally.manifest()
    file.finish(
        {"settings": settings, **counts},
        f"{tally.tasks} repair tasks from {tally.originals} tasks in {{seconds}}: {listed(counts['kinds'])}; "
        f"left out: {listed(counts['unusable']) or 'none'}",
    )


def _kinds(text: str | None) -> "list[Kind]":
    """The named kinds, in their own order; all if none is named."""
    from strop.code.mutate.operators import KINDS
    from strop.tasks.rows import unknown

    named = [word.strip() for word in text.split(",")] if text is not None else list(KINDS)
    for name in named:
        if name not in KINDS:
            raise unknown("kind of fault", name, KINDS)
    return [kind for kind in KINDS if kind in named]
