"""`strop train`: runs GRPO from a recipe, with an evaluation before and after; also resumes a stopped run."""

import os
import shlex
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from strop.cli.options import AnyRecipes, DryRun, Plain, recipe_of, say
from strop_verify.core.errors import StropError, UserError

if TYPE_CHECKING:
    from strop.config.schema import Recipe

CONTROLS = ("ssd", "rft", "warm", "room")


def train(
    recipe: AnyRecipes = None,
    resume: Annotated[
        Path | None, Option(help="run folder to resume, with KEY=VALUE such as optim.steps=40 to extend it")
    ] = None,
    print_config: Annotated[
        bool, Option("--print-config", help="print the resolved recipe and stop")
    ] = False,
    dry_run: DryRun = False,
    controls: Annotated[
        str, Option(help="controls at equal compute to compare the run with: some of " + ",".join(CONTROLS))
    ] = "",
    seeds: Annotated[
        int, Option(min=1, help="train this many times with different seeds, and pool the differences")
    ] = 1,
    sweep: Annotated[
        list[str] | None,
        Option(metavar="KEY=VALUE,VALUE", help="train with each value; several sweeps make all combinations"),
    ] = None,
    plain: Plain = False,
) -> None:
    """Train a model by GRPO on verdicts from executing its code."""
    words = [*_held_against(controls), *(recipe or [])]
    if resume is not None:
        if print_config or dry_run or seeds > 1 or sweep:
            others = "--print-config, --dry-run, --seeds and --sweep"
            raise UserError(f"--resume uses the recipe in the run folder; leave out {others}")
        if (resume / "online.json").is_file():
            raise UserError(
                f"{resume} is a run of an older Strop with incompatible rounds; start a new one from what it serves: "
                f"strop online RECIPE model.name={resume}/served"
            )
        _run(resume, None, plain, words)
        return
    from strop.config.load import dump_recipe

    if not recipe:
        raise UserError(
            "no recipe given; try: strop train demo (strop recipes lists them, strop init DIR starts one)"
        )
    resolved = recipe_of(words)
    if print_config:
        print(dump_recipe(resolved), end="")
        return
    if resolved.reward_model.pairs is not None:
        raise UserError(f"reward_model.pairs is set, so use: strop train-reward {shlex.join(words)}")
    if dry_run:
        _check(resolved)
        return
    if seeds > 1 or sweep:
        from strop.cli.runs import runs
        from strop.launch.seeds import train_all

        swept = [one.partition("=")[0].strip() for one in sweep or ()]
        folders = train_all(resolved, words, sweep or (), seeds, plain)
        runs(folders, columns=",".join(["run", *swept, "steps", "reward", "held out", "difference"]))
        return
    _run(resolved.run.folder, resolved, plain)


def _held_against(controls: str) -> list[str]:
    names = [name.strip() for name in controls.split(",") if name.strip()]
    if unknown := [name for name in names if name not in CONTROLS]:
        raise UserError(f"--controls {controls}: {unknown[0]!r} is none of {', '.join(CONTROLS)}")
    trained = [name for name in names if name != "room"]
    return [f"evaluation.controls=[{','.join(trained)}]"] * bool(trained) + ["evaluation.room=4"] * (
        "room" in names
    )


def _check(recipe: "Recipe") -> None:
    from strop.config.run_stages import stages_of
    from strop.training.preflight import preflight

    sets = preflight(recipe, say=print, show=print).sets(recipe, print)
    train, held_out = (
        sum(map(len, side)) for side in zip(*((s.train, s.held_out) for s in sets), strict=True)
    )
    print(
        f"ok: {train} training tasks, {held_out} held out; {recipe.optim.steps} steps of "
        f"{recipe.grpo.tasks_per_step} x {recipe.grpo.group_size} rollouts; run folder {recipe.run.folder}"
    )
    for stage in stages_of(recipe) if recipe.stages else ():
        print(stage)


def _run(folder: Path, recipe: "Recipe | None", plain: bool, changes: Sequence[str] = ()) -> None:
    from strop.reports.run_folder import RunFolder
    from strop.reports.terminal.live import LiveView
    from strop.training.caller_overrides import NOTHING
    from strop.training.failures import RunStopped, explained, keep_loose
    from strop.training.preflight import preflight
    from strop.training.resume_changes import changed_recipe

    if recipe is None:
        RunFolder.read(folder)
        settings, _ = changed_recipe(folder, changes, 0)
    else:
        settings = recipe
    with suppress(ValueError):  # not the main thread, as in a notebook's server
        signal.signal(signal.SIGUSR2, lambda *_: None)  # there is nothing to save before the model is loaded
    main = os.environ.get("RANK", "0") == "0"
    with (
        open(os.devnull, "w") as nowhere,
        LiveView(
            settings.optim.steps, plain=plain or None, file=None if main else nowhere, title=str(folder)
        ) as view,
    ):
        given = NOTHING if recipe is None else preflight(recipe, say=view.note)
        view.note("loading ...")
        try:
            from strop.training.run import resume, train

            said: dict[str, Any] = {
                "say": view.note,
                "show": view.update,
                "status": view.status,
                "given": given,
            }
            summary = resume(folder, changes, **said) if recipe is None else train(recipe, **said)
        except RunStopped as stop:
            view.note(f"{stop}; {_how_to_resume(folder)}")
            return
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_how_to_resume(folder)) from None
        except SystemExit as stop:
            if main and stop.code in (128 + signal.SIGTERM, 128 + signal.SIGHUP):
                with suppress(OSError):  # the terminal may be gone
                    say(f"terminated; {_how_to_resume(folder)}")
            raise
        except Exception as error:
            if isinstance(error, StropError):
                raise
            keep_loose(error)
            begun = folder if (folder / "recipe.yaml").is_file() else None
            raise explained(error, settings, begun) from error
    if main:
        _report(folder, summary)


def _how_to_resume(folder: Path) -> str:
    if not (folder / "recipe.yaml").is_file():
        return "no step is done yet, so there is nothing to resume"
    return f"resume with: strop train --resume {shlex.quote(str(folder))}"


def _report(folder: Path, summary: dict[str, Any]) -> None:
    from strop.evaluation.models import show_all
    from strop.training.evaluations import read_evaluations

    for name, (sides, _) in read_evaluations(folder).items():
        show_all(sides, title=name or "held-out tasks")
    if curve := summary.get("hacking_curve"):
        from strop.evaluation.hacking import hacking_table
        from strop.evaluation.table import show

        show(hacking_table(curve))
    if (served := folder / "served").exists():
        print(f"\n{served} names the model to serve: {served.resolve().name}")
    seconds = summary["wall_seconds"]
    assert isinstance(seconds, float)
    print(
        f"\n{seconds / 60:.1f} min. The run is in {folder}; the trained model is in {folder}/final"
        f"\nView it with: strop view {shlex.quote(str(folder))}"
    )
