"""Trackers are told a run's own numbers under clear names: read back from what each of them wrote."""

import json
import os
import sqlite3
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import wait_until

from strop.config.load import dump_recipe, load_recipe
from strop.config.schema import Recipe
from strop.reports.run_folder import RunFolder
from strop.training.sinks import Trackers, check_trackers
from strop_verify.core.errors import ConfigError, UserError

RESULT = {
    "pass@1": 0.25,
    "greedy": 0.5,
    "build": None,
    "tokens_mean": 40.0,
    "samples": 4,
    "topics": {"x": {"pass@1": 1}},
}
RESULT["intervals"] = {"pass@1": [0.1, 0.4], "greedy": [0.3, 0.7], "build": None}


def recipe(folder: Path, *trackers: str) -> Recipe:
    words = [f"run.dir={folder}", "run.name=hones", f"run.report_to=[{','.join(trackers)}]", "optim.steps=3"]
    return load_recipe([], words)


def line(step: int) -> dict[str, Any]:
    return {
        "step": step,
        "reward": step / 10,
        "rewards": {"passed": 0.5, "tests": None},
        "stages": {"build": 0.75},
        "error_rate": 0.0,
        "loss": float("nan") if step == 2 else -0.5,
        "seconds": 2.0,
        "seconds_sampling": 1.5,
        **(
            {"held_out": {"pass@1": 0.3, "intervals": {"pass@1": [0.2, 0.4]}, "tasks": 9}}
            if step == 2
            else {}
        ),
    }


def play(folder: Path, *trackers: str) -> list[str]:
    """A run of three steps that is killed after the second and taken up from the first."""
    settings = recipe(folder, *trackers)
    said: list[str] = []
    with RunFolder.create(folder, recipe=dump_recipe(settings), versions={}) as run:
        with Trackers(settings, run, said.append) as sink:
            sink.begin(0)
            run.write_evaluation("before", RESULT, [])
            sink.evaluated("before", RESULT)
            sink.evaluated("before-humaneval", RESULT)
            for step in (1, 2):
                run.append_metrics(line(step))
                sink.measured({**line(step), "reward": 9.0} if step == 2 else line(step))
        run.truncate_after(1)
        with Trackers(settings, run, said.append) as sink:
            sink.begin(1)
            for step in (2, 3):
                sink.measured(line(step))
            sink.evaluated("step-000002", RESULT)
            sink.evaluated("warm", RESULT)
            sink.evaluated("after", RESULT)
    return said


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert play(tmp_path / "run", "tensorboard") == []
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    scalars = {
        tag: [(event.step, round(event.value, 6)) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }
    assert scalars["train/reward"] == [(1, 0.1), (2, 0.2), (3, 0.3)]  # what came before the kill is hidden
    assert scalars["evaluation/pass@1"] == [(0, 0.25), (3, 0.25)]
    assert scalars["evaluation/during/pass@1"] == [(2, 0.3)]
    assert scalars["train/rewards/passed"][0] == (1, 0.5) and scalars["train/stages/build"][0] == (1, 0.75)
    assert scalars["time/step"][0] == (1, 2.0) and scalars["time/sampling"][0] == (1, 1.5)
    assert scalars["evaluation/completion_tokens"] == [(0, 40.0), (3, 40.0)]
    assert scalars["evaluation/warm/greedy"] == [(0, 0.5)]
    assert [step for step, _ in scalars["train/loss"]] == [1, 3]
    assert not {tag for tag in scalars if "topics" in tag or "samples" in tag or "tests" in tag}
    text = events.Tensors("recipe/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "name: hones" in text


def test_trackio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trackio")
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from pathlib import Path\nfrom tests.training.test_trackers import play\n"
        f"print(play(Path({str(tmp_path / 'run')!r}), 'trackio'))\n"
    )
    environment = {**os.environ, "TRACKIO_DIR": str(tmp_path / "trackio"), "TRACKIO_PROJECT": "rewards"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "[]\n"
    with sqlite3.connect(tmp_path / "trackio" / "rewards.db") as base:
        rows = base.execute("select run_id, step, metrics from metrics order by id").fetchall()
        configs = base.execute("select run_id, config from configs").fetchall()
    last = rows[-1][0]
    values = [(step, json.loads(metrics)) for run, step, metrics in rows if run == last]
    assert [(s, v["train/reward"]) for s, v in values if "train/reward" in v] == [
        (1, 0.1),
        (2, 0.2),
        (3, 0.3),
    ]
    assert [(s, v["evaluation/pass@1"]) for s, v in values if "evaluation/pass@1" in v] == [
        (0, 0.25),
        (3, 0.25),
    ]
    assert json.loads(dict(configs)[last])["run"]["name"] == "hones"


def wandb_records(path: Path) -> list[Any]:
    """The records of an offline run's file: blocks of 32 KiB of (checksum, length, type, data)."""
    from wandb.proto import wandb_internal_pb2

    data, position, records, part = path.read_bytes(), 7, [], b""
    while position + 7 <= len(data):
        if 32768 - position % 32768 < 7:
            position += 32768 - position % 32768
            continue
        length, kind = int.from_bytes(data[position + 4 : position + 6], "little"), data[position + 6]
        part += data[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4):  # whole, or the last part
            records.append(wandb_internal_pb2.Record.FromString(part))
            part = b""
    return records


def wandb_rows(folder: Path) -> tuple[list[dict[str, Any]], str]:
    """What the newest offline run was told, and its name. A process of wandb's writes the file: wait for its end."""

    def ended() -> list[Any]:
        newest = max(folder.glob("offline-run-*/run-*.wandb"), key=lambda path: path.stat().st_mtime_ns)
        found = wandb_records(newest)
        return found if found and found[-1].HasField("exit") else []

    records = wait_until(ended)
    rows = [
        {(item.key or "/".join(item.nested_key)): json.loads(item.value_json) for item in record.history.item}
        for record in records
        if record.HasField("history")
    ]
    return rows, next(record.run.display_name for record in records if record.HasField("run"))


def test_wandb_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    check_trackers(["wandb"])
    assert play(tmp_path / "run", "wandb") == []
    rows, name = wandb_rows(tmp_path / "run" / "wandb")
    assert name == "hones"
    assert [(r["_step"], r["train/reward"]) for r in rows if "train/reward" in r] == [
        (1, 0.1),
        (2, 0.2),
        (3, 0.3),
    ]
    assert [(r["_step"], r["evaluation/pass@1"]) for r in rows if "evaluation/pass@1" in r] == [
        (0, 0.25),
        (3, 0.25),
    ]


def test_wandb_without_a_key_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    code = "from strop.training.sinks import check_trackers\ncheck_trackers(['wandb'])"
    environment = {**os.environ, "HOME": str(tmp_path), "NETRC": str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "UserError" in done.stderr and "WANDB_MODE=offline" in done.stderr


def test_a_tracker_that_is_not_there_is_named_with_the_remedy() -> None:
    missing = [name for name in ("wandb", "trackio", "tensorboard") if find_spec(name) is None]
    if not missing:
        pytest.skip("every tracker is installed")
    with pytest.raises(UserError, match=f"pip install {missing[0]}"):
        check_trackers(missing)
    with pytest.raises(ConfigError, match="tensorbord"):
        load_recipe([], ["run.report_to=[tensorbord]"])


def test_a_tracker_that_fails_is_left_out(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    settings = recipe(tmp_path / "run", "tensorboard")
    said: list[str] = []
    with RunFolder.create(tmp_path / "run", recipe=dump_recipe(settings), versions={}) as run:
        (tmp_path / "run" / "tensorboard").write_text("a file is in the way")
        with Trackers(settings, run, said.append) as sink:
            sink.begin(0)
            sink.measured(line(1))
    assert len(said) == 1 and "tensorboard failed" in said[0] and "training continues" in said[0]
