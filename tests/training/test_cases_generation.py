"""The shared cases about generation, run as they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.warm import strop

from .conftest import metrics

CASES = Path(os.environ.get("STROP_CASES", "../shared/cases"))


def case(name: str, target: Path) -> None:
    """Copies a case to a folder and runs its script there."""
    if not (CASES / name).is_dir():
        pytest.skip(f"{CASES / name} is not there: set STROP_CASES to the folder of the shared cases")
    shutil.copytree(CASES / name, target, dirs_exist_ok=True)
    subprocess.run([sys.executable, "make_model.py"], cwd=target, check=True, capture_output=True)


@pytest.mark.train(15)
def test_several_end_tokens(tmp_path: Path) -> None:
    case("several-end-tokens", tmp_path)
    words = ["./model", "--tasks", "jsonl:tasks.jsonl", "-n", "0", "-k", "1", "--max-tokens", "60"]
    done = strop("eval", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if "./model" in line)
    assert row.count("1.000 [1.000, 1.000]") == 3 and " 6.0 |" in row and "0.0%" in row, done.stdout


@pytest.mark.train(30)
def test_warm_start_kl(tmp_path: Path) -> None:
    case("several-end-tokens", tmp_path)
    case("warm-start-kl", tmp_path)
    done = strop("train", "recipe.yaml", "run.dir=run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert metrics(tmp_path / "run")[0]["kl"] == pytest.approx(0, abs=1e-7)
