"""What samples begin with in common is computed once, with the log-probabilities and gradients of rows of their own."""

from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import LlamaConfig, LlamaForCausalLM

from strop.policies.attention import LEAST, prefix_tree
from strop.training.logps import micro_batches, token_logps, update_of
from strop_verify.core.rollout import Sample

WORDS = 12
sizes = st.integers(1, 2 * LEAST)


@st.composite
def alike(draw: st.DrawFn) -> list[list[int]]:
    """Sequences of pieces, of which each goes on from some other's beginning."""
    piece = st.lists(st.integers(1, WORDS - 1), min_size=1, max_size=3 * LEAST)
    found = [draw(piece) + draw(piece)]
    for _ in range(draw(st.integers(0, 7))):
        other = draw(st.sampled_from(found))
        found.append(other[: draw(st.integers(0, len(other)))] + draw(st.one_of(piece, st.just([3]))))
    return found


@given(alike())
def test_the_tree_holds_every_sequence_and_shares_what_is_long(sequences: list[list[int]]) -> None:
    tree, places = prefix_tree(sequences, "cpu")
    for sequence, place in zip(sequences, places, strict=True):
        assert tree.ids[place].tolist() == sequence
        assert tree.positions[place].tolist() == list(range(len(sequence)))
    assert {at for place in places for at in place} == set(range(len(tree.ids)))
    for one, here in zip(sequences, places, strict=True):
        for two, there in zip(sequences, places, strict=True):
            alike = next(
                (n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
            )
            once = sum(a == b for a, b in zip(here, there, strict=False))
            assert here[:once] == there[:once] and alike - LEAST < once <= alike
            assert one != two or here == there


def sample(ids: list[int], mask: list[int]) -> Sample:
    return Sample(ids, mask, [0.0] * len(ids), [0.0] * len(ids), [0] * len(ids), 1)


def plainly(model: Any, samples: list[Sample], temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities and entropies, each sample alone and its logits whole."""
    logps, entropies = [], []
    for one in samples:
        ids, kept = torch.tensor([one.ids]), torch.tensor(one.mask[1:], dtype=torch.bool)
        logits = model(input_ids=ids, use_cache=False).logits[0, :-1][kept]
        found = torch.log_softmax(logits / temperature, dim=-1)
        logps.append(found.gather(1, ids[0, 1:, None][kept])[:, 0])
        entropies.append(-(found.exp() * found).sum(dim=-1))
    return torch.cat(logps), torch.cat(entropies)


@given(st.data(), alike())
def test_equals_rows_of_their_own_with_gradients(data: st.DataObject, sequences: list[list[int]]) -> None:
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=WORDS, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512,
        )
    )  # fmt: skip
    samples = []
    for ids in (one for one in sequences if len(one) > 1):
        mask = [0, *data.draw(st.lists(st.integers(0, 1), min_size=len(ids) - 1, max_size=len(ids) - 1))]
        samples.append(sample(ids, mask if any(mask) else [*mask[:-1], 1]))
    if not samples:
        return
    there, far = plainly(model, samples, 0.7)
    weights = torch.randn(len(there))
    (there * weights).sum().backward()
    expected = {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}
    model.zero_grad()
    assert update_of(model).way == "tree"
    here, near = token_logps(model, samples, head=model.get_output_embeddings(), temperature=0.7)
    (here * weights).sum().backward()
    torch.testing.assert_close(here, there, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(near, far, rtol=1e-4, atol=1e-5)
    for name, one in model.named_parameters():
        torch.testing.assert_close(one.grad, expected[name], rtol=1e-3, atol=1e-5)


@given(alike(), st.integers(1, 200))
def test_micro_batches_hold_every_sample_once_within_the_limit(
    sequences: list[list[int]], limit: int
) -> None:
    samples = [sample(ids, [0] * len(ids)) for ids in sequences]
    parts = list(micro_batches(samples, limit))
    assert sorted(map(id, (one for part in parts for one in part))) == sorted(map(id, samples))
    for part in parts:
        tree, _ = prefix_tree([one.ids for one in part], "cpu")
        assert len(part) == 1 or len(tree.ids) <= limit + LEAST * len(part)
    whole = list(micro_batches(samples, 10**9))
    assert len(whole) == 1
