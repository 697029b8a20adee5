"""Renders a plan as one sbatch file, from the template beside this module, and submits it to SLURM.

Every word from a recipe, a path or a site is quoted for the shell and for sbatch, which parses #SBATCH lines the same
way.
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
"""Seconds before the time limit at which an unfinished step is abandoned."""


class SlurmFailure(StropError):
    """SLURM did not accept a job; the message holds its reason."""


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
    """A part's options for srun."""
    words = ["--exact"]
    if len(plan.groups) > 1:
        words.append(f"--het-group={int(part.verifies)}")
    words += [
        f"--nodes={part.nodes}", f"--relative={part.first}", f"--ntasks={part.nodes * part.processes}",
        f"--ntasks-per-node={part.processes}", f"--cpus-per-task={part.cpus}",
    ]  # fmt: skip
    if any(nodes.gpus for nodes in plan.groups):
        words.append(f"--gres=gpu:{part.gpus}" if part.gpus else "--gres=none")
    return " ".join(words)


def _command(part: Part) -> str:
    """The command of each of a part's tasks; the trainer's get their rank."""
    command = f'"${{python[@]}}" {shlex.join(part.words)}'
    if part.trains:
        return f'bash -c "$as_rank" {part.name} {command} "${{what[@]}}"'
    return f'bash -c "$on_host" {part.name} {command}' if part.listens else command


def tried(text: str, *, cluster: bool) -> Iterator[str]:
    """The errors that bash finds in a script; with `cluster`, also sbatch's, if a controller answers."""
    checks = [["bash", "-n"], *([["sbatch", "--test-only"]] if cluster and _controller() else [])]
    for command in checks:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
        if done.returncode:
            yield f"{' '.join(command)}: {' '.join(done.stderr.split())}"


def _controller() -> bool:
    """Whether SLURM's controller answers; its programs may be installed without one."""
    if not (shutil.which("sbatch") and shutil.which("sinfo")):
        return False
    try:
        return subprocess.run(["sinfo", "--noheader"], capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def submitted(plan: Plan) -> str:
    """Submits the job and returns its id. Raises SlurmFailure if SLURM rejects it, UserError if sbatch is missing."""
    if shutil.which("sbatch") is None:
        raise UserError("sbatch is not installed here; run this on a cluster, or leave out --submit")
    command = ["sbatch", "--parsable", str(plan.folder / SCRIPT)]
    inside = ("SLURM_", "SBATCH_", "STROP_AGAIN")  # variables of a job that this command may run in
    environment = {
        name: value for name, value in os.environ.items()
        if name in ("SLURM_CONF",) or not name.startswith(inside)
    }  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    if done.returncode:
        raise SlurmFailure(f"sbatch rejected the job: {' '.join(done.stderr.split())}")
    return done.stdout.strip().partition(";")[0]
