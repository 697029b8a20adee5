"""The head in chunks against the head as it is written down: log-softmax of all logits."""

import copy

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from strop.core.errors import UserError
from strop.training.logps import CHUNK, check_head, head_selects

N, D, V = 2 * CHUNK + 7, 24, 331


def values(head: torch.nn.Linear, hidden: torch.Tensor, targets: torch.Tensor, T: float) -> torch.Tensor:
    with head_selects(head, targets, T):
        return head(hidden)


def plainly(
    head: torch.nn.Linear, hidden: torch.Tensor, targets: torch.Tensor, T: float
) -> tuple[torch.Tensor, torch.Tensor]:
    logps = torch.log_softmax(head(hidden)[0].float() / T, dim=-1)
    return logps.gather(1, targets[:, None])[:, 0], -(logps.exp() * logps).sum(dim=-1)


@pytest.mark.parametrize("trained_head", [True, False])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_equals_the_plain_form_with_its_gradients(trained_head: bool, temperature: float) -> None:
    torch.manual_seed(0)
    ours = torch.nn.Linear(D, V, bias=False).requires_grad_(trained_head)
    theirs = copy.deepcopy(ours)
    hidden = torch.randn(1, N, D, requires_grad=True)
    again = hidden.detach().clone().requires_grad_()
    targets, weights = torch.randint(V, (N,)), torch.randn(N)

    found = values(ours, hidden, targets, temperature)
    logps, entropies = plainly(theirs, again, targets, temperature)
    torch.testing.assert_close(found[0, :, 0], logps)
    torch.testing.assert_close(found[0, :, 1], entropies)

    (found[0, :, 0] * weights).sum().backward()
    (logps * weights).sum().backward()
    torch.testing.assert_close(hidden.grad, again.grad)
    if trained_head:
        torch.testing.assert_close(ours.weight.grad, theirs.weight.grad)
    else:
        assert ours.weight.grad is None
    assert ours(hidden).shape == (1, N, V), "the head must be itself again"


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


def test_a_head_with_more_than_a_matrix_is_refused() -> None:
    config = LlamaConfig(
        vocab_size=16, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1
    )
    model = LlamaForCausalLM(config)
    check_head(model)
    model.lm_head = torch.nn.Linear(8, 16, bias=True)
    with pytest.raises(UserError, match="shared_prefix=false"):
        check_head(model)
    model = LlamaForCausalLM(config)
    model.config.final_logit_softcapping = 30.0
    with pytest.raises(UserError, match="shared_prefix=false"):
        check_head(model)
