"""`strop launch --check`: all faults of a node at once; nodes that meet, differ, or do not see each other."""

import os
import socket
import sys
from collections.abc import Sequence
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import pytest
from tests.training import conftest
from tests.warm import _CONTEXT

from strop.config.load import load_recipe
from strop.launch.check import check

NODES = ("n1", "n2")
tiny_model = conftest.tiny_model


def words(run: Path, model: Path, *more: str) -> list[str]:
    """A recipe that any machine can run."""
    return [
        f"run.dir={run}", f"model.name={model}", "tasks.limit=12", "tasks.style=continue", "sampling.max_tokens=8",
        "grpo.tasks_per_step=4", "grpo.group_size=4", "sandbox.workers=1", *more,
    ]  # fmt: skip


def looked(run: Path, model: Path, *more: str) -> tuple[list[str], list[str]]:
    """(faults, what is as it should be) of this machine."""
    said: list[str] = []
    return check(load_recipe([], words(run, model, *more)), said.append), said


def _node(number: int, asked: Sequence[str], wait: float, trick: str, found: "Queue[Any]") -> None:
    os.environ |= {
        "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_JOB_NUM_NODES": "2", "SLURM_NODEID": str(number),
        "SLURMD_NODENAME": NODES[number],
    }  # fmt: skip
    if trick == "no jail":
        _refuse_layers()
    elif trick:
        sys.path.insert(0, trick)  # other versions of packages
    found.put((number, check(load_recipe([], asked), wait=wait)))


def _refuse_layers() -> None:
    """From here on the kernel knows no Landlock and no seccomp, as on a host that has neither."""
    from strop.sandbox import kernel, seccomp

    kernel.no_new_privs()
    prctl, filtering = (157, 317) if os.uname().machine == "x86_64" else (167, 277)
    no_filter = seccomp._block(prctl, seccomp._none_of(0, (kernel.PR_SET_SECCOMP,)))
    kernel.install_filter(seccomp._program(no_filter, [filtering, 444, 445, 446]))  # seccomp, landlock_*


def nodes(asked: Sequence[str], tricks: dict[int, str], wait: float = 100) -> dict[int, list[str]]:
    """The faults of each node of a job, both looking at the same time."""
    found = _CONTEXT.Queue()
    processes = [
        _CONTEXT.Process(target=_node, args=(number, asked, wait, trick, found))
        for number, trick in tricks.items()
    ]
    for process in processes:
        process.start()
    told = dict(found.get(timeout=280) for _ in processes)
    for process in processes:
        process.join()
    return told


@pytest.mark.jail
def test_a_machine_that_has_all(tiny_model: Path, tmp_path: Path) -> None:
    faults, said = looked(tmp_path / "run", tiny_model, "launch.processes=2")
    assert not faults and not (tmp_path / "run").exists()
    assert "a CPU run of 2 training processes" in said and "memory: no GPU here to compare with" in said
    assert any(line.startswith("memory of 2 training GPUs, each at least ") for line in said)
    assert any(line.startswith("references: ") for line in said)


@pytest.mark.jail
def test_all_faults_at_once(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    with socket.socket() as taken:
        taken.bind(("", 0))
        port = taken.getsockname()[1]
        monkeypatch.setenv("MASTER_PORT", str(port))
        monkeypatch.setenv("SLURM_GPUS_ON_NODE", "2")
        faults, _ = looked(
            tmp_path / "run", tmp_path / "model", "launch.processes=3", "rewards=[{name: nope}]",
            f"tasks.source={tmp_path}/none.jsonl", "sandbox.require=[moat]",
        )  # fmt: skip
    for part in (
        f"model.name={tmp_path}/model: ", "rewards: no reward named 'nope'", f"no such file: {tmp_path}/none.jsonl",
        "sandbox.require: no layer is called 'moat'", "the 4 x 4 rows of a step", f"port {port} (MASTER_PORT)",
        "torch sees 0 GPUs",
    ):  # fmt: skip
        assert sum(part in fault for fault in faults) == 1, (part, faults)
    assert len(faults) == 7 and not (tmp_path / "run").exists()


@pytest.mark.jail
def test_a_run_that_goes_on(tiny_model: Path, tmp_path: Path) -> None:
    """Its folder is there, and may be; one that is somebody else's may not."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recipe.yaml").write_text("seed: 0\n")
    assert looked(tmp_path / "run", tiny_model)[0] == []
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter").write_text("Dear all\n")
    (fault,) = looked(tmp_path / "other", tiny_model)[0]
    assert "exists and is not empty" in fault


@pytest.mark.jail
def test_two_nodes_meet(tiny_model: Path, tmp_path: Path) -> None:
    asked = words(tmp_path / "run", tiny_model, "launch.nodes=2")
    assert nodes(asked, {0: "", 1: ""}) == {0: [], 1: []}


@pytest.mark.jail
def test_a_node_with_other_versions_and_one_without_a_jail(tiny_model: Path, tmp_path: Path) -> None:
    other = tmp_path / "site" / "numpy-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.0.1\n")
    told = nodes(words(tmp_path / "run", tiny_model), {0: "no jail", 1: str(other.parent)})
    (jail,) = told[0]
    assert jail.startswith("node n1: this machine cannot contain hostile code (landlock: ")
    (version,) = told[1]
    assert version.startswith("node n2: numpy is 0.0.1 here and ") and " on n1; install the same" in version


@pytest.mark.jail
def test_nodes_that_share_no_folder(tiny_model: Path, tmp_path: Path) -> None:
    told = nodes(words(tmp_path / "run", tiny_model), {1: ""}, wait=0.5)
    (fault,) = told[1]
    assert f"node n2: {tmp_path}/run: 1 of 2 nodes were seen there within 0.5 s (n2)" in fault
