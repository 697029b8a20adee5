"""`strop build`: makes new tasks. This module has `rust-fix` (programs with a fault and the compiler's message),
`demos` (multi-turn demonstrations for a warm start) and `rust`.
"""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option, Typer

from strop.cli.options import grouped, recipe_of, say
from strop_tasks.curation.commands.bugs import bugs
from strop_tasks.curation.commands.commits import commits
from strop_tasks.curation.commands.edits import edits
from strop_tasks.curation.commands.env import env
from strop_tasks.curation.commands.implement import implement
from strop_tasks.curation.commands.next_edit import next_edit
from strop_tasks.curation.commands.preferences import preferences
from strop_tasks.curation.commands.retrieval import retrieval
from strop_tasks.curation.engine.output import Build, ChosenTasks, File, PromptLimit, Verifying, known
from strop_tasks.curation.rust_build import RustBuildSettings
from strop_verify.core.errors import UserError
from strop_verify.core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from strop.config.schema import Recipe
    from strop.tasks.demos import Demo
    from strop_tasks.curation.faults.operators import Kind
    from strop_tasks.curation.rust_build.build import Report

CPU_SECONDS, WALL_SECONDS = 2.0, 20.0
"""Limits of the tests of one program; a fault that exceeds them makes no task."""


@grouped
def rust_fix(
    output: File,
    chosen: ChosenTasks,
    verifying: Verifying,
    prompts: PromptLimit,
    source: Annotated[
        str, Option("--source", "-s", help="Rust tasks with references and tests: a name or a file")
    ] = "rust-functions",
    seed: Annotated[int, Option(help="seed for the choice of faults")] = 0,
    per_task: Annotated[int, Option(min=1, max=100, help="maximum programs from one task")] = 6,
    kinds: Annotated[str | None, Option(help="only these kinds of fault, such as moves,types")] = None,
) -> None:
    """Make repair tasks: put faults into references and keep the programs that fail as intended.

    Also writes OUTPUT.manifest.json, with counts and reasons. See docs/rust.md.
    """
    from strop.reports.terminal.progress import Progress
    from strop.tasks import load_tasks
    from strop_tasks.curation.rust_fix import LAYOUT
    from strop_tasks.curation.rust_fix.build import fixes
    from strop_tasks.curation.rust_fix.rustc import open_rustc
    from strop_verify.sandbox.limits import Limits
    from strop_verify.verification import open_verifier

    build, wanted = Build(output, LAYOUT, prompts), _kinds(kinds)
    tally = build.tally
    tasks = load_tasks(source, **chosen.filters())
    limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
    with (
        open_verifier(limits=limits, **asdict(verifying)) as verifier,
        open_rustc(**asdict(verifying)) as compiler,
        Progress("tasks", len(tasks)) as progress,
    ):
        done = build.shown(progress, len(tasks))
        made = fixes(tasks, verifier, compiler, tally, seed=seed, per_task=per_task, kinds=wanted, done=done)
        build.write(made, f"no fault could be put into the tasks of {source!r}", "none fits")
    build.finish(
        {"source": source, "seed": seed, "per_task": per_task, "kinds": wanted, **chosen.filters()},
        f"{tally.tasks} repair tasks from {tally.originals} tasks in {build.seconds():.0f} s: {tally.told('kinds')}; "
        f"left out: {tally.told('unusable')}",
    )


def _kinds(text: str | None) -> "list[Kind]":
    """The named kinds, in canonical order; all if none is named."""
    from strop_tasks.curation.faults.operators import KINDS

    named = [word.strip() for word in text.split(",")] if text is not None else KINDS
    return known("kind of fault", named, KINDS)


def demos(
    recipe: Annotated[
        list[str],
        Argument(metavar="NAME|RECIPE.yaml... [KEY=VALUE...]", help="recipe that will train on them"),
    ],
    output: Annotated[Path, Option("--output", "-o", help="file of demonstrations to write: .jsonl")],
    each: Annotated[int, Option(min=1, help="plays per task, with different random choices")] = 1,
    limit: Annotated[int | None, Option(min=1, help="maximum training tasks to play")] = None,
    score: Annotated[
        float, Option(min=0, max=1, help="for search tasks, also keep plays with at least this score")
    ] = 1.0,
) -> None:
    """Let an environment's expert play the recipe's training tasks, and keep the plays that pass.

    Each becomes a conversation, one JSON object per line; those too long for the recipe are left out. Train on them
    with sft.demos=FILE. See docs/plays.md.
    """
    from strop.reports.terminal.progress import Progress
    from strop.tasks.task_sets import task_sets
    from strop_tasks.curation.demos import build_demos, counts
    from strop_verify.core import files
    from strop_verify.core.rollout import Rollout

    if output.suffix != ".jsonl":
        raise UserError(f"--output {output}: name a file that ends in .jsonl")
    files.check_writable(output)
    asked = recipe_of([*recipe, "sft.demos=null"])
    resolved = recipe_of(
        [*recipe, "sft.demos=null", "play.max_tokens=null"]
    )  # an expert's tokens are characters
    if isinstance(resolved.tasks, list):
        raise UserError("strop build demos takes a recipe with one task set; this one has several")
    tasks = task_sets(resolved, say)[0].train[:limit]
    misfit: Callable[[Demo], str] | None = None
    failed: Counter[str] = Counter()
    made = 0
    with Progress("demonstrations", each * len(tasks)) as progress, files.atomic(output) as file:

        def played(rollout: Rollout) -> None:
            if not (passed := counts(rollout, score)):
                failed[rollout.verdict.detail if rollout.verdict else rollout.stop_reason] += 1
            progress.step(passed)

        for demo in build_demos(resolved, tasks, each=each, score=score, on_play=played):
            misfit = misfit or _misfit(asked)
            if why := misfit(demo):
                failed[why] += 1
                continue
            file.write(files.json_line(demo.model_dump(mode="json")))
            made += 1
        if not made:
            why = f"; most often: {failed.most_common(1)[0][0]}" if failed else ""
            raise UserError(f"none of the {each * len(tasks)} plays became a demonstration{why}")
    print(f"{made} demonstrations of {len(tasks)} tasks; {output}")
    for reason, count in failed.most_common(3):
        say(f"left out: {count} plays: {reason}")


def _misfit(recipe: "Recipe") -> "Callable[[Demo], str]":
    """Why a demonstration is too long for the recipe, in its model's tokens; "" if it fits."""
    from strop.policies.model_files import ModelFiles
    from strop.policies.open import local_tokenizer
    from strop.rollouts.encoding import demo_misfit
    from strop_verify.core.errors import StropError

    name = recipe.model.name
    try:
        files = ModelFiles.read(name, recipe.model.revision)
        tokenizer = local_tokenizer(recipe, files) if files else None
    except StropError:
        files = tokenizer = None
    if files is None or tokenizer is None:
        say(f"note: lengths are not checked, because the tokenizer of {name} is not on this machine")
        return lambda demo: ""
    play = min(filter(None, (recipe.play.max_tokens, files.context)), default=None)
    prompt, answer = recipe.task_set.max_prompt_tokens, recipe.sampling.max_tokens
    return lambda demo: demo_misfit(demo, tokenizer, prompt, answer, play)


app = Typer(help="Make new tasks.", no_args_is_help=True)


@app.callback()
def build() -> None:
    """Make new tasks."""


for _command in (bugs, commits, demos, edits, env, implement, next_edit, preferences, retrieval, rust_fix):
    app.command()(_command)  # typer writes a hyphen for each underscore of the name
BUILDERS: Registry[Any] = Registry("builders", {})  # builders that packages add, as typer commands
for _name in BUILDERS:
    app.command(_name)(BUILDERS[_name])


@app.command("rust")
@grouped
def rust(
    source: Annotated[
        str, Argument(help="prompts: python-functions, jsonl:PATH, parquet:PATH, hub:ID[@SPLIT], or a path")
    ],
    output: Annotated[Path, Option("--output", "-o", help="folder of the build; resumed if it exists")],
    settings: RustBuildSettings,
    dry_run: Annotated[bool, Option("--dry-run", help="print the expected cost, then stop")] = False,
) -> None:
    """Make Rust tasks from Python prompts: a model rewrites, solves and tests; what passes is kept and split.

    After a kill or an interrupt, the same command resumes and never pays for an answer twice. See docs/rust.md.
    """
    from strop.policies.connection import Usage
    from strop.reports.terminal.progress import Progress
    from strop_tasks.curation.rust_build.build import build as run
    from strop_tasks.curation.rust_build.build import estimate

    if not dry_run:
        settings.check_server()
    expected, prices = estimate(source, settings), settings.connection().prices
    if dry_run:
        print("\n".join(expected.lines(Usage(), prices)))
        return
    with Progress("built") as progress:

        def show(done: int, kept: int, paid: Usage) -> None:
            cost = f", cost {paid.cost(prices):.2f}" if prices.known else ""
            progress.at(done, kept, expected.rows, f"{paid.calls.total()} calls{cost}")

        report = run(source, output, settings, expected, say=say, show=show)
    _summarise(report, output)


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
