"""The trained model: the only place that knows whether its weights are whole, sharded, wrapped or adapters.

Here every process holds all weights (DDP keeps them equal) and trains all of them or LoRA adapters (PEFT);
`training.sharded_backends` has the classes that shard. All processes must call what is marked *collective*: one that
holds a shard needs the others. A checkpoint of any engine loads under every other and in any number of processes.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, extract_model_from_parallel
from transformers import GenerationConfig, PreTrainedModel

from strop.config.model import LoraConfig
from strop.config.schema import Recipe
from strop.policies import keep_freed_memory
from strop.policies.loading import full, has_fast_bfloat16, load_model, named_weights, resolve_dtype
from strop.policies.model_files import SHARDS
from strop.policies.proof import PROMPT, plain_logps, random_ids
from strop.training import shards
from strop.training.checkpoints import OPTIMISER, OPTIMISER_SHARDS
from strop.training.logps import no_dropout
from strop.training.ranks import Ranks
from strop_verify.core.errors import UserError

SMALL = 256 << 10
"""With adapters, freed blocks below this many bytes stay with the process. Small gradients that are kept lie between
large activations that are freed (and 4-bit weights between their sources); the gaps would make the heap grow.
"""
MAMBAS = ("falcon_h1", "mamba", "mamba2", "falcon_mamba", "nemotron_h")
"""Model types for which PEFT refuses adapters on `out_proj`."""
WARM = "warm"
"""Folder in a run with the model after the warm start, if a resumed run needs it (`keeps_warm`)."""


class TrainingBackend:
    """The model of a run and, after `prepare`, its optimiser.

    model      as transformers loaded it, with adapters after `prepare`: what policies sample from
    wrapped    what the update computes with, after `prepare`
    device     where batches go, after `prepare`
    folder     folder of the model that training starts from, the base of adapters; None for the recipe's model
    start      that model, frozen, after `prepare`, if a KL term needs it and there are no adapters to disable
    """

    wrapped: Any
    device: torch.device
    start: Any = None
    folder: Path | None = None
    home: str | None = None
    """Device that the model is loaded to; None for the computing device."""
    in_parts = False
    """Whether the weights are sharded, so that `model` cannot be sampled from."""

    def __init__(self, model: PreTrainedModel, recipe: Recipe, ranks: Ranks) -> None:
        self.model, self.ranks, self._recipe = model, ranks, recipe
        self._bare: Any = model

    @classmethod
    def load(
        cls, recipe: Recipe, ranks: Ranks, *, ends: Collection[int] = (), folder: Path | None = None
    ) -> "TrainingBackend":
        """Loads the recipe's model, or that in `folder`; `ends` are its end-of-answer token ids. Raises UserError."""
        if recipe.model.lora.rank:
            keep_freed_memory(below=SMALL)
        model = cls._read_start(recipe, folder, cls.home)
        if ends and (generation := model.generation_config):
            generation.eos_token_id, generation._from_model_config = sorted(ends), False
        if not recipe.model.train_embeddings:
            model.get_input_embeddings().requires_grad_(False)  # and a tied head
        backend = cls(model, recipe, ranks)
        backend.folder = folder
        return backend

    @classmethod
    def _read(cls, name: str, **options: Any) -> PreTrainedModel:
        """`load_model` for this engine. Collective."""
        return load_model(name, **options)

    @classmethod
    def _read_start(cls, recipe: Recipe, folder: Path | None, device: str | None) -> PreTrainedModel:
        """The model that training starts from: the recipe's, or that in `folder`."""
        config = recipe.model
        name, revision = (str(folder), None) if folder else (config.name, config.revision)
        return cls._read(
            name,
            dtype=resolve_dtype(config.dtype),
            revision=revision,
            device=device,
            attention=config.attention,
            quantization=config.quantization,
        )

    @contextmanager
    def plain(self) -> Iterator[Any]:
        """The model before `prepare`, which computes as in transformers. Collective."""
        yield self.model

    def prepare(self) -> None:
        """Adds adapters, optimiser and wrapper; called once, before the first update. Collective."""
        recipe = self._recipe
        without: list[str] = []
        if recipe.model.lora.rank:
            with self.plain() as plain:
                without = unadaptable(plain)
        if recipe.model.gradient_checkpointing:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
            self.model.enable_input_require_grads()
        if self.folder is not None:
            self.model.name_or_path = str(self.folder.resolve())
        self._bare = _with_adapters(self.model, recipe.model.lora, without)
        if recipe.grpo.beta and self._bare is self.model:
            start = self._read_start(recipe, self.folder, str(self.model.device))
            self.start = start.requires_grad_(False)
        self._wrap()

    def _wrap(self) -> None:
        # Buffers are equal; broadcasting them in each pass would hang if the numbers of passes differ.
        alike = DistributedDataParallelKwargs(broadcast_buffers=False)
        self._accelerator = Accelerator(cpu=not torch.cuda.is_available(), kwargs_handlers=[alike])
        self.device = self._accelerator.device
        self.wrapped, self._optimiser = self._accelerator.prepare(self._bare, self._adamw())

    def _adamw(self) -> torch.optim.AdamW:
        """Creates the optimiser of the current trained weights; call it again after they are replaced."""
        optim = self._recipe.optim
        self._trained = [weight for weight in self._bare.parameters() if weight.requires_grad]
        options = {"betas": optim.betas, "weight_decay": optim.weight_decay}
        return torch.optim.AdamW(self._trained, lr=optim.learning_rate, fused=True, **options)

    @contextmanager
    def reference(self) -> Iterator[Any]:
        """The model that training started from, to compute with; under LoRA, the model without its adapters."""
        if self.start is not None:
            yield self.start
            return
        self._bare.eval()
        with self._bare.disable_adapter():
            yield self._bare
        no_dropout(self._bare)

    def head(self, model: Any) -> Any:
        """The output embedding of `wrapped` or of what `reference` yields."""
        return extract_model_from_parallel(model).get_output_embeddings()

    def named_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The full weights under transformers' names, adapters merged, one after another. Collective."""
        return named_weights(self.model)

    def micro_batch(self, last: bool) -> AbstractContextManager[Any]:
        """Context for one micro-batch's forward and backward pass; gradients are exchanged only in the last one."""
        accumulated: AbstractContextManager[Any] = self._accelerator.no_sync(self.wrapped)
        return nullcontext() if last else accumulated

    def backward(self, loss: torch.Tensor) -> None:
        """Adds the gradient of this process's part of a loss that is summed over processes."""
        (loss * self.ranks.world).backward()  # gradients are averaged

    def step(self, learning_rate: float | None, max_grad_norm: float) -> float:
        """Applies and clears the gradients; returns their norm before clipping. Without a rate, or if the norm is not
        finite, the gradients are only cleared. Collective.
        """
        norm = float(full(torch.nn.utils.clip_grad_norm_(self._trained, max_grad_norm)))
        if learning_rate is not None and math.isfinite(norm):
            for group in self._optimiser.param_groups:
                group["lr"] = learning_rate
            self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return norm

    def is_finite(self) -> bool:
        """Whether all trained weights are finite numbers. Collective."""
        return all(self.ranks.gather(all(bool(weight.isfinite().all()) for weight in self._held())))

    def _held(self) -> list[torch.Tensor]:
        """This process's share of the trained weights."""
        return list(self._trained)

    def save(self, folder: Path) -> None:
        """Writes the model and the optimiser's state. Collective."""
        self.save_model(folder)
        state = self._optimiser_state()
        if self.ranks.main:
            torch.save(state, folder / OPTIMISER)

    def save_model(self, folder: Path) -> None:
        """Writes the model, or its LoRA adapters, as transformers loads it. Collective."""
        weights = self._gathered()
        if self.ranks.main:
            self._bare.save_pretrained(folder, **({} if weights is None else {"state_dict": weights}))
            (folder / "README.md").unlink(missing_ok=True)  # PEFT's empty template
            self._save_ends(folder)

    def _save_ends(self, folder: Path) -> None:
        """Writes the end tokens next to adapters."""
        if self._bare is not self.model and (generation := self.model.generation_config):
            GenerationConfig(eos_token_id=generation.eos_token_id).save_pretrained(folder)

    def load_checkpoint(self, folder: Path) -> bool:
        """Loads what `save` wrote under any engine; returns False if the optimiser's state was dropped. Collective."""
        from safetensors.torch import load_file

        adapters = self._bare is not self.model
        if (folder / SHARDS).is_dir():
            weights = shards.read_whole(folder / SHARDS)
            self._take_over(shards.unnamed(weights) if adapters else weights, adapters=adapters)
        elif adapters:
            self._take_over(load_file(folder / shards.ADAPTERS), adapters=True)
        else:
            saved = self._read(str(folder), dtype=self._kept_dtype(), device=self.home or str(self.device))
            self._take_over(saved.state_dict(), adapters=False)
        if (folder / OPTIMISER).is_file():
            self._take_optimiser(torch.load(folder / OPTIMISER, map_location="cpu", weights_only=True))
        elif (folder / OPTIMISER_SHARDS).is_dir():
            self._take_optimiser({"state": self._by_index(shards.read_whole(folder / OPTIMISER_SHARDS))})
        else:
            return False
        return True

    def _by_index(self, tensors: dict[str, torch.Tensor]) -> dict[int, dict[str, torch.Tensor]]:
        """{index of a trained weight: its optimiser state} from {name/key: value}."""
        names = [name for name, weight in self._bare.named_parameters() if weight.requires_grad]
        found: dict[str, dict[str, torch.Tensor]] = {}
        for place, value in tensors.items():
            name, _, key = place.rpartition("/")
            found.setdefault(name, {})[key] = value
        return {index: found[name] for index, name in enumerate(names) if name in found}

    def _gathered(self) -> dict[str, torch.Tensor] | None:
        """{parameter: full weight} for `save_model`, in rank 0; None if the model's weights are not sharded."""
        return None

    def _optimiser_state(self) -> dict[str, Any]:
        """The full state in the format of torch's AdamW, in rank 0."""
        return dict(self._optimiser.state_dict())

    def _kept_dtype(self) -> torch.dtype:
        """The dtype of the trained weights."""
        return self._bare.dtype

    def _take_over(self, weights: dict[str, torch.Tensor], *, adapters: bool) -> None:
        """Loads full weights; `adapters`: under PEFT's names."""
        if adapters:
            from peft import set_peft_model_state_dict

            set_peft_model_state_dict(self._bare, weights)
        else:
            missing, _ = self._bare.load_state_dict(weights, strict=False)
            tied = getattr(self.model, "all_tied_weights_keys", {})
            if lost := [name for name in missing if name not in tied]:
                raise UserError(f"the checkpoint lacks the weights {', '.join(lost[:3])}")

    def _take_optimiser(self, state: dict[str, Any]) -> None:
        self._optimiser.load_state_dict(
            {"param_groups": self._optimiser.state_dict()["param_groups"], **state}
        )

    def close(self) -> None:
        """Frees the optimiser's state and the gradients, which are most of the memory; the model stays usable."""
        self._bare.zero_grad(set_to_none=True)
        self._bare.eval()
        self._optimiser.state.clear()
        self.start = None


def keeps_warm(recipe: Recipe) -> bool:
    """Whether the warm-started model is needed later: as KL reference, under adapters, or by controls."""
    later = recipe.grpo.beta or recipe.model.lora.rank or recipe.evaluation.controls
    return recipe.sft.warm_start and bool(later)


def computes_in_bfloat16(recipe: Recipe) -> bool:
    """Whether the update runs under bfloat16 autocast."""
    dtype = recipe.model.compute_dtype
    return dtype == "bfloat16" or (
        dtype == "auto" and (bool(recipe.model.quantization) or has_fast_bfloat16())
    )


def _with_adapters(model: PreTrainedModel, lora: LoraConfig, without: list[str]) -> Any:
    """The model with LoRA adapters (PEFT) except of the layers `without`, or unchanged for full training."""
    if lora.rank == 0:
        return model
    from peft import LoraConfig as PeftLora
    from peft import get_peft_model

    target: str | list[str] = "all-linear" if lora.target_modules == ["all-linear"] else lora.target_modules
    options: dict[str, Any] = {"r": lora.rank, "lora_alpha": lora.alpha, "lora_dropout": lora.dropout}
    options["exclude_modules"] = without
    named = target if isinstance(target, list) else []
    if lost := [name for name in without if name in named or name.rpartition(".")[2] in named]:
        fault = f"model.lora.target_modules: adapters of {lost[0]} would have no effect"
        raise UserError(f"{fault}; leave {lost[0].rpartition('.')[2]} out")
    try:
        return get_peft_model(model, PeftLora(**options, target_modules=target, task_type="CAUSAL_LM"))
    except ValueError as error:
        linear = (name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear))
        there = ", ".join(dict.fromkeys(name.rpartition(".")[2] for name in linear))
        what = f"model.lora.target_modules={lora.target_modules}"
        if "arget modules" in str(error):
            raise UserError(f"{what} match nothing in the model; it has {there}") from error
        raise UserError(f"{what}: {' '.join(str(error).split())}") from error


@torch.no_grad()
def unadaptable(model: PreTrainedModel) -> list[str]:
    """Names of linear layers that cannot take adapters: those with a name that the forward pass never calls (the model
    reads their weights directly), those that share a weight, and those whose weights Mamba's fused kernels read.
    """
    linear = {module: name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    called: set[str] = set()
    with ExitStack() as hooks:
        for module in linear:
            hooks.enter_context(
                module.register_forward_pre_hook(lambda one, _: called.add(linear[one].rpartition(".")[2]))
            )
        plain_logps(model, random_ids(model, PROMPT, 0), 1)
    every = [
        (name, module) for name, module in model.named_modules(remove_duplicate=False) if module in linear
    ]
    shared = Counter(id(module.weight) for _, module in every)
    return sorted(
        name
        for name, module in every
        if (leaf := name.rpartition(".")[2]) not in called
        or shared[id(module.weight)] > 1
        or (leaf == "out_proj" and model.config.model_type in MAMBAS)
    )
