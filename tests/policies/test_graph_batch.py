"""Decoding by graphs gives the tokens of decoding without. On the CPU a step is recorded as its list of operations: as
in a CUDA graph, whatever Python computed once stays as it was.
"""

import random
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from tests.policies.test_proof import SMALL, same
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from strop.policies.decode_batch import DecodeBatch, DecodedRow
from strop.policies.graph_batch import GraphBatch, GraphWarning
from strop.policies.proof import decoder_of, random_ids
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import SamplingParams


class Tape(TorchDispatchMode):
    """Keeps every operation with its arguments and results."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        self.calls.append((function, args, kwargs or {}, result))
        return result

    def replay(self) -> None:
        """Makes the operations again, each result at its old address."""
        for function, args, kwargs, result in self.calls:
            for old, new in zip(tree_leaves(result), tree_leaves(function(*args, **kwargs)), strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


def recorded(compute: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, Callable[[], None]]:
    """A `Recorder` for the CPU."""
    with Tape() as tape:
        result = compute()
    return result, tape.replay


def counted(
    counts: list[int], compute: Callable[[], torch.Tensor]
) -> tuple[torch.Tensor, Callable[[], None]]:
    result, replay = recorded(compute)
    counts.append(0)

    def again() -> None:
        counts[-1] += 1
        replay()

    return result, again


def played(batch: DecodeBatch, plan: list[list[Request]]) -> dict[int, DecodedRow]:
    """Rows by seed. One part of the plan joins every three tokens."""
    rows: dict[int, DecodedRow] = {}
    step = 0
    while batch.rows or plan:
        if plan and step % 3 == 0 and (joining := plan.pop(0)):
            rows |= {row.request.seed: row for row in batch.join(joining, [None] * len(joining))}
        for row in list(batch.choose()) if batch.rows else []:
            if len(row.tokens) == row.request.params.max_tokens:
                batch.drop(row)
        if batch.rows:
            batch.forward()
        step += 1
    return rows


def drawn_plan(model: PreTrainedModel, seed: int) -> list[list[Request]]:
    draw, plan, number = random.Random(seed), list[list[Request]](), 0
    for _ in range(draw.randint(2, 3)):
        part = []
        for _ in range(draw.randint(1, 3)):
            prompt = tuple(random_ids(model, draw.randint(3, 40), draw.randint(0, 2)))
            for _ in range(draw.randint(1, 3)):
                temperature = draw.choice([0.0, 0.7, 1.0])
                part.append(
                    Request(
                        prompt,
                        number,
                        SamplingParams(max_tokens=draw.randint(1, 24), temperature=temperature),
                    )
                )
                number += 1
        plan.append(part)
    return plan


MODELS = {
    "llama": (LlamaForCausalLM, LlamaConfig(**SMALL)),
    "mistral": (MistralForCausalLM, MistralConfig(**SMALL, head_dim=8, sliding_window=512)),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config(**SMALL, head_dim=8)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(2))
def test_the_same_tokens_as_without_graphs(name: str, seed: int) -> None:
    model, _ = same(*MODELS[name])
    assert decoder_of(model, 0)[0] is DecodeBatch
    plan, counts = drawn_plan(model, seed), list[int]()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        usual = played(DecodeBatch(model, 0), [list(part) for part in plan])
        found = played(GraphBatch(model, 0, record=partial(counted, counts)), plan)
    assert found.keys() == usual.keys()
    for number, row in found.items():
        assert row.tokens == usual[number].tokens
        assert row.logprobs == pytest.approx(usual[number].logprobs, abs=1e-4)
    if max(len(row.tokens) for row in found.values()) > 3:
        assert sum(counts) > 2, "no graph was used beyond its checks"


def test_a_graph_that_differs_or_cannot_be_made_is_not_used() -> None:
    def wrong(compute: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, Callable[[], None]]:
        result, replay = recorded(compute)
        return result, lambda: (replay(), result.mul_(0.9))[0]  # type: ignore[func-returns-value]

    def stale(compute: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, Callable[[], None]]:
        return compute().clone(), lambda: None

    def failing(compute: Any) -> Any:
        raise RuntimeError("operation not permitted when stream is capturing")

    model, _ = same(*MODELS["llama"])
    decoder_of(model, 0)
    plan = [[Request(tuple(random_ids(model, 9, 1)), n, SamplingParams(max_tokens=12)) for n in range(3)]]
    with torch.no_grad():
        usual = played(DecodeBatch(model, 0), [list(part) for part in plan])
        for recorder, told in (
            (wrong, "differs"),
            (stale, "differs"),
            (failing, "not permitted when stream"),
        ):
            with pytest.warns(GraphWarning, match=told):
                found = played(GraphBatch(model, 0, record=recorder), [list(part) for part in plan])
            assert {n: row.tokens for n, row in found.items()} == {n: row.tokens for n, row in usual.items()}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_it_is_what_samples() -> None:
    model, _ = same(*MODELS["llama"])
    decoder, proof = decoder_of(model.to("cuda"), 0)
    assert proof.way == "shared prompts, CUDA graphs", proof
    assert isinstance(decoder(model, 0), GraphBatch)
