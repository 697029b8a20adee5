"""Log-probabilities of a group's completions with the prompt computed once.

The G completions of a task share their prompt. Laid end to end behind one copy of it, with a mask that lets each
completion see the prompt and itself only, they give the same log-probabilities and gradients as G padded rows, without
padding and without computing the prompt G times. The idea is that of tree attention (SpecInfer, arXiv 2305.09781,
section 4.2) applied to the update.
"""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Packed:
    """A micro-batch as one row. L = all tokens laid end to end, N = completion tokens.

    input_ids   (1, L)
    position_ids (1, L)  positions start anew with each prompt; every completion goes on behind its prompt
    mask        (1, 1, L, L) bool, True where the query (second last axis) may look
    predictors  (N,) index in 0..L-1 of the token whose logits predict each completion token
    targets     (N,) the completion tokens
    rows, columns  (N,) where each belongs in the (rows, longest completion) result
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    mask: torch.Tensor
    predictors: torch.Tensor
    targets: torch.Tensor
    rows: torch.Tensor
    columns: torch.Tensor


def pack(input_ids: torch.Tensor, attention_mask: torch.Tensor, keep: int, rows: list[int]) -> Packed:
    """Packs the given rows of a padded batch.

    input_ids, attention_mask  (B, P + keep): prompts padded on the left, completions on the right
    Neighbouring rows with the same prompt share it.
    """
    ids: list[int] = []
    positions: list[int] = []
    segment: list[int] = []  # 0 = nothing yet; prompts and completions count up
    parent: list[int] = []  # segment of the prompt that a token may see, itself for prompt tokens
    predictors: list[int] = []
    targets: list[int] = []
    where: list[tuple[int, int]] = []
    last_prompt: list[int] | None = None
    prompt_segment = prompt_end = segments = 0
    ids_B, mask_B = input_ids.tolist(), attention_mask.tolist()
    for row in rows:
        split = len(ids_B[row]) - keep
        prompt = [t for t, m in zip(ids_B[row][:split], mask_B[row][:split], strict=True) if m]
        completion = [t for t, m in zip(ids_B[row][split:], mask_B[row][split:], strict=True) if m]
        if prompt != last_prompt:
            segments += 1
            prompt_segment, last_prompt = segments, prompt
            ids += prompt
            positions += range(len(prompt))
            segment += [segments] * len(prompt)
            parent += [segments] * len(prompt)
            prompt_end = len(ids) - 1
        segments += 1
        start = len(ids)
        # The last completion token predicts nothing, so it need not be computed.
        inner = completion[:-1]
        ids += inner
        positions += range(len(prompt), len(prompt) + len(inner))
        segment += [segments] * len(inner)
        parent += [prompt_segment] * len(inner)
        predictors += [prompt_end, *range(start, start + len(inner))][: len(completion)]
        targets += completion
        where += [(row, column) for column in range(len(completion))]
    device = input_ids.device
    segment_L = torch.tensor(segment, device=device)
    parent_L = torch.tensor(parent, device=device)
    causal = torch.ones(len(ids), len(ids), dtype=torch.bool, device=device).tril()
    same = segment_L[:, None] == segment_L[None, :]
    to_prompt = parent_L[:, None] == segment_L[None, :]
    place = torch.tensor(where, device=device).reshape(-1, 2)
    return Packed(
        input_ids=torch.tensor([ids], device=device),
        position_ids=torch.tensor([positions], device=device),
        mask=(causal & (same | to_prompt))[None, None],
        predictors=torch.tensor(predictors, device=device),
        targets=torch.tensor(targets, device=device),
        rows=place[:, 0],
        columns=place[:, 1],
    )


def shared_prefix_logps(
    model: torch.nn.Module,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    keep: int,
    *,
    rows: list[int] | None = None,
    temperature: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(log-probabilities, entropies), both (B, keep) float32, zero where there is no completion token.

    temperature  of the sampling distribution, whose log-probabilities these are
    rows  which rows to compute; the others come out zero without a gradient. None = all.
    Entropies carry no gradient.
    """
    wanted = list(range(len(input_ids))) if rows is None else rows
    out = torch.zeros(len(input_ids), keep, device=input_ids.device)
    entropies = torch.zeros_like(out)
    if not wanted:
        return out.requires_grad_(), entropies
    packed = pack(input_ids, attention_mask, keep, wanted)
    logits = model(
        input_ids=packed.input_ids,
        attention_mask=packed.mask,
        position_ids=packed.position_ids,
        use_cache=False,
        logits_to_keep=packed.predictors,
    ).logits[0]
    logits = logits.float() / temperature
    logps = _selected_logps(logits, packed.targets)
    with torch.no_grad():
        distribution = torch.log_softmax(logits.detach(), dim=-1)
        entropies[packed.rows, packed.columns] = -(distribution.exp() * distribution).sum(dim=-1)
    return out.index_put((packed.rows, packed.columns), logps), entropies


def _selected_logps(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """(N,) float32 log-probability of each target; cross entropy computes its gradient without a second copy."""
    return -torch.nn.functional.cross_entropy(logits, targets, reduction="none")
