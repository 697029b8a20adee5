"""A run of the tests that is cut off has told the names of its failures."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.waiting import DEADLINE, wait_until

HERE = Path(__file__).parents[1]
MIXED = """
import time

import pytest

def test_passes(): pass

def test_fails(): assert 1 + 1 == 3, "sums are wrong \\udcff"

@pytest.fixture
def broken(): raise OSError("no such thing")

def test_cannot_begin(broken): pass

@pytest.mark.parametrize("number", range(8))
def test_of_many(number): assert number != 5

def test_goes_on(): time.sleep(600)
"""


@pytest.mark.soak(3)
@pytest.mark.parametrize(
    ("processes", "number"),
    [(2, signal.SIGTERM), (2, signal.SIGKILL), (2, signal.SIGINT), (0, signal.SIGTERM)],
)
def test_failures_are_told_as_they_come(tmp_path: Path, processes: int, number: signal.Signals) -> None:
    (tmp_path / "test_mixed.py").write_text(MIXED)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    words = ["-q", "-n", str(processes), "-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path)]
    told = tmp_path / "told"
    with told.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *words],
            cwd=HERE,
            env={**environment, "PYTHONPATH": str(HERE)},
            stdout=out,
            start_new_session=True,
        )
    try:
        wait_until(lambda: told.read_text().count("failed: ") >= 3, process)
        process.send_signal(number)
        process.wait(DEADLINE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    failures = dict(re.findall(r"^failed: \S*test_mixed.py::(\S+) - (.*)$", told.read_text(), re.M))
    assert failures.keys() == {"test_fails", "test_cannot_begin", "test_of_many[5]"}
    assert "sums are wrong" in failures["test_fails"] and "no such thing" in failures["test_cannot_begin"]
