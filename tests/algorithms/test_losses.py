"""Losses: equal to TRL's where both have one; micro-batches and order change nothing; gradients are as derived."""

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from trl import GRPOTrainer

from strop.algorithms import losses
from strop.algorithms.losses import Tokens, UpdateSize, find_loss, objective
from strop.config import algorithms as config
from strop.config.training import GrpoConfig

LONGEST = 12
LOW, HIGH = 0.2, 0.28


def drawn(seed: int, lengths: list[int]) -> dict[str, torch.Tensor]:
    """Padded (B, T) float64 values with a mask, as TRL takes them."""
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max(lengths))

    def noise(scale: float) -> torch.Tensor:
        return scale * torch.randn(shape, generator=generator, dtype=torch.float64)

    old = -noise(1.0).abs() - 0.1
    return {
        "logps": (old + noise(0.4)).requires_grad_(),
        "old": old,
        "sampled": old + noise(0.05),
        "reference": old + noise(0.3),
        "mask": (torch.arange(shape[1])[None] < torch.tensor(lengths)[:, None]).double(),
        "advantages": torch.randn(len(lengths), generator=generator, dtype=torch.float64),
    }


def flat(values: dict[str, torch.Tensor], rows: list[int]) -> Tokens:
    """Some rows' tokens, laid end to end."""
    mask = values["mask"][rows].bool()
    taken = {name: values[name][rows][mask] for name in ("logps", "old", "sampled", "reference")}
    number = torch.arange(len(rows))[:, None].expand(mask.shape)[mask]
    return Tokens(**taken, advantages=values["advantages"][rows][number], rows=number, count=len(rows))


def whole(values: dict[str, torch.Tensor]) -> UpdateSize:
    return UpdateSize(len(values["mask"]), int(values["mask"].sum()), LONGEST)


def ours(
    values: dict[str, torch.Tensor], loss: config.Loss, beta: float, parts: list[list[int]]
) -> torch.Tensor:
    """The loss of an update, of micro-batches of these rows."""
    grpo = GrpoConfig(loss=loss, beta=beta)
    return torch.stack(
        [objective(grpo, find_loss(grpo.loss), flat(values, rows), whole(values))[0] for rows in parts]
    ).sum()


def theirs(
    values: dict[str, torch.Tensor], form: str, level: str, beta: float, weight: torch.Tensor | None = None
) -> torch.Tensor:
    """TRL's own function on one micro-batch, with a trainer that has only what the function reads."""
    trainer = SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *a, **k: (
            values["logps"],
            torch.zeros_like(values["old"]),
            None,
        ),
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        importance_sampling_level=level,
        beta=beta,
        loss_type=form,
        epsilon_low=LOW,
        epsilon_high=HIGH,
        args=SimpleNamespace(delta=None, use_bias_correction_kl=False, steps_per_generation=1),
        use_vllm=weight is not None,
        vllm_importance_sampling_correction=weight is not None,
        _entropy_bonus_enabled=False,
        model=SimpleNamespace(training=True),
        current_gradient_accumulation_steps=1,
        max_completion_length=LONGEST,
        accelerator=SimpleNamespace(
            num_processes=1, gather=lambda value: value, reduce=lambda value, **_: value
        ),
        _metrics={"train": defaultdict(list)},
    )
    rows = len(values["mask"])
    inputs = {
        "prompt_ids": torch.zeros(rows, 1, dtype=torch.long),
        "prompt_mask": torch.ones(rows, 1, dtype=torch.long),
        "completion_ids": torch.zeros(values["mask"].shape, dtype=torch.long),
        "completion_mask": values["mask"],
        "advantages": values["advantages"],
        "old_per_token_logps": values["old"],
        "ref_per_token_logps": values["reference"],
        "num_items_in_batch": values["mask"].sum(),
    }
    if weight is not None:
        inputs["importance_sampling_ratio"] = weight
    found: torch.Tensor = GRPOTrainer._compute_loss(trainer, None, inputs)
    return found


SETTINGS: dict[tuple[str, str], config.Loss] = {
    ("grpo", "token"): config.GrpoLoss(epsilon_low=LOW, epsilon_high=HIGH),
    ("dr_grpo", "token"): config.DrGrpoLoss(epsilon_low=LOW, epsilon_high=HIGH),
    ("dapo", "token"): config.DapoLoss(epsilon_low=LOW, epsilon_high=HIGH),
    ("cispo", "token"): config.CispoLoss(max_weight=HIGH),
    ("grpo", "sequence"): config.GspoLoss(epsilon_low=LOW, epsilon_high=HIGH),
    ("dr_grpo", "sequence"): config.GspoLoss(epsilon_low=LOW, epsilon_high=HIGH, average="constant"),
    ("dapo", "sequence"): config.GspoLoss(epsilon_low=LOW, epsilon_high=HIGH, average="tokens"),
}
"""TRL's names, and what a recipe says for the same."""


@given(st.integers(0, 10_000), st.lists(st.integers(1, 6), min_size=2, max_size=8), st.data())
def test_micro_batches_do_not_change_a_loss(seed, lengths, data):
    values = drawn(seed, lengths)
    order = data.draw(st.permutations(range(len(lengths))))
    cut = data.draw(st.integers(1, len(lengths) - 1))
    for loss in SETTINGS.values():
        together = ours(values, loss, 0.1, [list(range(len(lengths)))])
        apart = ours(values, loss, 0.1, [list(order[:cut]), list(order[cut:])])
        assert abs(float((together - apart).detach())) < 1e-9


def test_on_policy_every_form_has_the_gradient_of_reinforce():
    values = drawn(5, [3, 6, 2])
    values["logps"] = values["old"].clone().requires_grad_()
    values["sampled"] = values["old"]
    tokens = flat(values, [0, 1, 2])
    (expected,) = torch.autograd.grad(losses.reinforce(tokens).sum(), tokens.logps, retain_graph=True)
    torch.testing.assert_close(expected, -tokens.advantages)
    for each in (
        losses.clipped(tokens, "token", LOW, HIGH)[0],
        losses.cispo(tokens, 1 + HIGH)[0],
        losses.sequence_weighted(tokens, 10.0)[0],
    ):
        (gradient,) = torch.autograd.grad(each.sum(), tokens.logps, retain_graph=True)
        torch.testing.assert_close(gradient, expected)


def test_a_clipped_token_has_no_gradient_and_is_counted():
    old = torch.zeros(4, dtype=torch.float64)
    logps = torch.tensor([0.5, 0.5, -0.5, -0.5], dtype=torch.float64, requires_grad=True)
    advantages = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)
    tokens = Tokens(logps, old, old, advantages, torch.arange(4), 4)
    each, acts = losses.clipped(tokens, "token", LOW, HIGH)
    (gradient,) = torch.autograd.grad(each.sum(), logps)
    assert acts.tolist() == [True, False, False, True]
    assert [value == 0 for value in gradient.tolist()] == [True, False, False, True]


def test_a_sequence_weight_is_the_product_over_its_row_and_extreme_rows_are_dropped():
    logps = torch.tensor([-1.0, -1.0, -1.0, -9.0], dtype=torch.float64, requires_grad=True)
    sampled = torch.tensor([-1.1, -1.2, -1.0, -1.0], dtype=torch.float64)
    rows = torch.tensor([0, 0, 1, 1])
    tokens = Tokens(logps, sampled, sampled, torch.ones(4, dtype=torch.float64), rows, 2)
    each, dropped = losses.sequence_weighted(tokens, 100.0)
    (gradient,) = torch.autograd.grad(each.sum(), logps)
    weight = torch.tensor(0.3, dtype=torch.float64).exp()
    torch.testing.assert_close(gradient, torch.tensor([-weight, -weight, 0.0, 0.0], dtype=torch.float64))
    assert dropped.tolist() == [False, False, True, True]


def corrected_weight(values: dict[str, torch.Tensor], correction: config.Correction) -> torch.Tensor:
    """(B, T) by TRL's words: the ratio, a token's or the product over its row, cut or masked."""
    gap = (values["old"] - values["sampled"]) * values["mask"]
    whole = isinstance(correction, config.SequenceTruncated | config.SequenceMasked)
    weight = (gap.sum(1, keepdim=True) if whole else gap).exp().expand(gap.shape)
    if isinstance(correction, config.CutWeights):
        return weight.clamp(max=correction.max_weight)
    assert isinstance(correction, config.MaskedWeights)
    return torch.where((weight > correction.max_weight) | (weight < correction.min_weight), 0.0, weight)


@pytest.mark.parametrize(
    "correction",
    [
        config.NoCorrection(),
        config.TokenTruncated(max_weight=1.02),
        config.TokenMasked(min_weight=0.97, max_weight=1.03),
        config.SequenceTruncated(max_weight=1.02),
        config.SequenceMasked(min_weight=0.95, max_weight=1.05),
    ],
    ids=lambda correction: correction.type,
)
@pytest.mark.parametrize("beta", [0.0, 0.04])
@pytest.mark.parametrize(("form", "level"), SETTINGS)
def test_what_a_recipe_says_is_trls_loss(
    form: str, level: str, beta: float, correction: config.Correction
) -> None:
    values = drawn(3, [5, 2, 7, 1, 4, 7])
    grpo = GrpoConfig(loss=SETTINGS[form, level], correction=correction, beta=beta)
    mine, logged = objective(grpo, find_loss(grpo.loss), flat(values, list(range(6))), whole(values))
    (gradient,) = torch.autograd.grad(mine, values["logps"])
    weight = None if correction.type == "none" else corrected_weight(values, correction)
    other = theirs(values, form, level, beta, weight)
    (expected,) = torch.autograd.grad(other, values["logps"])
    assert abs((mine - other).item()) < 1e-12 and float(expected.abs().max()) > 1e-3
    torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-12)
    assert ("corrected" in logged) == (weight is not None) and ("kl" in logged) == (beta > 0)
    if weight is not None:
        assert 0 < float(logged["corrected"]) < float(values["mask"].sum())
        assert float(logged["correction"]) == pytest.approx(float((weight * values["mask"]).sum()))


@pytest.mark.parametrize(
    ("loss", "share", "form"),
    [
        (config.ReinforceLoss(), "constant", "reinforce"),
        (config.ReinforceLoss(average="answers"), "answers", "reinforce"),
        (config.SequenceWeightedLoss(max_weight=1.1), "constant", "weighted"),
    ],
)
def test_what_a_recipe_says_without_an_equal_in_trl(loss: config.Loss, share: Any, form: str) -> None:
    values = drawn(3, [5, 2, 7, 1])
    values["sampled"] = values["logps"].detach() + 0.01 * torch.arange(4)[:, None]
    tokens, size = flat(values, list(range(4))), whole(values)
    mine, logged = objective(GrpoConfig(loss=loss), find_loss(loss), tokens, size)
    sums = []
    for row, length in enumerate([5, 2, 7, 1]):
        factor = 1.0 if form == "reinforce" else float(torch.tensor(-0.01 * row * length).exp())
        factor = 0.0 if factor < 1 / 1.1 else factor
        each = -factor * values["advantages"][row] * values["logps"][row, :length]
        sums.append(each.sum() / (length if share == "answers" else LONGEST) / 4)
    torch.testing.assert_close(mine, torch.stack(sums).sum(), rtol=0, atol=1e-7)
    assert float(logged["clip_ratio"]) == (0 if form == "reinforce" else 7)


def test_k3_is_never_negative_and_zero_for_the_same_policy():
    values = drawn(8, [40])
    tokens = flat(values, [0])
    assert float(losses.k3(tokens).min()) >= 0
    same = Tokens(tokens.old, tokens.old, tokens.old, tokens.advantages, tokens.rows, 1, reference=tokens.old)
    assert float(losses.k3(same).abs().max()) == 0
