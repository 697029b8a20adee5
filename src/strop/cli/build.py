"""`strop build`: make new tasks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option, Typer

from strop.cli.build_bugs import bugs
from strop.cli.build_commits import commits
from strop.cli.build_demos import demos
from strop.cli.build_edits import edits
from strop.cli.build_env import env
from strop.cli.build_implement import implement
from strop.cli.build_next_edit import next_edit
from strop.cli.build_preferences import preferences
from strop.cli.build_retrieval import retrieval
from strop.cli.build_rust_fix import rust_fix
from strop.cli.options import AllowUnsafe, Jail, VerifyWorkers, columns_of, say
from strop.core.errors import UserError

if TYPE_CHECKING:
    from strop.curation.rust_build import BuildProgress, Report

app = Typer(help="Make new tasks.", no_args_is_help=True)


@app.callback()
def build() -> None:
    """Make new tasks."""


app.command("bugs")(bugs)
app.command("commits")(commits)
app.command("demos")(demos)
app.command("edits")(edits)
app.command("env")(env)
app.command("implement")(implement)
app.command("next-edit")(next_edit)
app.command("preferences")(preferences)
app.command("retrieval")(retrieval)
app.command("rust-fix")(rust_fix)


@app.command("rust")
def rust(
    source: Annotated[
        str,
        Argument(help="prompts: python-functions, jsonl:PATH, parquet:PATH, hub:ID[@SPLIT], or a path"),
    ],
    output: Annotated[
        Path, Option("--output", "-o", help="folder for the build; an existing one is resumed")
    ],
    url: Annotated[str, Option(help="OpenAI-compatible server, such as http://127.0.0.1:8000/v1")] = "",
    model: Annotated[str, Option(help="name of the model on the server")] = "",
    column: Annotated[
        list[str] | None,
        Option("--column", "-c", help="statement=COLUMN, id=COLUMN for another data set"),
    ] = None,
    limit: Annotated[int | None, Option(min=1, help="stop after this many prompts")] = None,
    attempts: Annotated[
        int, Option(min=1, max=8, help="answers per prompt; each retry gets the error of the last")
    ] = 1,
    temperature: Annotated[float, Option(min=0.0, max=2.0, help="sampling temperature")] = 0.7,
    max_tokens: Annotated[int, Option(min=16, help="maximum tokens in one response")] = 2048,
    seed: Annotated[int, Option(help="seed of the sampling and of the split")] = 0,
    concurrency: Annotated[int, Option(min=1, max=1024, help="concurrent calls")] = 16,
    timeout: Annotated[float, Option(min=1.0, help="seconds one call may take")] = 600.0,
    api_key_env: Annotated[str, Option(help="environment variable that holds the key")] = "OPENAI_API_KEY",
    price_in: Annotated[float | None, Option(min=0.0, help="price of a million prompt tokens")] = None,
    price_out: Annotated[float | None, Option(min=0.0, help="price of a million completion tokens")] = None,
    max_cost: Annotated[float | None, Option(min=0.0, help="stop when the calls have cost this much")] = None,
    parts: Annotated[str, Option(help="proportions of train, test and eval")] = "15000,1000,500",
    workers: VerifyWorkers = None,
    jail: Jail = "auto",
    allow_unsafe: AllowUnsafe = False,
    dry_run: Annotated[bool, Option("--dry-run", help="print the expected cost, then stop")] = False,
) -> None:
    """Make Rust tasks from Python prompts: a model rewrites, solves and tests; what passes is kept and split.

    After a kill or an interrupt, the same command resumes and pays for no call twice. See docs/build.md.
    """
    from strop.curation.rust_build import RustBuildSettings, estimate
    from strop.curation.rust_build import build as run
    from strop.policies.connection import Prices, Usage
    from strop.reports.terminal.progress import Progress

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
    with Progress("built") as progress:

        def show(now: "BuildProgress") -> None:
            cost = "" if now.cost is None else f", cost {now.cost:.2f} of about {now.estimate or 0:.2f}"
            progress.at(now.done, now.kept, now.total, f"{now.usage.calls.total()} calls{cost}")

        report = run(settings, expected, say=say, show=show)
    _summarise(report, output)


def _parts(text: str) -> tuple[int, int, int]:
    words = text.split(",")
    if len(words) != 3 or not all(word.strip().isdecimal() for word in words):
        raise UserError(f"--parts {text!r}: write three numbers for train,test,eval, such as 15000,1000,500")
    train, test, evaluation = map(int, words)
    return train, test, evaluation


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
        say(
            f"stopped at --max-cost with {manifest['unfinished']} prompts left: raise it and run the same command again"
        )
    elif report.unverified:
        say(
            f"error: {manifest['unfinished']} prompts could not be verified; run the same command again; "
            f"first cause: {report.unverified}"
        )
        raise Exit(1)
    elif not kept["total"]:
        say(f"error: nothing was kept; {output}/dropped.jsonl says why")
        raise Exit(1)
