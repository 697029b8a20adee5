"""What a recipe asks of each GPU's memory, computed before anything is loaded. docs/gpu.md has the same formulas.

Computed, not measured on a GPU: CUDA's own needs (about 1 GB) and fragmentation come on top. The model's shape comes
from its config.json, built on torch's meta device without weights; where that cannot be read, from `PUBLISHED`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strop.config.launch import SHARDED
from strop.config.model import LoraConfig, TransformersPolicyConfig, VllmPolicyConfig
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.core.errors import StropError
from strop.policies.model_files import EMBEDDED, ModelFiles
from strop.policies.open import longest_play

FLOAT32, BFLOAT16 = 4, 2
CHUNK = 64
"""Rows of logits held at a time with optim.shared_prefix (`training.logps`)."""
USED = 0.8
"""Share of a sampling GPU that its server takes, where the recipe does not say: vLLM's own default is .9."""


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
"""What the config.json of models in recipes says, for machines that cannot read it."""


@dataclass(frozen=True)
class ModelShape:
    """Sizes of a model, in numbers of weights.

    block       weights of the largest layer, which a sharded engine puts together to compute with it
    linear      (rows, columns) of every linear layer but the head, by name
    hidden, queries, keys, inner  numbers of a token in a layer: residual stream, queries, keys, gated network
    """

    parameters: int
    embeddings: int
    block: int
    layers: int
    hidden: int
    queries: int
    keys: int
    inner: int
    vocabulary: int
    linear: Mapping[str, Sequence[int]] = field(repr=False)
    published: bool = False

    @classmethod
    def read(cls, name: str, revision: str | None = None) -> "ModelShape | None":
        """By config.json of the model as a recipe names it, or by what is published; None where neither is known."""
        try:
            files = ModelFiles.read(name, revision)
        except StropError:
            files = None
        config = dict(files.config) if files else PUBLISHED.get(name)
        return cls.of_config(config, published=files is None) if config else None

    @classmethod
    def of_config(cls, config: Mapping[str, Any], *, published: bool = False) -> "ModelShape | None":
        """By the content of config.json; None for a model that transformers does not know."""
        import torch
        from transformers import AutoConfig, AutoModelForCausalLM

        try:
            known = AutoConfig.for_model(**config)
            with torch.device("meta"):
                model = AutoModelForCausalLM.from_config(known)
        except (KeyError, ValueError, AttributeError):
            return None
        text, head = model.config.get_text_config(), model.get_output_embeddings()
        lists = [module for module in model.modules() if isinstance(module, torch.nn.ModuleList)]
        layers = max(lists, key=len)
        heads = text.num_attention_heads
        pairs = getattr(text, "num_key_value_heads", None) or heads
        size = getattr(text, "head_dim", None) or text.hidden_size // heads
        return cls(
            parameters=sum(weight.numel() for weight in model.parameters()),
            embeddings=model.get_input_embeddings().weight.numel(),
            block=max(sum(weight.numel() for weight in layer.parameters()) for layer in layers),
            layers=len(layers),
            hidden=text.hidden_size,
            queries=heads * size,
            keys=pairs * size,
            inner=text.intermediate_size,
            vocabulary=text.vocab_size,
            linear={
                name: tuple(module.weight.shape)
                for name, module in model.named_modules()
                if isinstance(module, torch.nn.Linear) and module is not head
            },
            published=published,
        )

    @property
    def cached(self) -> int:
        """Numbers that a token has in the key-value cache."""
        return 2 * self.layers * self.keys

    def adapters(self, lora: LoraConfig) -> int:
        """Weights of the adapters."""
        taken = [
            shape
            for name, shape in self.linear.items()
            if lora.target_modules == ["all-linear"] or name.rpartition(".")[2] in lora.target_modules
        ]
        return sum(lora.rank * sum(shape) for shape in taken)


@dataclass(frozen=True)
class GpuPlan:
    """Bytes on each GPU of one kind.

    name      of the kind
    count     how many of them, on all nodes
    held      all the time
    sampling, updating  while it does that; both at once where the next step is sampled beside the update
    share     of the GPU that an engine in the same process takes for itself, weights and cache; the rest is left
    """

    name: str
    count: int
    held: dict[str, float]
    sampling: dict[str, float]
    updating: dict[str, float]
    at_once: bool = False
    share: float = 0.0

    @property
    def peak(self) -> float:
        """Bytes at the most, with the least cache that an engine with a share of its own can do with."""
        sampling, updating = sum(self.sampling.values()), sum(self.updating.values())
        both = self.at_once or bool(self.share)
        return sum(self.held.values()) + (sampling + updating if both else max(sampling, updating))

    @property
    def smallest(self) -> float:
        """Bytes of the smallest GPU on which it fits."""
        if not self.share:
            return self.peak
        engine = sum(self.sampling.values())
        return max(engine / self.share, (self.peak - engine) / (1 - self.share) if self.share < 1 else 0.0)

    def lines(self) -> Iterator[str]:
        """For people."""
        counted = f"{self.count} {self.name} GPU" + ("s" if self.count > 1 else "")
        yield f"memory of {counted}, each at least {gigabytes(self.smallest)} (computed, CUDA's own 1 GB not in it):"
        engine = f"sampling (vLLM's share is {self.share:g} of the GPU)" if self.share else "sampling"
        for what, parts in (("always", self.held), (engine, self.sampling), ("update", self.updating)):
            told = [f"{name} {gigabytes(size)}" for name, size in parts.items() if size >= 1e6]
            if told:
                yield f"  {what}: {', '.join(told)}"


def gigabytes(size: float) -> str:
    """A size in GB, 10^9 bytes."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e9:.3f} GB"


def memory_plan(recipe: Recipe, shape: ModelShape, *, bfloat16: bool = True) -> list[GpuPlan]:
    """The plan of the GPUs that train and, where vLLM serves on others, of those that sample.

    bfloat16  what `auto` stands for: True on a GPU
    """
    config, policy, launch = recipe.model, recipe.policy, recipe.launch
    stages = [recipe, *(stage.recipe for stage in stages_of(recipe))]
    auto = BFLOAT16 if bfloat16 else FLOAT32

    def width(name: str) -> int:
        return {"float32": FLOAT32, "bfloat16": BFLOAT16, "auto": auto}[name]

    wide, compute, sampled = width(config.dtype), width(config.compute_dtype), width(config.sampling_dtype)
    world = launch.nodes * launch.processes
    parts = world if launch.engine in SHARDED else 1
    adapters = shape.adapters(config.lora) if config.lora.rank else 0
    frozen = 0 if config.train_embeddings else shape.embeddings
    if launch.engine == "zero3":  # it keeps what it computes with, and float32 beside the moments
        wide = min(wide, compute)
    trained, kept = (adapters, FLOAT32) if adapters else (shape.parameters - frozen, wide)
    divided, deepspeed = 1 if launch.engine == "ddp" else world, launch.engine.startswith("zero")

    held = {
        "weights": (wide * shape.parameters + FLOAT32 * adapters) / parts,
        "Adam": 2 * trained * (FLOAT32 if deepspeed else kept) / divided,
        "DeepSpeed's float32 weights": FLOAT32 * trained / divided if deepspeed else 0.0,
        "reference": wide * shape.parameters / parts if recipe.grpo.beta and not adapters else 0.0,
    }
    updating = {
        "gradients": kept * trained / divided,
        "buckets of DDP": float(kept * trained) if launch.engine == "ddp" and world > 1 else 0.0,
        "weights in bfloat16 (autocast)": _cast(recipe, shape, wide, compute, bool(adapters)),
        "layers put together": 2 * compute * max(shape.block, shape.embeddings) if parts > 1 else 0.0,
        **_computed(recipe, shape, max(map(_tokens, stages)), wide, compute),
    }
    copy = sampled * shape.parameters
    cached = sampled * shape.cached
    share, sampling = 0.0, dict[str, float]()
    if isinstance(policy, VllmPolicyConfig):
        share, spread = policy.gpu_memory_utilization, policy.tensor_parallel_size
        longest = max(policy.max_model_len or longest_play(one) for one in stages)
        sampling = {"weights": copy / spread, "cache of one answer": cached * longest / spread}
    elif isinstance(policy, TransformersPolicyConfig):
        own = sampled != wide or any(one.grpo.max_staleness for one in stages)
        held["sampler's copy"] = float(copy) if own else 0.0
        sampling = {"cache": float(cached * max(_in_cache(one, policy, world) for one in stages))}
    training = GpuPlan(
        "training", world, held, sampling, updating, any(one.grpo.max_staleness for one in stages), share
    )
    if not launch.servers:
        return [training]
    spread = launch.server_gpus
    longest = max(longest_play(one) for one in stages)
    serving = {"weights": copy / spread, "cache of one answer": cached * longest / spread}
    used = getattr(policy, "gpu_memory_utilization", USED)
    return [training, GpuPlan("sampling", launch.servers * spread, {}, serving, {}, share=used)]


def _cast(recipe: Recipe, shape: ModelShape, wide: int, compute: int, lora: bool) -> float:
    """Autocast keeps what it casts of the trained weights to the end of a forward pass, and of frozen ones what the
    backward pass needs, which is nothing with gradient checkpointing. A sharded engine casts one layer at a time."""
    if wide == compute or recipe.launch.engine in SHARDED or (lora and recipe.model.gradient_checkpointing):
        return 0.0
    return float(compute * shape.parameters)


def _tokens(recipe: Recipe) -> float:
    """Tokens of a micro-batch of answers of full length. Without shared_prefix each answer has its prompt beside it."""
    longest, size = longest_play(recipe), recipe.grpo.group_size
    answer = recipe.sampling.max_tokens
    apart = 1.0 if recipe.optim.shared_prefix else size * longest / (longest + (size - 1) * answer)
    return max(recipe.optim.micro_batch_tokens * apart, longest)


def _computed(recipe: Recipe, shape: ModelShape, tokens: float, wide: int, compute: int) -> dict[str, float]:
    """What a micro-batch leaves for the backward pass, by each layer or, with checkpointing, by one of them."""
    stream = compute if recipe.launch.engine in SHARDED else max(wide, compute)  # of the residual stream
    layer = 6 * stream * shape.hidden + compute * (3 * shape.queries + 3 * shape.keys + 4 * shape.inner)
    if recipe.model.lora.rank:  # what adapters read, in float32
        layer += FLOAT32 * ((5 * shape.hidden if wide < FLOAT32 else 0) + shape.queries + shape.inner)
    if recipe.optim.shared_prefix:
        logits = (2.0 * FLOAT32 + compute) * CHUNK * shape.vocabulary
    else:
        logits = (3 * FLOAT32 + compute) * tokens * shape.vocabulary
    if not recipe.model.gradient_checkpointing:
        return {"activations": tokens * shape.layers * layer, "logits": logits}
    name, more = max(("logits", logits), ("one layer", tokens * layer), key=lambda one: one[1])
    return {"activations": tokens * shape.layers * stream * shape.hidden, name: more}


def _in_cache(recipe: Recipe, policy: TransformersPolicyConfig, world: int) -> int:
    """Tokens in the transformers engine's cache at the most."""
    groups = -(-recipe.grpo.tasks_per_step // world)
    rows = min(policy.batch_rows, groups * recipe.grpo.group_size)
    prompts = min(groups, rows)
    answers = longest_play(recipe) - recipe.sampling.max_tokens
    return min(policy.batch_tokens, rows * recipe.sampling.max_tokens + prompts * answers)


def plan_of(recipe: Recipe) -> tuple[list[str], list[str]]:
    """(lines for people, what is wrong): the plan beside the GPUs of this machine."""
    shape = ModelShape.read(recipe.model.name, recipe.model.revision)
    if shape is None:
        return [f"memory: not computed, as config.json of {recipe.model.name} cannot be read"], []
    plans, there = memory_plan(recipe, shape), gpus_here()
    source = ", as published" if shape.published else ""
    lines = [f"model: {shape.parameters / 1e9:,.2f} billion weights{source}"]
    lines += [line for plan in plans for line in plan.lines()]
    if not there:
        return [*lines, "memory: no GPU here to compare with"], []
    least = min(there)
    faults = [
        f"memory: {plan.name} takes GPUs of {gigabytes(plan.smallest)}, and one here has {gigabytes(least)}; lower "
        "optim.micro_batch_tokens, set optim.shared_prefix=true, train adapters (model.lora.rank), or shard "
        "(launch.engine); docs/gpu.md"
        for plan in plans
        if plan.smallest > least
    ]
    return [*lines, f"memory: the smallest of {len(there)} GPUs here has {gigabytes(least)}"], faults


def gpus_here() -> list[int]:
    """Bytes of each GPU that torch can use here."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [int(torch.cuda.get_device_properties(index).total_memory) for index in range(count)]
