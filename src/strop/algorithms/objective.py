"""The loss that a recipe asks for, made of the parts in `losses`."""

import torch

from strop.algorithms import losses
from strop.algorithms.losses import Share, Tokens, UpdateSize
from strop.config import algorithms as config
from strop.config.training import GrpoConfig


def objective(
    grpo: GrpoConfig, tokens: Tokens, size: UpdateSize
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """(the micro-batch's part of the loss, sums over its tokens of what is logged).

    clip_ratio  tokens that the loss clips, cuts or drops
    kl  with a KL term; correction, corrected  with a correction: its weight, and whether it was cut or masked
    """
    each, acts, share = policy_term(grpo.loss, tokens)
    sums = {"clip_ratio": acts.sum()}
    if not isinstance(grpo.correction, config.NoCorrection):
        weight, cut = corrected(grpo.correction, tokens)
        each = each * weight
        sums |= {"correction": weight.sum(), "corrected": cut.sum()}
    if grpo.beta:
        divergence = losses.k3(tokens)
        each = each + grpo.beta * divergence
        sums["kl"] = divergence.detach().sum()
    return (each * losses.shares(tokens, size, share)).sum(), sums


def policy_term(loss: config.Loss, tokens: Tokens) -> tuple[torch.Tensor, torch.Tensor, Share]:
    """(each token's objective (N,), which tokens it clips or drops (N,), how tokens are averaged)."""
    match loss:
        case config.GrpoLoss(epsilon_low=low, epsilon_high=high):
            return *losses.clipped(tokens, "token", low, high), "answers"
        case config.DapoLoss(epsilon_low=low, epsilon_high=high):
            return *losses.clipped(tokens, "token", low, high), "tokens"
        case config.DrGrpoLoss(epsilon_low=low, epsilon_high=high):
            return *losses.clipped(tokens, "token", low, high), "constant"
        case config.BnpoLoss(epsilon_low=low, epsilon_high=high):
            return *losses.clipped(tokens, "token", low, high), "micro-batch"
        case config.GspoLoss(epsilon_low=low, epsilon_high=high, average=average):
            return *losses.clipped(tokens, "sequence", low, high), average
        case config.LuspoLoss(epsilon_low=low, epsilon_high=high):
            return *losses.clipped(tokens, "sequence", low, high), "rows"
        case config.CispoLoss(max_weight=most):
            return *losses.cispo(tokens, most), "tokens"
        case config.ReinforceLoss(average=average):
            return losses.reinforce(tokens), torch.zeros_like(tokens.rows, dtype=torch.bool), average
        case config.SequenceWeightedLoss(max_weight=most):
            return *losses.sequence_weighted(tokens, most), "constant"


def corrected(
    correction: config.CutWeights | config.MaskedWeights, tokens: Tokens
) -> tuple[torch.Tensor, torch.Tensor]:
    """(each token's weight (N,), which of them were cut or masked (N,))."""
    whole = isinstance(correction, config.SequenceTruncated | config.SequenceMasked)
    level: losses.Level = "sequence" if whole else "token"
    if isinstance(correction, config.CutWeights):
        weight = losses.correction(tokens, level, "truncate", correction.max_weight)
        return weight, weight >= correction.max_weight
    weight = losses.correction(tokens, level, "mask", correction.max_weight, correction.min_weight)
    return weight, weight == 0
