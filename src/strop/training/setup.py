"""What a run needs, made from its recipe: tasks, model, policy, verifier, player."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from transformers import PreTrainedModel, set_seed

from strop.config.algorithms import PerTurnAdvantage
from strop.config.model import LoraConfig, TransformersPolicyConfig, VllmPolicyConfig
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.protocols import Environment
from strop.core.task import Task
from strop.environments.kinds import played_by
from strop.policies.loading import has_fast_bfloat16, load_model, named_weights, resolve_dtype
from strop.policies.open import open_policy, tokenizer_of
from strop.policies.tokenizer import HubTokenizer
from strop.rewards.rubric import RubricBySet, WeightedRubric
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.rollouts.encoding import check_prompts
from strop.tasks.task_sets import TaskSet, task_sets
from strop.training.feed import DistributedRollouts
from strop.training.ranks import Ranks
from strop.verification import open_configured


@dataclass(frozen=True)
class RunParts:
    """A run's parts. `publish(version)` gives the sampling policy the trained weights."""

    model: PreTrainedModel
    tokenizer: HubTokenizer
    play: DistributedRollouts
    ranks: Ranks
    sets: list[TaskSet]
    publish: Callable[[int], None]

    @property
    def train(self) -> list[Task]:
        """Training tasks of all sets."""
        return [task for one in self.sets for task in one.train]

    @property
    def held_out(self) -> list[Task]:
        """Held-out tasks of all sets."""
        return [task for one in self.sets for task in one.held_out]


def set_up(recipe: Recipe, ranks: Ranks, stack: ExitStack, say: Callable[[str], None]) -> RunParts:
    """Loads everything, the model last; what must be closed is entered into `stack`. Raises UserError."""
    set_seed(recipe.seed % 2**32)
    sets = task_sets(recipe, say)
    rubric = rubric_of(sets)
    tokenizer = tokenizer_of(recipe)
    environment = environment_of(sets)
    for one in sets:
        check_prompts(one.tasks, environment, tokenizer, one.recipe.task_set.max_prompt_tokens)
    verifier = open_configured(recipe.sandbox)
    stack.callback(verifier.close)
    model = _model(recipe)
    if not recipe.model.train_embeddings:
        freeze_embeddings(model)
    policy, update = _policy(recipe, model)
    stack.callback(getattr(policy, "close", lambda: None))
    longest = max(one.recipe.task_set.max_prompt_tokens for one in sets)
    player = dispatcher_of(recipe, policy, verifier, environment, prompt=longest)
    by_turn = isinstance(recipe.grpo.advantage, PerTurnAdvantage)
    play = DistributedRollouts(player, rubric, ranks, by_turn=by_turn)
    return RunParts(model, tokenizer, play, ranks, sets, update)


def untrained_parts(recipe: Recipe, parts: RunParts, stack: ExitStack) -> RunParts:
    """The parts with the model as it was before training, loaded anew."""
    model = _model(recipe)
    policy, update = _policy(recipe, model)
    stack.callback(getattr(policy, "close", lambda: None))
    player = parts.play.player.like(policy, environment_of(parts.sets))
    return replace(parts, model=model, play=parts.play.by(player), publish=update)


def _model(recipe: Recipe) -> PreTrainedModel:
    return load_model(
        recipe.model.name,
        dtype=resolve_dtype(recipe.model.dtype),
        revision=recipe.model.revision,
        attention=recipe.model.attention,
    )


def rubric_of(sets: Sequence[TaskSet]) -> WeightedRubric | RubricBySet:
    """The rewards of the run, or of each set. Raises UserError."""
    rubrics = {
        one.name: WeightedRubric.from_names([(reward.name, reward.weight) for reward in one.recipe.rewards])
        for one in sets
    }
    if len(sets) == 1:
        return rubrics[sets[0].name]
    return RubricBySet(rubrics, {task.id: one.name for one in sets for task in one.tasks})


def environment_of(sets: Sequence[TaskSet]) -> Callable[[Task], Environment]:
    """How each task is played."""
    makers = {one.name: played_by(one.recipe) for one in sets}
    set_of = {task.id: one.name for one in sets for task in one.tasks}
    return lambda task: makers[set_of[task.id]](task)


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


def computes_in_bfloat16(recipe: Recipe) -> bool:
    """Whether the update runs under bfloat16 autocast."""
    dtype = recipe.model.compute_dtype
    return dtype == "bfloat16" or (dtype == "auto" and has_fast_bfloat16())


def with_adapters(model: PreTrainedModel, lora: LoraConfig) -> Any:
    """The model with LoRA adapters in place (PEFT), or as it is for full training."""
    if lora.rank == 0:
        return model
    from peft import LoraConfig as PeftLora
    from peft import get_peft_model

    target: str | list[str] = "all-linear" if lora.target_modules == ["all-linear"] else lora.target_modules
    adapters = PeftLora(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=target,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, adapters)


def freeze_embeddings(model: PreTrainedModel) -> None:
    """Takes the input embedding (and the head that is tied to it) out of training."""
    model.get_input_embeddings().requires_grad_(False)
