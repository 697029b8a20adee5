"""A run on one rented machine, written as a SkyPilot task or a Hugging Face Jobs script.

The machine runs `strop launch` with the same arguments in a Docker image of Strop (the project's Dockerfile). The file
contains the user's own recipes. The run's folder must be in storage that outlives the machine; submitting the same file
again then continues the run.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import yaml

from strop.config.launch import SiteConfig
from strop.config.load import load_recipe
from strop.config.recipes import RECIPES, find_recipe
from strop.config.schema import Recipe
from strop.launch.plan import SIZES, Plan
from strop.reports.run_folder import STOP
from strop_verify.core.errors import UserError
from strop_verify.core.ids import content_hash

Renter = Literal["skypilot", "hf-jobs"]
EXAMPLES = {"skypilot": "s3://BUCKET", "hf-jobs": "hf://buckets/ME/BUCKET"}
_OF_CLUSTERS = ("partition", "account", "constraint", "modules", "sbatch")


@dataclass(frozen=True)
class RentedJob:
    """A file and the command that submits it."""

    file: Path
    text: str
    command: str


def rented(renter: Renter, recipes: Sequence[str], overrides: Sequence[str], plan: Plan) -> RentedJob:
    """The job of a plan. Raises UserError for anything that a rented machine lacks."""
    site = plan.site
    words = [*(SIZES[site.size] if site.size else ()), *overrides]
    recipe = load_recipe(recipes, words)
    _check(renter, plan, recipe)
    stop = shlex.quote(str(recipe.run.folder / STOP))
    seconds = 60 * recipe.launch.minutes - recipe.launch.stop_seconds
    name = re.sub(r"[^A-Za-z0-9]+", "-", recipe.run.name).strip("-") or "strop"
    if renter == "skypilot":
        file = f"{name}.sky.yaml"
        return RentedJob(Path(file), _sky_task(name, plan, _script(recipes, words)), f"sky launch {file}")
    file = f"{name}.hf-jobs.sh"
    timer = (
        f"(sleep {seconds}; touch {stop}) & # before the time limit, the run is told to end after its step"
    )
    return RentedJob(Path(file), _hf_script(name, plan, _script(recipes, words, timer)), f"bash {file}")


def _check(renter: Renter, plan: Plan, recipe: Recipe) -> None:
    site, launch = plan.site, recipe.launch
    if given := [name for name in _OF_CLUSTERS if getattr(site, name)]:
        raise UserError(
            f"{given[0]} in SITE.yaml is a SLURM setting, and a rented machine has no SLURM; remove it"
        )
    if launch.nodes > 1 or launch.verifiers:
        raise UserError(
            "the plan needs several nodes (launch.nodes, launch.verifiers), but only one machine is rented; lower them"
        )
    if site.container is None:
        raise UserError(
            f"--{renter} runs a Docker image of Strop; name it with --container REGISTRY/NAME:TAG"
        )
    if _gpus(plan) and site.gpu_type is None:
        kind = "a flavor such as a100x4" if renter == "hf-jobs" else "such as A100 or H100"
        raise UserError(f"the plan needs {_gpus(plan)} GPUs; say which in SITE.yaml, as gpu_type: {kind}")
    run = recipe.run.folder
    if not any(
        run.is_relative_to(inside) for source, inside, fixed in _mounts(site) if "://" in source and not fixed
    ):
        raise UserError(
            f"run.dir={run} is lost with the machine; use persistent storage, such as run.dir=/runs/{run.name} "
            f"with binds: ['{EXAMPLES[renter]}:/runs'] in SITE.yaml"
        )


def _mounts(site: SiteConfig) -> list[tuple[str, PurePosixPath, bool]]:
    """(source, path inside, whether it is read-only) of each bind."""
    found = []
    for bind in site.binds:
        source, colon, inside = bind.removesuffix(":ro").rpartition(":")
        if not colon or not inside.startswith("/") or inside.startswith("//"):
            raise UserError(
                f"binds: {bind!r} has no path inside the machine; write PLACE:/INSIDE or PLACE:/INSIDE:ro"
            )
        found.append((source, PurePosixPath(inside), bind.endswith(":ro")))
    return found


def _gpus(plan: Plan) -> int:
    return sum(part.gpus for part in plan.parts)


def _script(recipes: Sequence[str], overrides: Sequence[str], *more: str) -> str:
    """The machine's script: it writes the recipes that are not packaged, then runs the same command."""
    lines, names = ["set -e", *more], list[str]()
    for name in recipes:
        path = find_recipe(name)
        if path.is_relative_to(RECIPES):
            names.append(name)
            continue
        names.append(path.name)
        if path.absolute().parent != Path.cwd():
            raise UserError(
                f"{name}: run this command in its folder, so that paths are the same on the machine"
            )
        text = path.read_text(encoding="utf-8")
        end = f"END-{content_hash(text)[:8]}"
        lines += [f"cat > {shlex.quote(path.name)} <<'{end}'", text.rstrip("\n"), end]
    return "\n".join([*lines, shlex.join(["strop", "launch", *names, *overrides])]) + "\n"


def _sky_task(name: str, plan: Plan, script: str) -> str:
    launch, gpus = plan.recipe.launch, _gpus(plan)
    cpus = sum(part.processes * part.cpus for part in plan.parts)
    resources: dict[str, Any] = {"image_id": f"docker:{plan.site.container}", "cpus": f"{cpus}+"}
    resources["memory"] = f"{-(-cpus * launch.memory_mb // 1024)}+"
    if gpus:
        resources["accelerators"] = f"{plan.site.gpu_type}:{gpus}"
    mounts = {
        str(inside): {"source": source, "mode": "COPY" if fixed else "MOUNT"} if "://" in source else source
        for source, inside, fixed in _mounts(plan.site)
    }
    task = {
        "name": name,
        "workdir": ".",
        "resources": resources,
        "file_mounts": mounts,
        "run": script,
    }
    head = f"# Written by `strop launch --skypilot`: sky launch {name}.sky.yaml (on spot machines: sky jobs launch)\n"
    return head + yaml.dump(task, Dumper=_Readable, sort_keys=False, width=1000)


class _Readable(yaml.SafeDumper):
    """Writes text of several lines as a block."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """The YAML node of a text."""
        return self.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)


_Readable.add_representer(str, _Readable.represent_text)


def _hf_script(name: str, plan: Plan, script: str) -> str:
    words = ["hf", "jobs", "run", "--name", name, "--timeout", f"{plan.recipe.launch.minutes}m"]
    words += ["--flavor", plan.site.gpu_type] if plan.site.gpu_type else []
    words += [word for bind in plan.site.binds for word in ("--volume", bind)]
    command = shlex.join([*words, str(plan.site.container), "bash", "-c", script])
    return (
        "#!/usr/bin/env bash\n"
        "# Written by `strop launch --hf-jobs`. For tokens add --secrets HF_TOKEN after `run`, to try it --dry-run.\n"
        f"exec {command}\n"
    )
