"""Builds what a run needs from its recipe: tasks, model, policy, verifier, player."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, set_seed

from strop.config.model import TransformersPolicyConfig, VllmPolicyConfig
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.protocols import Environment
from strop.core.task import Task
from strop.environments.single_turn import played_by
from strop.policies.loading import HubTokenizer, load_model, resolve_dtype
from strop.policies.open import open_policy, tokenizer_of
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.player import Player
from strop.tasks.recipe import split_tasks
from strop.training.arguments import freeze_embeddings
from strop.verification import open_configured


@dataclass(frozen=True)
class RunParts:
    """A run's parts. `policy_update(version)` brings the sampling policy up to the trained weights."""

    model: PreTrainedModel
    tokenizer: HubTokenizer
    player: Player
    rubric: WeightedRubric
    train: list[Task]
    held_out: list[Task]
    policy_update: Callable[[int], None]


def set_up(recipe: Recipe, stack: ExitStack, *, weights: Path | None = None) -> RunParts:
    """Loads everything; what must be closed is entered into `stack`.

    weights  a folder to load instead of model.name (a checkpoint)
    Cheap faults are found first: tasks, rewards and prompts before the model is loaded.
    """
    set_seed(recipe.seed % 2**32)
    train, held_out = split_tasks(recipe)
    rubric = WeightedRubric.from_names([(reward.name, reward.weight) for reward in recipe.rewards])
    tokenizer = tokenizer_of(recipe)
    environment = played_by(recipe)
    _check_prompts(recipe, [*train, *held_out], environment, tokenizer)
    verifier = open_configured(recipe.sandbox)
    stack.callback(verifier.close)
    name = str(weights) if weights else recipe.model.name
    model = load_model(
        name,
        dtype=resolve_dtype(recipe.model.dtype),
        revision=None if weights else recipe.model.revision,
        attention=recipe.model.attention,
    )
    if not recipe.model.train_embeddings:
        freeze_embeddings(model)
    policy, update = _policy(recipe, model)
    stack.callback(getattr(policy, "close", lambda: None))
    player = Player(policy, verifier, environment, max_prompt_tokens=recipe.tasks.max_prompt_tokens)
    return RunParts(model, tokenizer, player, rubric, train, held_out, update)


def _policy(recipe: Recipe, model: PreTrainedModel) -> tuple[Any, Callable[[int], None]]:
    """(the policy that samples from the model, how to bring it up to date)."""
    policy: Any
    longest = max(stage.recipe.sampling.max_tokens for stage in stages_of(recipe))
    longest = max(longest, recipe.sampling.max_tokens)
    sampling = recipe.sampling.model_copy(update={"max_tokens": longest})
    recipe = recipe.model_copy(update={"sampling": sampling})  # for engines that must know the longest answer
    if isinstance(recipe.policy, TransformersPolicyConfig):
        policy = open_policy(recipe, model=model)
        return policy, policy.update
    if isinstance(recipe.policy, VllmPolicyConfig):
        from strop.policies.loading import named_weights

        policy = open_policy(recipe, model=model)
        return policy, lambda version: policy.update(version, named_weights(model))
    raise UserError(
        f"policy.engine={recipe.policy.engine} has no weights to train; use transformers or vllm "
        "(strop eval takes any engine)"
    )


def _check_prompts(
    recipe: Recipe, tasks: list[Task], environment: Callable[[Task], Environment], tokenizer: HubTokenizer
) -> None:
    limit = recipe.tasks.max_prompt_tokens
    for task in tasks:
        length = len(environment(task).prompt(tokenizer))
        if length > limit:
            raise UserError(
                f"task {task.id} ({task.source or task.family}): its prompt has {length} tokens, more than "
                f"tasks.max_prompt_tokens={limit}; raise the limit or leave the task out"
            )
