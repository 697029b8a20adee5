"""Controls: trained from the same start for as long as the run's steps took, repeated alike after a kill."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.warm import strop

FEW = {
    "grpo__refill": "false", "optim__steps": 3, "sft__warm_start": "true", "sft__steps": 2, "sft__batch_size": 4,
    "sft__learning_rate": 0.01, "run__save_every": 9, "tasks__held_out_fraction": 0.3,
}  # fmt: skip


@pytest.mark.train(40)
def test_controls_are_trained_held_against_the_run_and_not_repeated(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    words = recipe_words("run", **FEW)
    done = strop("train", "--controls", "ssd,warm,rft", *words)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    summary = json.loads((run / "summary.json").read_text())
    assert set(summary["controls"]) >= {"ssd", "warm"}
    budget = sum(json.loads(line)["seconds"] for line in (run / "metrics.jsonl").read_text().splitlines())
    for name, one in summary["controls"].items():
        took, record = (
            one["took"],
            json.loads((run / "evaluation" / f"control_{name}.record.json").read_text()),
        )
        assert took["seconds_budget"] == pytest.approx(budget) and took["updates"] >= 1
        assert one["difference"].keys() == summary["evaluation"]["paired"].keys() and record["counts"]
        assert f"the trained model against control {name}" in done.stdout
    assert "| control_ssd | control_warm |" in (run / "final" / "README.md").read_text()
    if "rft" not in summary["controls"]:
        assert "control rft is left out: no answer" in done.stdout
    assert (
        summary["controls"]["ssd"]["took"]["rounds"] == 1
        and not summary["controls"]["warm"]["took"]["rounds"]
    )
    # Killed within the second control: the first is read, the second is made again with the updates that were planned.
    kept = {path.name: path.read_bytes() for path in (run / "evaluation").glob("control_*.record.json")}
    (run / "summary.json").unlink()
    (run / "controls" / "warm.done.json").unlink()
    for path in (run / "evaluation").glob("control_warm*"):
        path.unlink()
    shutil.copytree(run, tmp_path / "copy")
    done = strop("train", "--resume", run)
    assert done.returncode == 0, done.stderr
    assert (
        "control ssd:" not in done.stdout.replace("against control ssd:", "")
        and "control warm:" in done.stdout
    )
    again = json.loads((run / "summary.json").read_text())["controls"]
    assert again["warm"]["took"]["updates"] == summary["controls"]["warm"]["took"]["updates"]
    counts = [json.loads(text)["counts"] for text in (
        kept["control_warm.record.json"], (run / "evaluation" / "control_warm.record.json").read_bytes()
    )]  # fmt: skip
    for before, after in zip(*counts, strict=True):
        assert {k: v for k, v in before.items() if "seconds" not in k} == {
            k: v for k, v in after.items() if "seconds" not in k
        }


def test_controls_need_the_trained_model_s_evaluation(recipe_words: Callable[..., list[str]]) -> None:
    done = strop("train", "--dry-run", "--controls", "ssd", *recipe_words("run", evaluation__after="false"))
    assert done.returncode and "set evaluation.after=true" in done.stderr, done.stderr
    done = strop("train", "--dry-run", "--controls", "sdd", *recipe_words("run"))
    assert done.returncode and "controls" in done.stderr and "rft" in done.stderr, done.stderr


@pytest.mark.train(20)
def test_a_control_without_anything_to_learn_from_is_left_out(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    check = {"kind": "cases", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]}
    tasks = (
        {"statement": said, "signature": "def f(x: int) -> int:", "check": check, "split": side}
        for said, side in (
            ("Add one to x.", "train"),
            ("Count up.", "train"),
            ("What follows x?", "held-out"),
        )
    )
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    few = {
        "optim__steps": 1,
        "grpo__refill": "false",
        "grpo__tasks_per_step": 2,
    }
    words = recipe_words("run", **few, tasks__source=tmp_path / "tasks.jsonl")
    done = strop("train", "--controls", "warm", *words[1:])
    assert done.returncode == 0, done.stderr
    assert "control warm is left out: sft: none of the tasks has a reference" in done.stdout
    assert (tmp_path / "run" / "summary.json").is_file()
