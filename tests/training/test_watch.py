"""Who is late: processes that stand still are named and end the run; those that work, or wait for such, are not."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.waiting import wait_until

from strop.training.watch import LATE, RANKS, STALLED

pytestmark = pytest.mark.train(8)

LIMIT = 2.0
"""Seconds after which a process is late."""
PROGRAM = """
import re, sys, threading, time
from pathlib import Path
from strop_verify.core.progress import PROGRESS
from strop.training.ranks import Ranks
from strop.training.watch import RankWatch

def until(seconds, do):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        do()

def waits_for_one_that_works():
    with PROGRESS.at("waiting for the other processes", waits=True):
        time.sleep(LONG)

def works(): until(LONG, lambda: (PROGRESS.beat(), time.sleep(0.05)))
def stuck(): threading.Event().wait()
def clings(): re.match("(a*)*b", "a" * 200)  # never lets go of the interpreter's lock
def ends(): pass
def computes(): until(LONG, lambda: sum(range(10_000)))

def waits():
    with PROGRESS.at("waiting for the other processes", waits=True):
        stuck()

def loads():
    with PROGRESS.at("loading", busy=True):
        computes()

def idles():
    with PROGRESS.at("loading", busy=True):
        stuck()

def is_given_time():
    with PROGRESS.at("a server's answer", most=2 * LONG):
        time.sleep(LONG)

run, rank, *names = sys.argv[1:]
watch = RankWatch(Path(run), Ranks(int(rank), len(names)), LIMIT)
watch.start()
with PROGRESS.at(f"what {names[int(rank)]} does"):
    globals()[names[int(rank)]]()
watch.close()
"""


class Peers:
    """Processes of one run that watch each other, each doing what its name in PROGRAM says for `seconds`."""

    def __init__(self, run: Path, *names: str, seconds: float = 3 * LIMIT) -> None:
        self.run = run
        text = f"LIMIT, LONG = {LIMIT}, {seconds}\n{PROGRAM}"
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-c", text, str(run), str(rank), *names], stderr=subprocess.PIPE, text=True
            )
            for rank in range(len(names))
        ]

    def begun(self) -> None:
        """Returns when all of them have said what they do."""

        def said() -> bool:
            reports = list((self.run / RANKS).glob("*.json"))
            return sum("what" in report.read_text() for report in reports) == len(self.processes)

        wait_until(said, self.processes[0])

    def ended(self, *codes: int | None) -> str:
        """What they said; None is one that goes on until it is killed."""
        for process, code in zip(self.processes, codes, strict=True):
            if code is not None:
                process.wait(60)
        for process in self.processes:
            process.kill()
        said = "".join(process.communicate()[1] for process in self.processes)
        found = [process.returncode for process in self.processes]
        assert found == [-signal.SIGKILL if code is None else code for code in codes], said
        return said


@pytest.mark.parametrize(
    "names",
    [
        ("works",),
        ("loads",),
        ("waits_for_one_that_works", "works"),
        ("works", "is_given_time"),
        ("works", "ends"),
    ],
)
def test_who_works_is_not_late(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Nor who waits for one that does, or for what has a deadline of its own."""
    Peers(tmp_path, *names).ended(*[0] * len(names))
    assert not (tmp_path / LATE).exists()


@pytest.mark.parametrize("name", ["stuck", "idles", "computes"])
def test_who_stands_still_is_named_with_its_stage_and_its_stacks(tmp_path: Path, name: str) -> None:
    said = Peers(tmp_path, "waits", name, seconds=60).ended(STALLED, STALLED)
    (line,) = [line for line in said.splitlines() if line.startswith("error: ")]
    assert re.search(
        rf"process 1 of 2 \(pid \d+ on \S+\) has been silent for \d s in: what {name} does", line
    )
    assert "process 0 of 2" not in line and "resume with" in line
    written = (tmp_path / LATE).read_text()
    theirs = written.partition("process 1 of 2, what")[2]
    assert f" in {name}\n" in theirs and " in waits\n" in written
    assert theirs in (tmp_path / "error.txt").read_text()


def test_one_process_is_watched_by_itself(tmp_path: Path) -> None:
    said = Peers(tmp_path, "stuck").ended(STALLED)
    assert "process 0 of 1" in said and " in stuck\n" in (tmp_path / LATE).read_text()


def test_where_all_wait_for_each_other_all_are_late(tmp_path: Path) -> None:
    said = Peers(tmp_path, "waits", "waits").ended(STALLED, STALLED)
    assert "process 0 of 2" in said and "process 1 of 2" in said


def test_one_that_holds_the_interpreter_s_lock_leaves_its_stacks(tmp_path: Path) -> None:
    said = Peers(tmp_path, "waits", "clings").ended(STALLED, None)
    assert "it does not answer: /proc says it is running (R)" in said
    assert " in clings\n" in (tmp_path / LATE).read_text()


def test_one_that_is_stopped_is_named_with_its_state(tmp_path: Path) -> None:
    peers = Peers(tmp_path, "works", "works", seconds=60)
    peers.begun()
    os.kill(peers.processes[1].pid, signal.SIGSTOP)
    peers.processes[0].wait(60)
    said = peers.ended(STALLED, None)
    assert "in: what works does; it does not answer: /proc says it is stopped (T)" in said


def test_a_run_that_is_stopped_as_a_whole_goes_on(tmp_path: Path) -> None:
    peers = Peers(tmp_path, "works", "works")
    peers.begun()
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for process in peers.processes:
            os.kill(process.pid, number)
        time.sleep(2 * LIMIT if number == signal.SIGSTOP else 0)
    peers.ended(0, 0)
