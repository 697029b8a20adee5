"""Backends that shard weights, gradients and optimiser over the processes, by launch.engine.

    fsdp2   FSDP2 (torch's fully_shard, arXiv 2304.11277): shards everything, gathers one layer at a time
    zero2   DeepSpeed ZeRO-2 (arXiv 1910.02054): full weights, sharded gradients and optimiser
    zero3   DeepSpeed ZeRO-3: shards everything, like fsdp2

accelerate's plugins of these names are not used: on a CPU, its FSDP2 silently falls back to DDP, and its DeepSpeed
plugin steps within the backward pass, so that an update that is not finite can no longer be skipped.
"""

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from transformers import PreTrainedModel

from strop.config.launch import Engine
from strop.config.schema import Recipe
from strop.policies.loading import load_model, named_weights
from strop.policies.model_files import SHARDS
from strop.training import shards
from strop.training.backend import TrainingBackend, computes_in_bfloat16
from strop.training.checkpoints import OPTIMISER_SHARDS
from strop.training.ranks import Ranks
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require

NOISE = (r"FSDP2-wrapped module .* returned a view tensor", r"`torch\.distributed\..*` is deprecated")
"""Warnings to hide: about in-place changes to a model's output (there are none), and about the libraries' own calls."""
MOMENTS = ("exp_avg", "exp_avg_sq")
"""torch's names for Adam's moments."""


class FullyShardedBackend(TrainingBackend):
    """FSDP2. Each process reads, holds, saves and resumes only its shards (`training.shards`).

    Under bfloat16 the shards are float32 and gathered layers bfloat16, including norms and embeddings, which autocast
    alone would leave in float32.
    """

    in_parts = True

    @classmethod
    def _read(cls, name: str, **options: Any) -> PreTrainedModel:
        return load_model(name, reader=shards.ShardReader, **options)

    @contextmanager
    def plain(self) -> Iterator[Any]:
        """Yields a second model over the same shards; see `TrainingBackend`."""
        model = deepcopy(self.model, {id(weight): weight for weight in self.model.parameters()})
        self._shard(model, MixedPrecisionPolicy())
        yield model
        model.reshard()

    def _wrap(self) -> None:
        self.device = _own_device()
        if self._recipe.model.lora.rank:  # each process has drawn its own initial adapters
            for weight in filter(lambda weight: weight.requires_grad, self._bare.parameters()):
                torch.distributed.broadcast(weight.data, 0)
        precision = MixedPrecisionPolicy()
        if computes_in_bfloat16(self._recipe):
            precision = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for model in filter(None, (self._bare, self.start)):
            self._shard(model, precision)
        self.wrapped, self._optimiser = self._bare, self._adamw()

    def _shard(self, model: Any, precision: MixedPrecisionPolicy) -> None:
        layers = {*(self.model._no_split_modules or ())}
        shards.shard(model, [one for one in model.modules() if type(one).__name__ in layers], precision)

    @contextmanager
    def reference(self) -> Iterator[Any]:
        """The model that training started from, sharded; see `TrainingBackend`."""
        with super().reference() as model:
            if model is self._bare:  # PEFT freezes disabled adapters, which FSDP2 must not see
                for weight in self._trained:
                    weight.requires_grad_(True)
            yield model

    def named_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Gathers one weight at a time; see `TrainingBackend`."""
        self._part()
        return named_weights(self.model)

    def micro_batch(self, last: bool) -> AbstractContextManager[Any]:
        """See `TrainingBackend`. Gradients are exchanged each time, since accumulated ones would not be sharded."""
        return nullcontext()

    def _part(self) -> None:
        """Reshards the weights that the last forward pass left gathered: those outside the layers."""
        if isinstance(self._bare, FSDPModule):
            self._bare.reshard()

    def _held(self) -> list[torch.Tensor]:
        return [weight.to_local() for weight in self._trained]

    def save(self, folder: Path) -> None:
        """Each process writes its shards; see `TrainingBackend`."""
        if self.ranks.main and self._bare is self.model:
            self.model.config.save_pretrained(folder)
            self.model.generation_config.save_pretrained(folder)
        elif self.ranks.main:
            self._bare.peft_config["default"].save_pretrained(folder)
            self._save_ends(folder)
        shards.write(self._saved(), folder / SHARDS)
        shards.write(self._moments(), folder / OPTIMISER_SHARDS)

    def load_checkpoint(self, folder: Path) -> bool:
        """Each process reads its shards of a sharded checkpoint; see `TrainingBackend`."""
        if not (folder / SHARDS).is_dir():
            return super().load_checkpoint(folder)
        shards.read_into(self._saved(), folder / SHARDS)
        if not (folder / OPTIMISER_SHARDS).is_dir():
            return False
        there = shards.shapes_in(folder / OPTIMISER_SHARDS)
        self._optimiser.state.clear()
        for name, weight in self._bare.named_parameters():
            if f"{name}/step" in there:
                moments = {key: torch.zeros_like(weight) for key in MOMENTS}
                self._optimiser.state[weight] = {"step": torch.zeros((), device=self.device), **moments}
        shards.read_into(self._moments(), folder / OPTIMISER_SHARDS)
        return True

    def _saved(self) -> dict[str, torch.Tensor]:
        """The model's part of a checkpoint: all weights and persistent buffers, or the adapters."""
        self._part()
        named = dict(self._bare.named_parameters())
        if self._bare is not self.model:
            return {name: weight.detach() for name, weight in named.items() if weight.requires_grad}
        there = self._bare.state_dict()
        named |= {name: value for name, value in self._bare.named_buffers() if name in there}
        return {name: value.detach() for name, value in named.items()}

    def _moments(self) -> dict[str, torch.Tensor]:
        """{weight's name/key: value} of the optimiser's state."""
        state = self._optimiser.state
        named = [(name, weight) for name, weight in self._bare.named_parameters() if weight in state]
        return {f"{name}/{key}": value for name, weight in named for key, value in state[weight].items()}

    def _gathered(self) -> dict[str, torch.Tensor] | None:
        self._part()
        adapters = self._bare is not self.model
        options = StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=adapters)
        found: dict[str, torch.Tensor] = get_model_state_dict(self._bare, options=options)
        return found

    def _take_over(self, weights: dict[str, torch.Tensor], *, adapters: bool) -> None:
        for name, held in self._saved().items():
            value = weights[name.replace(".default", "") if adapters else name]
            sharded = isinstance(held, DTensor) and not isinstance(value, DTensor)
            held.copy_(self._own(value) if sharded else value)

    def _take_optimiser(self, state: dict[str, Any]) -> None:
        parts = {
            index: {name: self._own(value) if value.dim() else value for name, value in values.items()}
            for index, values in state["state"].items()
        }
        super()._take_optimiser(state | {"state": parts})

    def _own(self, full: torch.Tensor) -> DTensor:
        """This process's shard, on its device, of a tensor that all processes have."""
        mesh = self._trained[0].device_mesh
        return distribute_tensor(full.to(self.device), mesh, [Shard(0)], src_data_rank=None)


class Zero2Backend(TrainingBackend):
    """DeepSpeed ZeRO-2. For a model kept in bfloat16, the optimiser also holds float32 weights."""

    stage = 2

    def _wrap(self) -> None:
        self.device = _own_device()
        deepspeed = self._deepspeed()
        self.wrapped, self._optimiser, *_ = deepspeed.initialize(
            model=self._bare, optimizer=self._adamw(), config=self._config()
        )

    @staticmethod
    def _deepspeed() -> Any:
        import deepspeed  # importing it searches for compilers and GPUs

        return deepspeed

    def _config(self) -> dict[str, Any]:
        kept_short = self.model.dtype == torch.bfloat16
        autocast = computes_in_bfloat16(self._recipe) and not kept_short
        return {
            "train_micro_batch_size_per_gpu": 1,  # required, but not used
            "zero_optimization": {"stage": self.stage, "stage3_param_persistence_threshold": 0},
            "zero_allow_untested_optimizer": True,
            "zero_force_ds_cpu_optimizer": False,
            "bf16": {"enabled": kept_short},
            "torch_autocast": {"enabled": autocast, "dtype": "bfloat16"},
            "steps_per_print": 10**9,
        }

    def micro_batch(self, last: bool) -> AbstractContextManager[Any]:
        """Tells DeepSpeed which micro-batch is the last; see `TrainingBackend`."""
        self.wrapped.set_gradient_accumulation_boundary(last)
        return nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        """Runs DeepSpeed's backward pass; see `TrainingBackend`."""
        self.wrapped.backward(loss * self.ranks.world)  # gradients are averaged

    def step(self, learning_rate: float | None, max_grad_norm: float) -> float:
        """See `TrainingBackend`. DeepSpeed skips a step whose norm is not finite and returns inf for it."""
        self._optimiser.clip_grad = max_grad_norm
        if learning_rate is None:
            for gradients in self._optimiser.averaged_gradients.values():
                for gradient in gradients or ():
                    gradient.fill_(torch.nan)
        else:
            for group in self._optimiser.param_groups:
                group["lr"] = learning_rate
        self.wrapped.step()
        return float(self.wrapped.get_global_grad_norm())

    def _kept_dtype(self) -> torch.dtype:
        return torch.float32

    def _gathered(self) -> dict[str, torch.Tensor] | None:
        if self._bare is self.model and not hasattr(self, "_optimiser"):
            return None  # during a warm start
        from deepspeed.utils import safe_get_full_fp32_param

        adapters = self._bare is not self.model
        saved = self._bare.state_dict()
        found = {name: value for name, value in self._bare.named_buffers() if name in saved}
        for name, weight in self._bare.named_parameters():
            if weight.requires_grad:
                full = safe_get_full_fp32_param(weight)
                if self.ranks.main:
                    found[name] = full.cpu()
            elif not adapters:
                with self._together([weight]):
                    if self.ranks.main:
                        found[name] = weight.detach().cpu().clone()
        return found

    def _optimiser_state(self) -> dict[str, Any]:
        from deepspeed.utils import safe_get_full_optimizer_state

        inner = self._optimiser.optimizer
        steps = [values["step"] for values in inner.state.values() if "step" in values]
        state: dict[int, dict[str, Any]] = {}
        for index, weight in enumerate(self._trained if steps else ()):
            moments = {name: safe_get_full_optimizer_state(weight, name) for name in MOMENTS}
            if self.ranks.main:
                step = steps[0].to("cpu", copy=True)  # a copy each: AdamW increments it in place
                state[index] = {"step": step, **{name: one.cpu() for name, one in moments.items()}}
        options = {name: value for name, value in inner.param_groups[0].items() if name != "params"}
        return {"state": state, "param_groups": [{**options, "params": list(range(len(self._trained)))}]}

    def _take_over(self, weights: dict[str, torch.Tensor], *, adapters: bool) -> None:
        for name, weight in self._bare.named_parameters():
            if adapters and weight.requires_grad:  # PEFT saves names without ".default"
                self._set(weight, weights[name.replace(".default", "")].to(self.device))
            elif not adapters:
                self._set(weight, weights[name].to(self.device))

    def _take_optimiser(self, state: dict[str, Any]) -> None:
        if not state["state"]:
            return
        inner, first = self._optimiser.optimizer, next(iter(state["state"].values()))
        for part in self._parts():
            moments = {name: torch.zeros_like(part) for name in MOMENTS}
            inner.state[part] = {"step": first["step"].to(part.device, copy=True), **moments}
        self._link()
        for index, values in state["state"].items():
            for name in MOMENTS:
                self._set_moment(self._trained[index], values[name].to(self.device), name)

    def _parts(self) -> list[torch.Tensor]:
        """The tensors that this process's optimiser updates: its shard of all trained weights, end to end."""
        return list(self._optimiser.single_partition_of_fp32_groups)

    def _link(self) -> None:
        self._optimiser._lazy_init_hp_params_optimizer_state()

    def _set(self, weight: Any, value: torch.Tensor) -> None:
        weight.data.copy_(value)
        if weight.requires_grad:
            self._deepspeed().utils.safe_set_full_fp32_param(weight, value)

    def _set_moment(self, weight: Any, value: torch.Tensor, name: str) -> None:
        self._deepspeed().utils.safe_set_full_optimizer_state(weight, value, name)

    def _together(self, weights: Sequence[torch.Tensor], **options: Any) -> AbstractContextManager[Any]:
        """A context in which the weights are gathered."""
        return nullcontext()


class Zero3Backend(Zero2Backend):
    """DeepSpeed ZeRO-3. Each process loads the whole model into its host's memory and keeps its shard on its device."""

    stage = 3
    home = "cpu"
    in_parts = True
    _reference: Any = None

    def _wrap(self) -> None:
        deepspeed, config = self._deepspeed(), self._config()
        for model in filter(None, (self._bare, self.start)):
            deepspeed.zero.Init(module=model, config_dict_or_path=config)
        super()._wrap()
        if self.start is not None:
            self._reference, *_ = deepspeed.initialize(model=self.start, config=config)

    @contextmanager
    def reference(self) -> Iterator[Any]:
        """The model that training started from, in DeepSpeed's wrapper; see `TrainingBackend`."""
        with super().reference() as model:
            yield self._reference if model is self.start else self.wrapped

    def named_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Gathers one weight at a time and yields copies; see `TrainingBackend`."""
        for name, weight in named_weights(self.model, self._together):
            yield name, weight.clone()  # the weight itself is resharded

    def close(self) -> None:
        """Also frees the reference model; see `TrainingBackend`."""
        super().close()
        self._reference = None

    def _held(self) -> list[torch.Tensor]:
        return [weight.ds_tensor for weight in self._trained]

    def _parts(self) -> list[torch.Tensor]:
        return list(self._optimiser.fp32_partitioned_groups_flat)

    def _link(self) -> None:
        """Nothing to do: ZeRO-3 looks up its shards each time."""

    def _set(self, weight: Any, value: torch.Tensor) -> None:
        with self._together([weight], modifier_rank=0):
            weight.data.copy_(value)
        if weight.requires_grad:
            self._deepspeed().utils.safe_set_local_fp32_param(weight, self._own(weight, value))

    def _set_moment(self, weight: Any, value: torch.Tensor, name: str) -> None:
        self._deepspeed().utils.safe_set_local_optimizer_state(weight, self._own(weight, value), name)

    def _own(self, weight: Any, full: torch.Tensor) -> torch.Tensor:
        """This process's shard of a weight: one of `world` pieces of equal length, the last padded."""
        size = weight.ds_tensor.numel()
        padded = torch.nn.functional.pad(full.flatten(), (0, size * self.ranks.world - full.numel()))
        return padded[size * self.ranks.rank :][:size]

    def _together(self, weights: Sequence[torch.Tensor], **options: Any) -> AbstractContextManager[Any]:
        return self._deepspeed().zero.GatheredParameters(weights, **options)  # type: ignore[no-any-return]


BACKENDS: dict[Engine, type[TrainingBackend]] = {
    "ddp": TrainingBackend,
    "fsdp2": FullyShardedBackend,
    "zero2": Zero2Backend,
    "zero3": Zero3Backend,
}


def load_backend(
    recipe: Recipe, ranks: Ranks, *, ends: Collection[int] = (), folder: Path | None = None
) -> TrainingBackend:
    """The backend of launch.engine with its model loaded: see `TrainingBackend.load`. Raises UserError."""
    engine = recipe.launch.engine
    if engine != "ddp" and ranks.world == 1:
        raise UserError(
            f"launch.engine={engine} needs several processes, but there is only one; use: torchrun --nproc-per-node N "
            "-m strop.cli train ..., or launch.engine=ddp"
        )
    if engine != "ddp":
        for message in NOISE:
            warnings.filterwarnings("ignore", message)
    backend = BACKENDS[engine]
    if issubclass(backend, Zero2Backend):
        require("deepspeed", package="deepspeed", extra="deepspeed", purpose=f"launch.engine={engine}")
    return backend.load(recipe, ranks, ends=ends, folder=folder)


def _own_device() -> torch.device:
    gpus = torch.cuda.is_available()
    return torch.device("cuda", torch.cuda.current_device()) if gpus else torch.device("cpu")
