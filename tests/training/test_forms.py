"""Every form of loss, advantage and correction trains; a step ahead of the weights it is resumed to the same bits."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.warm import strop

from strop.config.algorithms import ADVANTAGES, CORRECTIONS, LOSSES
from strop.config.load import load_recipe
from strop.config.run_stages import stages_of
from strop.policies.loading import load_model
from strop.reports.run_folder import RunFolder
from strop.training.backend import TrainingBackend
from strop.training.batch import Advantages, batch_of
from strop.training.learner import Learner
from strop.training.ranks import Ranks
from strop_verify.core.rollout import Completion, Group, Rollout, Turn

from .conftest import metrics, stopped_after, weights

CHANGES = [
    *([f"grpo.loss.type={kind}"] for kind in LOSSES),
    *(
        [f"grpo.advantage.type={kind}", *(["grpo.refill=false"] if kind == "running-baseline" else [])]
        for kind in ADVANTAGES
    ),
    *([f"grpo.correction.type={kind}"] for kind in CORRECTIONS),
]


def groups_of(version: int) -> list[Group]:
    """Two tasks with three plays each, one of two turns."""

    def play(index: int, words: list[list[int]]) -> Rollout:
        turns = [
            Turn(
                prompt_ids=[5, 6, 7],
                completion=Completion(
                    token_ids=ids,
                    logprobs=[-10.8] * len(ids),
                    text="",
                    finish_reason="eos",
                    policy_version=version,
                ),
            )
            for ids in words
        ]
        return Rollout(task_id="t", index=index, seed=0, prompt="", turns=turns, reward=float(index == 1))

    plays = [[[9, 8]], [[4, 4, 4], [9]], [[11]]]
    return [
        Group(task_id=task, step=1, rollouts=[play(i, words) for i, words in enumerate(plays)])
        for task in ("a", "b")
    ]


@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: changes[0])
def test_two_steps_of_every_form_move_the_weights(tiny_model: Path, changes: list[str]) -> None:
    recipe = load_recipe(
        [],
        [
            *changes, "model.compute_dtype=float32", "model.gradient_checkpointing=false", "grpo.group_size=3",
            "grpo.tasks_per_step=2", "optim.steps=2", "sampling.max_tokens=6", "optim.learning_rate=0.01",
        ],
    )  # fmt: skip
    (stage,) = stages_of(recipe)
    model = load_model(str(tiny_model), device="cpu")
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    learner = Learner(TrainingBackend(model, recipe, Ranks()), recipe)
    advantages = Advantages(recipe.grpo.advantage)
    for number in range(2):
        found = learner.update(batch_of(advantages.of(groups_of(number)), recipe.grpo), stage, number)
        assert abs(found["loss"]) < 10 and 0 < found["grad_norm"] < 100
        assert ("correction" in found) == (recipe.grpo.correction.type != "none")
    assert any(not before[name].equal(weight) for name, weight in model.named_parameters())


AHEAD = {
    "grpo__max_staleness": 1,
    "grpo__correction": "{type: token-truncated}",
    "evaluation__before": "false",
    "evaluation__after": "false",
    "evaluation__every": 3,  # beside nothing: an evaluation finds the policy idle and leaves the training as it is
}


@pytest.mark.train(40)
def test_a_step_ahead_of_the_weights_trains_and_resumes_to_the_bit(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    done = strop("train", *recipe_words("run", **AHEAD))
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    lines = metrics(run)
    assert [line["staleness"] for line in lines] == [0, 1, 1, 1, 1, 1]
    assert [line["groups_too_old"] for line in lines] == [0] * 6
    assert lines[0]["correction"] == pytest.approx(1.0, abs=1e-3)
    assert abs(lines[3]["correction"] - 1.0) > 1e-6  # another policy's samples
    for step in range(1, 7):
        sampled = [r for group in RunFolder.read(run).iter_groups(step) for r in group.rollouts]
        assert {t.completion.policy_version for r in sampled for t in r.turns} == {max(0, step - 2)}

    again = tmp_path / "again"
    shutil.copytree(run, again)
    stopped_after(again, 4)  # as a kill during step 5 or 6 leaves it
    done = strop("train", "--resume", str(again))
    assert done.returncode == 0, done.stderr
    assert "from checkpoint-4" in done.stdout
    assert weights(again) == weights(run)
    assert without_times(metrics(again)) == without_times(lines)


def without_times(lines: list[dict[str, Any]]) -> str:
    kept = [{**line, "held_out": {**line.get("held_out", {}), "seconds": 0}} for line in lines]
    return json.dumps(kept, sort_keys=True)
