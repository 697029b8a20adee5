"""A plan as one sbatch file, from the template beside this module; and its way to SLURM.

Every word that comes from a recipe, a path or a site is quoted, for the shell and for sbatch's own reading of #SBATCH
lines, which follows the same rules.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jinja2

from strop.launch.plan import Part, Plan
from strop_verify.core.errors import StropError, UserError

TEMPLATE = "job.sbatch.jinja"
SCRIPT = "job.sbatch"
MARGIN = 10
"""Seconds before the limit that are kept for giving up a step that does not end."""


class SlurmFailure(StropError):
    """SLURM did not take a job; says why."""


def script(plan: Plan) -> str:
    """The sbatch file of a plan."""
    site, launch = plan.site, plan.recipe.launch
    options = [
        f"--{name}={value}"
        for name in ("partition", "account", "constraint")
        if (value := getattr(site, name)) is not None
    ]
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False,
    )  # fmt: skip
    templates.filters["q"] = lambda value: shlex.quote(str(value))
    return templates.get_template(TEMPLATE).render(
        name=plan.recipe.run.name,
        groups=plan.groups,
        gpu_type=f"{site.gpu_type}:" if site.gpu_type else "",
        options=[shlex.quote(option) for option in [*options, *site.sbatch]],
        memory_mb=launch.memory_mb,
        minutes=launch.minutes,
        stop_seconds=launch.stop_seconds,
        patience=launch.stop_seconds - MARGIN,
        output=shlex.quote(str(plan.folder / "job.log").replace("%", "%%")),
        run=plan.run,
        python=shlex.join(plan.python(sys.executable)),
        modules=site.modules,
        environment=plan.environment,
        ranks=launch.nodes * launch.processes,
        parts=[(part, _options(plan, part), _command(part)) for part in plan.parts],
    )


def _options(plan: Plan, part: Part) -> str:
    """What a part asks of srun."""
    devices = any(nodes.gpus for nodes in plan.groups)
    words = ["--exact"]
    if len(plan.groups) > 1:
        words.append(f"--het-group={int(part.verifies)}")
    words += [
        f"--nodes={part.nodes}", f"--relative={part.first}", f"--ntasks={part.nodes * part.processes}",
        f"--ntasks-per-node={part.processes}", f"--cpus-per-task={part.cpus}",
    ]  # fmt: skip
    if devices:
        words.append(f"--gres=gpu:{part.gpus}" if part.gpus else "--gres=none")
    return " ".join(words)


def _command(part: Part) -> str:
    """What each of its tasks runs; the trainer's are told which rank they are."""
    command = f'"${{python[@]}}" {shlex.join(part.words)}'
    if part.trains:
        return f'bash -c "$as_rank" {part.name} {command} "${{what[@]}}"'
    return f'bash -c "$on_host" {part.name} {command}' if part.listens else command


def tried(text: str, *, cluster: bool) -> Iterator[str]:
    """What bash says against a script, and with `cluster` sbatch too, where a controller answers."""
    checks = [["bash", "-n"], *([["sbatch", "--test-only"]] if cluster and _controller() else [])]
    for command in checks:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
        if done.returncode:
            yield f"{' '.join(command)}: {' '.join(done.stderr.split())}"


def _controller() -> bool:
    """Whether SLURM's controller answers from here; programs may be installed where none is."""
    if not (shutil.which("sbatch") and shutil.which("sinfo")):
        return False
    try:
        return subprocess.run(["sinfo", "--noheader"], capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def submitted(plan: Plan) -> str:
    """The number of the job. Raises SlurmFailure where SLURM does not take it, UserError where there is none."""
    if shutil.which("sbatch") is None:
        raise UserError("there is no sbatch here; run it where there is one, or leave out --submit")
    command = ["sbatch", "--parsable", str(plan.folder / SCRIPT)]
    inside = ("SLURM_", "SBATCH_", "STROP_AGAIN")  # of a job in which this is typed
    environment = {
        name: value for name, value in os.environ.items()
        if name in ("SLURM_CONF",) or not name.startswith(inside)
    }  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    if done.returncode:
        raise SlurmFailure(f"sbatch did not take the job: {' '.join(done.stderr.split())}")
    return done.stdout.strip().partition(";")[0]
