"""Checks every node of a job before it starts: `strop launch RECIPE --check`.

All faults are reported together, each with its remedy. A machine's own prerequisites are those of `strop train
--dry-run` (`training.preflight`); this adds the job's: nodes, GPUs, shares, ports, versions. Every node writes a file
to RUN/launch/nodes, which also proves that they share the run folder.
"""

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strop.config.launch import LaunchConfig
from strop.config.revision import revision
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.reports.run_folder import RECIPE
from strop.training.caller_overrides import NOTHING
from strop.training.machine import gpus_here, plan_lines
from strop.training.preflight import look
from strop_verify.core.errors import UserError
from strop_verify.core.files import check_writable, write_json, writing
from strop_verify.core.ids import content_hash

NODES = Path("launch", "nodes")
"""Folder of a run to which the nodes of its jobs write."""
WAIT = 120.0
"""Seconds within which all nodes of a job must write."""
ASKED = ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE", "SLURM_GPUS")
"""Variables that SLURM sets if the job asked for GPUs."""


def check(
    recipe: Recipe, show: Callable[[str], None] = lambda line: None, *, wait: float = WAIT
) -> list[str]:
    """The faults that this node finds; none if the job may start. `show` gets lines about passed checks.

    wait  seconds within which the other nodes must write
    """
    node = Node.here()
    begun = any((recipe.run.folder / name).exists() for name in (RECIPE, NODES.parent))  # run or launch
    found = look(recipe, NOTHING, show, new=not begun)
    faults = [*found.faults, *_shares(recipe), *_port(node)]
    for line in (*found.facts, *found.warnings):
        show(line)
    for line in plan_lines(recipe):
        show(line)
    try:
        nodes = node.meet(recipe.run.folder / NODES, wait)
    except UserError as error:
        faults.append(str(error))
    else:
        faults += node.differences(nodes)
        faults += _gpus(recipe.launch, nodes, show)
    return [fault if node.alone else f"node {node.name}: {fault}" for fault in dict.fromkeys(faults)]


@dataclass(frozen=True)
class Node:
    """This machine as a node of a SLURM job; without SLURM, as the only node."""

    name: str
    number: int = 0
    count: int = 1
    job: str = ""
    versions: Mapping[str, Any] = field(default_factory=dict)
    gpus: int = 0

    @classmethod
    def here(cls) -> "Node":
        """This node, from the environment variables."""
        own = revision()
        versions = {"strop": own["strop"], "git": own["git"], "python": own["python"], **own["packages"]}
        env, name = os.environ, os.environ.get("SLURMD_NODENAME") or socket.gethostname()
        count = int(env.get("SLURM_STEP_NUM_NODES") or env.get("SLURM_JOB_NUM_NODES") or 1)
        step = (
            "SLURM_JOB_ID",
            "SLURM_RESTART_COUNT",
            "SLURM_STEP_ID",
            "SLURM_STEP_NODELIST",
        )  # the node list differs by group
        job = content_hash([env.get(name, "") for name in step])[:12]
        return cls(name, int(env.get("SLURM_NODEID") or 0), count, job, versions, len(gpus_here()))

    @property
    def alone(self) -> bool:
        """Whether it is the job's only node."""
        return self.count == 1

    def meet(self, folder: Path, seconds: float) -> list[dict[str, Any]]:
        """Writes this node's file to the folder and returns every node's, by number. Raises UserError on a timeout."""
        own = {"number": self.number, "name": self.name, "gpus": self.gpus, "versions": dict(self.versions)}
        if self.alone:  # writes no file
            if folder.parent.is_dir():
                check_writable(folder.parent / "canary")
            return [own]
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / f"{self.job}.{self.number}.json", own)
        end = time.monotonic() + seconds
        while len(files := sorted(folder.glob(f"{self.job}.*.json"))) < self.count and time.monotonic() < end:
            time.sleep(0.1)
        said = [json.loads(file.read_text()) for file in files]
        if len(said) < self.count:
            there = ", ".join(one["name"] for one in said)
            raise UserError(
                f"{folder.parent.parent}: {len(said)} of {self.count} nodes wrote to it within {seconds:g} s "
                f"({there}); the run folder must be on a disk that all nodes share: set run.dir"
            )
        return sorted(said, key=lambda one: int(one["number"]))

    def differences(self, nodes: list[dict[str, Any]]) -> Iterator[str]:
        """The versions that differ from the first node's."""
        first = nodes[0]
        theirs = first["versions"]
        for name in sorted({*self.versions, *theirs}):
            here, there = self.versions.get(name), theirs.get(name)
            if here != there:
                yield f"{name} is {here} here and {there} on {first['name']}; install the same version on all nodes"


def _gpus(launch: LaunchConfig, nodes: list[dict[str, Any]], show: Callable[[str], None]) -> Iterator[str]:
    trained, served = launch.nodes * launch.processes, launch.servers * launch.server_gpus
    there, asked = sum(one["gpus"] for one in nodes), any(os.environ.get(name) for name in ASKED)
    if getattr(launch, "device", "gpu") == "cpu" or not (there or asked):
        show(f"a CPU run of {trained} training process{'es' if trained > 1 else ''}")
        return
    counted = ", ".join(f"{one['name']} {one['gpus']}" for one in nodes)
    if there < trained + served:
        sampled = f" and launch.servers x server_gpus = {served} to sample" if served else ""
        yield (
            f"torch sees {there} GPUs ({counted}), but launch.nodes x processes = {trained} are to train{sampled}; "
            "request as many, or lower these"
        )
    else:
        show(f"GPUs: {there} ({counted}), {trained} train" + (f", {served} sample" if served else ""))


def _shares(recipe: Recipe) -> Iterator[str]:
    """Batches and engines that do not divide evenly over the processes."""
    launch, policy = recipe.launch, recipe.policy
    world = launch.nodes * launch.processes
    steps = [one.recipe.grpo for one in stages_of(recipe)]
    for tasks, size in dict.fromkeys((grpo.tasks_per_step, grpo.group_size) for grpo in steps):
        if tasks * size % world:
            yield (
                f"the {tasks} x {size} rows of a step (grpo.tasks_per_step x grpo.group_size) do not divide over "
                f"{world} processes (launch.nodes x launch.processes); change one of them"
            )
    if world % policy.spread:
        yield (
            f"policy.tensor_parallel_size={policy.spread} does not divide the {world} processes "
            "(launch.nodes x launch.processes), over which vLLM's copies are spread; change one of them"
        )


def _port(node: Node) -> Iterator[str]:
    """Checks MASTER_PORT, where the processes rendezvous, on the first node."""
    port = os.environ.get("MASTER_PORT", "")
    if not port or node.number:
        return
    if not (port.isdecimal() and 0 < int(port) < 1 << 16):
        yield f"MASTER_PORT={port!r} is not a port; give a number from 1 to 65535"
        return
    with closing(socket.socket()) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # an earlier run's connections may linger
        try:
            one.bind(("", int(port)))
        except OSError as error:
            yield f"port {port} (MASTER_PORT) is not available: {error.strerror}; set another, or end what uses it"
