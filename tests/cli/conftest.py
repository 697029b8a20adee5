import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import warm

from strop.core.checks import Case, CasesCheck
from strop.core.task import Task
from strop.tasks import write_tasks

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMAND = [sys.executable, "-c", "from strop.cli import main; main()"]


def _environment():
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.fixture
def strop(tmp_path):
    """Runs the command line in a process of its own, in an empty folder."""
    return lambda *arguments: warm.strop(*map(str, arguments), cwd=tmp_path)


@pytest.fixture
def start(tmp_path):
    """Starts the command line with Ctrl-C as a terminal would send it; what still runs at the end is killed."""
    started = []

    def begin(*arguments):
        started.append(
            subprocess.Popen(
                [*COMMAND, *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=tmp_path,
                env=_environment(),
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def add():
    return Task(
        id="add",
        statement="Return the sum of a and b.",
        signature="def add(a, b):",
        reference="def add(a, b):\n    return a + b\n",
        check=CasesCheck(
            entry_point="add", cases=[Case(args=[1, 2], expected=3), Case(args=[0, 5], expected=5)]
        ),
        topic="numbers",
    )


@pytest.fixture
def double():
    return Task(
        id="double",
        statement="Return twice x.",
        signature="def double(x):",
        reference="def double(x):\n    return 2 * x\n",
        check=CasesCheck(
            entry_point="double", cases=[Case(args=[3], expected=6), Case(args=["a"], expected="aa")]
        ),
        topic="strings",
    )


@pytest.fixture
def tasks_file(tmp_path, add, double):
    write_tasks([add, double], tmp_path / "tasks.jsonl")
    return tmp_path / "tasks.jsonl"
