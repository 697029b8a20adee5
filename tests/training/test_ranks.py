"""Several processes train as one, and a killed one is resumed to the bit."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks import ranks
from tests.warm import strop

from strop.reports.run_folder import RunFolder
from strop.training.ranks import Ranks, join
from strop_verify.core.errors import UserError

from .conftest import metrics


@pytest.fixture(scope="module")
def two(peaked_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run of two processes in `two`."""
    folder = tmp_path_factory.mktemp("ranks")
    ranks.finished(ranks.launched(2, [*ranks.words(folder, peaked_model, 3), f"run.dir={folder}/two"]))
    return folder


@pytest.mark.train(80)
def test_two_and_four_processes_compute_the_updates_of_one(peaked_model: Path, tmp_path: Path) -> None:
    """On the same groups: what is sampled anew may differ by a last bit, and then by whole tokens."""
    for count in (2, 4):
        found = ranks.replayed(tmp_path, peaked_model, 3, count)
        assert found.keys() == ranks.FORMS.keys()
        for kinds in found.values():
            assert kinds.keys() == {"loss", "grad_norm", "gradient", "weight"}
            assert max(kinds.values()) <= ranks.MOST, found


@pytest.mark.train(35)
def test_two_processes_play_what_one_plays(two: Path, peaked_model: Path) -> None:
    """The first step, whose weights are the same, to the token; then every task once."""
    assert ranks.counted(two / "two", 3) == {"groups_lost": 0, "groups_doubled": 0}
    words = [*ranks.words(two, peaked_model, 1), "evaluation.before=false", "evaluation.after=false"]
    done = strop("train", *words, f"run.dir={two}/one")
    assert done.returncode == 0, done.stderr
    first = {group: count for group, count in ranks.groups(two / "two").items() if group[0] == 1}
    assert ranks.groups(two / "one") == first
    for name in ("before", "after"):  # every answer of an evaluation once, however the tasks were shared out
        record = json.loads((two / "two" / "evaluation" / f"{name}.json").read_text())
        assert len({row["task_id"] for row in record["per_task"]}) == len(record["per_task"]) == 3
        answers = list(RunFolder.read(two / "two").iter_evaluation_rollouts(name))
        assert len(answers) == 3 * 2  # one sampled, one greedy


@pytest.mark.train(25)
def test_two_processes_sample_beside_the_update_as_one_does(two: Path, peaked_model: Path) -> None:
    run = two / "ahead"
    words = [*ranks.words(two, peaked_model, 3), "grpo.max_staleness=1", f"run.dir={run}"]
    ranks.finished(ranks.launched(2, words))
    assert ranks.counted(run, 3) == {"groups_lost": 0, "groups_doubled": 0}
    assert [line["staleness"] for line in metrics(run)] == [0, 1, 1]
    for step in (1, 2, 3):
        sampled = [r for group in RunFolder.read(run).iter_groups(step) for r in group.rollouts]
        assert {t.completion.policy_version for r in sampled for t in r.turns} == {max(0, step - 2)}


@pytest.mark.train(60)
@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_process_ends_the_run_and_resume_gives_the_same_bits(
    two: Path, peaked_model: Path, rank: int
) -> None:
    ranks.killed(two / f"killed-{rank}", rank, ranks.words(two, peaked_model, 3))
    assert ranks.digest(two / f"killed-{rank}") == ranks.digest(two / "two")
    assert ranks.groups(two / f"killed-{rank}") == ranks.groups(two / "two")


@pytest.mark.train(50)
@pytest.mark.parametrize("counts", [(2, 1), (1, 2)])
def test_another_number_of_processes_goes_on_with_a_run(
    two: Path, peaked_model: Path, counts: tuple[int, int]
) -> None:
    """`test_sharding.py` has the numbers: what is sampled anew may differ by a last bit, and then by whole tokens."""
    run = two / f"resumed-by-{counts[1]}"
    ranks.killed(run, 0, ranks.words(two, peaked_model, 3), *counts)
    assert ranks.counted(run, 3) == {"groups_lost": 0, "groups_doubled": 0}
    assert [line["step"] for line in metrics(run)] == [1, 2, 3]


@pytest.mark.train(30)
def test_one_process_that_is_asked_for_a_checkpoint_has_all_save_it(two: Path, peaked_model: Path) -> None:
    run = two / "asked"
    words = [*ranks.words(two, peaked_model, 3), "run.save_every=3", "run.keep_checkpoints=5"]
    process = ranks.launched(2, [*words, f"run.dir={run}"])
    while process.poll() is None and not list(run.glob("rollouts/step-*.zst")):
        time.sleep(0.02)
    os.kill(ranks.ranks_of(f"run.dir={run}")[1], signal.SIGUSR2)
    ranks.finished(process)
    saved = [path.parent.name for path in run.glob("checkpoints/*/STROP_COMPLETE")]
    assert len(saved) == 2 and "checkpoint-3" in saved, saved
    assert ranks.digest(run) == ranks.digest(two / "two")


@pytest.mark.train(15)
def test_a_fault_is_said_once_and_every_process_ends(two: Path, peaked_model: Path) -> None:
    process = ranks.launched(2, [*ranks.words(two, peaked_model, 3), f"run.dir={two}/two"])
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
def test_accelerate_launch_with_cpu_is_told_what_to_use(peaked_model: Path, two: Path) -> None:
    words = ranks.words(two, peaked_model, 3)
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
        [sys.executable, "-m", *command, *words, f"run.dir={two}/accelerated"], capture_output=True, text=True
    )
    assert done.returncode != 0 and "use: torchrun" in done.stderr
    assert not (two / "accelerated").exists()


def test_shares_come_back_in_their_order() -> None:
    for world in (1, 2, 3):
        everyone = [Ranks(rank, world) for rank in range(world)]
        for count in range(7):
            shares = [one.share(range(count)) for one in everyone]
            assert everyone[0].interleave(shares) == list(range(count))
