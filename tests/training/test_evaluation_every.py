"""Evaluation during training: it is there, it changes nothing that is learnt, a resumed run makes up what it forgot."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.warm import strop

from strop.config.schema import EvaluationConfig, Recipe
from strop.reports.run_folder import RunFolder
from strop.training.evaluations import read_evaluations, some
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.task import Task

from .conftest import metrics, weights

SHORT = {"optim__steps": 4, "evaluation__before": "false", "evaluation__after": "false"}


@pytest.mark.train(40)
def test_evaluations_in_between_change_no_weight_and_survive_a_resume(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    every = {"evaluation__every": 2, "evaluation__every_limit": 3, "evaluation__every_samples": 2, **SHORT}
    plain, often = tmp_path / "plain", tmp_path / "often"
    for words in (recipe_words("plain", **SHORT), recipe_words("often", **every)):
        done = strop("train", *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("alarm at step 3: truncation: 100.0 % of the answers") == 1
    assert weights(plain) == weights(often)
    without = [{k: v for k, v in line.items() if k != "held_out"} for line in metrics(often)]
    assert without == metrics(plain)
    assert ["held_out" in line for line in metrics(often)] == [False, True, False, True]
    held_out = metrics(often)[1]["held_out"]
    assert held_out["tasks"] == 3 and held_out["samples"] == 2
    low, high = held_out["intervals"]["pass@1"]
    assert 0 <= low <= held_out["pass@1"] <= high <= 1
    rollouts = list(RunFolder.read(often).iter_evaluation_rollouts("step-000002"))
    assert len(rollouts) == 6 and {r.turns[0].completion.policy_version for r in rollouts} == {2}
    assert json.loads((often / "evaluation/step-000004.json").read_text())["pass@1"] is not None
    assert read_evaluations(often) == {}

    expected = [line.get("held_out") for line in metrics(often)]
    kept = (often / "evaluation/step-000002.json").stat().st_mtime_ns
    (often / "evaluation/step-000004.json").write_text("stale")
    (often / "summary.json").unlink()
    shutil.rmtree(often / "checkpoints" / "checkpoint-4")
    done = strop("train", "--resume", str(often))
    assert done.returncode == 0 and "checkpoint-2" in done.stdout, done.stderr
    again = [line.get("held_out") for line in metrics(often)]
    for one in filter(None, [*expected, *again]):
        one.pop("seconds")
    assert again == expected and weights(often) == weights(plain)
    assert (often / "evaluation/step-000002.json").stat().st_mtime_ns == kept
    assert json.loads((often / "evaluation/step-000004.json").read_text())["tasks"] == 3
    assert done.stdout.count("alarm at step 3: truncation") == 1  # the step was made again

    (often / "summary.json").unlink()
    done = strop("train", "--resume", str(often))
    assert done.returncode == 0 and "checkpoint-4" in done.stdout, done.stderr
    assert "alarm" not in done.stdout


def test_the_same_few_tasks_every_time_whatever_their_order() -> None:
    check = CasesCheck(entry_point="f", cases=[Case(args=[1], expected=1)])
    tasks = [Task(id=f"t{n}", statement="x", check=check) for n in range(40)]
    config = EvaluationConfig(every=1, every_limit=10)
    chosen = [task.id for task in some(tasks, config)]
    assert len(chosen) == 10 and chosen == [task.id for task in some(tasks[::-1], config)]
    assert set(chosen) != {f"t{n}" for n in range(10)} and set(chosen) <= {t.id for t in tasks}
    assert len(some(tasks, EvaluationConfig(every=1, every_limit=None))) == 40
    assert Recipe().evaluation.every == 0


def test_evaluations_after_a_step_are_forgotten_with_it(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", recipe="", versions={}) as run:
        for name in ("before", "step-000002", "step-000010", "step-000011", "after"):
            run.write_evaluation(name, {"pass@1": 0.5}, [])
            (run.path / "evaluation" / f"{name}.record.json").write_text("{}")
        run.truncate_after(10)
        left = {path.name.partition(".")[0] for path in (run.path / "evaluation").iterdir()}
    assert left == {"before", "step-000002", "step-000010", "after"}
