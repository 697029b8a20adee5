"""Attention for groups: what several queries share is computed once and copied never.

Two forms beside the usual one. Decoding: heads that share keys ride as query positions. The update: the completions of
a group look at one copy of their prompt's keys (`PrefixGroup`).
"""

from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

NAME = "strop"
"""Name under which transformers finds this attention."""


@dataclass(frozen=True)
class PrefixGroup:
    """A prompt and the completions behind it: M tokens in a row of L tokens, one group behind the other.

    prompt      the prompt's places in the row
    completions (G, C) each completion's places, padded on the right with any place
    origin      (M,) for each token of the group, its index among the prompt and the padded completions (P + G x C)
    """

    prompt: slice
    completions: torch.Tensor
    origin: torch.Tensor


def group_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    prefix_groups: list[PrefixGroup] | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """query (rows, heads, length, size) against (rows, key heads, key length, size) -> (rows, length, heads, size)."""
    rows, heads, length, size = query.shape
    scale = options.get("scaling")
    if prefix_groups is not None:
        blocks = [_attend_group(group, query[0], key[0], value[0], scale) for group in prefix_groups]
        return torch.cat(blocks)[None], None
    if length == 1 and heads != key.shape[1]:
        out = _attend(query, key, value, attention_mask, scale)
        return out.reshape(rows, 1, heads, size), None
    return sdpa_attention_forward(module, query, key, value, attention_mask, **options)  # type: ignore[no-any-return]


def _attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float | None,
) -> torch.Tensor:
    """(rows, heads, length, size), with the heads that share keys folded into the length: no key is repeated.

    mask  (..., length, key length), the same for all heads; with one query position a broadcast one will do
    """
    rows, heads, length, size = query.shape
    shared = heads // key.shape[1]
    folded = query.reshape(rows, key.shape[1], shared * length, size)
    if mask is not None and mask.shape[-2] != 1:
        mask = mask.repeat(*(1 for _ in mask.shape[:-2]), shared, 1)
    out = torch.nn.functional.scaled_dot_product_attention(folded, key, value, attn_mask=mask, scale=scale)
    return out.reshape(rows, heads, length, size)


def _attend_group(
    group: PrefixGroup, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None
) -> torch.Tensor:
    """(M, heads, size): what the group's tokens take in, from query, key and value (heads, L, size)."""
    heads, _, size = query.shape
    asked, known, worth = (tensor[None, :, group.prompt] for tensor in (query, key, value))
    before = known.shape[2]
    out = _attend(asked, known, worth, _causal(before, before, query.device), scale)[0].transpose(0, 1)
    rows, longest = group.completions.shape
    if longest:
        own = [tensor[:, group.completions].transpose(0, 1) for tensor in (query, key, value)]
        keys, values = (
            torch.cat([shared.expand(rows, -1, -1, -1), mine], dim=2)
            for shared, mine in zip((known, worth), own[1:], strict=True)
        )
        mask = _causal(longest, before + longest, query.device)
        answers = _attend(own[0], keys, values, mask, scale).transpose(1, 2).reshape(-1, heads, size)
        out = torch.cat([out, answers])
    return out[group.origin]


def _causal(length: int, keys: int, device: torch.device) -> torch.Tensor:
    """(length, keys) bool: query i sees the keys up to its own, the last `length` of them being the queries' own."""
    return torch.ones(length, keys, dtype=torch.bool, device=device).tril(keys - length)


def attend_in_groups(model: Any) -> None:
    """Makes a transformers model use this attention. Safe to call more than once."""
    AttentionInterface.register(NAME, group_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.config._attn_implementation = NAME
