"""Sharded models, as in FSDP2: every process holds a contiguous part of the rows of each weight, as a DTensor.

A process reads only its own shards of a model's files. In a checkpoint, the weights and the optimiser's state are two
folders of torch.distributed.checkpoint: each process writes its shards, and any number of processes can read them.
`strop export` writes such a checkpoint as one model for transformers.
"""

import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from safetensors.torch import save_file
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Shard
from torch.nn import Parameter
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import Concatenate, MergeModulelist
from transformers.distributed import DistributedConfig

from strop.policies.model_files import SHARDS
from strop_verify.core.errors import UserError

ADAPTERS = "adapter_model.safetensors"


class ShardReader:
    """Reads models like transformers' classes do, but in shards."""

    @classmethod
    def from_pretrained(cls, path: str, *, revision: str | None, **options: Any) -> Any:
        """A causal language model with its weights on this process's device. Collective. Raises UserError.

        transformers reads shards only into a model that it has wrapped for its own FSDP2. They are then moved to a
        plain model, which can still take adapters.
        """
        if Path(path, "adapter_config.json").is_file():
            fault = "holds adapters, which launch.engine=fsdp2 cannot start from"
            raise UserError(f"model.name={path} {fault}; merge them: strop export")
        with torch.device("meta"):
            config = AutoConfig.from_pretrained(path, revision=revision)
            model = AutoModelForCausalLM.from_config(config, **options)
        world = torch.distributed.get_world_size()
        _check(model, path, world)
        options |= {"config": model.config, "distributed_config": DistributedConfig(fsdp_size=world)}
        read = type(model).from_pretrained(path, revision=revision, **options)
        model.generation_config = read.generation_config
        mesh = init_device_mesh(read.device.type, (world,))
        moved: dict[int, Parameter] = {}  # tied ones once
        for name, weight in read.named_parameters(remove_duplicate=False):
            if id(weight) not in moved:
                size = {"shape": weight.shape, "stride": weight.stride()}
                part = DTensor.from_local(weight.to_local(), mesh, [Shard(0)], run_check=False, **size)
                moved[id(weight)] = Parameter(part, requires_grad=part.is_floating_point())
            _put(model, name, moved[id(weight)])
        for name, buffer in read.named_buffers(remove_duplicate=False):
            _put(model, name, buffer)
        return model


def shard(model: Any, layers: Sequence[Any], precision: MixedPrecisionPolicy) -> None:
    """Wraps a model that was read in shards for FSDP2: it is emptied, wrapped, and given its shards back."""
    every = model.named_parameters(remove_duplicate=False)
    held = {name: weight for name, weight in every if isinstance(weight, DTensor)}
    empty: dict[Any, Parameter] = {}  # tied ones once
    for name, weight in held.items():
        if weight not in empty:
            nothing = torch.empty(weight.shape, dtype=weight.dtype, device="meta")
            empty[weight] = Parameter(nothing, weight.requires_grad)
        _put(model, name, empty[weight])
    mesh = next(iter(held.values())).device_mesh
    for module in (*layers, model):
        fully_shard(module, mesh=mesh, mp_policy=precision)
    model.load_state_dict(held, strict=False, assign=True)


def _put(model: torch.nn.Module, name: str, value: torch.Tensor) -> None:
    """Replaces a weight or buffer of a model."""
    owner, _, leaf = name.rpartition(".")
    setattr(model.get_submodule(owner), leaf, value)


def _check(model: Any, name: str, world: int) -> None:
    """Raises UserError for a model that transformers cannot convert while it reads shards."""
    steps = [one for each in get_model_conversion_mapping(model) for one in getattr(each, "operations", ())]
    for step in steps:
        if not isinstance(step, MergeModulelist) and not (isinstance(step, Concatenate) and step.dim):
            done = f"transformers rearranges its weights while it reads them ({type(step).__name__})"
            remedy = "use launch.engine=zero3, in which each process reads the whole model"
            raise UserError(f"model.name={name}: {done}, which is impossible with shards; {remedy}")
    experts = min((len(weight) for weight in model.parameters() if weight.dim() == 3), default=0)
    if steps and -(-experts // world) * (world - 1) >= experts:
        raise UserError(
            f"model.name={name}: its {experts} experts leave some of {world} processes none; use fewer"
        )


def write(tensors: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Writes sharded tensors, each process its own part, and syncs them to disk. Collective; raises an error of any
    process."""
    try:
        dcp.save(dict(tensors), checkpoint_id=folder)
    except CheckpointException as error:
        raise next(iter(error.failures.values()))[0] from error


def read_into(tensors: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Fills tensors from files of `write`, in any number of processes. Collective."""
    try:
        dcp.load(dict(tensors), checkpoint_id=folder)
    except CheckpointException as error:
        raise next(iter(error.failures.values()))[0] from error


def shapes_in(folder: Path) -> dict[str, TensorStorageMetadata]:
    """Shape and type of each tensor in files of `write`."""
    there = dcp.FileSystemReader(folder).read_metadata().state_dict_metadata
    return {name: one for name, one in there.items() if isinstance(one, TensorStorageMetadata)}


def read_whole(folder: Path) -> dict[str, torch.Tensor]:
    """All full tensors in files of `write`, in the memory of this process."""
    found = {
        name: torch.empty(one.size, dtype=one.properties.dtype) for name, one in shapes_in(folder).items()
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.distributed is disabled")  # as intended
        dcp.load(found, checkpoint_id=folder, no_dist=True)
    return found


def write_model(checkpoint: Path, target: Path) -> None:
    """Writes a sharded checkpoint in the form that transformers or PEFT loads, with its tokenizer."""
    weights = read_whole(checkpoint / SHARDS)
    files = [path for path in checkpoint.iterdir() if path.suffix in (".json", ".jinja", ".model", ".txt")]
    for file in files:
        shutil.copy(file, target)
    if (checkpoint / "adapter_config.json").is_file():
        save_file(unnamed(weights), target / ADAPTERS)
        return
    dtype = next(iter(weights.values())).dtype
    with torch.device("meta"):
        model: Any = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(checkpoint), dtype=dtype)
    model.save_pretrained(target, state_dict=weights)


def unnamed(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Adapters' weights as PEFT writes them: without the name of the adapter."""
    return {name.replace(".default", ""): value for name, value in weights.items()}
