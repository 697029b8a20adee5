"""Kinds of environments and their options: built in, from a user's file, an installed package or the calling process.

A kind's options are its annotated keyword-only parameters:

    class TryAgain:
        def __init__(self, task, opening, read, *, tries: int = 2): ...

    tasks: {environment: {type: "mine.py:TryAgain", tries: 3}}
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

from strop.config.schema import Recipe
from strop.config.tasks import EnvironmentConfig, TaskSetConfig
from strop.environments.feedback import Feedback
from strop.environments.harness import Harness
from strop.environments.search import Search
from strop.environments.single_turn import NextEdit, SingleTurn
from strop.environments.toolbox import Toolbox, toolbox_of
from strop.environments.workspace import Workspace
from strop.environments.world import ToolWorld
from strop.tasks.answers import answer_in
from strop.tasks.prompts import render
from strop.tasks.rust_prompts import AnswerForm
from strop_verify.core.errors import UserError
from strop_verify.core.play import InvalidOpening, Opening
from strop_verify.core.protocols import Environment
from strop_verify.core.registry import Registry
from strop_verify.core.task import Task
from strop_verify.core.user_code import checked_options, place_of

EnvironmentFactory = Callable[..., Environment]
"""Makes the environment of one rollout, usually a class: called with (task, opening, read) and its options. The opening
is the task in the recipe's prompt style; `read` extracts the code to verify from a completion's text."""

ENVIRONMENTS: Registry[EnvironmentFactory] = Registry(
    "environments",
    {
        "single-turn": SingleTurn,
        "feedback": Feedback,
        "workspace": Workspace,
        "world": ToolWorld,
        "search": Search,
        "harness": Harness,
        "openenv": "strop.neighbours.openenv:RemoteEnvironment",
        "verifiers": "strop.neighbours.verifiers_tasks:ForeignTask",
        "next-edit": NextEdit,
    },
)
"""{tasks.environment.type: kind}."""


def find_environment(
    asked: EnvironmentConfig | str | EnvironmentFactory, place: str = "tasks.environment"
) -> EnvironmentFactory:
    """A kind with its options bound. Raises UserError, prefixed with `place`, for an unknown kind or a wrong option."""
    if isinstance(asked, str):
        asked = EnvironmentConfig(type=asked)
    if not isinstance(asked, EnvironmentConfig):
        return _with_options(asked, {}, place)
    return _with_options(ENVIRONMENTS.find(asked.type, place, "environment"), asked.options, place)


def turns_of(kind: EnvironmentFactory) -> int | None:
    """The default of the option `turns`, the maximum number of completions; None if the kind has no such option."""
    taken = inspect.signature(kind).parameters.get("turns")
    return taken.default if taken is not None and isinstance(taken.default, int) else None


def _with_options(kind: Any, given: Mapping[str, Any], place: str) -> EnvironmentFactory:
    if inspect.isclass(kind) and issubclass(kind, Toolbox):
        kind, given = Workspace, {"tools": toolbox_of(kind, place), **given}
    if not callable(kind):
        raise UserError(f"{place}: {kind!r:.60} is not an environment; give a name, a class or file.py:Class")
    name, where = getattr(kind, "__name__", type(kind).__name__), place_of(getattr(kind, "__init__", kind))
    missing = [m for m in ("begin", "step") if inspect.isclass(kind) and not callable(getattr(kind, m, None))]
    if missing:
        raise UserError(f"{place}: environment {name} has no {' and no '.join(missing)}{place_of(kind)}")
    taken = inspect.signature(kind).parameters.values()
    try:
        plain = [p for p in taken if p.kind is not p.KEYWORD_ONLY]
        inspect.Signature(plain).bind(None, None, None)
    except TypeError as error:
        what = f"environment {name} must take (task, opening, read)"
        raise UserError(f"{place}: {what}: {error}{where}") from None
    return partial(kind, **checked_options(kind, given, place))


class EnvironmentSource(NamedTuple):
    """The arguments of `played_by` with which another process makes the same environments."""

    recipe: Recipe
    style: str | None = None
    kind: str | None = None


@dataclass(frozen=True)
class BoundEnvironment:
    """Makes environments of one kind.

    render     gives a task's opening and the function that extracts code from text
    source     how another process makes them; None if the calling process passed the kind itself
    resampled  whether it has a control (`evaluation.resampled`)
    """

    kind: EnvironmentFactory
    render: Callable[[Task], tuple[Opening, Callable[[str], str]]]
    source: EnvironmentSource | None = None
    resampled: bool | None = None

    def __call__(self, task: Task) -> Environment:
        """The environment of one rollout."""
        return self.kind(task, *self.render(task))

    def source_of(self, task: Task) -> EnvironmentSource | None:
        """`source`, which is the same for every task."""
        return self.source

    @property
    def control(self) -> "BoundEnvironment | None":
        """The kind to compare with at equal sampled tokens: the class attribute `control`, else, if requested, answers
        in one turn.
        """
        usual = "single-turn" if self.resampled else None
        name = getattr(getattr(self.kind, "func", self.kind), "control", usual)
        if not name or self.resampled is False:
            return None
        source = self.source._replace(kind=name) if self.source else None
        return BoundEnvironment(find_environment(name), self.render, source)


def bind(
    kind: EnvironmentFactory,
    style: str,
    template: str | None = None,
    answer: AnswerForm = "function",
    *,
    stop: Sequence[str] | None = None,
    max_tokens: int | None = None,
) -> BoundEnvironment:
    """A factory of environments of one kind in one prompt style, or with a user's template file.

    Without `stop` the style's own stop strings are used.
    """

    @cache
    def rendered(task_id: str) -> tuple[Opening, Callable[[str], str]]:
        try:
            prompt = render(by_id[task_id], style, template, answer)
        except UserError as error:
            if getattr(kind, "func", kind) is SingleTurn:
                raise
            return InvalidOpening(str(error), max_tokens), partial(answer_in, task=by_id[task_id])
        ends = prompt.stop if stop is None else tuple(stop)
        head = prompt.text, tuple(prompt.messages), prompt.prefill
        return Opening(*head, ends, max_tokens, prompt.sections), prompt.assemble

    by_id: dict[str, Task] = {}

    def of(task: Task) -> tuple[Opening, Callable[[str], str]]:
        by_id[task.id] = task
        return rendered(task.id)

    return BoundEnvironment(kind, of)


def played_by(
    recipe: Recipe, style: str | None = None, *, kind: EnvironmentFactory | str | None = None
) -> BoundEnvironment:
    """How the tasks of a recipe with one task set are played.

    `style` replaces tasks.style and the recipe's stop strings, `kind` replaces tasks.environment. The option `turns` is
    capped at play.max_turns. Raises UserError.
    """
    config = recipe.task_set
    found = find_environment(config.environment if kind is None else kind)
    if (turns_of(found) or 0) > recipe.play.max_turns:
        found = partial(found, turns=recipe.play.max_turns)
    made = bind(
        found,
        style or config.style,
        config.template,
        config.answer,
        stop=None if style else recipe.sampling.stop,
        max_tokens=config.max_tokens if isinstance(config, TaskSetConfig) else None,
    )
    made = replace(made, resampled=recipe.evaluation.resampled)
    if kind is not None and not isinstance(kind, str):
        return made
    return replace(made, source=EnvironmentSource(recipe, style, kind))
