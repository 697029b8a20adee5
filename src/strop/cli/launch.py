"""`strop launch`: the processes of a run, as a SLURM job or on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

from typer import Exit, Option

from strop.cli.options import Recipes, recipe_of, say
from strop_verify.core.errors import ConfigError, UserError

if TYPE_CHECKING:
    from strop.config.launch import SiteConfig
    from strop.config.schema import Recipe
    from strop.launch.plan import Plan


def launch(
    recipe: Recipes,
    slurm: Annotated[
        str | None,
        Option(
            metavar="SIZE|SITE.yaml", help="write a SLURM job: small, medium, large, or a file of one site"
        ),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="check and print the plan and the script; write nothing")
    ] = False,
    submit: Annotated[bool, Option("--submit", help="submit the job with sbatch")] = False,
    container: Annotated[
        Path | None, Option(metavar="IMAGE.sif", help="run every part in this Apptainer image")
    ] = None,
    check: Annotated[bool, Option("--check", help="check prerequisites on this machine, then stop")] = False,
) -> None:
    """Start a run in the processes that its recipe asks for: training, vLLM servers, verifying nodes.

    Without --slurm they run here, until one ends or Ctrl-C; the same command resumes a stopped run.
    """
    if check:
        _check(recipe_of(recipe))
        print("ok: this machine has everything that the run needs")
        return
    if submit and slurm is None:
        raise UserError("--submit needs a SLURM job, such as --slurm small")
    from strop.launch.plan import plan_of, prepare

    site = _site(slurm, container)
    plan = plan_of(
        [word for word in recipe if "=" not in word], [word for word in recipe if "=" in word], site
    )
    _show(plan)
    if dry_run:
        from strop.training.machine import plan_lines

        for line in plan_lines(plan.recipe):
            say(line)
    overwrite = not dry_run and recipe_of(recipe).run.overwrite
    if slurm is None:
        if dry_run:
            return
        from strop.launch.local import refuse, run

        refuse(plan)
        _check(plan.recipe)
        prepare(plan, overwrite=overwrite, say=say)
        if code := run(plan, say):
            raise Exit(code)
        return
    from strop.launch.slurm import SCRIPT, script, submitted, tried

    text = script(plan)
    if dry_run:
        print(text, end="")
    if faults := list(tried(text, cluster=dry_run)):
        raise ConfigError(faults)
    if dry_run:
        return
    prepare(plan, overwrite=overwrite, say=say)
    place = plan.folder / SCRIPT
    place.write_text(text)
    if submit:
        say(f"log of the job: {plan.folder / 'job.log'}")
        print(submitted(plan))
    else:
        import shlex

        say(f"written; submit it with: sbatch {shlex.quote(str(place))}")


def _check(recipe: "Recipe") -> None:
    """Raises ConfigError with everything that is missing here."""
    from strop.launch.check import check

    if faults := check(recipe, say):
        raise ConfigError(faults)


def _site(word: str | None, container: Path | None) -> "SiteConfig":
    from strop.config.launch import SiteConfig, Size, read_site

    if word in get_args(Size):
        site = SiteConfig.model_validate({"size": word})
    else:
        site = read_site(Path(word)) if word is not None else SiteConfig()
    return site if container is None else site.model_copy(update={"container": str(container)})


def _show(plan: "Plan") -> None:
    """The plan as a table."""
    from rich.console import Console
    from rich.table import Table

    rows = list(plan.rows())
    table = Table(*rows[0], title=f"plan of {plan.run}", title_justify="left")
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(stderr=True).print(table)
