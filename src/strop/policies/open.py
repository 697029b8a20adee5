"""Opens the policy of a recipe and samples from it. Engines are imported only when they are needed."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from strop.config.model import (
    EngineConfig,
    OpenAIPolicyConfig,
    TransformersPolicyConfig,
    VllmPolicyConfig,
    VllmServerPolicyConfig,
)
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.config.tasks import TasksConfig
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.protocols import Policy, Request, Tokenizer, Trainable
from strop_verify.core.registry import Registry
from strop_verify.core.rollout import Completion, SamplingParams

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from strop.policies.model_files import ModelFiles
    from strop.policies.tokenizer import HubTokenizer

Prompts = Callable[[Tokenizer], Mapping[str, Sequence[int]]]
"""policy's tokenizer -> {task id: token ids of its first prompt}."""


def open_policy(
    recipe: Recipe, *, model: "PreTrainedModel | None" = None, prompts: Prompts | None = None
) -> Policy:
    """The policy of `recipe.policy.engine`.

    model    a loaded model to sample from; None loads the recipe's own. The transformers engine shares it (or keeps a
             copy in the sampling type, or to sample during the update); vLLM copies its weights
    prompts  only for the scripted engine, which looks up a task's answer by its prompt

    Raises UserError if the model, a package or the script is missing.
    """
    return ENGINES[recipe.policy.engine](recipe, model=model, prompts=prompts)


def open_trainable(recipe: Recipe, model: "PreTrainedModel") -> Trainable:
    """The policy that samples from the model while it is trained, for the longest answers of any stage.

    Raises UserError if the recipe's engine has no weights to train.
    """
    recipe = longest_answers(recipe)
    policy = open_policy(recipe, model=model) if recipe.policy.has_weights else None
    if not isinstance(policy, Trainable):
        raise _no_weights(recipe.policy)
    return policy


def check_trainable(config: EngineConfig) -> None:
    """Raises UserError if an engine cannot be trained, or lacks anything that can be checked before it is opened."""
    if not config.has_weights:
        raise _no_weights(config)
    if config.engine == "vllm" and not is_installed("vllm"):
        how = "pip install vllm on a GPU, 'strop[vllm]' on a CPU, or policy.engine=transformers"
        raise UserError(f"policy.engine=vllm needs vllm: {how}")
    if config.engine == "vllm-server":
        _look_for_servers(config)


def _no_weights(config: EngineConfig) -> UserError:
    fault = f"policy.engine={config.engine} has no weights to train"
    return UserError(f"{fault}; use transformers, vllm or vllm-server (strop eval takes any engine)")


class Engine(Protocol):
    """A function that opens the policy of an engine, with the arguments of `open_policy`."""

    def __call__(self, recipe: Recipe, *, model: "PreTrainedModel | None", prompts: Prompts | None) -> Policy:
        """Opens the policy of a recipe."""


def _openai(recipe: Recipe, *, model: Any, prompts: Prompts | None) -> Policy:
    from strop.policies import openai_server

    return openai_server.OpenAIPolicy(cast("OpenAIPolicyConfig", recipe.policy))


def _scripted(recipe: Recipe, *, model: Any, prompts: Prompts | None) -> Policy:
    from strop.policies import scripted
    from strop.policies.tokenizer import WireTokenizer

    if prompts is None:
        raise UserError("policy.engine=scripted needs a known set of tasks, which this command does not have")
    tokenizer = WireTokenizer()
    return scripted.ScriptedPolicy.from_answers(recipe.policy.script, prompts(tokenizer), tokenizer=tokenizer)


def _transformers(recipe: Recipe, *, model: Any, prompts: Prompts | None) -> Policy:
    _require_torch()
    from strop.policies import loading, transformers_engine

    config = cast("TransformersPolicyConfig", recipe.policy)
    dtype = loading.resolve_dtype(recipe.model.sampling_dtype)
    beside_training = model is not None and recipe.grpo.max_staleness > 0
    if model is None:
        model = loading.load_model(recipe.model.name, dtype=dtype, revision=recipe.model.revision)
    policy = transformers_engine.TransformersPolicy(
        model,
        tokenizer_of(recipe),
        name=recipe.model.name,
        dtype=dtype,
        own_copy=beside_training,
        max_rows=config.batch_rows,
        max_tokens_held=config.batch_tokens,
        longest=longest_play(recipe),
    )
    return cast("Policy", policy)  # its tokenizer attribute is narrower than the protocol's


def _require_torch() -> None:
    for package in ("torch", "transformers"):
        require(package, package=package, extra="train", purpose="a model with local weights")


def _vllm(recipe: Recipe, *, model: Any, prompts: Prompts | None) -> Policy:
    from strop.policies import loading, vllm_engine

    config = cast("VllmPolicyConfig", recipe.policy)
    policy = vllm_engine.VllmPolicy(
        loading.model_path(recipe.model.name, recipe.model.revision),
        tokenizer_of(recipe),
        config,
        dtype=loading.resolve_dtype(recipe.model.sampling_dtype),
        max_model_len=longest_play(recipe),
        revision=recipe.model.revision,
        name=recipe.model.name,
    )
    if model is not None:
        policy.update(0, loading.named_weights(model))
    return policy


def _vllm_server(recipe: Recipe, *, model: Any, prompts: Prompts | None) -> Policy:
    _require_torch()
    from strop.policies import loading, sampling_server, vllm_server, weight_sync

    config, name = cast("VllmServerPolicyConfig", recipe.policy), recipe.model.name
    _look_for_servers(config)
    tokenizer, processes = tokenizer_of(recipe), weight_sync.Processes()
    key = sampling_server.read_key(os.environ)
    policy = vllm_server.VllmServerPolicy(config, tokenizer, key=key, name=name, processes=processes)
    try:
        if model is None:
            policy.take_as_they_are()
            return policy
        run = recipe.run.folder
        folder = Path(config.folder, run.name) if config.folder else run.parent / f".{run.name}.weights"
        folder = folder.resolve()  # servers have another working directory
        for old in folder.glob("strop-*") if processes.main else ():  # of a run that was killed
            shutil.rmtree(old, ignore_errors=True)
        dtype = loading.resolve_dtype(recipe.model.sampling_dtype)
        if recipe.sends_adapters:
            policy.sync = weight_sync.AdapterSync(folder, name, model, processes)
        else:
            policy.sync = weight_sync.FileSync(folder, name, dtype, processes)
        policy.update(0, loading.named_weights(model))
    except BaseException:
        policy.close()
        raise
    return policy


ENGINES: Registry[Engine] = Registry(
    "policies",
    {
        "transformers": _transformers,
        "vllm": _vllm,
        "vllm-server": _vllm_server,
        "openai": _openai,
        "scripted": _scripted,
    },
)
"""{policy.engine: engine}."""


def is_installed(package: str) -> bool:
    """Whether a package is installed, without importing it."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _look_for_servers(config: EngineConfig) -> None:
    from strop.policies.sampling_server import read_key

    if not cast("VllmServerPolicyConfig", config).urls:
        how = "start one with strop serve-sampler, and set its address or its --url-file"
        raise UserError(f"policy.urls names no server: {how}")
    require("httpx", package="httpx", extra="serve", purpose="policy.engine=vllm-server")
    read_key(os.environ)


def longest_answers(recipe: Recipe) -> Recipe:
    """The recipe with the largest sampling.max_tokens of any stage."""
    longest = max(one.sampling.max_tokens for one in (recipe, *(stage.recipe for stage in stages_of(recipe))))
    return recipe.having({"sampling.max_tokens": longest})


def longest_play(recipe: Recipe) -> int:
    """Tokens of the longest prompt and completion of any task set."""
    longest = recipe.sampling.max_tokens
    if isinstance(recipe.tasks, TasksConfig):
        return recipe.tasks.max_prompt_tokens + longest
    return max(one.max_prompt_tokens + (one.max_tokens or longest) for one in recipe.tasks)


def tokenizer_of(recipe: Recipe) -> "HubTokenizer":
    """The tokenizer of the recipe's model, with the recipe's chat template. Raises UserError if either is missing."""
    _require_torch()
    from strop.policies import loading

    inner = loading.load_tokenizer(recipe.model.name, recipe.model.revision)
    ends = loading.load_end_ids(recipe.model.name, inner, recipe.model.revision)
    return _with_template(recipe, inner, ends)


def local_tokenizer(recipe: Recipe, files: "ModelFiles") -> "HubTokenizer | None":
    """Like `tokenizer_of`, but without torch, to count tokens; None without a fast tokenizer. Raises UserError."""
    if not (files.folder / "tokenizer.json").is_file():
        return None
    from transformers import PreTrainedTokenizerFast

    try:
        inner = PreTrainedTokenizerFast.from_pretrained(str(files.folder))
    except Exception as error:  # from several libraries
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(
            f"model.name={files.folder}: its tokenizer cannot be read ({cause:.200}); copy it again"
        ) from None
    return _with_template(recipe, inner, ())


def _with_template(recipe: Recipe, inner: Any, ends: Iterable[int]) -> "HubTokenizer":
    from strop.policies.tokenizer import HubTokenizer

    if recipe.model.chat_template is not None:
        try:
            inner.chat_template = Path(recipe.model.chat_template).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                f"model.chat_template={recipe.model.chat_template!r}: cannot be read ({error}); give a Jinja file"
            ) from error
    return HubTokenizer(inner, ends)


def answers(
    policy: Policy, prompts: Sequence[Sequence[int]], seeds: Sequence[int], params: SamplingParams
) -> Iterator[tuple[int, Completion]]:
    """Samples many completions at once and yields (row, completion) as rows finish. Blocks.

    Closing the iterator cancels the others. The first row that fails ends it with its error.
    """
    waiting = {
        row: policy.submit(Request(prompt, seed, params))
        for row, (prompt, seed) in enumerate(zip(prompts, seeds, strict=True))
    }
    try:
        while waiting:
            for row in [row for row, future in waiting.items() if future.done()]:
                yield row, waiting.pop(row).result()
            if waiting:
                policy.work(1.0)
    finally:
        for future in waiting.values():
            future.cancel()
        policy.work(0)
