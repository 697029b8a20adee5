"""Two processes train as one, and a killed one is resumed to the bit."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from tests.warm import strop

from strop.core.errors import UserError
from strop.training.ranks import Ranks, join


@pytest.fixture(scope="module")
def ranks() -> ModuleType:
    """benchmarks/ranks.py."""
    path = Path(__file__).parents[2] / "benchmarks" / "ranks.py"
    spec = importlib.util.spec_from_file_location("ranks_benchmark", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(ranks: ModuleType, folder: Path, model: Path) -> list[str]:
    """Three steps, small ones: Adam's first make large moves of last bits, and a sample may tip over."""
    return [*ranks.words(folder, model, 3), "optim.learning_rate=2e-5"]


@pytest.fixture(scope="module")
def two(ranks: ModuleType, peaked_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run of two processes in `two`."""
    folder = tmp_path_factory.mktemp("ranks")
    ranks.finished(ranks.launched(2, [*words(ranks, folder, peaked_model), f"run.dir={folder}/two"]))
    return folder


@pytest.mark.train(45)
def test_two_processes_train_as_one(ranks: ModuleType, two: Path, peaked_model: Path) -> None:
    done = strop("train", *words(ranks, two, peaked_model), f"run.dir={two}/one")
    assert done.returncode == 0, done.stderr
    found = ranks.compared(two / "one", two / "two")
    assert found["groups_lost"] == found["groups_doubled"] == 0
    assert found["max_loss_difference"] < 1e-5 and found["max_weight_difference"] < 2e-6
    # Each evaluation has every answer once, however the tasks were shared out.
    for name in ("before", "after"):
        records = [(two / run / "evaluation" / f"{name}.json").read_text() for run in ("one", "two")]
        assert [text.count("task_id") for text in records] == [records[0].count("task_id")] * 2


@pytest.mark.train(45)
def test_two_processes_sample_beside_the_update_as_one_does(
    ranks: ModuleType, two: Path, peaked_model: Path
) -> None:
    ahead = ["grpo.max_staleness=1", "grpo.correction.type=token-truncated"]
    both = [*words(ranks, two, peaked_model), *ahead]
    ranks.finished(ranks.launched(2, [*both, f"run.dir={two}/two-ahead"]))
    done = strop("train", *both, f"run.dir={two}/one-ahead")
    assert done.returncode == 0, done.stderr
    found = ranks.compared(two / "one-ahead", two / "two-ahead")
    assert found["groups_lost"] == found["groups_doubled"] == 0
    assert found["max_loss_difference"] < 1e-5 and found["max_weight_difference"] < 2e-6


@pytest.mark.train(60)
@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_process_ends_the_run_and_resume_gives_the_same_bits(
    ranks: ModuleType, two: Path, peaked_model: Path, rank: int
) -> None:
    ranks.killed(two / f"killed-{rank}", rank, words(ranks, two, peaked_model))
    assert ranks.digest(two / f"killed-{rank}") == ranks.digest(two / "two")
    assert ranks.groups(two / f"killed-{rank}") == ranks.groups(two / "two")


@pytest.mark.train(30)
def test_one_process_that_is_asked_for_a_checkpoint_has_all_save_it(
    ranks: ModuleType, two: Path, peaked_model: Path
) -> None:
    run = two / "asked"
    more = ["run.save_every=3", "run.keep_checkpoints=5", f"run.dir={run}"]
    process = ranks.launched(2, [*words(ranks, two, peaked_model), *more])
    while process.poll() is None and not list(run.glob("rollouts/step-*.zst")):
        time.sleep(0.02)
    os.kill(ranks.ranks_of(f"run.dir={run}")[1], signal.SIGUSR2)
    ranks.finished(process)
    saved = [path.parent.name for path in run.glob("checkpoints/*/STROP_COMPLETE")]
    assert len(saved) == 2 and "checkpoint-3" in saved, saved
    assert ranks.digest(run) == ranks.digest(two / "two")


@pytest.mark.train(15)
def test_a_fault_is_said_once_and_every_process_ends(
    ranks: ModuleType, two: Path, peaked_model: Path
) -> None:
    process = ranks.launched(2, [*words(ranks, two, peaked_model), f"run.dir={two}/two"])
    said, _ = process.communicate()
    assert process.returncode != 0 and said.count("error: ") >= 1 and "run.overwrite" in said, said
    assert (two / "two" / "summary.json").is_file()


def test_a_launcher_that_starts_one_process_instead_of_several_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert join() == Ranks(0, 1)
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")
    assert join() == Ranks(0, 1)  # as asked for
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    with pytest.raises(UserError, match="torchrun"):
        join()


@pytest.mark.train(20)
def test_accelerate_launch_with_cpu_is_told_what_to_use(
    peaked_model: Path, ranks: ModuleType, two: Path
) -> None:
    command = [
        "accelerate.commands.launch",
        "--cpu",
        "--num_processes",
        "2",
        "--module",
        "strop.cli",
        "train",
    ]
    done = subprocess.run(
        [sys.executable, "-m", *command, *words(ranks, two, peaked_model), f"run.dir={two}/accelerated"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "use: torchrun" in done.stderr
    assert not (two / "accelerated").exists()


def test_shares_come_back_in_their_order() -> None:
    for world in (1, 2, 3):
        everyone = [Ranks(rank, world) for rank in range(world)]
        for count in range(7):
            shares = [one.share(range(count)) for one in everyone]
            assert everyone[0].interleave(shares) == list(range(count))
