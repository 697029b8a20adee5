"""`strop train`: GRPO from a recipe, with an evaluation before and after; also resumes a stopped run."""

import os
import shlex
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from strop.cli.options import Plain, recipe_of
from strop.core.errors import UserError

if TYPE_CHECKING:
    from strop.config.schema import Recipe


def train(
    recipe: Annotated[
        list[str] | None,
        Argument(
            metavar="[NAME|RECIPE.yaml...] [KEY=VALUE...]",
            help="recipes, merged left to right, then overrides",
        ),
    ] = None,
    resume: Annotated[Path | None, Option(help="run folder to resume")] = None,
    print_config: Annotated[
        bool, Option("--print-config", help="print the resolved recipe and stop")
    ] = False,
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="check everything that does not need the model, then stop"),
    ] = False,
    plain: Plain = False,
) -> None:
    """Train a model by GRPO on verdicts from executing its code."""
    words = recipe or []
    if resume is not None:
        if words or print_config or dry_run:
            raise UserError("--resume uses the recipe in the run folder; leave out recipes and overrides")
        _run(resume, None, plain)
        return
    from strop.config.load import dump_recipe

    if not words:
        raise UserError(
            "no recipe given; try: strop train demo (strop recipes lists them, strop init DIR begins one)"
        )
    resolved = recipe_of(words)
    if print_config:
        print(dump_recipe(resolved), end="")
        return
    if dry_run:
        _check(resolved)
        return
    _run(resolved.run.folder, resolved, plain)


def _check(recipe: "Recipe") -> None:
    from strop.config.run_stages import stages_of
    from strop.environments.kinds import played_by
    from strop.reports.run_folder import RunFolder
    from strop.rewards.rubric import WeightedRubric
    from strop.tasks.demos import read_demos
    from strop.tasks.task_sets import task_sets
    from strop.training.sinks import check_sinks

    RunFolder.check_free(recipe.run.folder, overwrite=recipe.run.overwrite)
    check_sinks(recipe)
    sets = task_sets(recipe, print)
    if recipe.sft.warm_start and recipe.sft.demos:
        read_demos(Path(recipe.sft.demos))
    for one in sets:
        WeightedRubric.from_names([(reward.name, reward.weight) for reward in one.recipe.rewards])
        played_by(one.recipe)
        if one.name:
            print(f"{one.name}: {len(one.train)} training tasks, {len(one.held_out)} held out")
    train, held_out = (
        sum(map(len, side)) for side in zip(*((s.train, s.held_out) for s in sets), strict=True)
    )
    print(
        f"ok: {train} training tasks, {held_out} held out; {recipe.optim.steps} steps of "
        f"{recipe.grpo.tasks_per_step} x {recipe.grpo.group_size} rollouts; run folder {recipe.run.folder}"
    )
    for stage in stages_of(recipe) if recipe.stages else ():
        print(stage)


def _run(folder: Path, recipe: "Recipe | None", plain: bool) -> None:
    from strop.config.load import load_recipe
    from strop.reports.run_folder import RunFolder
    from strop.reports.terminal.live import LiveView
    from strop.training.sinks import check_sinks

    if recipe is None:
        RunFolder.read(folder)
        settings = load_recipe([folder / "recipe.yaml"])
    else:
        RunFolder.check_free(folder, overwrite=recipe.run.overwrite)
        settings = recipe
    check_sinks(settings)
    with suppress(ValueError):  # not the main thread, as in a notebook's server
        signal.signal(signal.SIGUSR2, lambda *_: None)  # there is nothing to save before the model is loaded
    main = os.environ.get("RANK", "0") == "0"
    with (
        open(os.devnull, "w") as nowhere,
        LiveView(
            settings.optim.steps, plain=plain or None, file=None if main else nowhere, title=str(folder)
        ) as view,
    ):
        view.note("loading ...")
        from strop.training.run import resume, train

        try:
            said: dict[str, Any] = {"say": view.note, "show": view.update, "status": view.status}
            summary = resume(folder, **said) if recipe is None else train(recipe, **said)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"resume with: strop train --resume {folder}") from None
    if main:
        _report(folder, summary)


def _report(folder: Path, summary: dict[str, object]) -> None:
    from strop.evaluation.table import control_table, main_table, show
    from strop.training.evaluations import read_evaluations

    for name, (sides, paired) in read_evaluations(folder).items():
        show(main_table(sides, paired, title=name or "held-out tasks"), control_table(sides))
    seconds = summary["wall_seconds"]
    assert isinstance(seconds, float)
    print(
        f"\n{seconds / 60:.1f} min. The run is in {folder}; the trained model is in {folder}/final"
        f"\nView it with: strop view {shlex.quote(str(folder))}"
    )
