"""The examples that need a model, with a tiny one."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["train.py", "evaluate.py"])
def test_example(name: str, recipe_words: Callable[..., list[str]]) -> None:
    words = recipe_words(
        "run", optim__steps=1, evaluation__before="false", evaluation__after="false", run__save_every=1
    )
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words],
        capture_output=True,
        text=True,
        timeout=400,
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert ("1 steps in " if name == "train.py" else "pass@1 ") in done.stdout
