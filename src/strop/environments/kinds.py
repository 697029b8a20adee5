"""Kinds of environments by the name that a recipe uses."""

import difflib
from collections.abc import Callable

from strop.config.mixture import TaskSetConfig
from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.protocols import Environment
from strop.core.registry import Registry
from strop.core.task import Task
from strop.environments.frame import Kind, framed
from strop.environments.single_turn import SingleTurn

ENVIRONMENTS: Registry[Kind] = Registry("environments", {"single-turn": SingleTurn})
"""Every kind by its name in tasks.environment."""


def find_environment(name: str) -> Kind:
    """The kind of that name. Raises UserError with a remedy."""
    if name in ENVIRONMENTS:
        return ENVIRONMENTS[name]
    close = difflib.get_close_matches(name, ENVIRONMENTS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(ENVIRONMENTS)}"
    raise UserError(f"tasks.environment: no environment named {name!r}; {hint}")


def played_by(
    recipe: Recipe, style: str | None = None, *, kind: Kind | None = None
) -> Callable[[Task], Environment]:
    """How the tasks of a recipe with one task set are played; `style` takes the place of tasks.style, its own stop
    strings with it, and `kind` that of tasks.environment. Raises UserError.
    """
    config = recipe.task_set
    return framed(
        kind or find_environment(config.environment),
        style or config.style,
        config.template,
        config.answer,
        stop=None if style else recipe.sampling.stop,
        max_tokens=config.max_tokens if isinstance(config, TaskSetConfig) else None,
    )
