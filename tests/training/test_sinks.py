"""A whole run with everything on: calls, tracker and commits; killed, taken up again, and refused in one line."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import wait_until
from tests.warm import strop

from strop.reports.run_folder import RunFolder

from .conftest import metrics

LOGGED = """
import strop


@strop.log_reward
def repeats(task, rollout, verdict):
    ids = rollout.flat()[0]
    return sum(a == b for a, b in zip(ids, ids[1:])) / len(ids)
"""


def calls(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "calls" / "repeats.jsonl").read_text().splitlines()]


def git(remote: Path, *words: str) -> str:
    argv = ["git", f"--git-dir={remote}", *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=300).stdout


def start_and_kill(words: list[str], run: Path, step: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "strop.cli", "train", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until((run / "rollouts" / f"step-{step:06d}.jsonl.zst").exists, process)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.soak(40)
def test_a_killed_run_with_every_sink(
    recipe_words: Callable[..., list[str]], six_steps: Path, tmp_path: Path
) -> None:
    run, remote = tmp_path / "run", tmp_path / "data.git"
    words = recipe_words(
        "run",
        run__name="hones",
        run__report_to="[tensorboard]",
        run__commit__remote=remote,
        run__commit__every=2,
    )
    (tmp_path / "rewards.py").write_text(LOGGED)
    start_and_kill(words, run, step=4)  # the checkpoint of step 2 or 3 is the newest
    with (run / "calls" / "repeats.jsonl").open("a") as file:
        file.write('{"step": 4, "torn')
    done = strop("train", "--resume", str(run))
    assert done.returncode == 0, done.stderr
    assert "run.commit" not in done.stdout and "run.report_to" not in done.stdout, done.stdout

    # Nothing of it changed the training.
    assert metrics(run) == metrics(six_steps)
    # One line a call, of the rollouts that are on disk, each once.
    found = {(line["step"], line["task_id"], line["index"]): line["score"] for line in calls(run)}
    folder = RunFolder.read(run)
    written = {
        (step, rollout.task_id, rollout.index): rollout.scores[0].value
        for step in folder.rollout_steps()
        for group in folder.iter_groups(step)
        for rollout in group.rollouts
    }
    assert found == written and len(calls(run)) == len(written)

    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    told = {event.step: event.value for event in events.Scalars("train/reward")}
    assert told == pytest.approx({line["step"]: line["reward"] for line in metrics(run)})
    assert [event.step for event in events.Scalars("evaluation/pass@1")] == [0, 6]

    names = git(remote, "ls-tree", "-r", "--name-only", "hones").split()
    assert {"recipe.yaml", "metrics.jsonl", "summary.json", "calls/repeats.jsonl"} <= set(names)
    assert f"rollouts/{folder.rollout_file(6).name}" in names
    assert not [name for name in names if name.startswith(("checkpoints", "final", "tensorboard", "."))]
    assert git(remote, "show", "hones:metrics.jsonl") == (run / "metrics.jsonl").read_text()
    assert [path.name for path in (run / ".data.git").rglob("*.lock")] == []


@pytest.mark.train(20)
def test_ctrl_c_with_a_stuck_remote(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    remote = tmp_path / "data.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nsleep 600\n")
    hook.chmod(0o755)
    words = recipe_words("run", run__commit__remote=remote, optim__steps=500)
    process = subprocess.Popen(
        [sys.executable, "-m", "strop.cli", "train", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_until((tmp_path / "run" / "rollouts" / "step-000003.jsonl.zst").exists, process)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130 and "strop train --resume" in said, said
    assert "Traceback" not in said
    left = subprocess.run(
        ["git", f"--git-dir={remote}", "branch"], capture_output=True, text=True, check=True
    )
    assert left.stdout == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run__report_to": "[tensorbord]"}, "run.report_to"),
        ({"run__commit__remote": "https://me:secret@example.org/x.git"}, "credential helper"),
        ({"run__commit__remote": "{tmp}/full"}, "empty or a new folder"),
        ({"run__commit__remote": "{tmp}/new", "run__commit__branch": "a..b"}, "run.commit.branch"),
    ],
)
def test_sinks_that_cannot_work_are_one_line(
    recipe_words: Callable[..., list[str]], tmp_path: Path, change: dict[str, str], said: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("")
    words = recipe_words("run", **{key: value.format(tmp=tmp_path) for key, value in change.items()})
    done = strop("train", "--dry-run", *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists() and not (tmp_path / "new").exists()
