"""Jobs on a real SLURM of two nodes: whatever ends them, they go on to the bits of a run that nothing stopped."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from tests.waiting import wait_until

from .conftest import Launched, same
from .slurm import Slurm

pytestmark = pytest.mark.needs("slurm")

HOSTILE = "a b'$(touch hacked)\"`touch hacked`;touch hacked;%j #&"


def submitted(slurm: Slurm, launched: Launched, run: Path, *more: str) -> str:
    """The number of the job."""
    words = launched.words(run, "launch.nodes=2", *more)
    site = launched.folder / "site.yaml"
    site.write_text("partition: main\n")
    process = launched.begin(*words, "--slurm", str(site), "--submit", env=slurm.environment)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return said.splitlines()[-1]


def rank(job: str, number: int) -> int:
    """The process of a rank of a job."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if {f"SLURM_JOB_ID={job}".encode(), f"RANK={number}".encode()} <= {*variables} and b"train" in words:
            found.append(int(entry.name))
    return min(found)


def log(run: Path) -> str:
    return (run / "launch" / "job.log").read_text()


@pytest.mark.soak(90)
def test_a_job_that_is_requeued_goes_on(slurm: Slurm, undisturbed: Path, model: Path, tmp_path: Path) -> None:
    """In a folder whose name would do harm if a shell read it, by a recipe of such a name."""
    launched, run = Launched(tmp_path, model), tmp_path / HOSTILE / "run"
    job = submitted(
        slurm, launched, run, str(shutil.copy(tmp_path / "recipe.yaml", tmp_path / f"{HOSTILE}.yaml"))
    )
    launched.held(run)
    slurm.run("scontrol", "requeue", job)
    wait_until(lambda: slurm.job(job)["Restarts"] == "1")
    launched.hold.unlink()
    assert slurm.ended(job)["JobState"] == "COMPLETED", log(run)
    same(run, undisturbed)
    assert not list(tmp_path.rglob("hacked")) and not Path("hacked").exists()


@pytest.mark.soak(60)
def test_a_job_that_is_told_to_stop_saves_and_requeues_itself(
    slurm: Slurm, undisturbed: Path, model: Path, tmp_path: Path
) -> None:
    """With the signal that SLURM sends before the time limit."""
    launched, run = Launched(tmp_path, model), tmp_path / "run"
    job = submitted(slurm, launched, run)
    launched.held(run)
    slurm.run("scancel", "--batch", "--signal=USR2", job)
    wait_until(lambda: (run / "stop").exists())
    launched.hold.unlink()
    assert slurm.ended(job)["JobState"] == "COMPLETED", log(run)
    assert slurm.job(job)["Restarts"] == "1" and "stopped after step" in log(run)
    same(run, undisturbed)


@pytest.mark.soak(60)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_rank_that_is_killed_or_stopped_ends_the_job_which_goes_on(
    slurm: Slurm, undisturbed: Path, model: Path, tmp_path: Path, how: int
) -> None:
    launched, run = Launched(tmp_path, model), tmp_path / "run"
    job = submitted(slurm, launched, run, "launch.stall_minutes=0.05")
    launched.held(run)
    os.kill(rank(job, 1), how)
    if how == signal.SIGSTOP:
        launched.hold.unlink()
    wait_until(lambda: slurm.job(job)["Restarts"] == "1")
    launched.hold.unlink(missing_ok=True)
    assert slurm.ended(job)["JobState"] == "COMPLETED", log(run)
    assert "trainer ended with code" in log(run)
    stood_still = "it does not answer" in (run / "launch" / "trainer.log").read_text()
    assert stood_still is (how == signal.SIGSTOP)
    same(run, undisturbed)


@pytest.mark.soak(240)
def test_a_job_at_its_time_limit_goes_on(
    slurm: Slurm, undisturbed: Path, model: Path, tmp_path: Path
) -> None:
    """In the middle of a step that does not end in time."""
    launched, run = Launched(tmp_path, model), tmp_path / "run"
    job = submitted(slurm, launched, run, "launch.minutes=2", "launch.stop_seconds=20")
    launched.held(run)
    wait_until(lambda: "did not end in time" in log(run))
    launched.hold.unlink()
    assert slurm.ended(job)["JobState"] == "COMPLETED", log(run)
    assert int(slurm.job(job)["Restarts"]) >= 1
    same(run, undisturbed)
