"""A task as played by who knows its answer, and what plays of a set are not to know."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from strop.core.errors import UserError
from strop.core.ids import rng
from strop.core.protocols import Environment, Verifier
from strop.core.rollout import Rollout, SamplingParams
from strop.core.task import Task
from strop.policies.scripted import ScriptedPolicy
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.tasks.prompts import render, solution
from strop.tasks.public_tests import shows_tests
from strop.tasks.task_sets import TaskSet
from strop.training.inputs import Given, environment_of
from strop.verification.project.needs import copies_left


def shown_play(one: TaskSet, task: Task, verifier: Verifier, given: Given) -> tuple[Rollout, bool]:
    """The task as played by its environment's own expert, where there is one, else by a policy that always says its
    reference; and whether it was the expert.
    """
    config, said = one.recipe.task_set, ""
    with suppress(UserError):  # its environment has prompts of its own
        said = solution(task, render(task, config.style, config.template, config.answer), config.answer)
    environment, shown = environment_of([one], given.environment), list[Iterator[str]]()

    def made(task: Task) -> Environment:
        playing = environment(task)
        if show := getattr(playing, "demonstrate", None):
            shown.append(show(rng(one.recipe.seed, "preflight", task.id)))
        return playing

    def answer(prompt: Sequence[int], seed: int, number: int) -> str:
        return next(shown[-1], said) if shown else said

    play = one.recipe.play.model_copy(update={"max_tokens": None})  # counted in a model's tokens
    recipe = one.recipe.model_copy(update={"play": play})
    player = dispatcher_of(recipe, ScriptedPolicy(answer), verifier, made, prompt=1 << 40)
    (rollout,) = player.play([task], 1, SamplingParams(max_tokens=1 << 20), seed=recipe.seed, tag="preflight")
    return rollout, bool(shown)


def unseen(one: TaskSet) -> Iterator[str]:
    """What a set's plays are not told, and what they may find that they should not: a line each."""
    environment = one.recipe.task_set.environment
    place = f"{one.name}: " if one.name else ""
    if (
        environment.type in ("feedback", "workspace")
        and environment.options.get("tell") is None
        and one.tasks
    ):
        hidden = sum(not shows_tests(task) for task in one.tasks)
        told = f"{place}{hidden} of {len(one.tasks)} tasks show no tests, so plays are told only whether they passed"
        yield from [f"{told}; tasks.environment.tell=true tells what failed, by the tests that judge"] * bool(
            hidden
        )
    for line in copies_left(one.tasks):
        yield f"{place}{line}; it may hold what the task asks for"
