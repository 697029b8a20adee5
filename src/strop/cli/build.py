"""`strop build`: make new tasks."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strop.cli.build_bugs import bugs
from strop.cli.build_edits import edits
from strop.cli.build_implement import implement
from strop.cli.build_rust_fix import rust_fix

if TYPE_CHECKING:
    from strop.curation.rust_build import BuildProgress, Report

app = typer.Typer(help="Make new tasks.", no_args_is_help=True)


@app.callback()
def build() -> None:
    """Make new tasks."""


app.command("bugs")(bugs)
app.command("edits")(edits)
app.command("implement")(implement)
app.command("rust-fix")(rust_fix)


@app.command("rust")
def rust(
    source: Annotated[
        str,
        typer.Argument(help="prompts: python-functions, jsonl:PATH, parquet:PATH, hub:ID[@SPLIT], or a path"),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="folder for the build; an existing one is resumed")
    ],
    url: Annotated[str, typer.Option(help="OpenAI-compatible server, such as http://127.0.0.1:8000/v1")] = "",
    model: Annotated[str, typer.Option(help="name of the model on the server")] = "",
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", help="statement=COLUMN, id=COLUMN for another data set"),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="stop after this many prompts")] = None,
    attempts: Annotated[
        int, typer.Option(min=1, max=8, help="answers per prompt; each retry gets the error of the last")
    ] = 1,
    temperature: Annotated[float, typer.Option(min=0.0, max=2.0, help="sampling temperature")] = 0.7,
    max_tokens: Annotated[int, typer.Option(min=16, help="maximum tokens in one response")] = 2048,
    seed: Annotated[int, typer.Option(help="seed of the sampling and of the split")] = 0,
    concurrency: Annotated[int, typer.Option(min=1, max=1024, help="concurrent calls")] = 16,
    timeout: Annotated[float, typer.Option(min=1.0, help="seconds one call may take")] = 600.0,
    api_key_env: Annotated[
        str, typer.Option(help="environment variable that holds the key")
    ] = "OPENAI_API_KEY",
    price_in: Annotated[float | None, typer.Option(min=0.0, help="price of a million prompt tokens")] = None,
    price_out: Annotated[
        float | None, typer.Option(min=0.0, help="price of a million completion tokens")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0.0, help="stop when the calls have cost this much")
    ] = None,
    parts: Annotated[str, typer.Option(help="proportions of train, test and eval")] = "15000,1000,500",
    workers: Annotated[
        int | None, typer.Option(min=1, help="answers verified at a time; one per core by default")
    ] = None,
    jail: Annotated[str, typer.Option(help="jail configuration; `strop doctor` lists them")] = "auto",
    allow_unsafe: Annotated[
        bool, typer.Option("--allow-unsafe", help="run without a jail if none is available")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the expected cost, then stop")] = False,
) -> None:
    """Make Rust tasks from Python prompts: a model rewrites, solves and tests; what passes is kept and split.

    After a kill or an interrupt, the same command resumes and pays for no call twice. See docs/build.md.
    """
    from strop.cli.options import columns_of
    from strop.curation.rust_build import RustBuildSettings, estimate
    from strop.curation.rust_build import build as run
    from strop.policies.paid.usage import Prices, Usage

    settings = RustBuildSettings(
        source=source, folder=output, url=url, model=model, columns=columns_of(column) or {}, limit=limit,
        attempts=attempts, temperature=temperature, max_tokens=max_tokens, seed=seed, concurrency=concurrency,
        timeout_seconds=timeout, api_key_env=api_key_env, price_in=price_in, price_out=price_out, max_cost=max_cost,
        parts=_parts(parts), workers=workers, jail=jail, allow_unsafe=allow_unsafe,
    )  # fmt: skip
    if not dry_run:
        settings.check_server()
    expected = estimate(settings)
    if dry_run:
        print("\n".join(expected.lines(Usage(), Prices(price_in, price_out))))
        return
    with _Line() as line:
        report = run(settings, expected, say=_say, show=line.show)
    _summarise(report, output)


class _Line:
    """The progress line, with the cost of the calls so far."""

    def __init__(self) -> None:
        from strop.reports.terminal.progress import Progress

        self._progress = Progress("built")

    def __enter__(self) -> "_Line":
        self._progress.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.__exit__(None, None, None)

    def show(self, now: "BuildProgress") -> None:
        """Shows how far the build is."""
        if now.cost is None:
            note = f"{now.usage.calls.total()} calls"
        else:
            note = f"{now.usage.calls.total()} calls, cost {now.cost:.2f} of about {now.estimate or 0:.2f}"
        self._progress.at(now.done, now.kept, now.total, note)


def _parts(text: str) -> tuple[int, int, int]:
    from strop.core.errors import UserError

    words = text.split(",")
    if len(words) != 3 or not all(word.strip().isdecimal() for word in words):
        raise UserError(f"--parts {text!r}: write three numbers for train,test,eval, such as 15000,1000,500")
    train, test, evaluation = map(int, words)
    return train, test, evaluation


def _say(text: str) -> None:
    from strop.core.text import printable

    print(printable(text), file=sys.stderr, flush=True)


def _summarise(report: "Report", output: Path) -> None:
    manifest = report.manifest
    kept, stages = manifest["kept"], manifest["dropped"]["by_stage"]
    reasons = ", ".join(f"{count} {stage}" for stage, count in stages.items())
    cost = f"; cost {manifest['cost']:.2f}" if manifest["cost"] is not None else ""
    print(
        f"{kept['total']} of {manifest['prompts']} prompts kept: {kept['train']} train, {kept['test']} test, "
        f"{kept['eval']} eval; dropped: {reasons or 'none'}{cost}; {output}/manifest.json"
    )
    if report.out_of_money:
        _say(
            f"stopped at --max-cost with {manifest['unfinished']} prompts left: raise it and run the same command again"
        )
    elif report.unverified:
        _say(
            f"error: {manifest['unfinished']} prompts could not be verified; run the same command again; "
            f"first cause: {report.unverified}"
        )
        raise typer.Exit(1)
    elif not kept["total"]:
        _say(f"error: nothing was kept; {output}/dropped.jsonl says why")
        raise typer.Exit(1)
