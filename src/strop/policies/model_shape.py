"""The sizes of a model before it is loaded: built from its config.json on torch's meta device, without weights.

If config.json cannot be read, the sizes of models that recipes use come from `PUBLISHED`.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from strop.config.model import LoraConfig
from strop.policies.model_files import EMBEDDED, ModelFiles
from strop_verify.core.errors import StropError

_NO_KEYS = ("linear_attention", "conv", "mamba", "recurrent")
"""Values of layer_types in a configuration for layers without a key-value cache."""
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "moe_top_k", "moe_k", "top_k_experts", "top_k")
"""Configuration keys for the number of experts per token."""


def _qwen2(hidden: int, inner: int, layers: int, heads: int, pairs: int, **more: Any) -> dict[str, Any]:
    return _config("qwen2", hidden, inner, layers, heads, pairs, **{"vocab_size": 152064, **more})


def _config(
    kind: str, hidden: int, inner: int, layers: int, heads: int, pairs: int, **more: Any
) -> dict[str, Any]:
    return {
        "model_type": kind,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": pairs,
        "tie_word_embeddings": False,
    } | more


_SMALL = {"vocab_size": 151936, "tie_word_embeddings": True}
_QWEN3 = {"vocab_size": 151936, "head_dim": 128}
PUBLISHED: Mapping[str, dict[str, Any]] = {
    EMBEDDED: _config("llama", 576, 1536, 30, 9, 3, vocab_size=49152, tie_word_embeddings=True),
    "Qwen/Qwen2.5-Coder-1.5B": _qwen2(1536, 8960, 28, 12, 2, **_SMALL),
    "Qwen/Qwen2.5-Coder-1.5B-Instruct": _qwen2(1536, 8960, 28, 12, 2, **_SMALL),
    "Qwen/Qwen2.5-Coder-0.5B-Instruct": _qwen2(896, 4864, 24, 14, 2, **_SMALL),
    "Qwen/Qwen2.5-Coder-3B-Instruct": _qwen2(2048, 11008, 36, 16, 2, **_SMALL),
    "Qwen/Qwen2.5-Coder-7B-Instruct": _qwen2(3584, 18944, 28, 28, 4),
    "Qwen/Qwen2.5-Coder-32B-Instruct": _qwen2(5120, 27648, 64, 40, 8),
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B": _qwen2(1536, 8960, 28, 12, 2, vocab_size=151936),
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B": _qwen2(5120, 13824, 48, 40, 8),
    "Qwen/Qwen3-0.6B": _config("qwen3", 1024, 3072, 28, 16, 8, **_QWEN3, tie_word_embeddings=True),
    "Qwen/Qwen3-1.7B": _config("qwen3", 2048, 6144, 28, 16, 8, **_QWEN3, tie_word_embeddings=True),
    "Qwen/Qwen3-4B-Instruct-2507": _config(
        "qwen3", 2560, 9728, 36, 32, 8, **_QWEN3, tie_word_embeddings=True
    ),
    "Qwen/Qwen3-8B": _config("qwen3", 4096, 12288, 36, 32, 8, **_QWEN3),
    "Qwen/Qwen3-14B": _config("qwen3", 5120, 17408, 40, 40, 8, **_QWEN3),
    "meta-llama/Llama-3.2-1B-Instruct": _config(
        "llama", 2048, 8192, 16, 32, 8, vocab_size=128256, head_dim=64, tie_word_embeddings=True
    ),
    "meta-llama/Llama-3.1-8B-Instruct": _config("llama", 4096, 14336, 32, 32, 8, vocab_size=128256),
    "meta-llama/Llama-3.3-70B-Instruct": _config("llama", 8192, 28672, 80, 64, 8, vocab_size=128256),
}
"""{model in recipes: what its config.json says}, for machines that cannot read it."""


@dataclass(frozen=True)
class ModelShape:
    """Sizes of a model, as numbers of weights or of values per token.

    tied        whether the head is the input embedding
    block       weights of the largest layer, which a sharded engine gathers to compute
    widest      widest input or output of a matrix in a layer
    attending   layers with keys and values for every token
    hidden, queries, keys  per token in a layer: residual stream, queries, keys (as many as values)
    inside      per token, inputs and outputs of the matrices of the largest layer, of active experts only
    normed      per token, inputs of that layer's norms
    linear      {name: (rows, columns)} of every linear layer except the head
    """

    parameters: int
    embeddings: int
    tied: bool
    block: int
    widest: int
    layers: int
    attending: int
    hidden: int
    queries: int
    keys: int
    inside: int
    normed: int
    vocabulary: int
    linear: Mapping[str, Sequence[int]] = field(repr=False)
    published: bool = False

    @classmethod
    def read(cls, name: str, revision: str | None = None) -> "ModelShape | None":
        """From config.json of the model that a recipe names, else from `PUBLISHED`; None if both lack it."""
        try:
            files = ModelFiles.read(name, revision)
        except StropError:
            files = None
        config = dict(files.config) if files else PUBLISHED.get(name)
        return cls.of_config(config, published=files is None) if config else None

    @classmethod
    def of_config(cls, config: Mapping[str, Any], *, published: bool = False) -> "ModelShape | None":
        """From the content of config.json; None for a model that transformers cannot build."""
        import torch
        from transformers import AutoConfig, AutoModelForCausalLM

        settings = {key: value for key, value in config.items() if key != "quantization_config"}
        try:
            known = AutoConfig.for_model(**settings)
            with torch.device("meta"):
                model = AutoModelForCausalLM.from_config(known)
            return cls._of_model(model, published)
        except Exception:  # from many model classes
            return None

    @classmethod
    def _of_model(cls, model: Any, published: bool) -> "ModelShape":
        from torch.nn import Linear, ModuleList
        from transformers.pytorch_utils import Conv1D

        text, embedding = model.config.get_text_config(), model.get_input_embeddings().weight
        head = model.get_output_embeddings()
        lists = [module for module in model.modules() if isinstance(module, ModuleList) and len(module)]
        layers = max(lists, key=_size)  # a layer may hold a list of experts
        largest = max(layers, key=_size)
        kinds = getattr(text, "layer_types", None) or getattr(text, "layers_block_type", None) or ()
        linear = {
            name: tuple(module.weight.shape)
            for name, module in model.named_modules()
            if isinstance(module, Linear | Conv1D) and module is not head
        }
        heads = _number(text, "num_attention_heads")
        hidden = _number(text, "hidden_size") or embedding.shape[-1]
        pairs = _number(text, "num_key_value_heads") or heads
        each = _number(text, "head_dim") or hidden // max(1, heads)
        return cls(
            parameters=_size(model),
            embeddings=embedding.numel(),
            tied=head is not None and head.weight is embedding,
            block=_size(largest),
            widest=max(max(weight.shape[-2:]) for weight in _matrices(largest)),
            layers=len(layers),
            attending=sum(kind not in _NO_KEYS for kind in kinds) if kinds else len(layers) * bool(heads),
            hidden=hidden,
            queries=_rows(linear, "q_proj") or heads * each,
            keys=_rows(linear, "k_proj") or pairs * each,
            inside=_inside(largest, text),
            normed=_normed(largest, heads, pairs, hidden),
            vocabulary=embedding.shape[0],
            linear=linear,
            published=published,
        )

    @property
    def inner(self) -> int:
        """Number of weights outside the input embedding and the head."""
        return self.parameters - self.embeddings * (1 if self.tied else 2)

    @property
    def cached(self) -> int:
        """Numbers per token in the key-value cache."""
        return 2 * self.attending * self.keys

    def adapters(self, lora: LoraConfig) -> int:
        """Number of weights of the adapters."""
        taken = [
            shape
            for name, shape in self.linear.items()
            if lora.target_modules == ["all-linear"] or name.rpartition(".")[2] in lora.target_modules
        ]
        return sum(lora.rank * sum(shape) for shape in taken)

    @property
    def quantised(self) -> int:
        """Number of weights that model.quantization stores in 4 bits: those of linear layers, without the head."""
        return sum(rows * columns for rows, columns in self.linear.values())


def _size(module: Any) -> int:
    return sum(weight.numel() for weight in module.parameters())


def _matrices(module: Any) -> list[Any]:
    """The matrices of a module, and stacked experts (experts, rows, columns)."""
    return [weight for weight in module.parameters() if weight.dim() in (2, 3) and weight.shape[-2] > 1]


def _number(text: Any, *names: str) -> int:
    """The first of these settings that is an integer; 0 if none is, for example if layers differ in it."""
    for name in names:
        with suppress(Exception):  # from many configurations
            if isinstance(value := getattr(text, name), int):
                return value
    return 0


def _rows(linear: Mapping[str, Sequence[int]], ending: str) -> int:
    return max((shape[0] for name, shape in linear.items() if name.endswith(f".{ending}")), default=0)


def _inside(layer: Any, text: Any) -> int:
    chosen = _number(text, *_CHOSEN) or 1
    return sum(sum(weight.shape[-2:]) * (chosen if weight.dim() == 3 else 1) for weight in _matrices(layer))


def _normed(layer: Any, heads: int, pairs: int, hidden: int) -> int:
    """Inputs of a layer's norms per token; norms of a head's size apply to all heads."""
    found = 0
    for name, weight in layer.named_parameters():
        if "norm" in name and weight.dim() == 1 and name.endswith("weight"):
            heads_of_it = heads if "q_norm" in name else pairs if "k_norm" in name else 1
            found += weight.numel() * (heads_of_it if weight.numel() < hidden else 1)
    return found or 2 * hidden
