"""The head in chunks against the head as it is written down: log-softmax of all logits."""

import copy
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    GraniteConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PhiConfig,
)

from strop.training import head as head_module
from strop.training.head import CHUNK, Head, head_selects

N, D, V = 2 * CHUNK + 7, 24, 331


def values(head: torch.nn.Linear, hidden: torch.Tensor, targets: torch.Tensor, T: float) -> torch.Tensor:
    with head_selects(head, targets, T):
        return head(hidden)


def plainly(
    head: torch.nn.Linear, hidden: torch.Tensor, targets: torch.Tensor, T: float
) -> tuple[torch.Tensor, torch.Tensor]:
    logps = torch.log_softmax(head(hidden)[0].float() / T, dim=-1)
    return logps.gather(1, targets[:, None])[:, 0], -(logps.exp() * logps).sum(dim=-1)


@pytest.fixture(params=[1 << 21, 1], ids=["whole", "in parts"], autouse=True)
def words(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many words at a time the gradient by the weights is made of: all of them, or 256."""
    monkeypatch.setattr(head_module, "_LOGITS", request.param)


def test_bfloat16_autocast_stays_near() -> None:
    torch.manual_seed(0)
    head = torch.nn.Linear(D, V, bias=False)
    hidden, targets = torch.randn(1, N, D, requires_grad=True), torch.randint(V, (N,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = values(head, hidden, targets, 1.0)
    found[0, :, 0].sum().backward()
    again = hidden.detach().clone().requires_grad_()
    logps, _ = plainly(head, again, targets, 1.0)
    logps.sum().backward()
    torch.testing.assert_close(found[0, :, 0], logps, atol=0.02, rtol=0)
    torch.testing.assert_close(hidden.grad, again.grad, atol=0.01, rtol=0.02)


SMALL = dict(
    vocab_size=64, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
    num_key_value_heads=1, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)  # fmt: skip


@pytest.mark.parametrize("cap", [None, 3.0])
@pytest.mark.parametrize("scale", [1.0, 0.25])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("trained", [False, True])
def test_a_bias_a_factor_and_a_cap_with_their_gradients(
    cap: float | None, scale: float, bias: bool, trained: bool
) -> None:
    torch.manual_seed(0)
    ours = torch.nn.Linear(D, V, bias=bias).requires_grad_(trained)
    theirs = copy.deepcopy(ours)
    hidden = 3 * torch.randn(1, N, D)
    hidden.requires_grad_()
    again = hidden.detach().clone().requires_grad_()
    targets, weights, places = torch.randint(V, (N,)), torch.randn(N), torch.randperm(N)

    with head_selects(ours, targets, 0.7, places=places, after=Head(scale, cap)):
        found = ours(hidden)[0] * scale
    assert ours(hidden).shape == (1, N, V), "the head must be itself again"
    z = theirs(again)[0][places] * scale
    z = z if cap is None else cap * torch.tanh(z / cap)
    logps = torch.log_softmax(z / 0.7, dim=-1)
    expected = logps.gather(1, targets[:, None])[:, 0]
    torch.testing.assert_close(found[:, 0], expected)
    torch.testing.assert_close(found[:, 1], -(logps.exp() * logps).sum(dim=-1))
    (found[:, 0] * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(hidden.grad, again.grad, rtol=1e-4, atol=1e-5)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("config", "head"),
    [
        (LlamaConfig(**SMALL), Head()),
        (PhiConfig(**SMALL), Head()),
        (GraniteConfig(**SMALL, logits_scaling=7.0), Head(1 / 7)),
        (
            Gemma2Config(**SMALL, head_dim=8, final_logit_softcapping=2.0),
            Head(1.0, 2.0, "final_logit_softcapping"),
        ),
    ],
)
def test_what_a_model_does_with_its_head_is_found_out(config: object, head: Head, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).to(dtype).eval()
    assert Head.of(model) == head


class Curved(LlamaForCausalLM):
    """Its logits are a curve of what its matrix gives."""

    def forward(self, *arguments: Any, **options: Any) -> Any:
        out = super().forward(*arguments, **options)
        out.logits = out.logits + out.logits**2
        return out


def test_a_head_of_another_form_is_none() -> None:
    assert Head.of(LlamaForCausalLM(LlamaConfig(**SMALL))) == Head()
    assert Head.of(Curved(LlamaConfig(**SMALL))) is None
    model = LlamaForCausalLM(LlamaConfig(**SMALL))
    model.lm_head = torch.nn.Sequential(model.lm_head)
    assert Head.of(model) is None
