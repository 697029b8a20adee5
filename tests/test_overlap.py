"""The benchmarks of overlap and of a machine run: at their smallest sizes, with real models."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.processes import family

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
pytestmark = pytest.mark.train(20)


def ran(
    tmp_path: Path, script: str, *words: str
) -> tuple[dict[str, Any], "subprocess.CompletedProcess[str]"]:
    command = [sys.executable, BENCHMARKS / script, "--json", tmp_path / "found.json", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert (tmp_path / "found.json").is_file(), done.stderr
    return json.loads((tmp_path / "found.json").read_text()), done


@pytest.mark.train(40)
def test_one_step_off_samples_beside_updates_and_loses_nothing(tmp_path: Path) -> None:
    found, done = ran(tmp_path, "overlap.py", "--size", "tiny", "--steps", "32", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    after, off = found["beside"].values()
    assert after == 0 and off > 0.05, found
    assert found["answers"] == 2 * 32 * 8 and found["lost"] == found["doubled"] == found["stale_dropped"] == 0
    assert found["length_bias"] == {"tokens": 0, "low": 0, "high": 0}
    assert found["update_idle"]["one after the other"] == pytest.approx(
        found["sampling"]["one after the other"], rel=0.2
    )


def test_parts_of_the_check_run_alone_and_one_that_is_late_or_fails_is_said(tmp_path: Path) -> None:
    found, done = ran(tmp_path, "gpu.py", "--quick", "--minutes", "90", "--only", "train tiny")
    assert list(found["parts"]) == ["device", "train tiny"] and done.returncode == 0, (
        done.stdout + done.stderr
    )
    assert {part["status"] for part in found["parts"].values()} == {"ok"}
    assert found["parts"]["train tiny"]["seconds_a_step"] > 0
    assert found["parts"]["device"]["gpu"] or "on the CPU: no GPU was found" in done.stdout

    gpu = runpy.run_path(str(BENCHMARKS / "gpu.py"))
    late, failed = gpu["measured"]("train", "cpu quick", 1.0), gpu["measured"]("train", "cpu slow", 60.0)
    assert late["status"] == "late" and late["why"] == "not done after 1 s"
    assert failed["status"] == "failed" and "invalid choice: 'cpu slow'" in failed["why"]
    assert not family("gpu.py")
    shown = gpu["table"]({"parts": {"train": late, "vllm": failed}, "seconds": 2.0})
    assert "not done after 1 s" in shown and "cpu slow" in shown
