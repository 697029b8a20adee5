"""Log-probabilities by transformers alone, to hold others against."""

from collections.abc import Sequence
from typing import Any

import torch


@torch.no_grad()
def logps(model: Any, ids: Sequence[int], start: int, temperature: float = 1.0) -> torch.Tensor:
    """(T - start,) of a text's T tokens from `start` on, by one plain forward pass in float32."""
    row = torch.tensor([list(ids)])
    logits = model(input_ids=row).logits[0, start - 1 : -1].float() / temperature
    return logits.log_softmax(-1).gather(1, row[0, start:, None])[:, 0]
