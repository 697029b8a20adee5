"""The plan as processes on this machine."""

import os
import signal
from pathlib import Path

import pytest
from tests.processes import alive, family
from tests.waiting import wait_until

from strop.training.watch import LATE, STALLED

from .conftest import Launched, same


@pytest.mark.train(60)
def test_ctrl_c_leaves_no_process_and_the_same_command_goes_on(
    undisturbed: Path, model: Path, tmp_path: Path
) -> None:
    launched, run = Launched(tmp_path, model), tmp_path / "run"
    words = launched.words(run, "launch.processes=2")
    process = launched.begin(*words)
    launched.held(run, process)
    started = family(root=process.pid)
    assert len(started) >= 3  # torch.distributed.run and two ranks
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert not [pid for pid in started if alive(pid)]
    launched.hold.unlink()
    process = launched.begin(*words, "optim.steps=9")
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 2 and "other settings" in said
    process = launched.begin(*words)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0 and "resumes from its newest checkpoint" in said, said
    same(run, undisturbed)


@pytest.mark.train(30)
def test_a_file_ends_the_run_after_its_step(model: Path, tmp_path: Path) -> None:
    launched, run = Launched(tmp_path, model), tmp_path / "run"
    process = launched.begin(*launched.words(run, "launch.processes=2", "run.save_every=4"))
    launched.hold.touch()
    try:
        while not (run / "metrics.jsonl").exists() and process.poll() is None:
            (run / "stop").touch() if run.is_dir() else None
            launched.hold.unlink(missing_ok=True)
    finally:
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 0 and said.count("stopped after step") == 1 and "resume with" in said, said
    assert not (run / "summary.json").exists() and not (run / "stop").exists()
    assert not (run / "error.txt").exists()
    assert [path.parent.name for path in run.glob("checkpoints/*/STROP_COMPLETE")] == ["checkpoint-1"]


@pytest.mark.train(60)
def test_a_stopped_rank_is_named_and_the_same_command_goes_on(
    undisturbed: Path, model: Path, tmp_path: Path
) -> None:
    """kill -STOP of one of two; the code is one that a job in SLURM answers by another try."""
    launched, run = Launched(tmp_path, model), tmp_path / "run"
    words = launched.words(run, "launch.processes=2", "launch.stall_minutes=0.05")
    process = launched.begin(*words)
    launched.held(run, process)
    stopped = rank_of(process.pid, 1)
    os.kill(stopped, signal.SIGSTOP)
    launched.hold.unlink()
    said, _ = process.communicate(timeout=300)
    assert process.returncode == STALLED, said
    assert (
        f"process 1 of 2 (pid {stopped} on " in said
        and "it does not answer: /proc says it is stopped (T)" in said
    )
    assert " in gather\n" in (run / LATE).read_text()  # where the other waits for it
    assert not alive(stopped)
    process = launched.begin(*words)
    said, _ = process.communicate(timeout=300)
    assert (
        process.returncode == 0 and "resumes from its newest checkpoint" in said and not (run / LATE).exists()
    ), said
    same(run, undisturbed)


@pytest.mark.train(60)
@pytest.mark.parametrize("who", ["launch", "torchrun"])
def test_what_a_killed_launcher_started_ends_with_it(model: Path, tmp_path: Path, who: str) -> None:
    launched, run = Launched(tmp_path, model), tmp_path / "run"
    process = launched.begin(*launched.words(run, "launch.processes=2"))
    launched.held(run, process)
    started = family(root=process.pid)
    (torchrun,) = family("torch.distributed.run", root=process.pid)[:1]
    os.kill(process.pid if who == "launch" else torchrun, signal.SIGKILL)
    wait_until(lambda: not any(map(alive, started)))
    process.communicate(timeout=60)


def rank_of(launcher: int, rank: int) -> int:
    """The process of a rank."""
    return next(
        pid
        for pid in family("strop.cli", root=launcher)
        if f"RANK={rank}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    )
