"""Weights in four bits (NF4 of QLoRA, arXiv 2305.14314, by bitsandbytes), for a base model under adapters.

A weight is dequantised each time it is multiplied with, in sampling as in the update, so both see the same numbers.
"""

import logging
from typing import Any

import torch

from strop.core.errors import UserError
from strop.core.optional_packages import require

BLOCK = 64
"""Weights with one scale."""
# Of a faster kernel on the Hub, each time that bitsandbytes is imported, by whatever package.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)


def nf4() -> Any:
    """How transformers quantises a model that it loads. Raises UserError where bitsandbytes is not installed."""
    require("bitsandbytes", package="bitsandbytes", extra="quantization", purpose="model.quantization=nf4")
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.bfloat16,
        bnb_4bit_use_double_quant=True,
        bnb_4bit_quant_storage=torch.bfloat16,
    )


def settle(model: torch.nn.Module) -> None:
    """Readies a model that was loaded in four bits for sampling and update by turns. Raises UserError.

    On a CPU layers would pack their weights anew for inference, a form that no gradient passes through.
    """
    for name, module in model.named_modules():
        if not hasattr(module, "support_avx512bf16_for_cpu"):
            continue
        module.support_avx512bf16_for_cpu = False
        if module.weight.device.type == "cpu" and module.in_features % BLOCK:
            raise UserError(
                f"model.quantization=nf4: {name} has {module.in_features} inputs, no multiple of {BLOCK}, which "
                "bitsandbytes gets wrong on a CPU; use a GPU, or set model.quantization=null"
            )


def plain(weight: torch.Tensor) -> torch.Tensor:
    """A weight without gradient, dequantised where it is in four bits."""
    state = getattr(weight, "quant_state", None)
    if state is None:
        return weight.detach()
    from bitsandbytes.functional import dequantize_4bit

    whole: torch.Tensor = dequantize_4bit(weight.detach(), state)
    return whole
