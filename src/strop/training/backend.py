"""The trained model: the one place that knows whether its weights are whole, wrapped or adapters.

Here every process holds them whole (DDP keeps them alike), with LoRA adapters (PEFT) or all of them trained. What is
marked *collective* is called by all processes: one that holds a part of the weights needs the others for it.
"""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from transformers import GenerationConfig, PreTrainedModel

from strop.config.model import LoraConfig
from strop.config.schema import Recipe
from strop.policies.loading import has_fast_bfloat16, load_model, named_weights, resolve_dtype
from strop.training.ranks import Ranks

OPTIMISER = "optimizer.pt"
WARM = "warm"
"""Folder of a run with the model after the warm start, where a resumed run needs it (`keeps_warm`)."""


class TrainingBackend:
    """The model of a run and, from `prepare` on, its optimiser. A sharded model is another class with these methods.

    model      as transformers loaded it, adapters in place from `prepare` on: what policies sample from
    wrapped    what the update computes with, from `prepare` on
    device     where batches go, from `prepare` on
    folder     of the model that training begins with, None for the recipe's own: adapters name it
    start      that model, frozen, from `prepare` on, where a KL term needs it and there are no adapters to leave out
    """

    wrapped: Any
    device: torch.device
    start: Any = None
    folder: Path | None = None

    def __init__(self, model: PreTrainedModel, recipe: Recipe, ranks: Ranks) -> None:
        self.model, self.ranks, self._recipe = model, ranks, recipe
        self._bare: Any = model

    @classmethod
    def load(
        cls, recipe: Recipe, ranks: Ranks, *, ends: Collection[int] = (), folder: Path | None = None
    ) -> "TrainingBackend":
        """With the model that the recipe names, or that in `folder`; saved, it ends answers at the ids `ends`.

        Raises UserError where there is none.
        """
        model = _loaded(recipe, folder)
        if ends and (generation := model.generation_config):
            generation.eos_token_id, generation._from_model_config = sorted(ends), False
        if not recipe.model.train_embeddings:
            model.get_input_embeddings().requires_grad_(False)  # and the head, where it is tied to it
        backend = cls(model, recipe, ranks)
        backend.folder = folder
        return backend

    def prepare(self) -> None:
        """Adapters, optimiser, wrapper: called once, before the first update. Collective."""
        recipe, self._accelerator = self._recipe, Accelerator(cpu=not torch.cuda.is_available())
        self.device = self._accelerator.device
        if recipe.model.gradient_checkpointing:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
            self.model.enable_input_require_grads()
        if self.folder is not None:
            self.model.name_or_path = str(self.folder.resolve())
        self._bare = _with_adapters(self.model, recipe.model.lora)
        if recipe.grpo.beta and self._bare is self.model:
            self.start = _loaded(recipe, self.folder, str(self.model.device)).requires_grad_(False)
        self._trained = [weight for weight in self._bare.parameters() if weight.requires_grad]
        options = {"betas": recipe.optim.betas, "weight_decay": recipe.optim.weight_decay}
        optimiser = torch.optim.AdamW(self._trained, lr=recipe.optim.learning_rate, fused=True, **options)
        self.wrapped, self._optimiser = self._accelerator.prepare(self._bare, optimiser)

    @contextmanager
    def reference(self) -> Iterator[Any]:
        """To compute with: the model that training began with; of one with LoRA, itself without its adapters."""
        if self.start is not None:
            yield self.start
            return
        self._bare.eval()
        with self._bare.disable_adapter():
            yield self._bare
        self._bare.train()

    def head(self, model: Any) -> Any:
        """The output embedding of `wrapped` or of what `reference` gives."""
        return self._accelerator.unwrap_model(model).get_output_embeddings()

    def named_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The whole weights by transformers' names, adapters added in, one after another. Collective."""
        return named_weights(self.model)

    def micro_batch(self, last: bool) -> AbstractContextManager[Any]:
        """For forward and backward of one micro-batch: gradients are exchanged in an update's last one alone."""
        accumulated: AbstractContextManager[Any] = self._accelerator.no_sync(self.wrapped)
        return nullcontext() if last else accumulated

    def backward(self, loss: torch.Tensor) -> None:
        """Adds the gradient of this process's part of a loss that is a sum over all processes'."""
        self._accelerator.backward(loss * self.ranks.world)  # gradients are averaged

    def step(self, learning_rate: float, max_grad_norm: float) -> float:
        """One update by the gradients, which it drops; returns their norm before they were clipped. Collective."""
        for group in self._optimiser.param_groups:
            group["lr"] = learning_rate
        norm = float(self._accelerator.clip_grad_norm_(self._trained, max_grad_norm).item())
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return norm

    def save(self, folder: Path) -> None:
        """Writes the model and the optimiser's state. Collective."""
        self.save_model(folder)
        if self.ranks.main:
            torch.save(self._optimiser.state_dict(), folder / OPTIMISER)

    def save_model(self, folder: Path) -> None:
        """Writes the model as transformers loads it, of one with LoRA the adapters. Collective."""
        if self.ranks.main:
            self._bare.save_pretrained(folder)
            if self._bare is not self.model and (whole := self.model.generation_config):
                GenerationConfig(eos_token_id=whole.eos_token_id).save_pretrained(folder)

    def load_checkpoint(self, folder: Path) -> None:
        """Takes over what `save` wrote. Collective."""
        from safetensors.torch import load_file

        adapters = folder / "adapter_model.safetensors"
        if adapters.is_file():
            from peft import set_peft_model_state_dict

            set_peft_model_state_dict(self._bare, load_file(adapters))
        else:
            saved = load_model(str(folder), dtype=self._bare.dtype, device=str(self.device))
            self._bare.load_state_dict(saved.state_dict())
        state = torch.load(folder / OPTIMISER, map_location="cpu", weights_only=True)
        self._optimiser.load_state_dict(state)

    def close(self) -> None:
        """Frees the optimiser's state and the gradients: most of the memory. The model stays, adapters in place."""
        self._bare.zero_grad(set_to_none=True)
        self._bare.eval()
        self._optimiser.state.clear()
        self.start = None


def keeps_warm(recipe: Recipe) -> bool:
    """Whether checkpoints need the model after the warm start beside them: as KL reference, or under adapters."""
    return recipe.sft.warm_start and bool(recipe.grpo.beta or recipe.model.lora.rank)


def computes_in_bfloat16(recipe: Recipe) -> bool:
    """Whether the update runs under bfloat16 autocast."""
    dtype = recipe.model.compute_dtype
    return dtype == "bfloat16" or (dtype == "auto" and has_fast_bfloat16())


def _loaded(recipe: Recipe, folder: Path | None, device: str | None = None) -> PreTrainedModel:
    config, dtype = recipe.model, resolve_dtype(recipe.model.dtype)
    name, revision = (str(folder), None) if folder else (config.name, config.revision)
    return load_model(name, dtype=dtype, revision=revision, device=device, attention=config.attention)


def _with_adapters(model: PreTrainedModel, lora: LoraConfig) -> Any:
    """The model with LoRA adapters in place (PEFT), or as it is for full training."""
    if lora.rank == 0:
        return model
    from peft import LoraConfig as PeftLora
    from peft import get_peft_model

    target: str | list[str] = "all-linear" if lora.target_modules == ["all-linear"] else lora.target_modules
    options = {"r": lora.rank, "lora_alpha": lora.alpha, "lora_dropout": lora.dropout}
    return get_peft_model(model, PeftLora(**options, target_modules=target, task_type="CAUSAL_LM"))
