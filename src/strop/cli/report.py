"""`strop report`: writes one or more runs as a single HTML file that opens from disk."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from strop.cli.options import newest_run, say
from strop_verify.core.text import printable

REPORT = "report.html"


def report(
    runs: Annotated[
        list[Path] | None, Argument(metavar="[RUN...]", help="run folders", show_default="the newest run")
    ] = None,
    output: Annotated[
        Path | None,
        Option(
            "--output", "-o", help="file to write; RUN/report.html by default, ./report.html for several runs"
        ),
    ] = None,
    rollouts: Annotated[
        int, Option(min=0, max=100_000, help="maximum number of rollouts to embed; fewer if they do not fit")
    ] = 1000,
    seed: Annotated[int, Option(min=0, help="seed for the sample of rollouts")] = 0,
) -> None:
    """Write one or more runs into one HTML file under 3 MB, with a sample of their rollouts.

    The file needs no network and no server. Runs may be in progress, stopped or empty; the page says so.
    """
    from strop.reports.static.report import report as write
    from strop.reports.terminal.progress import Progress

    runs = runs or [newest_run()]
    target = output or (runs[0] / REPORT if len(runs) == 1 else Path(REPORT))
    with Progress("rollouts read") as progress:
        done = write(
            runs, target, rollouts=rollouts, seed=seed, seen=lambda count: progress.at(count, None, None)
        )
    for problem in done.problems:
        say(f"note: {problem}")
    print(
        f"{printable(str(done.path))}: {done.size / 1e6:.2f} MB, {done.embedded} of {done.rollouts} rollouts"
    )
