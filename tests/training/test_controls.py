"""Controls: trained from the same start for as long as the run's steps took, repeated alike after a kill."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.small_models import byte_tokenizer, write_speaker
from tests.warm import strop
from tokenizers import AddedToken

from strop.config.load import load_recipe
from strop.policies.loading import load_model, load_tokenizer
from strop.training import controls

FEW = {
    "grpo__refill": "false", "optim__steps": 3, "sft__warm_start": "true", "sft__steps": 2, "sft__batch_size": 4,
    "sft__learning_rate": 0.01, "run__save_every": 9, "tasks__held_out_fraction": 0.3,
    "evaluation__extra": "[{name: loops, source: python-functions, limit: 2, samples: 1, k: [1], style: continue}]",
}  # fmt: skip
TIMES = ("seconds_sampling", "seconds_training")


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
    budget = sum(json.loads(line)["seconds_cpu"] for line in (run / "metrics.jsonl").read_text().splitlines())
    for name, one in summary["controls"].items():
        took, record = (
            one["took"],
            json.loads((run / "evaluation" / f"control_{name}.record.json").read_text()),
        )
        assert took["seconds_budget"] == pytest.approx(budget) and took["updates"] >= 1
        assert one["difference"].keys() == summary["evaluation"]["paired"].keys() and record["counts"]
        assert f"the trained model against control {name}: " in done.stdout
        assert f"the trained model against control {name} on loops: " in done.stdout
        assert one["extra"]["loops"]["difference"] and "took" not in one["extra"]["loops"]
    assert "| control_ssd | control_warm |" in (run / "final" / "README.md").read_text()
    if "rft" not in summary["controls"]:
        assert "control rft is left out: no answer" in done.stdout
    assert (
        summary["controls"]["ssd"]["took"]["rounds"] == 1
        and not summary["controls"]["warm"]["took"]["rounds"]
    )
    # Killed before they were over: they are made again with the answers and updates that were planned.
    (run / "summary.json").unlink()
    for name in ("ssd", "warm"):
        (run / "controls" / f"{name}.done.json").unlink()
        for path in (run / "evaluation").glob(f"control_{name}*"):
            path.unlink()
    done = strop("train", "--resume", run)
    assert done.returncode == 0, done.stderr
    again = json.loads((run / "summary.json").read_text())["controls"]
    for name in ("ssd", "warm"):
        first, second = (
            {k: v for k, v in of[name]["took"].items() if k not in TIMES}
            for of in (summary["controls"], again)
        )
        assert first == second and first["loss"] > 0  # the loss of the last update, to the bit
        assert summary["controls"][name]["pass@1"] == again[name]["pass@1"]


@pytest.mark.train(15)
def test_a_control_s_own_model_is_not_resampled(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    words = recipe_words(
        "run",
        **FEW | {"optim__steps": 1, "evaluation__extra": "[]"},
        tasks__source="needs-feedback:24",
        tasks__environment="{type: feedback, turns: 2}",
        evaluation__limit=2,
    )
    done = strop("train", "--controls", "warm", *words)
    assert done.returncode == 0, done.stderr
    kept = {
        name: json.loads((tmp_path / f"run/evaluation/{name}.record.json").read_text())["controls"]
        for name in ("after", "control_warm")
    }
    assert kept["after"]["resampled"]["tokens_mean"] > 0 and "resampled" not in kept["control_warm"]


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


SAID = "```python\ndef f(x: int) -> int:\n    return {} * x\n```"


def torn_model(folder: Path) -> Path:
    """Says one of two answers with equal chance, whatever it is asked: the double, which is right, or the triple."""
    tokenizer = byte_tokenizer()
    tokenizer.add_tokens([AddedToken(SAID.format(n), normalized=False) for n in (2, 3)])
    right, wrong, end = tokenizer.convert_tokens_to_ids([SAID.format(2), SAID.format(3), "<end_of_turn>"])
    after = tokenizer.convert_ids_to_tokens(tokenizer.encode("\n", add_special_tokens=False))[-1]
    write_speaker(folder, tokenizer, after, [right, end], generation_eos=end)
    model = load_model(str(folder), device="cpu")
    with torch.no_grad():
        model.lm_head.weight[wrong, tokenizer.convert_tokens_to_ids(after)] = 5.0
        model.lm_head.weight[end, wrong] = 5.0
    model.save_pretrained(folder)
    return folder


def double_tasks(path: Path) -> Path:
    check = {"kind": "cases", "entry_point": "f", "cases": [{"args": [3], "expected": 6}]}
    words = ("the double", "twice x", "x and x", "x plus x", "two x", "x times 2", "x + x", "2 x", "x, twice")
    lines = [{"statement": f"Return {said}.", "signature": "def f(x: int) -> int:", "check": check,
              "reference": "def f(x: int) -> int:\n    return 2 * x", "split": "held-out" if at % 3 == 0 else "train"}
             for at, said in enumerate(words)]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


TOY = {
    "tasks__style": "chat", "sampling__max_tokens": 4, "grpo__group_size": 8, "grpo__tasks_per_step": 4,
    "grpo__refill": "false", "optim__steps": 12, "optim__learning_rate": 0.01, "evaluation__samples": 16,
    "run__save_every": 99, "sft__learning_rate": 0.003, "sft__batch_size": 4,
}  # fmt: skip


@pytest.mark.train(60)
def test_on_a_toy_those_learn_that_know_what_is_right(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    model, tasks = torn_model(tmp_path / "torn"), double_tasks(tmp_path / "tasks.jsonl")
    words = recipe_words("run", **{**TOY, "model__name": model, "tasks__source": tasks})
    done = strop("train", "--controls", "ssd,rft", *words[1:])
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    before, after = (summary["evaluation"][side]["pass@1"] for side in ("before", "after"))
    rates = {name: one["pass@1"] for name, one in summary["controls"].items()}
    assert 0.3 < before < 0.7 and after > 0.9, (before, after)
    assert rates["rft"] > 0.9 and 0.2 < rates["ssd"] < 0.8, rates


@pytest.mark.train(30)
def test_on_a_toy_a_teacher_teaches_what_it_knows(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    model, tasks = torn_model(tmp_path / "torn"), double_tasks(tmp_path / "tasks.jsonl")
    sure = load_model(str(torn_model(tmp_path / "sure")), device="cpu")
    wrong = load_tokenizer(str(model)).convert_tokens_to_ids(SAID.format(3))
    with torch.no_grad():
        sure.lm_head.weight[wrong] = 0.0
    sure.save_pretrained(tmp_path / "sure")
    words = recipe_words("run", **{**TOY, "model__name": model, "tasks__source": tasks})
    done = strop("distill", "--teacher", tmp_path / "sure", *words[1:])  # rewards are logged, not learnt
    assert done.returncode == 0, done.stderr
    evaluation = json.loads((tmp_path / "run" / "summary.json").read_text())["evaluation"]
    assert 0.3 < evaluation["before"]["pass@1"] < 0.7 and evaluation["after"]["pass@1"] > 0.9, evaluation


@pytest.mark.parametrize(("seconds", "updates"), [(20.0, 8), (6.9, 1), (7.0, 2), (1.0, 1)])
def test_updates_of_a_control_stay_within_its_seconds(
    monkeypatch: pytest.MonkeyPatch, seconds: float, updates: int
) -> None:
    """The first takes 5 seconds, as it also proves how it computes, the others 2."""
    now = [100.0]

    def fit(recipe: Any, model: Any, examples: Any, show: Callable[[dict[str, Any]], Any]) -> None:
        for takes in (5.0, 2.0):
            now[0] += takes
            show({})

    monkeypatch.setattr(controls, "fit", fit)
    monkeypatch.setattr(controls, "_clock", lambda: (lambda: now[0], "seconds_cpu"))
    parts: Any = SimpleNamespace(backend=SimpleNamespace(model=None))
    assert controls._updates(load_recipe(["demo"]), parts, [], seconds) == updates
