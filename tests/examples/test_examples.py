"""Every example runs; those with a model in tests/training/test_examples.py and test_environments.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.jail


def ran(name: str, *words: str) -> str:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *words],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_load_and_verify() -> None:
    assert ran("load_and_verify.py").count(" passed 100% of ") == 3


def test_rollouts() -> None:
    lines = ran("rollouts.py").splitlines()
    assert [" passed " in line for line in lines] == [True, False] * 3


def test_own_reward() -> None:
    first, second = ran("own_reward.py").splitlines()
    assert first.startswith("[('passed', 1.0), ('short', ") and second.endswith("] 0.0")
