"""`strop launch`: starts the processes of a run, as a SLURM job or on this machine."""

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
        Option(metavar="SIZE|SITE.yaml", help="write a SLURM job: small, medium, large, or a site's file"),
    ] = None,
    skypilot: Annotated[
        str | None, Option(metavar="SIZE|SITE.yaml", help="write a SkyPilot task for one rented machine")
    ] = None,
    hf_jobs: Annotated[
        str | None,
        Option(metavar="SIZE|SITE.yaml", help="write a Hugging Face Jobs script for one rented machine"),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="check and print the plan and the script, but write nothing")
    ] = False,
    submit: Annotated[bool, Option("--submit", help="submit the job with sbatch")] = False,
    container: Annotated[
        str | None,
        Option(metavar="IMAGE", help="run in this Apptainer image (on a rented machine, Docker image)"),
    ] = None,
    check: Annotated[bool, Option("--check", help="check prerequisites on this machine, then stop")] = False,
) -> None:
    """Start a run with the processes that its recipe asks for: training, vLLM servers, verifying nodes.

    Without --slurm, --skypilot or --hf-jobs they run on this machine until one ends or Ctrl-C; the same command resumes
    a stopped run.
    """
    if check:
        _check(recipe_of(recipe))
        print("ok: this machine has everything that the run needs")
        return
    if submit and slurm is None:
        raise UserError("--submit needs a SLURM job, such as --slurm small")
    if len(places := [one for one in (slurm, skypilot, hf_jobs) if one is not None]) > 1:
        raise UserError("give only one of --slurm, --skypilot, --hf-jobs")
    from strop.launch.plan import plan_of, prepare

    names, overrides = [word for word in recipe if "=" not in word], [word for word in recipe if "=" in word]
    plan = plan_of(names, overrides, _site(next(iter(places), None), container))
    _show(plan)
    if dry_run:
        from strop.training.machine import plan_lines

        for line in plan_lines(plan.recipe):
            say(line)
    if slurm is not None:
        _as_slurm_job(plan, recipe, dry_run=dry_run, submit=submit)
    elif places:
        from strop.launch.rented import rented

        job = rented("hf-jobs" if skypilot is None else "skypilot", names, overrides, plan)
        if dry_run:
            print(job.text, end="")
        else:
            job.file.write_text(job.text)
            say(f"written; submit it with: {job.command}")
    elif not dry_run:
        from strop.launch.local import refuse, run

        refuse(plan)
        _check(plan.recipe)
        prepare(plan, overwrite=recipe_of(recipe).run.overwrite, say=say)
        if code := run(plan, say):
            raise Exit(code)


def _as_slurm_job(plan: "Plan", recipe: Recipes, *, dry_run: bool, submit: bool) -> None:
    from strop.launch.plan import prepare
    from strop.launch.slurm import SCRIPT, script, submitted, tried

    text = script(plan)
    if dry_run:
        print(text, end="")
    if faults := list(tried(text, cluster=dry_run)):
        raise ConfigError(faults)
    if dry_run:
        return
    prepare(plan, overwrite=recipe_of(recipe).run.overwrite, say=say)
    place = plan.folder / SCRIPT
    place.write_text(text)
    if submit:
        say(f"log of the job: {plan.folder / 'job.log'}")
        print(submitted(plan))
    else:
        import shlex

        say(f"written; submit it with: sbatch {shlex.quote(str(place))}")


def _check(recipe: "Recipe") -> None:
    """Raises ConfigError with everything that is missing on this machine."""
    from strop.launch.check import check

    if faults := check(recipe, say):
        raise ConfigError(faults)


def _site(word: str | None, container: str | None) -> "SiteConfig":
    from strop.config.launch import SiteConfig, Size, read_site

    if word in get_args(Size):
        site = SiteConfig.model_validate({"size": word})
    else:
        site = read_site(Path(word)) if word is not None else SiteConfig()
    return site if container is None else site.model_copy(update={"container": container})


def _show(plan: "Plan") -> None:
    """Prints the plan as a table."""
    from rich.console import Console
    from rich.table import Table

    rows = list(plan.rows())
    table = Table(*rows[0], title=f"plan of {plan.run}", title_justify="left")
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(stderr=True).print(table)
