"""After a warm start: what reinforcement learning starts from is what its KL term refers to and its adapters lie on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks import ranks
from tests.small_models import byte_tokenizer, write_speaker
from tests.warm import strop

from strop.config.load import load_recipe
from strop.policies.loading import load_end_ids, load_model, load_tokenizer
from strop.policies.open import tokenizer_of
from strop.tasks.task_sets import task_sets
from strop.training.supervised import as_example, overshoot

from .conftest import metrics, stopped_after

EOS, END = 257, 260
WARM = {
    "sft__warm_start": "true", "sft__steps": 3, "sft__learning_rate": 0.01, "grpo__beta": 0.1, "grpo__refill": "false",
    "optim__steps": 3, "run__save_every": 1, "run__keep_checkpoints": 9,
    "evaluation__before": "false", "evaluation__after": "false",
}  # fmt: skip


def weights(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


@pytest.mark.train(30)
@pytest.mark.parametrize("rank", [0, 2])
def test_the_kl_term_refers_to_the_model_after_the_warm_start_also_when_resumed(
    recipe_words: Callable[..., list[str]], peaked_model: Path, tmp_path: Path, rank: int
) -> None:
    done = strop("train", *recipe_words("run", **WARM, model__lora__rank=rank))
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    lines, final = metrics(run), weights(run / "final")
    assert lines[0]["kl"] == pytest.approx(0, abs=1e-7) and lines[2]["kl"] > 1e-6
    warm = load_model(str(run / "warm"), device="cpu").state_dict()
    cold = load_model(str(peaked_model), device="cpu").state_dict()
    assert any(not torch.equal(warm[name], value) for name, value in cold.items())
    assert load_tokenizer(str(run / "warm")).chat_template
    stopped_after(run, 1)
    done = strop("train", "--resume", run)
    assert done.returncode == 0 and "checkpoint-1" in done.stdout, done.stderr
    assert metrics(run) == lines and weights(run / "final") == final
    if rank:  # what the adapters lie on is what they were trained on
        loaded = load_model(str(run / "final"), device="cpu").state_dict()
        name = "model.layers.0.mlp.up_proj"
        assert torch.equal(loaded[f"{name}.base_layer.weight"], warm[f"{name}.weight"])
        run = run.rename(tmp_path / "elsewhere")
        for folder in (run / "final", run / "checkpoints" / "checkpoint-3"):
            moved = load_model(str(folder), device="cpu").state_dict()
            assert all(torch.equal(moved[name], value) for name, value in loaded.items())
            assert load_end_ids(str(folder), load_tokenizer(str(folder)))
    stopped_after(run, 1)
    (run / "warm").rename(tmp_path / "moved")
    done = strop("train", "--resume", run)
    assert done.returncode != 0 and "without the model after the warm start" in done.stderr


@pytest.mark.train(20)
def test_the_warm_model_is_kept_only_where_a_resumed_run_needs_it(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    done = strop("train", *recipe_words("run", **{**WARM, "grpo__beta": 0, "optim__steps": 1}))
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "run" / "warm").exists()


@pytest.mark.train(30)
def test_two_processes_refer_to_the_same_warm_model(peaked_model: Path, tmp_path: Path) -> None:
    more = [f"{key.replace('__', '.')}={value}" for key, value in {**WARM, "optim__steps": 2}.items()]
    words = [*ranks.words(tmp_path, peaked_model, 2), *more, f"run.dir={tmp_path}/run"]
    ranks.finished(ranks.launched(2, words))
    lines = metrics(tmp_path / "run")
    assert lines[0]["kl"] == pytest.approx(0, abs=1e-7) and lines[1]["kl"] > 0


def speaker(folder: Path, **named: Any) -> Path:
    """A model that says f=abs, ends its turn, and would go on."""
    inner = byte_tokenizer()
    text, more = (inner.encode(part, add_special_tokens=False) for part in ("f=abs", "xyz"))
    return write_speaker(folder, inner, "Ċ", [*text, END, *more], **named)


def said(folder: Path, name: Path) -> list[int]:
    """What plain transformers has the model say."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(name)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "x"}], tokenize=False, add_generation_prompt=True
    )
    ids = torch.tensor([tokenizer.encode(text, add_special_tokens=False)])
    found = model.generate(ids, max_new_tokens=20, do_sample=False, pad_token_id=0)
    return list(found[0, ids.shape[1] :].tolist())


@pytest.mark.train(20)
@pytest.mark.parametrize("rank", [0, 2])
def test_what_a_run_saves_ends_its_turn_in_plain_transformers(
    recipe_words: Callable[..., list[str]], tmp_path: Path, rank: int
) -> None:
    """Only the chat template says which token ends a turn."""
    model = speaker(tmp_path / "model", config_eos=EOS)
    changes = {**WARM, "sft__warm_start": "false", "optim__steps": 1, "optim__learning_rate": 1e-9}
    words = recipe_words("run", **changes, model__name=model, model__lora__rank=rank, tasks__style="chat")
    done = strop("train", *words)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    assert len(said(model, model)) == 20
    for folder in (run / "final", run / "checkpoints" / "checkpoint-1"):
        assert json.loads((folder / "generation_config.json").read_text())["eos_token_id"] == [EOS, END]
        assert load_end_ids(str(folder), load_tokenizer(str(folder))) == [EOS, END]
        if not rank:  # plain transformers reads this file in the base's folder, not beside adapters
            assert len(said(model, folder)) == 6


@pytest.mark.unit
def test_a_rate_that_is_too_high_is_told() -> None:
    told = overshoot([0.787, 0.78, 3.754, 3.02, 0.061])
    assert "from 0.787 to 3.754 (update 3)" in told and "sft.learning_rate" in told
    assert overshoot([3.0, 4.1]) and overshoot([0.3, 0.7])
    for fine in ([0.8], [0.8, 1.2, 0.7], [0.01, 0.15, 0.01], [3.0, 3.9, 1.0]):
        assert not overshoot(fine)


@pytest.mark.train(6)
def test_a_rate_that_is_too_high_is_told_by_the_command(tmp_path: Path) -> None:
    model = speaker(tmp_path / "model", config_eos=EOS)
    words = [
        "tasks.source=python-functions",
        "tasks.limit=8",
        "sft.steps=4",
        "sft.batch_size=8",
        "sft.schedule=constant",
    ]
    for rate in (5.0e-4, 0.5):
        told = strop(
            "sft", f"model.name={model}", *words, f"sft.learning_rate={rate}", f"run.dir={tmp_path}/{rate}"
        )
        assert told.returncode == 0, told.stderr
        assert ("warning: its loss rose" in told.stdout) == (rate == 0.5)


@pytest.mark.train(10)
def test_examples_end_as_the_template_ends_a_turn(tmp_path: Path) -> None:
    model = speaker(tmp_path / "model", generation_eos=[EOS, END])
    for style, end in (("chat", END), ("chat-prefilled", END), ("continue", EOS)):
        recipe = load_recipe([], [f"model.name={model}", f"tasks.style={style}", "tasks.limit=20"])
        tokenizer = tokenizer_of(recipe)
        tasks = [task for one in task_sets(recipe) for task in one.tasks if task.reference]
        for [(_, completion)] in (found for task in tasks if (found := as_example(task, recipe, tokenizer))):
            assert completion[-1] == end and {EOS, END}.isdisjoint(completion[:-1])


@pytest.mark.train(15)
def test_sft_teaches_the_recipe_s_template_and_saves_its_end(tmp_path: Path) -> None:
    model, template = speaker(tmp_path / "model", config_eos=EOS), tmp_path / "template.jinja"
    template.write_text("{% for m in messages %}{{ m.content }}<start_of_turn>{% endfor %}")
    options = ["tasks.style=chat", "tasks.limit=20", "sft.steps=1", f"model.chat_template={template}"]
    done = strop("sft", f"model.name={model}", *options, f"run.dir={tmp_path}/run")
    assert done.returncode == 0, done.stderr
    final = tmp_path / "run" / "final"
    assert json.loads((final / "generation_config.json").read_text())["eos_token_id"] == [EOS, 259]
    assert load_tokenizer(str(final)).chat_template == template.read_text()
