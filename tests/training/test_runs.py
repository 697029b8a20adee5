"""Whole runs of a tiny real model through the command line: it learns, it resumes to the bit, it says what is wrong."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.warm import strop

from strop.reports.run_folder import RunFolder

from .conftest import metrics, weights


@pytest.mark.train(25)
def test_reward_rises_and_the_folder_tells_all(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    done = strop(
        "train", *recipe_words("run", optim__steps=20, optim__learning_rate=0.02, grpo__group_size=8)
    )
    assert done.returncode == 0, done.stderr
    rewards = [line["rewards"]["repeats"] for line in metrics(tmp_path / "run")]
    assert len(rewards) == 20
    assert sum(rewards[-4:]) / 4 > sum(rewards[:4]) / 4 + 0.2
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert {"pass@1", "greedy"} <= summary["evaluation"]["before"].keys()
    assert {"delta", "low", "high"} <= summary["evaluation"]["paired"]["greedy"].keys()
    assert (
        summary["wall_seconds"] > 0
        and summary["peak_rss_bytes"] > 1e8
        and summary["time_split"]["sampling"] > 0
    )
    run = RunFolder.read(tmp_path / "run")
    rollouts = [rollout for group in run.iter_groups(3) for rollout in group.rollouts]
    assert len(rollouts) >= 16 and run.rollout_steps() == list(range(1, 21))
    for group in run.iter_groups(3):
        given = [r.advantage for r in group.rollouts]
        if None not in given:
            assert abs(sum(given)) < 1e-3
            best = max(group.rollouts, key=lambda r: r.reward)
            assert best.advantage == max(given)
    assert all(r.turns[0].completion.token_ids and r.verdict for r in rollouts)


def test_a_finished_run_is_not_resumed(six_steps: Path, tmp_path: Path) -> None:
    shutil.copytree(six_steps, tmp_path / "run")
    again = strop("train", "--resume", str(tmp_path / "run"))
    assert again.returncode == 0 and "already finished" in again.stdout, again


@pytest.mark.train(20)
def test_the_model_as_it_came_can_be_evaluated_last(
    recipe_words: Callable[..., list[str]], six_steps: Path, tmp_path: Path
) -> None:
    done = strop("train", *recipe_words("late", evaluation__before="last", evaluation__room=2))
    assert done.returncode == 0, done.stderr
    *_, last = re.finditer(r"^ *step +6.*$", done.stdout, re.M)
    assert "before training" not in done.stdout[: last.end()]

    def counts(run: Path, name: str) -> object:
        return json.loads((run / "evaluation" / f"{name}.record.json").read_text())["counts"]

    for name in ("before", "after"):
        assert counts(tmp_path / "late", name) == counts(six_steps, name)
    assert weights(tmp_path / "late") == weights(six_steps)
    summary = json.loads((tmp_path / "late" / "summary.json").read_text())
    room = json.loads((tmp_path / "late" / "evaluation" / "room.record.json").read_text())
    assert room["samples"] == 0 and room["max_tokens"] == 2 * summary["evaluation"]["before"]["max_tokens"]
    held = summary["evaluation"]["after"]["controls"]["room"]
    ours = {
        name: json.loads((tmp_path / "late" / "evaluation" / f"{name}.record.json").read_text())
        for name in ("after", "room")
    }
    rates = {name: sum(t["greedy"] for t in one["counts"]) / len(one["counts"]) for name, one in ours.items()}
    assert held["greedy"] == rates["room"]
    assert held["difference"]["greedy"]["delta"] == pytest.approx(rates["after"] - rates["room"])
    assert "room: the model before training" in done.stdout
    assert (
        summary["evaluation"]["paired"]
        == json.loads((six_steps / "summary.json").read_text())["evaluation"]["paired"]
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model__nam": "x"}, "did you mean model.name"),
        ({"optim__steps": "many"}, "optim.steps"),
        ({"model__name": "/nowhere/model"}, "there is no such folder"),
        ({"tasks__source": "jsonl:/nowhere.jsonl"}, "/nowhere.jsonl"),
        ({"tasks__max_prompt_tokens": 5}, "tasks.max_prompt_tokens"),
        ({"run__dir": "/proc/strop-run"}, "/proc/strop-run"),
    ],
)
def test_bad_input_is_one_clear_line(
    recipe_words: Callable[..., list[str]], tmp_path: Path, change: dict[str, str], said: str
) -> None:
    done = strop("train", *recipe_words("run", **change))
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1 and said in errors[0]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_folder_that_exists_is_not_touched(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("keep")
    done = strop("train", *recipe_words("run"))
    assert done.returncode == 2 and "run.overwrite" in done.stderr
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["mine"]


@pytest.mark.parametrize(
    "lines", ["", '{"statement": "x", "check": {"kind": "cases", "entry_point": "f", "cases": []}}\n']
)
def test_tasks_that_teach_nothing_are_refused(
    recipe_words: Callable[..., list[str]], tmp_path: Path, lines: str
) -> None:
    (tmp_path / "tasks.jsonl").write_text(lines)
    done = strop("train", *recipe_words("run", tasks__source=f"jsonl:{tmp_path}/tasks.jsonl"))
    assert done.returncode == 2
    assert done.stderr.count("error:") == 1 and "tasks.jsonl" in done.stderr
