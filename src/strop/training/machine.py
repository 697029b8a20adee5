"""Compares the memory and disk that a run needs with what this machine has, for `strop train` and its `--dry-run`."""

import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from strop.config.schema import Recipe
from strop.policies.model_files import ModelFiles
from strop.policies.model_shape import ModelShape
from strop.policies.open import longest_play
from strop.training.memory import DevicePlan, gigabytes, memory_plan

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Device:
    """The memory available to a run here, in bytes: that of the smallest GPU, else RAM."""

    gpu: bool
    total: int
    free: int
    bfloat16: bool
    """Whether it multiplies bfloat16 in hardware, so that the dtype `auto` means bfloat16."""

    @classmethod
    def here(cls, recipe: Recipe) -> "Device":
        """The device that the recipe would use on this machine."""
        from strop.policies.loading import has_fast_bfloat16

        gpus = gpus_here() if recipe.launch.device == "gpu" else []
        if gpus:
            return cls(True, min(gpus), min(gpus), has_fast_bfloat16())
        return cls(False, *ram_here(), has_fast_bfloat16())

    def __str__(self) -> str:
        if self.gpu:
            return f"a GPU here has {gigabytes(self.total)}"
        return f"this machine has {gigabytes(self.total)}, {gigabytes(self.free)} free"

    def plans(self, recipe: Recipe, shape: ModelShape) -> list[DevicePlan]:
        """The plans for the devices of this machine."""
        plans = memory_plan(recipe, shape, bfloat16=self.bfloat16, gpu=self.gpu)
        return plans if self.gpu else plans[:1]

    def takes(self, recipe: Recipe, shape: ModelShape) -> float:
        """Peak bytes needed; in RAM, those of all processes of a node."""
        sizes = [plan.smallest if self.gpu else plan.peak for plan in self.plans(recipe, shape)]
        return max(sizes) * (1 if self.gpu else recipe.launch.processes)


@dataclass(frozen=True)
class Comparison:
    """Lines about what fits, what may not fit, and what will not."""

    facts: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def memory(recipe: Recipe) -> Comparison:
    """Compares the memory plan with this machine; a fault only if weights and optimiser alone do not fit."""
    shape = ModelShape.read(recipe.model.name, recipe.model.revision)
    if shape is None:
        return Comparison([unknown(recipe)])
    device = Device.here(recipe)
    (plan, *_), takes = device.plans(recipe, shape), device.takes(recipe, shape)
    times = 1 if device.gpu else recipe.launch.processes
    many = f", in each of {times} processes" if times > 1 else ""
    fact = f"{plan.line()}{many}; {device}"
    if takes <= device.free:
        return Comparison([fact])
    remedy = _remedy(recipe, shape, device)
    if (least := plan.certain * times) > device.total:
        return Comparison(
            faults=[f"memory: weights and optimiser alone take {gigabytes(least)}, and {device}; {remedy}"]
        )
    needed = f"a GPU of {gigabytes(takes)}" if plan.share else gigabytes(takes)
    return Comparison([fact], [f"memory: the run may need {needed}, and {device}; {remedy}"])


def precision(recipe: Recipe) -> Comparison:
    """Warns if this machine has no instructions for the types that the recipe asks for."""
    device, keys = Device.here(recipe), ("dtype", "compute_dtype", "sampling_dtype")
    named = [f"model.{key}" for key in keys if getattr(recipe.model, key) == "bfloat16"]
    if not named or device.gpu or device.bfloat16:
        return Comparison()
    slow = "this CPU has no instructions for it: a backward pass is some 100 times slower and delays Ctrl-C"
    auto = " ".join(f"{key}=auto" for key in named)
    return Comparison(
        warnings=[f"{', '.join(named)}: bfloat16, and {slow}; set {auto}, which is float32 here"]
    )


def disk(recipe: Recipe, model: ModelFiles, samples: bool) -> Comparison:
    """Disk space for the checkpoints kept at one time and the final model. `samples`: False for a supervised run."""
    folder = recipe.run.folder.absolute()
    needed, kept, each = _bytes(recipe, model, samples)
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    if recipe.run.overwrite and folder.is_dir():
        free += sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    room = f"the trained model take{'' if kept else 's'} {needed / 1e9:.1f} GB"
    if kept:
        room = f"{kept} checkpoints of {each / 1e9:.1f} GB and {room}"
    if needed <= free:
        return Comparison([f"disk: {room}; {free / 1e9:.1f} GB are free"])
    remedy = "free some, set run.dir to another disk, or train adapters (model.lora.rank)"
    return Comparison(
        faults=[f"run folder {recipe.run.folder}: {free / 1e9:.1f} GB are free, but {room}; {remedy}"]
    )


def _bytes(recipe: Recipe, model: ModelFiles, samples: bool) -> tuple[int, int, int]:
    """(peak bytes of a run's models, checkpoints kept at one time, bytes of one)."""
    lora, kept_in = recipe.model.lora, 2 if recipe.model.dtype == "bfloat16" else 4
    width = 4 if lora.rank else kept_in  # adapters are float32
    saved, frozen = model.size, 0 if recipe.model.train_embeddings else model.embeddings
    if not samples:
        return kept_in * saved, 0, 0
    if lora.rank:
        saved, frozen = sum(lora.rank * sum(one) for one in model.adapted(lora.target_modules).values()), 0
    each = width * (saved + 2 * (saved - frozen))  # AdamW keeps two numbers per weight
    written = max(-(-recipe.optim.steps // recipe.run.save_every), len(recipe.stages))
    kept = min(max(2, recipe.run.keep_checkpoints) + 1, written)  # old ones are removed last
    warm = kept_in * model.size if recipe.sft.warm_start and (recipe.grpo.beta or lora.rank) else 0
    return kept * each + width * saved + warm, kept, each


def unknown(recipe: Recipe) -> str:
    """The line for a model whose sizes are not known."""
    return f"memory: not computed, since config.json of {recipe.model.name} cannot be read"


def plan_lines(recipe: Recipe) -> list[str]:
    """The whole plan as text, device by device, on GPUs unless launch.device says otherwise."""
    shape = ModelShape.read(recipe.model.name, recipe.model.revision)
    if shape is None:
        return [unknown(recipe)]
    device = Device.here(recipe)
    gpu = recipe.launch.device == "gpu"
    plans = memory_plan(recipe, shape, bfloat16=gpu or device.bfloat16, gpu=gpu)
    source = ", as published" if shape.published else ""
    lines = [f"model: {shape.parameters / 1e9:,.2f} billion weights{source}"]
    lines += [line for plan in plans for line in plan.lines()]
    return [*lines, "memory: no GPU here to compare with" if gpu and not device.gpu else f"memory: {device}"]


def _remedy(recipe: Recipe, shape: ModelShape, device: Device) -> str:
    """Settings that make the run fit, cheapest first; those that save less than 2 % are left out."""
    now, words = recipe, list[str]()
    for key, value in _ways(recipe, device, device.plans(recipe, shape)[0]):
        changed, before = now.having({key: value}), device.takes(now, shape)
        if (takes := device.takes(changed, shape)) > 0.98 * before:
            continue
        now = changed
        words.append(f"{key}={str(value).lower() if isinstance(value, bool) else value}")
        if takes <= device.free:
            return f"{gigabytes(takes)} with {' '.join(words)}"
    return "use a smaller model, or spread it over several GPUs (launch.engine)"


def _ways(recipe: Recipe, device: Device, plan: DevicePlan) -> Iterator[tuple[str, Any]]:
    if plan.share:
        best = replace(plan, sleeps=not plan.at_once)
        sleep = [("policy.sleep", True)] if best.sleeps else []
        share = math.ceil(100 * sum(best.sampling.values()) / best.peak) / 100
        yield from (*sleep, ("policy.gpu_memory_utilization", share), *sleep)
    yield "model.gradient_checkpointing", True
    for tokens in (4096, 2048):
        if recipe.optim.micro_batch_tokens > tokens >= longest_play(recipe) / 2:
            yield "optim.micro_batch_tokens", tokens
    if getattr(recipe.policy, "batch_tokens", 0) > 65536:
        yield "policy.batch_tokens", 65536
    if not recipe.model.lora.rank:
        yield "model.lora.rank", 16
    if device.gpu or device.bfloat16:
        yield "model.dtype", "bfloat16"
        yield "model.quantization", "nf4"


def gpus_here() -> list[int]:
    """Bytes of each GPU that torch can use here."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [int(torch.cuda.get_device_properties(index).total_memory) for index in range(count)]


def ram_here() -> tuple[int, int]:
    """(total, free) bytes of RAM, within the limit of this process's cgroup."""
    told = Path("/proc/meminfo").read_text().splitlines()
    sizes = {line.partition(":")[0]: int(line.split()[1]) * 1024 for line in told}
    total, free = sizes["MemTotal"], sizes["MemAvailable"]
    for path in map(Path, _LIMITS):
        if path.is_file() and (limit := path.read_text().strip()).isdecimal():
            total, free = min(total, int(limit)), min(free, int(limit))
    return total, free


def quantised_faults(recipe: Recipe, samples: bool) -> Iterator[str]:
    """Settings that 4-bit weights do not work with."""
    if recipe.model.quantization is None:
        return
    which, policy = f"model.quantization={recipe.model.quantization}", recipe.policy
    if not samples:
        yield f"{which}: strop sft trains all weights; set model.quantization=null"
    elif recipe.sft.warm_start:
        yield f"{which}: a warm start trains all weights; set sft.warm_start=false, and run strop sft first"
    if recipe.launch.engine != "ddp":
        yield f"{which}: launch.engine={recipe.launch.engine} cannot shard such weights; set launch.engine=ddp"
    if policy.shares_weights and recipe.grpo.max_staleness:
        remedy = "set grpo.max_staleness=0, or policy.engine=vllm"
        yield f"{which}: there is no copy to sample from during the update; {remedy}"
    if policy.sends_adapters(False):
        yield f"{which}: policy.sync=adapter would sample from the unquantised base; set policy.sync=files"
