"""A model's weights by name, for engines that sample from a copy."""

from collections.abc import Iterator
from typing import Any

import torch


def named_weights(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, weight) pairs for `update`: a transformers model's own, LoRA adapters (PEFT) added in, not in place."""
    adapted: dict[str, Any] = {
        name: module for name, module in model.named_modules() if hasattr(module, "get_delta_weight")
    }
    for name, weight in model.named_parameters():
        if ".lora_" in name or "lora_embedding" in name:
            continue
        owner, found, leaf = name.rpartition(".base_layer.")
        value = weight.detach()
        if found and leaf == "weight":
            layer = adapted[owner]
            for adapter in layer.active_adapters:
                value = value + layer.get_delta_weight(adapter).detach()
        yield name.removeprefix("base_model.model.").replace(".base_layer.", "."), value
