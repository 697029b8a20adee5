"""Builds the dispatcher of a recipe."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from strop.config.schema import Recipe
from strop.config.tasks import PlayConfig
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.services import jails_of
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.play import STOPS, PlayLimits
from strop_verify.core.protocols import Environment, Policy, Verifier
from strop_verify.core.task import Task


def dispatcher_of(
    recipe: Recipe,
    policy: Policy,
    verifier: Verifier,
    environment: Callable[[Task], Environment],
    *,
    prompt: int | None = None,
    stack: ExitStack | None = None,
) -> Dispatcher:
    """A dispatcher with the settings of `play` and `sandbox`. `prompt`: maximum tokens of a first prompt, by default
    the recipe's. Plays run in this process or, with a `stack` and until it is closed, where launch.environments says.
    Raises UserError if that is impossible, or if answers leave no room for a prompt in the model's context.
    """
    context: int | None = getattr(policy, "context", None)
    if context is not None and recipe.sampling.max_tokens >= context:
        raise UserError(
            f"sampling.max_tokens={recipe.sampling.max_tokens} leaves no room for a prompt: the model "
            f"{policy.name} has {context} positions; lower it"
        )
    open_one, open_folder, surroundings = jails_of(recipe)
    player = Dispatcher(
        policy,
        verifier,
        environment,
        limits=limits_of(recipe.play, prompt or recipe.task_set.max_prompt_tokens),
        order=recipe.play.order,
        open_one=open_one,
        open_folder=open_folder,
        surroundings=surroundings,
    )
    if stack is not None and recipe.launch.environments == "ray":
        require("ray", package="ray", extra="ray", purpose="launch.environments=ray")
        from strop.rollouts.ray_plays import PlayActors

        actors = PlayActors(recipe)
        stack.callback(actors.close)
        player.moved = actors.moved
    return player


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
