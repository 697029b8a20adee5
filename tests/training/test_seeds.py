"""`strop train --seeds`: runs of a recipe with other seeds, their differences pooled over seeds and tasks."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.warm import strop

from strop.evaluation.seeds import crossed
from strop.launch.seeds import swept
from strop_verify.core.errors import UserError

FEW = {"optim__steps": 1, "run__save_every": 9, "tasks__held_out_fraction": 0.3, "grpo__refill": "false"}


@pytest.mark.parametrize("runs", [2, 3, 6])
def test_t_intervals_of_seeds_cover(runs: int) -> None:
    draw, inside = np.random.default_rng(runs), 0
    for number in range(400):
        effects = 0.1 + 0.05 * draw.standard_normal((runs, 1))
        found = crossed(effects + 0.3 * draw.standard_normal((1, 40)), resamples=10, seed=number)
        shared = found.delta - np.mean(found.seeds)
        assert abs(shared) < 1e-9 and found.least <= found.delta <= found.most
        tasks = float(np.mean(found.seeds) - effects.mean())  # what these tasks add to all seeds alike
        inside += found.least <= 0.1 + tasks <= found.most
    assert 0.92 < inside / 400 < 0.98


def test_the_pooled_interval_has_seeds_and_tasks_in_it() -> None:
    draw = random.Random(1)
    tasks = [draw.gauss(0, 1) for _ in range(200)]
    alike = crossed([tasks] * 4)
    width = 2 * 1.96 / 200**0.5
    assert alike.high - alike.low == pytest.approx(width, rel=0.15) and alike.most - alike.least < 1e-9
    apart = crossed([[one + shift for one in tasks] for shift in (-2.0, -1.0, 1.0, 2.0)])
    assert apart.high - apart.low > 4 * width and apart.seeds == pytest.approx(
        [sum(tasks) / 200 + shift for shift in (-2.0, -1.0, 1.0, 2.0)]
    )


@pytest.mark.train(40)
def test_seeds_are_trained_once_and_pooled(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    words = recipe_words("run", **FEW)
    done = strop("train", "--seeds", 2, *words, "--plain")
    assert done.returncode == 0, done.stderr
    kept = json.loads((tmp_path / "run-seeds.json").read_text())
    assert kept["seeds"] == [0, 1] and not (tmp_path / "run").exists()
    deltas = []
    for seed in (0, 1):
        folder = tmp_path / f"run-seed-{seed}"
        assert f"seed: {seed}" in (folder / "recipe.yaml").read_text()
        deltas.append(json.loads((folder / "summary.json").read_text())["evaluation"]["paired"])
    for key, one in kept["pooled"]["before"].items():
        assert one["seeds"] == pytest.approx([paired[key]["delta"] for paired in deltas])
        assert one["delta"] == pytest.approx(sum(one["seeds"]) / 2)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("run-seed-*/summary.json")}
    (tmp_path / "run-seed-1" / "summary.json").unlink()
    done = strop("train", "--seeds", 2, *words, "--plain")
    assert done.returncode == 0 and "resuming" in done.stdout, done.stderr
    path = tmp_path / "run-seed-0" / "summary.json"
    assert path.stat().st_mtime_ns == before[path]
    assert json.loads((tmp_path / "run-seeds.json").read_text())["pooled"] == kept["pooled"]


def test_a_sweep_s_values_are_told_apart() -> None:
    found = swept(["optim.learning_rate=1e-5, 3e-5", "sampling.stop=[a,b],['c,d']"])
    assert [words for _, words in found] == [
        [f"optim.learning_rate={rate}", f"sampling.stop={stop}"]
        for rate in ("1e-5", "3e-5")
        for stop in ("[a,b]", "['c,d']")
    ]
    assert found[0][0] == "learning_rate-1e-5-stop-_a_b" and len({name for name, _ in found}) == 4
    assert swept([]) == [("", [])]
    for bad in ("optim.steps", "optim.steps=4", "=1,2"):
        with pytest.raises(UserError, match="KEY=VALUE,VALUE"):
            swept([bad])


@pytest.mark.train(40)
def test_a_sweep_trains_each_value_and_lists_them(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    off = {"evaluation__before": "false", "evaluation__after": "false"}
    done = strop(
        "train", "--plain", "--sweep", "optim.learning_rate=0.001,0.003", *recipe_words("run", **FEW, **off)
    )
    assert done.returncode == 0, done.stderr
    folders = [tmp_path / f"run-learning_rate-{rate}" for rate in ("0.001", "0.003")]
    assert all((folder / "summary.json").is_file() for folder in folders)
    table = done.stdout.splitlines()[-12:]
    assert (
        any("optim.learning_rate" in line for line in table) and sum("0.003" in line for line in table) >= 1
    )
    listed = strop(
        "runs", tmp_path, "--columns", "run,optim.learning_rate,reward", "--sort", "-optim.learning_rate"
    )
    assert listed.returncode == 0, listed.stderr
    assert (
        listed.stdout.index("rate-0.003") < listed.stdout.index("rate-0.001")
        and "last change" not in listed.stdout
    )
    wrong = strop("runs", tmp_path, "--columns", "run,optim.learning_rat")
    assert wrong.returncode == 2 and "no column 'optim.learning_rat'" in wrong.stderr, wrong.stderr
