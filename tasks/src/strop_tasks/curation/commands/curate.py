"""`strop curate`: a pipeline of named steps over sources of tasks, with a manifest that accounts for every task."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from strop.cli.options import AllowUnsafe, VerifyWorkers, say
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop_tasks.curation.pipeline.stage import Watcher


def _steps(wanted: bool) -> None:
    if not wanted:
        return
    from strop_tasks.curation.pipeline.read import STEPS, settings_of

    for name in STEPS:
        kind = STEPS[name]
        print(f"{name}: {(kind.__doc__ or '').partition(chr(10))[0]}")
        for key, field in settings_of(kind).model_fields.items():
            default = "required" if field.is_required() else f"default {_shown(field.default)}"
            print(f"    {key} ({default}): {' '.join((field.description or '').split())}")
    raise Exit


def curate(
    pipeline: Annotated[str, Argument(metavar="NAME|PIPELINE.yaml", help="sources and steps: docs/audit.md")],
    out: Annotated[Path | None, Option("--output", "-o", help="folder for tasks and manifest")] = None,
    source: Annotated[
        list[str] | None, Option("--source", "-s", help="replaces the pipeline's sources; repeatable")
    ] = None,
    seed: Annotated[int | None, Option(min=0, help="replaces the pipeline's seed")] = None,
    workers: VerifyWorkers = None,
    overwrite: Annotated[
        bool, Option("--overwrite", help="start over in a folder with an earlier result")
    ] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="check the pipeline, print it with every default, then stop")
    ] = False,
    allow_unsafe: AllowUnsafe = False,
    steps: Annotated[bool, Option("--steps", callback=_steps, is_eager=True, help="list all steps")] = False,
) -> None:
    """Filter, clean and split tasks by a pipeline of steps.

    Writes tasks.jsonl, one file for each part of a split, dropped.jsonl, changes.jsonl and manifest.json. The same
    command resumes a stopped run.
    """
    from strop_tasks.curation.pipeline.read import read_pipeline
    from strop_tasks.curation.pipeline.run import RunOptions
    from strop_tasks.curation.pipeline.run import curate as run

    changes = {"source": source, "seed": seed}
    planned = read_pipeline(pipeline, {key: value for key, value in changes.items() if value is not None})
    if dry_run:
        import yaml

        print(printable(yaml.safe_dump(planned.resolved(), sort_keys=False, allow_unicode=True)), end="")
        return
    if out is None:
        raise UserError("no folder for the result: add --output FOLDER")
    options = RunOptions(workers=workers, allow_unsafe=allow_unsafe, overwrite=overwrite)
    with ExitStack() as stack:
        try:
            manifest = run(planned, out, options, _shown_stages(stack))
        except KeyboardInterrupt:
            raise KeyboardInterrupt("run the same command again to resume") from None
    _summarise(manifest, out)


def _shown_stages(stack: ExitStack) -> "Watcher":
    """Progress on stderr, with one line per finished stage; `stack` ends the last one."""
    from strop.reports.terminal.progress import Progress
    from strop_tasks.curation.pipeline.stage import StageCounts, Watcher

    class Shown(Watcher):
        say = staticmethod(say)

        def begin(self, name: str, number: int, stages: int, size: int | None) -> None:
            stack.close()
            label = f"{name} ({number} of {stages})" if number else name
            self.progress = stack.enter_context(Progress(label, size))

        def at(self, done: int, total: int | None) -> None:
            self.progress.at(done, None, total)

        def end(self, entry: StageCounts) -> None:
            stack.close()
            changed = f", {entry.changed} changed" if entry.changed else ""
            say(f"{entry.step}: {entry.kept} of {entry.taken} kept{changed}, {entry.seconds:.1f} s")

    return Shown()


def _summarise(manifest: dict[str, Any], out: Path) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    for head in ("step", "in", "kept", "changed", "dropped", "seconds"):
        table.add_column(head, justify="left" if head == "step" else "right", no_wrap=True)
    table.add_column("dropped because", overflow="fold")
    for step in manifest["steps"]:
        reasons = sorted(step["reasons"].items(), key=lambda item: (-item[1], item[0]))
        numbers = (str(step[key]) for key in ("in", "kept", "changed", "dropped"))
        why = printable(", ".join(f"{count} {reason}" for reason, count in reasons))
        table.add_row(Text(step["step"]), *numbers, f"{step['seconds']:.1f}", Text(why))
    Console(highlight=False, width=None if sys.stdout.isatty() else 200).print(table)
    parts = {
        n: f["lines"] for n, f in manifest["files"].items() if n not in ("dropped.jsonl", "changes.jsonl")
    }
    listed = ", ".join(f"{name} {lines}" for name, lines in parts.items())
    print(
        printable(f"{out}: {listed}; manifest.json, dropped.jsonl and changes.jsonl account for the others")
    )


def _shown(value: Any) -> str:
    from pydantic import BaseModel

    return "as below" if isinstance(value, BaseModel) else "none" if value is None else str(value)
