"""The plan of a run: its parts, their resources and their nodes. Clusters and single machines use the same plan.

A part is one program, in one or several processes. Servers publish their address as a file in RUN/launch; the trainer
gets the names of these files and waits for them. The trainer's nodes are filled first, then each server goes to the
first node with enough GPUs left; verifying nodes have no GPUs and are separate.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strop.config.launch import SiteConfig, Size
from strop.config.load import dump_recipe, load_recipe
from strop.config.schema import Recipe
from strop.reports.run_folder import LAUNCH, RECIPE, SUMMARY, RunFolder
from strop_verify.core import files
from strop_verify.core.errors import UserError

SERVER = "vllm-server"
"""The policy engine whose servers a plan starts."""

SIZES: Mapping[Size, Sequence[str]] = {
    "small": ["launch.processes=1", "launch.servers=0"],
    "medium": ["launch.processes=1", "launch.servers=1", "launch.server_gpus=1", f"policy.engine={SERVER}"],
    "large": ["launch.processes=4", "launch.engine=zero3", "launch.servers=1", "launch.server_gpus=4",
              f"policy.engine={SERVER}"],
}  # fmt: skip
"""Named sizes as overrides, which the user's own replace: one GPU; one to train and one to sample; four of each."""

STROP = ("-m", "strop.cli")
KEY, RAY_KEY = "sampler.key", "ray.key"
"""Files in RUN/launch with the keys of the servers and of the Ray cluster, readable only by their owner."""


@dataclass(frozen=True)
class Part:
    """One program of a run.

    words      Python's arguments; the trainer gets its recipe, or the run to resume, as well
    first      its first node, among the nodes of its kind
    processes  per node
    gpus       per node
    cpus       per process
    trains     whether its processes are ranks
    verifies   whether it runs on the verifying nodes
    listens    whether it gets its node's name, so that parts on other nodes can reach it
    """

    name: str
    words: tuple[str, ...]
    first: int = 0
    nodes: int = 1
    processes: int = 1
    gpus: int = 0
    cpus: int = 1
    trains: bool = False
    verifies: bool = False
    listens: bool = False


@dataclass(frozen=True)
class Nodes:
    """Nodes of one kind: their number, and the tasks, CPUs per task and GPUs of each."""

    nodes: int
    tasks: int
    cpus: int
    gpus: int = 0


@dataclass(frozen=True)
class Plan:
    """The plan of a run.

    recipe  the recipe of the parts: with the address files and absolute paths
    run     the run's folder
    parts   all parts, the trainer last
    """

    recipe: Recipe
    run: Path
    parts: list[Part]
    groups: list[Nodes]
    site: SiteConfig = field(default_factory=SiteConfig)

    @property
    def folder(self) -> Path:
        """The folder of the script, the recipe, logs and addresses."""
        return self.run / LAUNCH

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of every part: the paths of the shared keys."""
        found = {}
        if self.recipe.launch.servers:
            found["STROP_SAMPLER_KEY_FILE"] = str(self.folder / KEY)
        if self.recipe.launch.verifiers:
            found |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self.folder / RAY_KEY)}
        return found

    def python(self, inside: str) -> list[str]:
        """The command of a part's Python: `inside`, or the container's Python if there is one."""
        if self.site.container is None:
            return [inside]
        places = [str(self.run), *self.site.binds]
        binds = [word for place in places for word in ("--bind", place)]
        gpus = ["--nv"] if any(part.gpus for part in self.parts) else []
        return ["apptainer", "exec", *gpus, *binds, str(Path(self.site.container).absolute()), "python3"]

    def rows(self) -> Iterator[dict[str, Any]]:
        """A table row for each part, to show to users."""
        for part in self.parts:
            yield {
                "part": part.name,
                "nodes": part.nodes,
                "processes": part.nodes * part.processes,
                "GPUs": part.nodes * part.gpus,
                "CPUs": part.nodes * part.processes * part.cpus,
            }


def plan_of(recipes: Sequence[str], overrides: Sequence[str], site: SiteConfig | None = None) -> Plan:
    """The plan of a recipe at a site. Raises UserError or ConfigError if they do not fit."""
    site = site or SiteConfig()
    words = [*(SIZES[site.size] if site.size else ()), *overrides]
    asked = load_recipe(recipes, words)
    launch, run = asked.launch, asked.run.folder.absolute()
    _check(asked, run, site)
    folder = run / LAUNCH
    servers = [f"sampler-{number + 1}" for number in range(launch.servers)]
    more = [f"run.dir={run}", "run.overwrite=false"]
    if servers:
        more.append(f"policy.urls={_listed(folder / f'{name}.url' for name in servers)}")
        more.append(f"policy.tensor_parallel_size={launch.server_gpus}")
    if launch.verifiers:
        more += ["verifier.engine=ray", f"verifier.address={folder / 'verifiers.url'}"]
    recipe, own = load_recipe(recipes, [*words, *more]), str(folder / RECIPE)
    gpus = launch.device == "gpu"
    used = [launch.processes if gpus else 0] * launch.nodes
    tasks = [launch.processes] * launch.nodes
    parts = []
    for name in servers:
        first = _place(launch.server_gpus if gpus else 0, site.gpus_per_node, used, tasks)
        asks = (*STROP, "serve-sampler", own, "--url-file", str(folder / f"{name}.url"))
        devices, far = launch.server_gpus if gpus else 0, first > 0 or launch.nodes > 1
        parts.append(Part(name, asks, first=first, gpus=devices, cpus=launch.cpus, listens=far))
    verifying = []
    if launch.verifiers:
        address, ray = str(folder / "verifiers.url"), ("-m", "strop.launch.ray_node")
        tasks[0] += 1  # in addition to the trainer, which joins the cluster there
        parts.append(Part("verifiers", (*ray, "head", address), cpus=launch.cpus))
        cpus, nodes = launch.verifier_cpus, launch.verifiers
        parts.append(Part("verifier", (*ray, "worker", address), nodes=nodes, cpus=cpus, verifies=True))
        verifying = [Nodes(nodes, 1, cpus)]
    groups = [Nodes(len(used), max(tasks), launch.cpus, max(used)), *verifying]
    trainer = Part(
        "trainer", (*STROP, "train", "--plain"), nodes=launch.nodes, processes=launch.processes,
        gpus=launch.processes if gpus else 0, cpus=launch.cpus, trains=True,
    )  # fmt: skip
    return Plan(recipe, run, [*parts, trainer], groups, site)


def prepare(plan: Plan, *, overwrite: bool, say: Callable[[str], None]) -> None:
    """Writes the recipe and the keys to RUN/launch. An existing run with the same settings is resumed; `overwrite`
    removes any run. Raises UserError for a run with other settings, or a finished one.
    """
    run = plan.run
    if overwrite and (run / RECIPE).exists():
        RunFolder.check_free(run, overwrite=True)
        with RunFolder.resume(run) as old:
            old.clear()
    if (run / RECIPE).is_file():
        if _settings(load_recipe([run / RECIPE])) != _settings(plan.recipe):
            raise UserError(
                f"{run} holds a run with other settings; choose another run.dir, or replace it with run.overwrite=true"
            )
        if (run / SUMMARY).is_file():
            raise UserError(
                f"{run} is finished; choose another run.dir, or replace it with run.overwrite=true"
            )
        say(f"{run} was started before: it resumes from its newest checkpoint")
    else:
        RunFolder.check_free(run, overwrite=False)
    with files.writing(plan.folder):
        plan.folder.mkdir(parents=True, exist_ok=True)
    with files.atomic(plan.folder / RECIPE) as out:
        out.write(dump_recipe(plan.recipe).encode())
    for key in (plan.folder / KEY, plan.folder / RAY_KEY):
        if str(key) in plan.environment.values():
            with files.writing(key):
                key.unlink(missing_ok=True)
                handle = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "w") as file:
                    file.write(secrets.token_hex(32))


def _settings(recipe: Recipe) -> dict[str, Any]:
    """The settings that must not change in a run: all but its folder and how it is launched."""
    return recipe.model_dump(exclude={"run", "launch"})


def _check(recipe: Recipe, run: Path, site: SiteConfig) -> None:
    """Raises UserError for settings that no plan can satisfy."""
    launch, serves = recipe.launch, recipe.policy.engine == SERVER
    if launch.servers and not serves:
        raise UserError(
            f"launch.servers={launch.servers}, but policy.engine={recipe.policy.engine} uses no server; set "
            f"policy.engine={SERVER}, or launch.servers=0"
        )
    if serves and not launch.servers and not getattr(recipe.policy, "urls", None):
        raise UserError(
            f"policy.engine={SERVER} has no server; set launch.servers, or policy.urls to running servers"
        )
    if any(ord(c) < 32 for c in str(run)):
        raise UserError(f"run.dir={str(run)!r} contains a control character; choose another")
    if site.container and set(":,") & set(str(run)):
        raise UserError(
            f"run.dir={run} contains a colon or a comma, which a container cannot bind; choose another"
        )
    for what, count in (("processes", launch.processes), ("server_gpus", launch.server_gpus)):
        needed = count if what == "processes" or launch.servers else 0
        if launch.device == "gpu" and needed > site.gpus_per_node:
            raise UserError(
                f"launch.{what}={count} does not fit a node of {site.gpus_per_node} GPUs (gpus_per_node in SITE.yaml)"
            )


def _listed(paths: Iterable[Path]) -> str:
    """Paths as the YAML list of an override, quoted."""
    return "[" + ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths) + "]"


def _place(gpus: int, each: int, used: list[int], tasks: list[int]) -> int:
    """Reserves a task's GPUs on the first node that has enough of its `each` left, or on a new one; returns the
    node."""
    node = next((node for node, taken in enumerate(used) if taken + gpus <= each), len(used))
    if node == len(used):
        used.append(0)
        tasks.append(0)
    used[node] += gpus
    tasks[node] += 1
    return node
