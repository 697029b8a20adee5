"""Attention for decoding with grouped queries: heads that share keys ride as query positions, nothing is copied."""

from typing import Any

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

GROUPED = "strop_grouped"
"""Name under which transformers finds this attention."""


def grouped_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """For one query position a row: (rows, heads, 1, size) against (rows, key heads, length, size); else plain SDPA."""
    rows, heads, length, size = query.shape
    key_heads = key.shape[1]
    if length != 1 or heads == key_heads:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)  # type: ignore[no-any-return]
    folded = query.reshape(rows, key_heads, heads // key_heads, size)
    out = torch.nn.functional.scaled_dot_product_attention(
        folded, key, value, attn_mask=attention_mask, scale=options.get("scaling")
    )
    return out.reshape(rows, 1, heads, size), None


def register() -> None:
    """Makes the attention known to transformers; safe to call more than once."""
    AttentionInterface.register(GROUPED, grouped_attention)
    AttentionMaskInterface.register(GROUPED, sdpa_mask)
