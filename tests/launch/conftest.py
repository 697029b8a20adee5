"""A small run in two processes, as a cluster and as this machine carries it out."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks import ranks
from tests import needs
from tests.waiting import wait_until

from .slurm import Slurm, slurm_in

STEPS = 4
REWARD = '''
import pathlib, time

def repeats(task, rollout, verdict):
    """Share of sampled tokens that are the one before them; while there is a file `hold`, nothing is scored."""
    while pathlib.Path({hold!r}).exists():
        time.sleep(0.05)
    ids = rollout.flat()[0]
    return sum(a == b for a, b in zip(ids, ids[1:])) / len(ids)
'''


class Launched:
    """A folder with a recipe that can be held in the middle of a step."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder, self.hold = folder, folder / "hold"
        folder.mkdir(parents=True, exist_ok=True)
        self._words = ranks.words(folder, model, STEPS)
        (folder / "rewards.py").write_text(REWARD.format(hold=str(self.hold)))

    def words(self, run: Path, *more: str) -> list[str]:
        """Of `strop launch`, for two nodes, or here two processes."""
        return [
            *self._words, "evaluation.before=false", "evaluation.after=false", "launch.device=cpu", "launch.cpus=1",
            "launch.memory_mb=100", f"run.dir={run}", *more,
        ]  # fmt: skip

    def begin(self, *words: str, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
        """`strop launch` as a process, in this folder."""
        return subprocess.Popen(
            [sys.executable, "-m", "strop.cli", "launch", *words], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=env, cwd=self.folder,
        )  # fmt: skip

    def held(self, run: Path, process: "subprocess.Popen[str] | None" = None) -> None:
        """Returns when a step after the first checkpoint is being played and cannot end."""
        wait_until(lambda: list(run.glob("checkpoints/*/STROP_COMPLETE")), process)
        self.hold.touch()


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1.6 M parameters."""
    folder = tmp_path_factory.mktemp("model")
    ranks.make_model(folder)
    return folder


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    """The run folder of two processes that nothing stopped."""
    launched = Launched(tmp_path_factory.mktemp("undisturbed"), model)
    run = launched.folder / "run"
    process = launched.begin(*launched.words(run, "launch.processes=2"))
    said, _ = process.communicate(timeout=1200)
    assert process.returncode == 0 and (run / "summary.json").is_file(), said
    return run


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Two nodes of a SLURM of our own."""
    needs.need("slurm")
    with slurm_in(tmp_path_factory.mktemp("slurm")) as running:
        yield running
    running.assert_nothing_left()


def same(run: Path, other: Path) -> None:
    """Both have the same weights and rollouts, each once."""
    assert ranks.digest(run) == ranks.digest(other)
    assert ranks.groups(run) == ranks.groups(other)
    assert set(ranks.groups(run).values()) == {1}
