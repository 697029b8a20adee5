"""The memory that a recipe needs on each device, computed before anything is loaded. docs/gpu.md has the formulas.

A device is a GPU, or this machine's RAM. Tests compare the plan with real bytes on a CPU, `benchmarks/memory_plan.py`
with those of a run; on a GPU, CUDA's own memory (about 1 GB) and fragmentation come on top.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from strop.config.launch import SHARDED
from strop.config.model import LoraConfig
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.policies.model_shape import ModelShape
from strop.policies.open import longest_play

FLOAT32, BFLOAT16 = 4, 2
NF4 = 0.5 + 1 / 64 + 4 / (64 * 256)
"""Bytes of a 4-bit weight, with a byte per block of 64 weights and four bytes per 256 blocks."""
LOGITS = 1 << 21
"""Maximum number of logits held at a time (`training.head`)."""
OWN, BETWEEN, LARGE = 0.45e9, 0.3, 32 << 20
"""Measured: bytes of RAM that torch keeps; free memory between activations, as a share of them; and the size in bytes
from which each block is returned to the kernel, so that none stays free (`strop.policies`)."""
LITTLE = 0.18e9
"""Replaces both if all blocks are returned (`training.backend.SMALL`)."""
USED = 0.8
"""Share of a sampling GPU that its server takes if the recipe does not set it; vLLM's own default is .9."""


@dataclass(frozen=True)
class DevicePlan:
    """Bytes on each device of one kind.

    name      name of the kind
    count     number of these devices, on all nodes
    held      bytes held all the time
    sampling, updating  bytes in that phase; `at_once`: both together, since the next step is sampled during the update
    share     share of the GPU that an engine in the same process reserves for weights and cache
    sleeps    whether the engine frees them during the update
    gpu       False for the RAM of a process
    """

    name: str
    count: int
    held: dict[str, float]
    sampling: dict[str, float]
    updating: dict[str, float]
    at_once: bool = False
    share: float = 0.0
    gpu: bool = True
    sleeps: bool = False

    @property
    def _both(self) -> bool:
        """Whether sampling and update hold their memory at the same time."""
        return self.at_once or bool(self.share and not self.sleeps)

    @property
    def peak(self) -> float:
        """Peak bytes; an engine that reserves a share is counted with the smallest cache that it can work with."""
        sampling, updating = sum(self.sampling.values()), sum(self.updating.values())
        return sum(self.held.values()) + (sampling + updating if self._both else max(sampling, updating))

    @property
    def certain(self) -> float:
        """Bytes that no setting of the update or of sampling can reduce: weights and optimiser."""
        return sum(
            size
            for name, size in self.held.items()
            if name in ("weights", "Adam", "DeepSpeed's float32 weights")
        )

    @property
    def smallest(self) -> float:
        """Bytes of the smallest device on which it fits."""
        if not self.share:
            return self.peak
        engine = sum(self.sampling.values())
        beside = self.peak - engine if self._both else sum(self.held.values())
        rest = beside / (1 - self.share) if self.share < 1 else 0.0
        return max(engine / self.share, rest, 0.0 if self._both else self.peak)

    def lines(self) -> Iterator[str]:
        """The plan as text."""
        unit, own = ("GPU", ", CUDA's own 1 GB not in it") if self.gpu else ("process", "")
        counted = f"{self.count} {self.name} {unit}" + ("" if self.count == 1 else "s" if self.gpu else "es")
        most = f"at most {gigabytes(self.peak)}"
        if self.share:
            most += f", which fits a GPU of {gigabytes(self.smallest)}"
        yield f"memory of {counted}, each {most} (computed{own}):"
        engine = f"sampling (vLLM's share is {self.share:g} of the GPU)" if self.share else "sampling"
        for what, parts in (("always", self.held), (engine, self.sampling), ("update", self.updating)):
            if told := _told(parts):
                yield f"  {what}: {told}"

    def line(self) -> str:
        """The plan in one line."""
        parts = [_told(self.held)]
        for what, some in (("update", self.updating), ("sampling", self.sampling)):
            parts.append(f"{what} {gigabytes(sum(some.values()))} ({_told(some)})")
        joined = " and " if self._both else " or "
        return f"memory: at most {gigabytes(self.peak)}: {parts[0]}; {parts[1]}{joined}{parts[2]}"


def gigabytes(size: float) -> str:
    """A size in GB, 10^9 bytes."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e9:.3f} GB"


def _stages(recipe: Recipe) -> list[Recipe]:
    return [recipe, *(stage.recipe for stage in stages_of(recipe))]


def _told(parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {gigabytes(size)}" for name, size in parts.items() if size >= 1e6)


def memory_plan(
    recipe: Recipe, shape: ModelShape, *, bfloat16: bool = True, gpu: bool = True
) -> list[DevicePlan]:
    """Plans for the devices that train and, if vLLM serves on others, for those that sample.

    bfloat16  whether the dtype `auto` means bfloat16: True on a GPU
    gpu       False plans RAM, per process
    """
    policy, launch = recipe.policy, recipe.launch
    stages = _stages(recipe)
    world, types = launch.nodes * launch.processes, _Types.of(recipe, bfloat16, gpu)
    held, updating = _held(recipe, shape, types), _updating(recipe, shape, types)
    warm = _warm_start(recipe, shape, types, held["Adam"])
    updating = max(updating, warm, key=lambda one: sum(one.values()))
    at_once = any(one.grpo.max_staleness for one in stages)
    copy, cached = float(types.sampled * shape.parameters), types.sampled * shape.cached
    share, cache = policy.beside
    sampling: dict[str, float] = {}
    if policy.shares_weights:
        own = (types.sampled != types.kept or at_once) and not types.quantised
        held["sampler's copy"] = copy if own else 0.0
        rows, tokens = map(max, zip(*(_in_cache(one, world) for one in stages), strict=True))
        sampling = {
            "cache": float(cached * tokens),
            "plays between turns": float(cached * policy.batch[1]) if has_turns(recipe) else 0.0,
            "logits": 3.0 * FLOAT32 * rows * shape.vocabulary,
            "packed weights": copy if _packs(types) else 0.0,
        }
    elif share and not gpu:
        share, at_once, sampling = 0.0, True, {"weights": copy, "cache": cache * 2**30}
    elif share:
        longest = max(policy.room(longest_play(one)) for one in stages)
        sampling = {
            "weights": copy / policy.spread,
            "cache of one answer": float(cached * longest) / policy.spread,
        }
    if not gpu:
        held["torch's own"] = _kept_by_torch(recipe, shape, types, updating)
    training = DevicePlan("training", world, held, sampling, updating, at_once, share, gpu, policy.sleeps)
    if not launch.servers or not gpu:
        return [training]
    spread = launch.server_gpus
    longest = max(longest_play(one) for one in stages)
    serving = {"weights": copy / spread, "cache of one answer": float(cached * longest) / spread}
    used = getattr(policy, "gpu_memory_utilization", USED)
    return [training, DevicePlan("sampling", launch.servers * spread, {}, serving, {}, share=used)]


def _packs(types: "_Types") -> bool:
    if types.gpu or types.quantised or types.sampled != FLOAT32:
        return False
    from strop.policies.packed_weights import pays  # imports torch

    return pays()


def _kept_by_torch(recipe: Recipe, shape: ModelShape, types: "_Types", updating: dict[str, float]) -> float:
    if recipe.model.lora.rank and not recipe.sft.warm_start:
        return LITTLE
    small = _tokens(recipe) * shape.widest * types.computed < LARGE
    activations = updating.get("activations", 0.0) + updating.get("one layer", 0.0)
    return OWN + (BETWEEN * activations if small else 0.0)


@dataclass(frozen=True)
class _Types:
    """Bytes per number.

    kept       of a weight of the model
    computed   in the update's matrix products
    sampled    in those of sampling
    stream     of the residual stream in the update
    quantised  whether linear layers are in 4 bits
    gpu        whether they are on a GPU
    """

    kept: int
    computed: int
    sampled: int
    stream: int
    quantised: bool
    gpu: bool

    @classmethod
    def of(cls, recipe: Recipe, bfloat16: bool, gpu: bool) -> "_Types":
        config, engine = recipe.model, recipe.launch.engine
        width = {"float32": FLOAT32, "bfloat16": BFLOAT16, "auto": BFLOAT16 if bfloat16 else FLOAT32}
        kept, computed, sampled = (
            width[name] for name in (config.dtype, config.compute_dtype, config.sampling_dtype)
        )
        if quantised := config.quantization is not None:
            computed = sampled = BFLOAT16
        if engine == "zero3":  # the weights it computes with; float32 ones are in the optimiser
            kept = min(kept, computed)
        stream = computed if engine in SHARDED else max(kept, computed)
        return cls(kept, computed, sampled, stream, quantised, gpu)


def _held(recipe: Recipe, shape: ModelShape, types: _Types) -> dict[str, float]:
    launch, lora = recipe.launch, recipe.model.lora
    world, deepspeed = launch.nodes * launch.processes, launch.engine.startswith("zero")
    parts = world if launch.engine in SHARDED else 1
    adapters, short = shape.adapters(lora) if lora.rank else 0, shape.quantised if types.quantised else 0
    weights = types.kept * (shape.parameters - short) + NF4 * short
    trained, width = _trained(recipe, shape, types)
    divided = 1 if launch.engine == "ddp" else world
    return {
        "weights": (weights + FLOAT32 * adapters) / parts,
        "teacher": _teacher(recipe, types, weights + FLOAT32 * adapters),
        "the run's model beside controls": weights if recipe.evaluation.controls else 0.0,
        "Adam": 2 * trained * (FLOAT32 if deepspeed else width) / divided,
        "DeepSpeed's float32 weights": FLOAT32 * trained / divided if deepspeed else 0.0,
        "reference": weights / parts if recipe.grpo.beta and not adapters else 0.0,
    }


def _teacher(recipe: Recipe, types: _Types, policy: float) -> float:
    """Bytes of a teacher with its own weights, which each process holds whole; 0 if its config.json cannot be read.
    `policy`: bytes of the policy's weights.
    """
    config = recipe.grpo.teacher
    if not config or config.url:
        return 0.0
    if not config.name:
        return policy if config.update_rate < 1 else 0.0
    shape = ModelShape.read(config.name, config.revision)
    return float(types.sampled * shape.parameters) if shape else 0.0


def _trained(recipe: Recipe, shape: ModelShape, types: _Types) -> tuple[int, int]:
    """(trained weights, bytes of each)."""
    if recipe.model.lora.rank:
        return shape.adapters(recipe.model.lora), FLOAT32
    return shape.parameters - (0 if recipe.model.train_embeddings else shape.embeddings), types.kept


def _updating(recipe: Recipe, shape: ModelShape, types: _Types) -> dict[str, float]:
    """Gradients, and the largest of three moments of a micro-batch's backward pass."""
    launch = recipe.launch
    world, ddp = launch.nodes * launch.processes, launch.engine == "ddp"
    trained, width = _trained(recipe, shape, types)
    both = {
        "gradients": float(width * trained) / (1 if ddp else world),
        "buckets of DDP": float(width * trained) if ddp and world > 1 else 0.0,
        "layers put together": (
            2.0 * types.computed * max(shape.block, shape.embeddings)
            if launch.engine in SHARDED and world > 1
            else 0
        ),
    }
    moments = (_at_head, _in_layer, _at_embedding)
    return both | max((one(recipe, shape, types) for one in moments), key=lambda one: sum(one.values()))


def _warm_start(recipe: Recipe, shape: ModelShape, types: _Types, adam: float) -> dict[str, float]:
    """What an update of the warm start takes before there are adapters, when all weights are trained. `adam`: bytes of
    the adapters' own moments, which come later.
    """
    if not (recipe.sft.warm_start and recipe.model.lora.rank):
        return {}
    whole = recipe.having({"model.lora": LoraConfig()})
    moments = {"Adam of the warm start": _held(whole, shape, types)["Adam"] - adam}
    return moments | _updating(whole, shape, types)


def _tokens(recipe: Recipe) -> float:
    """Tokens of a full micro-batch, or of a longer answer, which is computed alone."""
    return max(max(one.optim.micro_batch_tokens, longest_play(one)) for one in _stages(recipe))


def _kept(recipe: Recipe, shape: ModelShape, types: _Types) -> float:
    """Bytes that the forward pass keeps: each layer's input, or everything that the backward pass needs."""
    if recipe.model.gradient_checkpointing:
        return _tokens(recipe) * shape.layers * types.stream * shape.hidden
    return shape.layers * _layer(recipe, shape, types)


def _cast(recipe: Recipe, shape: ModelShape, types: _Types) -> float:
    """Cast weights that autocast keeps: trained ones to the end of a forward pass, frozen ones if the backward pass
    needs them. A sharded engine casts one layer at a time.
    """
    frozen = recipe.model.lora.rank and recipe.model.gradient_checkpointing
    if types.kept == types.computed or recipe.launch.engine in SHARDED or frozen:
        return 0.0
    return float(types.computed * shape.inner)


def _at_head(recipe: Recipe, shape: ModelShape, types: _Types) -> dict[str, float]:
    """The head in the forward pass, with the cast weights, or in the backward pass, with its gradient."""
    head, cast = shape.vocabulary * shape.hidden, _cast(recipe, shape, types)
    gradient = float(types.kept * head) if _trains_head(recipe, shape) else 0.0
    copy = types.computed * head if types.kept != types.computed else 0
    own = _tokens(recipe) * shape.hidden * (types.stream + 2 * types.computed)
    logits = (2 * FLOAT32 + types.computed) * min(LOGITS, _tokens(recipe) * shape.vocabulary)
    found = {"activations": _kept(recipe, shape, types), "head": own + copy + float(logits)}
    if not recipe.model.gradient_checkpointing:
        return found | {"weights in bfloat16": cast, "head's gradient": gradient}
    return found | max(
        {"weights in bfloat16": cast}, {"head's gradient": gradient}, key=lambda one: sum(one.values())
    )


def _in_layer(recipe: Recipe, shape: ModelShape, types: _Types) -> dict[str, float]:
    """A layer in the backward pass. The gradient of a tied head is held until that of the embedding."""
    config, one = recipe.model, _layer(recipe, shape, types)
    more = (1.2 if config.gradient_checkpointing else 0.2) * one
    if config.lora.rank and types.computed == BFLOAT16:  # what adapters read, in float32
        more += 1.5 * FLOAT32 * shape.widest * _tokens(recipe)
    if types.quantised:
        more += types.computed * max(rows * columns for rows, columns in shape.linear.values())
    return {
        "activations": _kept(recipe, shape, types),
        "one layer": more,
        "weights in bfloat16": 0.0 if config.gradient_checkpointing else _cast(recipe, shape, types),
        "head's gradient": float(
            types.kept * shape.embeddings * (shape.tied and _trains_head(recipe, shape))
        ),
    }


def _at_embedding(recipe: Recipe, shape: ModelShape, types: _Types) -> dict[str, float]:
    """The embedding; if it is tied to the head, both have their own gradients, which are added."""
    if recipe.model.lora.rank or not recipe.model.train_embeddings:
        return {}
    return {"embedding's gradients": (3.0 if shape.tied else 1.0) * types.kept * shape.embeddings}


def _trains_head(recipe: Recipe, shape: ModelShape) -> bool:
    return not recipe.model.lora.rank and (recipe.model.train_embeddings or not shape.tied)


def _layer(recipe: Recipe, shape: ModelShape, types: _Types) -> float:
    """Bytes that a layer keeps of a micro-batch for its backward pass: inputs of norms in float32, inputs and outputs
    of matrices, and what attention gathers. Autocast and adapters cast the input of each matrix separately.
    """
    adapted = bool(recipe.model.lora.rank)
    anew = types.computed == BFLOAT16 and (adapted or types.kept != BFLOAT16)
    norms = (FLOAT32 + (0 if adapted else types.stream)) * shape.normed
    numbers = 1.2 * shape.inside - (0 if anew else 3 * shape.hidden)
    return _tokens(recipe) * (norms + types.computed * numbers) + types.computed * _gathered(
        recipe, shape, types
    )


def _gathered(recipe: Recipe, shape: ModelShape, types: _Types) -> float:
    """Numbers that attention holds besides queries, keys and values: a shared prefix's keys and values once per answer,
    and a mask per block of queries after a prefix; on a GPU, one for each head that shares keys.
    """
    if not recipe.optim.shared_prefix or not shape.keys:
        return 0.0
    most, heads = 0.0, shape.queries // shape.keys if types.gpu else 1
    for one in _stages(recipe):
        size, before = one.grpo.group_size, longest_play(one) - one.sampling.max_tokens
        tokens = max(one.optim.micro_batch_tokens, longest_play(one))
        answer = min(one.sampling.max_tokens, (tokens - before) / 2)  # so that two fit
        groups = max(1.0, tokens / (before + size * answer))
        rows = (tokens - groups * before) / answer
        masks = heads * groups * answer * (before + answer / 2)
        most = max(most, 2 * shape.keys * max(0.0, rows - groups) * before + masks)
    return most


def has_turns(recipe: Recipe) -> bool:
    """Whether plays may have several turns, whose cache the transformers engine keeps."""
    sets = recipe.tasks if isinstance(recipe.tasks, list) else [recipe.tasks]
    return any(one.environment.type != "single-turn" for one in sets)


def _in_cache(recipe: Recipe, world: int) -> tuple[int, int]:
    """(maximum rows sampled at a time with the trained weights, maximum tokens in their cache)."""
    groups, evaluation = -(-recipe.grpo.tasks_per_step // world), recipe.evaluation
    rows, most = recipe.policy.batch
    prompts = rows
    if not (evaluation.before or evaluation.after or evaluation.every):
        rows = min(rows, groups * recipe.grpo.group_size)
        prompts = min(groups, rows)
    answer = recipe.sampling.max_tokens
    return rows, min(most, rows * answer + prompts * (longest_play(recipe) - answer))
