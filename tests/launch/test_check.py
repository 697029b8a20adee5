"""`strop launch --check`: all faults of a node at once; nodes that meet, differ, or do not see each other."""

import socket
from pathlib import Path

import pytest
from tests.launch.nodes import faults_of_nodes
from tests.training import conftest

from strop.config.load import load_recipe
from strop.launch.check import check

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


@pytest.mark.jail
def test_a_machine_that_has_all(tiny_model: Path, tmp_path: Path) -> None:
    faults, said = looked(tmp_path / "run", tiny_model, "launch.processes=2")
    assert not faults and not (tmp_path / "run").exists()
    assert "a CPU run of 2 training processes" in said and "memory: no GPU here to compare with" in said
    assert any(line.startswith("memory of 2 training GPUs, each at most ") for line in said)
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
    assert faults_of_nodes(tmp_path, asked, {0: "", 1: ""}) == {0: [], 1: []}


@pytest.mark.jail
def test_a_node_with_other_versions_and_one_without_a_jail(tiny_model: Path, tmp_path: Path) -> None:
    other = tmp_path / "site" / "numpy-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.0.1\n")
    told = faults_of_nodes(
        tmp_path, words(tmp_path / "run", tiny_model), {0: "no jail", 1: str(other.parent)}
    )
    (jail,) = told[0]
    assert jail.startswith("node n1: this machine cannot contain hostile code (landlock: ")
    (version,) = told[1]
    assert version.startswith("node n2: numpy is 0.0.1 here and ") and " on n1; install the same" in version


@pytest.mark.jail
def test_nodes_that_share_no_folder(tiny_model: Path, tmp_path: Path) -> None:
    told = faults_of_nodes(tmp_path, words(tmp_path / "run", tiny_model), {1: ""}, wait=0.5)
    (fault,) = told[1]
    assert f"node n2: {tmp_path}/run: 1 of 2 nodes wrote to it within 0.5 s (n2)" in fault
