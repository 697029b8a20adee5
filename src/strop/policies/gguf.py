"""Converts llama.cpp's GGUF files to folders that transformers loads.

A file is converted once, into a folder of Strop's cache named after the file's content. Weights are stored in the
smallest of bfloat16, float16 and float32 that holds all of them exactly: 2 bytes per weight for a file in one of these
types, 4 for a quantised one, whose values have more digits.

transformers reads the tensors. Settings that it ignores are added here: rotary positions, caps, end tokens, BOS. A file
is refused if a tensor would be left out, a parameter would stay empty, or positions would differ from the file's; a
note names any other settings that are ignored.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging as transformers_logging

from strop.policies.model_files import COMPLETE, gguf_folder
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require

_FILE = "model.gguf"
_FACTORS = "rope_freqs.weight"
"""A tensor that divides the frequencies of rotary positions; it is not a model parameter."""
_ENDS = frozenset({
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|eot|>", "<|end|>", "<|return|>",
    "<|call|>", "<end_of_turn>", "<turn|>", "<|end_of_turn|>", "<|endofturn|>", "[EOT]", "<EOT>",
})  # fmt: skip
"""Control tokens that end an answer."""
_LLAMA3 = frozenset({"llama3", "llama-v3", "llama-bpe"})
"""Names of Llama 3's pre-tokenizer, with which llama.cpp writes a BOS."""
_EPSILONS = ("rms_norm_eps", "layer_norm_eps", "norm_eps", "layer_norm_epsilon", "norm_epsilon")
_READ = frozenset({
    "context_length", "embedding_length", "block_count", "feed_forward_length", "vocab_size", "attention.head_count",
    "attention.head_count_kv", "attention.key_length", "attention.value_length", "attention.key_length_swa",
    "attention.value_length_swa", "attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon",
    "attention.sliding_window", "attention.sliding_window_pattern", "attn_logit_softcapping",
    "final_logit_softcapping", "rope.dimension_count", "rope.freq_base", "rope.freq_base_swa", "rope.scaling.type",
    "rope.scaling.factor", "rope.scaling.original_context_length", "rope.scaling.finetuned", "expert_count",
    "expert_used_count", "expert_feed_forward_length", "expert_shared_feed_forward_length", "expert_gating_func",
    "shortconv.l_cache", "ssm.conv_kernel", "ssm.state_size", "ssm.group_count", "ssm.time_step_rank",
    "ssm.inner_size", "full_attention_interval", "rope.dimension_sections", "use_parallel_residual",
    "tensor_data_layout",
})  # fmt: skip
"""Architecture settings that transformers or `_complete` reads, or that follow from the tensors' shapes."""


@dataclass(frozen=True)
class _Header:
    """The metadata of a GGUF file.

    name      the user's name for the model
    settings  {name: value}
    own       settings of the architecture, without its name in the key
    weights   {tensor: number of weights}
    factors   (rotary dimensions / 2,) divisors of the frequencies, None for none
    """

    name: str
    architecture: str
    settings: Mapping[str, Any]
    own: Mapping[str, Any]
    weights: Mapping[str, int]
    factors: torch.Tensor | None

    def fault(self, what: str) -> UserError:
        """The error that says why the file cannot be used."""
        return _fault(self.name, what)


def converted(file: Path) -> Path:
    """The folder of a GGUF file's model, converted at first use. Raises UserError for a file that is damaged, that
    transformers cannot read, or whose conversion would lose something.
    """
    return convert(file, gguf_folder(file), name=str(file))


def convert(
    file: Path, folder: Path, *, name: str, dtype: torch.dtype | None = None, pad: int | None = None
) -> Path:
    """Converts the file into the folder, completely or not at all; returns the folder. Raises UserError.

    name   of the model in errors
    dtype  of the weights in the folder, None for the smallest that holds them
    pad    id of the padding token, which then does not end an answer; None for the file's own
    """
    if (folder / COMPLETE).is_file():
        return folder
    header = _read(file, name)
    print(f"converting {name} ({file.stat().st_size / 1e6:,.0f} MB, once) ...", file=sys.stderr)
    part = folder.with_name(f"{folder.name}.part-{os.getpid()}")
    try:
        part.mkdir(parents=True)
        (part / _FILE).symlink_to(file.resolve())  # alone, since transformers reads the files next to it
        tokenizer, model = _loaded(part, header)
        (part / _FILE).unlink()
        if pad is not None:
            tokenizer.pad_token_id = pad
        _save(part, tokenizer, model, dtype, [end for end in _ends(tokenizer, model, header) if end != pad])
        (part / COMPLETE).write_text("ok\n")
        part.rename(folder)
    except (OSError, SafetensorError) as error:
        if not (folder / COMPLETE).is_file():  # else another process converted it first
            cause = " ".join(str(error).split())
            raise _fault(name, f"cannot be converted ({cause}); make room, or set STROP_CACHE") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def _read(file: Path, name: str) -> _Header:
    gguf = require("gguf", package="gguf", extra="train", purpose=f"model.name={name}, a GGUF file,")
    try:
        reader = gguf.GGUFReader(file)
        settings = {
            key: field.contents()
            for key, field in reader.fields.items()
            if len(field.data) == 1 and field.types[:1] != [gguf.GGUFValueType.ARRAY]
        }
        architecture = str(settings["general.architecture"])
        weights = {tensor.name: int(tensor.n_elements) for tensor in reader.tensors}
        factors = [torch.tensor(one.data) for one in reader.tensors if one.name == _FACTORS]
    except Exception as error:  # a damaged file can raise anything
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        raise _fault(name, f"the GGUF file is damaged ({cause:.150}); download it again") from error
    kind, parts = settings.get("general.type", "model"), int(settings.get("split.count", 1))
    if parts > 1:
        raise _fault(name, f"it is one of {parts} parts; join them: llama-gguf-split --merge FIRST WHOLE")
    if kind != "model" or not weights:
        raise _fault(
            name, f"it holds no model (general.type={kind}, {len(weights)} tensors); name a model's file"
        )
    begin = f"{architecture}."
    own = {key.removeprefix(begin): value for key, value in settings.items() if key.startswith(begin)}
    return _Header(name, architecture, settings, own, weights, *(factors or [None]))


def _loaded(folder: Path, header: _Header) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """The tokenizer, and the model in float32."""
    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # what is missing is reported below
    try:
        place: Any = {"pretrained_model_name_or_path": str(folder), "gguf_file": _FILE}
        config = AutoConfig.from_pretrained(**place)
        _complete(config, header)
        tokenizer = AutoTokenizer.from_pretrained(**place)
        model, found = AutoModelForCausalLM.from_pretrained(
            **place, config=config, dtype=torch.float32, output_loading_info=True
        )
    except (MemoryError, UserError):
        raise
    except Exception as error:  # from several libraries
        cause = " ".join(str(error).split()) or type(error).__name__
        what = f"transformers cannot read the architecture {header.architecture!r} from this GGUF file ({cause:.200})"
        raise header.fault(f"{what}; give the model's own folder or Hub id") from error
    finally:
        transformers_logging.set_verbosity(level)
    _check_tensors(model, sorted(found["missing_keys"]), header)
    _check_positions(model, header)
    _note(tokenizer, header)
    if tokenizer.bos_token_id is not None:  # llama.cpp's rule for whether a text begins with the BOS
        settings, key = header.settings, "tokenizer.ggml"
        usual = settings.get(f"{key}.model") == "llama" or settings.get(f"{key}.pre") in _LLAMA3
        tokenizer.add_bos_token = bool(settings.get(f"{key}.add_bos_token", usual))
    return tokenizer, model


def _complete(config: PreTrainedConfig, header: _Header) -> None:
    """Sets what transformers does not read from the file, or not for every architecture."""
    own = header.own
    for name in ("attn_logit_softcapping", "final_logit_softcapping"):
        if name in own and not hasattr(config, name):
            raise header.fault(
                f"transformers' {header.architecture} has no {name}, but the file sets it to {own[name]:g}"
            )
        if name in own:
            setattr(config, name, float(own[name]))
    for name in ("attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon"):
        for attribute in _EPSILONS if name in own else ():
            if hasattr(config, attribute):
                setattr(config, attribute, float(own[name]))
    if "attention.sliding_window" in own and hasattr(config, "sliding_window"):
        config.sliding_window = int(own["attention.sliding_window"])
    if hasattr(config, "head_dim") and not hasattr(config, "global_head_dim"):
        config.head_dim = int(own.get("attention.key_length", 0)) or config.head_dim
    share = config.hidden_size // (getattr(config, "num_attention_heads", None) or 1)
    head = getattr(config, "head_dim", None) or share
    if hasattr(config, "query_pre_attn_scalar"):  # Gemma's 27B models differ from the rest
        config.query_pre_attn_scalar = share if config.num_hidden_layers in (46, 62) else head
    ropes = getattr(config, "rope_parameters", None) or {}
    full = ropes.get("full_attention") or ropes
    if not full:
        return
    if "rope.freq_base" in own:
        full["rope_theta"] = float(own["rope.freq_base"])
    if "rope.freq_base_swa" in own and "sliding_attention" in ropes:
        ropes["sliding_attention"]["rope_theta"] = float(own["rope.freq_base_swa"])
    if int(own.get("rope.dimension_count", head)) < head:
        full["partial_rotary_factor"] = int(own["rope.dimension_count"]) / head
    full |= _scaling(header) if full.get("rope_type", "default") == "default" else {}


def _scaling(header: _Header) -> dict[str, Any]:
    """Configuration of rotary scaling beyond the original context length."""
    own, factors = header.own, header.factors
    kind, factor = own.get("rope.scaling.type", "none"), float(own.get("rope.scaling.factor", 1.0))
    first = int(own.get("rope.scaling.original_context_length", 0) or own.get("context_length", 0))
    if factors is not None and factors.max() > 1:
        # llama.cpp writes Llama 3's scaling like this; `_check_positions` tests whether it is.
        bounds = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
        return {"rope_type": "llama3", "factor": float(factors.max()), **bounds}
    match kind:
        case "none":
            return {}
        case "linear":
            return {"rope_type": "linear", "factor": factor}
        case "yarn":
            return {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": first}
    raise header.fault(f"rope.scaling.type={kind} is not supported; give the model's own folder or Hub id")


def _check_tensors(model: PreTrainedModel, missing: Sequence[str], header: _Header) -> None:
    """Raises UserError unless the model has exactly the file's tensors as its weights."""
    remedy = "give the model's own folder or Hub id"
    if missing:
        raise header.fault(f"the file has no tensor for {_some(missing)}; {remedy}")
    held = {weight.data_ptr(): weight.numel() for weight in model.state_dict().values()}
    there = {name: count for name, count in header.weights.items() if name != _FACTORS}
    if sum(there.values()) == sum(held.values()):
        return
    gguf: Any = require("gguf", package="gguf", extra="train", purpose="a GGUF file")
    known = next((key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == header.architecture), None)
    names = gguf.get_tensor_name_map(known, model.config.num_hidden_layers) if known is not None else None
    taken = {names.get_name(_stem(name)) for name in model.state_dict()} if names else set()
    left = [name for name in there if _stem(name) not in taken] or ["some tensors"]
    raise header.fault(f"transformers' {type(model).__name__} leaves out {_some(left)} of the file; {remedy}")


def _check_positions(model: PreTrainedModel, header: _Header) -> None:
    """Raises UserError if the model's rotary frequencies differ from the file's."""
    own, found = header.own, dict(model.named_buffers())
    others = ("original", "sliding", "local")
    ours = [
        one for name, one in found.items() if name.endswith("inv_freq") and not any(o in name for o in others)
    ]
    if not ours or "rope.freq_base" not in own or own.get("rope.scaling.type") == "yarn":
        return
    size = int(own.get("rope.dimension_count", 2 * len(ours[0])))
    theirs = float(own["rope.freq_base"]) ** (-torch.arange(0, size, 2) / size)
    theirs = theirs / (1.0 if header.factors is None else header.factors)
    if own.get("rope.scaling.type") == "linear" and header.factors is None:
        theirs = theirs / float(own["rope.scaling.factor"])
    for one in ours:
        if one.shape != theirs.shape or not torch.allclose(
            one.float(), theirs.float(), rtol=1e-4, atol=1e-12
        ):
            what = f"rotary frequencies of transformers' {type(model).__name__} differ from those of the file"
            raise header.fault(f"{what}; give the model's own folder or Hub id")


def _note(tokenizer: PreTrainedTokenizerBase, header: _Header) -> None:
    """Prints the names of settings that are ignored."""
    unread = [f"{header.architecture}.{name}" for name in header.own if name not in _READ]
    cut = header.settings.get("tokenizer.ggml.pre")
    way = getattr(getattr(tokenizer, "backend_tokenizer", None), "pre_tokenizer", None)
    if cut not in (None, "default", "gpt-2", "smollm") and type(way).__name__ == "ByteLevel":
        unread.append(f"tokenizer.ggml.pre={cut} (text is split as for GPT-2)")
    if unread:
        print(f"note: {header.name}: these settings are not read: {', '.join(unread)}", file=sys.stderr)


def _ends(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel, header: _Header) -> list[int]:
    """Ids that end an answer: those that the file names, and control tokens named in `_ENDS`."""
    control = {
        str(token.content): id for id, token in tokenizer.added_tokens_decoder.items() if token.special
    }
    if "<|return|>" in control:  # gpt-oss: there <|end|> ends a thought
        control.pop("<|end|>", None)
    usual = model.config.eos_token_id
    found: list[Any] = [*usual] if isinstance(usual, list) else [usual]
    found += [header.settings.get(f"tokenizer.ggml.{kind}_token_id") for kind in ("eos", "eot", "eom")]
    found += [id for text, id in control.items() if text in _ENDS]
    return list(dict.fromkeys(int(one) for one in found if one is not None))


def _save(
    folder: Path,
    tokenizer: PreTrainedTokenizerBase,
    loaded: PreTrainedModel,
    dtype: torch.dtype | None,
    ends: Sequence[int],
) -> None:
    """Saves the model, without its quantisation config, which would prevent that."""
    config, pad = loaded.config, tokenizer.pad_token_id
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.pad_token_id = pad
    weights = loaded.state_dict()
    dtype = dtype or _smallest(weights.values())
    with torch.device("meta"):
        model = type(loaded)(config)
    model.load_state_dict({name: weight.to(dtype) for name, weight in weights.items()}, assign=True)
    model.tie_weights()
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=ends[0] if len(ends) == 1 else [*ends] or None,
        pad_token_id=pad,
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _smallest(weights: Iterable[torch.Tensor]) -> torch.dtype:
    """The smallest type that holds every value exactly."""
    every = list(weights)
    small = (torch.bfloat16, torch.float16)
    return next(
        (one for one in small if all(torch.equal(w.to(one).to(w.dtype), w) for w in every)), torch.float32
    )


def _stem(name: str) -> str:
    return name.removesuffix(".weight").removesuffix(".bias")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _fault(name: str, what: str) -> UserError:
    return UserError(f"model.name={name}: {what}")
