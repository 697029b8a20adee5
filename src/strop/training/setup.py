"""What a run needs, made from its recipe: tasks, model, policy, verifier, player, and the settings of TRL and PEFT."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel, set_seed

from strop.config.model import LoraConfig, TransformersPolicyConfig, VllmPolicyConfig
from strop.config.run_stages import RunStage, stages_of
from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.task import Task
from strop.environments.single_turn import played_by
from strop.policies.loading import HubTokenizer, has_fast_bfloat16, load_model, named_weights, resolve_dtype
from strop.policies.open import open_policy, tokenizer_of
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.player import Player, first_prompt
from strop.tasks.recipe import split_tasks
from strop.verification import open_configured


@dataclass(frozen=True)
class RunParts:
    """A run's parts. `policy_update(version)` copies the trained weights to the sampling policy."""

    model: PreTrainedModel
    tokenizer: HubTokenizer
    player: Player
    rubric: WeightedRubric
    train: list[Task]
    held_out: list[Task]
    policy_update: Callable[[int], None]


def set_up(recipe: Recipe, stack: ExitStack) -> RunParts:
    """Loads everything, the model last; what must be closed is entered into `stack`. Raises UserError."""
    set_seed(recipe.seed % 2**32)
    train, held_out = split_tasks(recipe)
    rubric = WeightedRubric.from_names([(reward.name, reward.weight) for reward in recipe.rewards])
    tokenizer = tokenizer_of(recipe)
    environment = played_by(recipe)
    for task in (*train, *held_out):
        first_prompt(task, environment(task), tokenizer, recipe.tasks.max_prompt_tokens)
    verifier = open_configured(recipe.sandbox)
    stack.callback(verifier.close)
    model = load_model(
        recipe.model.name,
        dtype=resolve_dtype(recipe.model.dtype),
        revision=recipe.model.revision,
        attention=recipe.model.attention,
    )
    if not recipe.model.train_embeddings:
        freeze_embeddings(model)
    policy, update = _policy(recipe, model)
    stack.callback(getattr(policy, "close", lambda: None))
    player = Player(policy, verifier, environment, max_prompt_tokens=recipe.tasks.max_prompt_tokens)
    return RunParts(model, tokenizer, player, rubric, train, held_out, update)


def _policy(recipe: Recipe, model: PreTrainedModel) -> tuple[Any, Callable[[int], None]]:
    """(the policy that samples from the model, the function that updates it)."""
    longest = max(one.sampling.max_tokens for one in (recipe, *(stage.recipe for stage in stages_of(recipe))))
    sampling = recipe.sampling.model_copy(update={"max_tokens": longest})
    recipe = recipe.model_copy(update={"sampling": sampling})  # for engines that must know the longest answer
    if not isinstance(recipe.policy, TransformersPolicyConfig | VllmPolicyConfig):
        raise UserError(
            f"policy.engine={recipe.policy.engine} has no weights to train; use transformers or vllm "
            "(strop eval takes any engine)"
        )
    policy: Any = open_policy(recipe, model=model)
    if isinstance(recipe.policy, TransformersPolicyConfig):
        return policy, policy.update
    return policy, lambda version: policy.update(version, named_weights(model))


def grpo_arguments(stage: RunStage, output_dir: Path) -> Any:
    """The `trl.GRPOConfig` of a stage; max_steps counts TRL's optimiser steps from the start of the run.

    A training step, one batch of rollouts, is grpo.minibatches x grpo.iterations optimiser steps of TRL. `StepWatch`
    says when to save: TRL would count from the run's start. Our rollout hook masks truncated and unscored rollouts,
    because TRL takes every row that ends at a stop string for truncated. Raises UserError for rows that cannot be
    divided evenly.
    """
    from trl import GRPOConfig

    recipe = stage.recipe
    grpo, optim = recipe.grpo, recipe.optim
    world = int(os.environ.get("WORLD_SIZE", "1"))
    share, rest = divmod(grpo.rows_per_step, optim.micro_batch * world * grpo.minibatches)
    if rest or (grpo.tasks_per_step % (world * grpo.minibatches)):
        raise UserError(
            f"grpo.tasks_per_step={grpo.tasks_per_step} groups cannot be divided among {world} processes and "
            f"{grpo.minibatches} minibatches in micro-batches of optim.micro_batch={optim.micro_batch} rows; change "
            "one of them"
        )
    return GRPOConfig(
        output_dir=str(output_dir),
        per_device_train_batch_size=optim.micro_batch,
        gradient_accumulation_steps=share,
        steps_per_generation=share * grpo.minibatches,
        num_generations=grpo.group_size,
        num_iterations=grpo.iterations,
        max_completion_length=recipe.sampling.max_tokens,
        temperature=recipe.sampling.temperature,
        top_p=recipe.sampling.top_p,
        loss_type=grpo.loss,
        importance_sampling_level=grpo.importance_level,
        epsilon=grpo.epsilon_low,
        epsilon_high=grpo.epsilon_high,
        beta=grpo.beta,
        scale_rewards=grpo.scale_rewards,
        # The k3 term of DeepSeekMath, eq. 2: TRL would multiply it by the ratio.
        use_bias_correction_kl=False,
        mask_truncated_completions=False,
        learning_rate=optim.learning_rate,
        lr_scheduler_type="constant_with_warmup" if optim.schedule == "constant" else optim.schedule,
        warmup_steps=stage.warmup_updates,
        adam_beta1=optim.betas[0],
        adam_beta2=optim.betas[1],
        weight_decay=optim.weight_decay,
        max_grad_norm=optim.max_grad_norm,
        max_steps=stage.last_update,
        gradient_checkpointing=recipe.model.gradient_checkpointing,
        bf16=computes_in_bfloat16(recipe),
        use_cpu=not torch.cuda.is_available(),
        seed=recipe.seed % 2**32,
        shuffle_dataset=False,
        remove_unused_columns=False,
        logging_steps=1,
        # A loss that is no number is logged as such, and an alarm rings; the filter would show a mean in its place.
        logging_nan_inf_filter=False,
        save_strategy="no",
        save_total_limit=max(2, recipe.run.keep_checkpoints),
        report_to="none",  # strop.training.trackers does that
        disable_tqdm=True,
        dataloader_num_workers=0,
    )


def computes_in_bfloat16(recipe: Recipe) -> bool:
    """Whether the update runs under bfloat16 autocast."""
    wanted = recipe.model.compute_dtype
    return wanted == "bfloat16" or (wanted == "auto" and has_fast_bfloat16())


def lora_arguments(lora: LoraConfig) -> Any | None:
    """The `peft.LoraConfig`, or None for full training."""
    if lora.rank == 0:
        return None
    from peft import LoraConfig as PeftLora

    target: str | list[str] = "all-linear" if lora.target_modules == ["all-linear"] else lora.target_modules
    return PeftLora(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=target,
        task_type="CAUSAL_LM",
    )


def freeze_embeddings(model: PreTrainedModel) -> None:
    """Takes the input embedding (and the head that is tied to it) out of training."""
    model.get_input_embeddings().requires_grad_(False)
