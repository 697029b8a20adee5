"""`strop doctor --model`: by which ways a model gives its own log-probabilities."""

import json
from pathlib import Path

import pytest
import torch
from tests.small_models import byte_tokenizer
from tests.warm import strop
from transformers import GraniteConfig, GraniteForCausalLM, MistralConfig, MistralForCausalLM

SMALL = dict(
    vocab_size=280, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=512, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)  # fmt: skip


@pytest.fixture
def windowed(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    MistralForCausalLM(MistralConfig(**SMALL, head_dim=8, sliding_window=60)).save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    return tmp_path


def test_it_says_how_a_model_is_sampled_and_updated(windowed: Path) -> None:
    done = strop("doctor", "--model", str(windowed), "--tokens", "100")
    assert done.returncode == 0, done.stderr
    name, sampling, update = done.stdout.splitlines()
    assert name == f"{windowed}: MistralForCausalLM, attention sdpa"
    assert (
        "by the model's cache, padded, within" in sampling and "update in float32 by tree, within" in update
    )


def test_as_json_with_the_length_of_what_was_tried(windowed: Path) -> None:
    for tokens, tried in (("50", 34), ("100", 72)):
        found = json.loads(strop("doctor", "--model", str(windowed), "--tokens", tokens, "--json").stdout)
        assert found["update"]["way"] == "tree" and found["update"]["bound"] == 1e-3
        assert found["sampling"]["tokens"] == tried


def test_a_model_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = strop("doctor", "--model", str(tmp_path / "nothing"))
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1
    GraniteForCausalLM(GraniteConfig(**SMALL)).save_pretrained(tmp_path)
    done = strop("doctor", "--model", str(tmp_path))
    assert done.returncode == 2 and "holds no tokenizer" in done.stderr
