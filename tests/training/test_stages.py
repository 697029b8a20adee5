"""Stages: one after the other in one run, counted on, the same bits when stopped between or within them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.warm import strop

from strop.config.load import load_recipe
from strop.config.run_stages import stage_at, stages_of
from strop.reports.run_folder import RunFolder
from strop_verify.core.errors import ConfigError

from .conftest import metrics, stopped_after, weights

STAGES = (
    "[{until: 3, sampling: {max_tokens: 4}}, "
    "{grpo: {tasks_per_step: 8, minibatches: 2}, optim: {learning_rate: 0.001}}]"
)
SHORT = {"optim__steps": 5, "evaluation__before": "false", "evaluation__after": "false", "stages": STAGES}


@pytest.mark.train(40)
def test_stages_follow_each_other_and_resume_to_the_bit(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    done = strop("train", *recipe_words("run", **SHORT, run__keep_checkpoints=9))
    assert done.returncode == 0, done.stderr
    assert "stage 1, steps 1 to 3: sampling.max_tokens=4" in done.stdout
    assert "stage 2, steps 4 to 5: grpo.tasks_per_step=8, grpo.minibatches=2" in done.stdout
    run = tmp_path / "run"
    lines = metrics(run)
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5]
    assert [line["recipe_stage"] for line in lines] == [1, 1, 1, 2, 2]
    assert [line["learning_rate"] for line in lines] == [0.003] * 3 + [0.001] * 2
    assert [line["rollouts"] >= 32 for line in lines] == [False] * 3 + [True] * 2
    longest = [
        max(len(r.flat()[0]) for group in RunFolder.read(run).iter_groups(step) for r in group.rollouts)
        for step in range(1, 6)
    ]
    assert longest == [4, 4, 4, 8, 8]
    # Steps 2 and 3 (the end of stage 1), then two updates a step: step 4 is update 5, step 5 update 7.
    assert {p.name for p in (run / "checkpoints").glob("checkpoint-*")} == {
        f"checkpoint-{n}" for n in (2, 3, 5, 7)
    }
    final = weights(run)
    for update, step in ((3, 3), (5, 4), (2, 2)):
        stopped_after(run, update)
        done = strop("train", "--resume", str(run))
        assert done.returncode == 0 and f"checkpoint-{update}" in done.stdout, done.stderr
        assert weights(run) == final and metrics(run) == lines
        assert json.loads((run / "summary.json").read_text())["resumed_at"] == step


@pytest.mark.train(30)
def test_adapters_and_a_reference_model_go_through_stages(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    more = {"model__lora__rank": 2, "grpo__beta": 0.1, "run__keep_checkpoints": 9}
    done = strop("train", *recipe_words("run", **{**SHORT, **more}))
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    lines = metrics(run)
    adapter = (run / "final" / "adapter_model.safetensors").read_bytes()
    assert lines[3]["kl"] > 0  # the reference is the model as it came, not as stage 2 found it
    stopped_after(run, 3)
    done = strop("train", "--resume", str(run))
    assert done.returncode == 0 and "checkpoint-3" in done.stdout, done.stderr
    assert metrics(run) == lines
    assert (run / "final" / "adapter_model.safetensors").read_bytes() == adapter


@pytest.mark.train(30)
def test_a_stage_s_settings_act_as_the_recipe_s_own(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    values = {
        "sampling": "{temperature: 0.6, top_p: 0.95, max_tokens: 6}",
        "grpo": "{mask_truncated: false, group_size: 6, tasks_per_step: 4, iterations: 2, minibatches: 2, refill: true,"
        " max_refill_rounds: 1, loss: {epsilon_low: 0.1, epsilon_high: 0.2}}",
        "optim": "{learning_rate: 0.002, max_grad_norm: 0.5, micro_batch_tokens: 64}",
    }
    words = recipe_words("whole", **{**SHORT, **values, "stages": "[]"})
    staged = "[{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}]"
    for more in (words, recipe_words("staged", **{**SHORT, "stages": staged})):
        done = strop("train", *more)
        assert done.returncode == 0, done.stderr
    whole, stage = metrics(tmp_path / "whole"), metrics(tmp_path / "staged")
    assert [{**line, "recipe_stage": 1} for line in whole] == [{**line, "recipe_stage": 1} for line in stage]
    assert weights(tmp_path / "whole") == weights(tmp_path / "staged")


def test_dry_run_prints_the_stages(recipe_words: Callable[..., list[str]]) -> None:
    done = strop("train", "--dry-run", *recipe_words("run", **SHORT))
    assert done.returncode == 0, done.stderr
    assert "stage 2, steps 4 to 5: grpo.tasks_per_step=8" in done.stdout


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        ("[{until: 3, model: {name: x}}, {}]", "stages.0.model: cannot change between stages"),
        (
            "[{until: 3, grpo: {loss: {type: grpo}}}, {}]",
            "stages.0.grpo.loss.type: cannot change between stages",
        ),
        ("[{until: 3, sampling: {max_token: 4}}, {}]", "did you mean stages.0.sampling.max_tokens"),
        ("[{until: 3}, {until: 2}]", "stages.1.until: 2 is not after"),
        ("[{until: 3}, {until: 4}]", "the run ends at optim.steps (6)"),
        ("[{sampling: {max_tokens: 4}}, {}]", "stages.0.until: needs the stage's last step"),
        ("[{until: 3}, {grpo: {minibatches: 3}}]", "stages.1.grpo: minibatches"),
        ("[{until: 3}, {grpo: {loss: {epsilon_high: 0.1}}}]", "stages.1.grpo.loss.epsilon_high"),
    ],
)
def test_faults_of_stages_are_said_with_their_place(stages: str, said: str) -> None:
    words = ["optim.steps=6", "grpo.tasks_per_step=4", "grpo.group_size=4", f"stages={stages}"]
    with pytest.raises(ConfigError) as found:
        load_recipe([], words)
    assert any(
        said.replace("grpo: minibatches", "grpo.minibatches: 3 do") in line for line in found.value.faults
    )


@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    shares=st.lists(st.sampled_from([(1, 1), (2, 1), (1, 2), (3, 2)]), min_size=4, max_size=4),
    every=st.integers(1, 5),
    warmup=st.integers(0, 4),
)
def test_every_update_belongs_to_one_step_of_one_stage(
    lengths: list[int], shares: list[tuple[int, int]], every: int, warmup: int
) -> None:
    steps = sum(lengths)
    ends = [sum(lengths[: n + 1]) for n in range(len(lengths))]
    written = [
        f"{{until: {end}, grpo: {{iterations: {i}, minibatches: {m}}}}}"
        for end, (i, m) in zip(ends, shares, strict=False)
    ]
    recipe = load_recipe(
        [],
        [
            f"optim.steps={steps}", f"run.save_every={every}", f"optim.warmup_steps={min(warmup, steps)}",
            "grpo.tasks_per_step=2", "grpo.group_size=4", f"stages=[{', '.join(written)}]",
        ],
    )  # fmt: skip
    stages = stages_of(recipe)
    each = [i * m for length, (i, m) in zip(lengths, shares, strict=False) for _ in range(length)]
    assert stages[-1].last_update == stages[0].all_updates == sum(each)
    assert stages[0].warmup_updates == sum(each[: min(warmup, steps)])
    update = 0
    for step, count in enumerate(each):
        for rest in range(count):
            stage = stage_at(stages, update)
            assert stage.steps_before <= step < stage.last_step
            assert stage.step_of(update) == (step, rest)
            update += 1
            ends_step = rest + 1 == count
            assert stage.saves(update) is (ends_step and ((step + 1) % every == 0 or step + 1 in ends))
