"""Log-probabilities of a group's completions with the prompt computed once.

The G completions of a task share their prompt. Concatenated after one copy of it, each attending only to the prompt and
itself (`policies.attention.PrefixGroup`), they give the same log-probabilities and gradients as G padded rows, without
padding and without computing the prompt G times. This is tree attention (SpecInfer, arXiv 2305.09781, section 4.2)
applied to the update.
"""

from dataclasses import dataclass, field
from typing import Any

import torch

from strop.policies.attention import PrefixGroup
from strop.training.selected_logps import head_selects


@dataclass
class Packed:
    """A micro-batch as one row of L tokens, group behind group; N completion tokens are predicted.

    ids, positions  (L,) positions start anew with each prompt; every completion goes on behind its prompt
    predictors  (N,) place of the token that predicts each completion token
    targets     (N,) the completion tokens
    rows, columns  (N,) where each belongs in the (rows, longest completion) result
    """

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    predictors: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    groups: list[PrefixGroup] = field(default_factory=list)

    def add_group(self, prompt: list[int], completions: list[tuple[int, list[int]]], device: Any) -> None:
        """Lays a prompt and its (row, tokens) completions behind what is there."""
        start = len(self.ids)
        self.ids += prompt
        self.positions += range(len(prompt))
        # The last completion token predicts nothing, so it is not computed.
        longest = max(len(tokens) for _, tokens in completions) - 1
        origin = list(range(len(prompt)))
        places = []
        for number, (row, tokens) in enumerate(completions):
            first, inner = len(self.ids), tokens[:-1]
            self.ids += inner
            self.positions += range(len(prompt), len(prompt) + len(inner))
            self.predictors += [start + len(prompt) - 1, *range(first, first + len(inner))]
            self.targets += tokens
            self.rows += [row] * len(tokens)
            self.columns += range(len(tokens))
            places.append([*range(first, first + len(inner)), *[start] * (longest - len(inner))])
            origin += range(len(prompt) + number * longest, len(prompt) + number * longest + len(inner))
        self.groups.append(
            PrefixGroup(
                prompt=slice(start, start + len(prompt)),
                completions=torch.tensor(places, device=device).reshape(len(places), longest),
                origin=torch.tensor(origin, device=device),
            )
        )


def pack(input_ids: torch.Tensor, attention_mask: torch.Tensor, keep: int, rows: list[int]) -> Packed:
    """Packs the given rows of a padded batch; neighbouring rows with the same prompt share it.

    input_ids, attention_mask  (B, P + keep): prompts padded on the left, completions on the right
    """
    ids_B, mask_B = input_ids.tolist(), attention_mask.tolist()
    groups: list[tuple[list[int], list[tuple[int, list[int]]]]] = []
    for row in rows:
        tokens = [t for t, m in zip(ids_B[row], mask_B[row], strict=True) if m]
        split = sum(mask_B[row][:-keep])
        prompt, completion = tokens[:split], tokens[split:]
        if not completion:
            continue
        if not groups or groups[-1][0] != prompt:
            groups.append((prompt, []))
        groups[-1][1].append((row, completion))
    packed = Packed()
    for prompt, completions in groups:
        packed.add_group(prompt, completions, input_ids.device)
    return packed


def shared_prefix_logps(
    model: Any,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    keep: int,
    *,
    head: torch.nn.Linear,
    rows: list[int] | None = None,
    temperature: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(log-probabilities, entropies), both (B, keep) float32, zero where there is no completion token.

    model  one that attends in groups (`policies.attention.attend_in_groups`), wrapped or not
    head   its output embedding, a plain matrix (`selected_logps.check_head`)
    rows   which rows to compute; the others come out zero without a gradient. None = all.
    temperature  of the sampling distribution, whose log-probabilities these are
    Entropies carry no gradient.
    """
    packed = pack(input_ids, attention_mask, keep, list(range(len(input_ids))) if rows is None else rows)
    out = torch.zeros(len(input_ids), keep, device=input_ids.device)
    if not packed.targets:
        return out.requires_grad_(), torch.zeros_like(out)

    def tensor(values: list[int]) -> torch.Tensor:
        return torch.tensor(values, device=input_ids.device)

    with head_selects(head, tensor(packed.targets), temperature):
        values = model(
            input_ids=tensor(packed.ids)[None],
            position_ids=tensor(packed.positions)[None],
            prefix_groups=packed.groups,
            use_cache=False,
            logits_to_keep=tensor(packed.predictors),
        ).logits[0]
    where = (tensor(packed.rows), tensor(packed.columns))
    entropies = torch.zeros_like(out).index_put(where, values[:, 1].detach())
    return out.index_put(where, values[:, 0]), entropies
