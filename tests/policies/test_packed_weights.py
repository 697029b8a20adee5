"""Decoding with packed weights: held against the plain product, and used where it should be."""

import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig, LlamaForCausalLM

from strop.policies import packed_weights
from strop.policies.packed_weights import ROWS, PackedWeights
from strop.policies.transformers_engine import TransformersPolicy
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion, SamplingParams

pytestmark = pytest.mark.skipif(not torch.backends.mkl.is_available(), reason="torch without MKL")


@pytest.fixture(autouse=True)
def on_intel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The products are right on any processor."""
    monkeypatch.setattr(packed_weights, "pays", lambda: True)


class Words:
    """A tokenizer that never ends a row."""

    pad_id, eos_ids = 0, ()

    def decode(self, ids: Any, after: Any = ()) -> str:
        return ""

    def piece(self, token: int) -> str:
        return ""


@pytest.fixture
def model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=900, hidden_size=512, intermediate_size=768, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=256,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval().requires_grad_(False)


@pytest.fixture
def packings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of each packed matrix the number of products."""
    products, packed = list[int](), packed_weights._packed

    def counted(linear: torch.nn.Linear) -> Any:
        number, forward = len(products), packed(linear)
        products.append(0)

        def product(rows: int, given: torch.Tensor) -> Any:
            products[number] += 1
            return forward(rows, given)

        return product

    monkeypatch.setattr(packed_weights, "_packed", counted)
    return products


def sampled(model: Any, rows: int, length: int) -> list[Completion]:
    policy, drawn = TransformersPolicy(model, Words()), random.Random(1)  # type: ignore[arg-type]
    lengths = [max(1, length - drawn.randrange(length // 2)) for _ in range(rows - 1)] + [length]
    requests = [
        Request(prompt=[7, 8, 9, 10 + n % 3], seed=n, params=SamplingParams(max_tokens=tokens))
        for n, tokens in enumerate(lengths)
    ]
    futures = [policy.submit(one) for one in requests]
    while not all(one.done() for one in futures):
        policy.work(1)
    return [one.result() for one in futures]


def same(ours: list[Completion], plain: list[Completion]) -> bool:
    return all(
        a.token_ids == b.token_ids and a.logprobs == pytest.approx(b.logprobs, abs=1e-4)
        for a, b in zip(ours, plain, strict=True)
    )


@pytest.mark.parametrize("rows", [4, 11, 40])
def test_rows_sample_what_they_sample_with_plain_products(
    model: LlamaForCausalLM, packings: list[int], monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    ours = sampled(model, rows, 24)
    assert len(packings) == 15 and min(packings) >= 12  # seven matrices a layer, and the head, at each token
    monkeypatch.setattr(packed_weights, "ROWS", range(0))
    assert same(ours, sampled(model, rows, 24)) and len(packings) == 15


def test_weights_are_not_packed_where_it_does_not_pay(
    model: LlamaForCausalLM, packings: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sampled(model, 8, 40) and packings
    packings.clear()
    monkeypatch.setattr(packed_weights, "pays", lambda: False)
    assert sampled(model, 8, 40) and not packings


def test_few_rows_and_short_answers_are_not_worth_it(model: LlamaForCausalLM, packings: list[int]) -> None:
    sampled(model, 3, 40)
    sampled(model, 8, 12)
    assert not packings


def test_changed_weights_are_packed_again(model: LlamaForCausalLM, packings: list[int]) -> None:
    packed, drawn = PackedWeights(model), torch.randn(8, 512)
    head = model.lm_head
    with packed.used(8, 99):
        before = head(drawn)
    head.weight.mul_(2.0)
    with packed.used(8, 1):
        assert torch.allclose(head(drawn), before * 2, atol=1e-4)
        assert torch.allclose(head(drawn[:5]), before[:5] * 2, atol=1e-4)  # another number of rows: plain
    assert len(packings) == 30 and "forward" not in vars(head)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 700), st.integers(1, 700), st.sampled_from(ROWS), st.booleans(), st.integers(0, 99))
def test_products_of_any_shape(out: int, size: int, rows: int, bias: bool, seed: int) -> None:
    torch.manual_seed(seed)
    linear = torch.nn.Linear(size, out, bias=bias).requires_grad_(False)
    drawn, forward = torch.randn(rows, 1, size), packed_weights._packed(linear)
    assert packed_weights._gap(linear, forward, rows) <= packed_weights.NEAR
    assert torch.allclose(forward(rows, drawn), linear(drawn), atol=1e-4)


@pytest.mark.parametrize(("factor", "told"), [(1.01, "0.01"), (float("nan"), "nan")])
def test_a_wrong_product_is_seen_and_never_used(
    model: LlamaForCausalLM, monkeypatch: pytest.MonkeyPatch, factor: float, told: str
) -> None:
    packed = packed_weights._packed

    def wrong(linear: torch.nn.Linear) -> Any:
        forward = packed(linear)
        return lambda rows, given: forward(rows, given) * (factor if rows == 9 else 1.0)

    monkeypatch.setattr(packed_weights, "_packed", wrong)
    with pytest.warns(UserWarning, match=f"9 rows: packed weights are off by {told}; not used"):
        ours = sampled(model, 9, 24)
    monkeypatch.setattr(packed_weights, "ROWS", range(0))
    assert same(ours, sampled(model, 9, 24))


def test_only_plain_matrices_in_float32_are_packed(model: LlamaForCausalLM) -> None:
    class Own(torch.nn.Linear):
        pass

    small, own = torch.nn.Linear(64, 64), Own(1024, 1024)
    replaced = torch.nn.Linear(1024, 1024)
    replaced.forward = lambda input: input  # type: ignore[method-assign]
    some = torch.nn.ModuleList([small, own, replaced, torch.nn.Linear(1024, 1024).bfloat16()])
    assert not PackedWeights(some)._linears
    assert len(PackedWeights(model)._linears) == 15
