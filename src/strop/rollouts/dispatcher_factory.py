"""Builds the dispatcher of a recipe."""

from collections.abc import Callable
from functools import partial
from typing import Any

from strop.config.schema import Recipe
from strop.config.tasks import FolderConfig, PlayConfig
from strop.environments.surroundings import Surroundings, surroundings_of
from strop.rollouts.dispatcher import Dispatcher
from strop_verify.core.errors import UserError
from strop_verify.core.play import STOPS, PlayLimits
from strop_verify.core.protocols import Environment, Policy, Verifier
from strop_verify.core.task import Task
from strop_verify.sandbox import Folder, Limits, open_box
from strop_verify.sandbox.image import open_image


def dispatcher_of(
    recipe: Recipe,
    policy: Policy,
    verifier: Verifier,
    environment: Callable[[Task], Environment],
    *,
    prompt: int | None = None,
) -> Dispatcher:
    """A dispatcher by the sections `play` and `sandbox`. `prompt`: most tokens of a first prompt, else the recipe's.

    Raises UserError if answers leave no room for a prompt in the model's context.
    """
    context: int | None = getattr(policy, "context", None)
    if context is not None and recipe.sampling.max_tokens >= context:
        raise UserError(
            f"sampling.max_tokens={recipe.sampling.max_tokens} leaves no room for a prompt: the model "
            f"{policy.name} has {context} positions; lower it"
        )
    box, folder = recipe.sandbox, recipe.play.folder
    open_one = partial(open_box, jail=box.jail, allow_unsafe=box.allow_unsafe)
    if box.root:
        if folder.packages:
            raise UserError(
                "play.folder.packages are this machine's and cannot be used with sandbox.root; leave them out"
            )
        open_one = partial(open_one, image=open_image(box.root))
    return Dispatcher(
        policy,
        verifier,
        environment,
        limits=limits_of(recipe.play, prompt or recipe.task_set.max_prompt_tokens),
        order=recipe.play.order,
        open_one=open_one,
        open_folder=partial(Folder, open_one, limits=_limits(folder)),
        surroundings=lambda task: (
            Surroundings(tuple(folder.read))
            if box.root
            else surroundings_of(task, folder.packages, folder.read)
        ),
    )


def _limits(config: FolderConfig) -> Limits:
    return Limits(dir_bytes=config.disk_mb << 20, file_bytes=config.file_mb << 20, processes=config.processes)


def limits_of(config: PlayConfig, prompt: int) -> PlayLimits:
    """The limits of a play in a recipe, with first prompts of at most `prompt` tokens."""
    stops: Any = {reason.replace("_", " "): action for reason, action in config.stops}
    return PlayLimits(
        plays=config.at_once,
        turns=config.max_turns,
        context=config.max_tokens or PlayLimits.context,
        prompt=prompt,
        seconds=config.seconds,
        patience=config.patience,
        setups=config.setups,
        setup=config.setup_seconds,
        close=config.close_seconds,
        feedback=config.feedback,
        stops={**STOPS, **stops},
    )
