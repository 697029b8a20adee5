"""Opens the policy that a recipe asks for. Engines are imported only when they are needed."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from strop.config.model import (
    OpenAIPolicyConfig,
    ScriptedPolicyConfig,
    TransformersPolicyConfig,
    VllmPolicyConfig,
)
from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.optional import require
from strop.core.protocols import Policy, Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from strop.policies.loading import HubTokenizer

Prompts = Callable[[Tokenizer], Mapping[str, Sequence[int]]]
"""From the policy's tokenizer to the first prompt of each task, by task id."""


def open_policy(
    recipe: Recipe, *, model: "PreTrainedModel | None" = None, prompts: Prompts | None = None
) -> Policy:
    """The policy of `recipe.policy.engine`.

    model    an already loaded model to sample from; without it the recipe's own is loaded. The transformers engine
             shares it (or keeps a copy in the sampling type), vLLM takes over its weights.
    prompts  what the tasks ask; only the scripted engine needs it, to know which answer belongs to which prompt

    Raises UserError when the model, a package or the script is missing.
    """
    config = recipe.policy
    if isinstance(config, OpenAIPolicyConfig):
        from strop.policies import openai_server

        return openai_server.OpenAIPolicy(config)
    if isinstance(config, ScriptedPolicyConfig):
        return _scripted(config, prompts)
    if isinstance(config, VllmPolicyConfig):
        return _vllm(recipe, config, model)
    return _transformers(recipe, config, model)


def _scripted(config: ScriptedPolicyConfig, prompts: Prompts | None) -> Policy:
    from strop.policies import scripted
    from strop.policies.wire import WireTokenizer

    if prompts is None:
        raise UserError("policy.engine=scripted plays a known set of tasks only; this command provides none")
    tokenizer = WireTokenizer()
    return scripted.ScriptedPolicy.from_answers(config.answers, prompts(tokenizer), tokenizer=tokenizer)


def _transformers(recipe: Recipe, config: TransformersPolicyConfig, model: Any) -> Policy:
    _require_torch()
    from strop.policies import loading, transformers_engine

    dtype = loading.resolve_dtype(recipe.model.sampling_dtype)
    if model is None:
        model = loading.load_model(recipe.model.name, dtype=dtype, revision=recipe.model.revision)
    policy = transformers_engine.TransformersPolicy(
        model,
        tokenizer_of(recipe),
        name=recipe.model.name,
        dtype=dtype,
        max_rows=config.batch_rows,
        max_tokens_held=config.batch_tokens,
    )
    return cast("Policy", policy)  # its tokenizer attribute is narrower than the protocol's


def _require_torch() -> None:
    for package in ("torch", "transformers"):
        require(package, package=package, extra="train", purpose="a model with local weights")


def _vllm(recipe: Recipe, config: VllmPolicyConfig, model: Any) -> Policy:
    from strop.policies import loading, vllm_engine

    policy = vllm_engine.VllmPolicy(
        loading.model_path(recipe.model.name),
        tokenizer_of(recipe),
        config,
        dtype=loading.resolve_dtype(recipe.model.sampling_dtype),
        max_model_len=recipe.tasks.max_prompt_tokens + recipe.sampling.max_tokens,
        revision=recipe.model.revision,
        name=recipe.model.name,
    )
    if model is not None:
        policy.update(0, loading.named_weights(model))
    return policy


def tokenizer_of(recipe: Recipe) -> "HubTokenizer":
    """The tokenizer of the recipe's model, with the recipe's chat template; UserError when either is missing."""
    _require_torch()
    from strop.policies import loading

    inner = loading.load_tokenizer(recipe.model.name, recipe.model.revision)
    if recipe.model.chat_template is not None:
        try:
            with open(recipe.model.chat_template, encoding="utf-8") as file:
                inner.chat_template = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                f"model.chat_template={recipe.model.chat_template!r}: cannot be read ({error}); give a Jinja file"
            ) from error
    return loading.HubTokenizer(inner)
