"""Task sets, rewards and environment of a run, from the recipe or the calling process; and trial plays by an expert who
knows the answer.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strop.config.schema import Recipe
from strop.environments.registry import (
    BoundEnvironment,
    EnvironmentFactory,
    EnvironmentSource,
    find_environment,
    played_by,
    turns_of,
)
from strop.policies.scripted import ScriptedPolicy
from strop.rewards.rubric import RubricBySet, WeightedRubric
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.rollouts.encoding import check_prompts, without_long_prompts
from strop.tasks.prompts import render, solution
from strop.tasks.public_tests import shows_tests
from strop.tasks.splits import assign_splits
from strop.tasks.task_sets import TaskSet, split_tasks, task_sets
from strop_verify.core.errors import UserError
from strop_verify.core.ids import content_hash, rng
from strop_verify.core.protocols import Environment, Tokenizer, Verifier
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.verification.project.needs import copies_left

GIVEN = "given.json"
"""File in a run folder that records what the starting process passed in."""


@dataclass(frozen=True)
class Overrides:
    """What the calling process passes to a run, in place of what the recipe names.

    tasks  split by their own field if all have it, else by tasks.held_out_fraction
    """

    tasks: Sequence[Task] | None = None
    rubric: WeightedRubric | None = None
    environment: EnvironmentFactory | str | None = None
    made: list[TaskSet] | None = None
    """The task sets, if already built."""

    def names(self) -> dict[str, Any]:
        """A JSON description for people to read, by which the overrides are recognised again."""
        kind, named = self.environment, dict[str, Any]()
        if self.tasks is not None:
            digest = content_hash([(task.id, task.split) for task in self.tasks])
            named["tasks"] = {"count": len(self.tasks), "digest": digest}
        if self.rubric is not None:
            named["rewards"] = self.rubric.weights
        if kind is not None:
            named["environment"] = (
                kind if isinstance(kind, str) else getattr(kind, "__qualname__", repr(kind))
            )
        return named

    def check(self, run: Path) -> None:
        """Raises UserError if the run in that folder was started with other overrides."""
        path, now = run / GIVEN, self.names()
        before = json.loads(path.read_text()) if path.is_file() else {}
        if differs := [name for name in {**before, **now} if before.get(name) != now.get(name)]:
            brought = ", ".join(before) or "nothing"
            remedy = f"strop.train(..., resume={str(run)!r})"
            raise UserError(
                f"{run} was started by a program that passed {brought} of its own; resume it with the same by {remedy} "
                f"(different: {', '.join(differs)})"
            )

    def sets(self, recipe: Recipe, say: Callable[[str], None]) -> list[TaskSet]:
        """The run's task sets. Raises UserError."""
        if self.made is not None:
            return self.made
        if self.names() and isinstance(recipe.tasks, list):
            fault = "tasks, rewards or an environment passed by a program need a recipe with one task set"
            raise UserError(f"{fault}; this one has {len(recipe.tasks)}")
        if self.tasks is None:
            return task_sets(recipe, say)
        if len({task.id for task in self.tasks}) < len(self.tasks) or not self.tasks:
            raise UserError("tasks is empty or has duplicates; pass each task once")
        recipe, tasks = recipe.having({"tasks.source": "given"}), list(self.tasks)
        if not all(task.split for task in tasks):
            tasks = assign_splits(tasks, recipe.task_set.held_out_fraction)
        return [TaskSet("", recipe, *split_tasks(recipe, tasks))]


NOTHING = Overrides()


def rubric_of(sets: Sequence[TaskSet]) -> WeightedRubric | RubricBySet:
    """The rewards of the run, by task set if there are several. Raises UserError."""
    rubrics = {
        one.name: WeightedRubric.from_names([(reward.name, reward.weight) for reward in one.recipe.rewards])
        for one in sets
    }
    if len(sets) == 1:
        return rubrics[sets[0].name]
    return RubricBySet(rubrics, {task.id: one.name for one in sets for task in one.tasks})


@dataclass(frozen=True)
class PlayedBySet:
    """Makes each task's environment according to its task set."""

    makers: Mapping[str, BoundEnvironment]
    set_of: Mapping[str, str]

    def __call__(self, task: Task) -> Environment:
        """The environment of one rollout."""
        return self.makers[self.set_of[task.id]](task)

    def source_of(self, task: Task) -> EnvironmentSource | None:
        """How another process makes the task's environment; see `BoundEnvironment`."""
        return self.makers[self.set_of[task.id]].source

    @property
    def control(self) -> "PlayedBySet | None":
        """See `BoundEnvironment`; sets without a control are played unchanged."""
        controls = {name: maker.control for name, maker in self.makers.items()}
        if not any(controls.values()):
            return None
        return PlayedBySet(
            {name: controls[name] or maker for name, maker in self.makers.items()}, self.set_of
        )


def environment_of(
    sets: Sequence[TaskSet], kind: EnvironmentFactory | str | None
) -> BoundEnvironment | PlayedBySet:
    """How each task is played; `kind` replaces tasks.environment."""
    makers = {one.name: played_by(one.recipe, kind=kind) for one in sets}
    if len(sets) == 1:
        return makers[sets[0].name]
    return PlayedBySet(makers, {task.id: one.name for one in sets for task in one.tasks})


def prompts_that_fit(
    sets: Sequence[TaskSet],
    given: Overrides,
    tokenizer: Tokenizer,
    say: Callable[[str], None],
    longest: int = 0,
) -> tuple[list[TaskSet], int]:
    """(the sets without the tasks that `tasks.too_long` leaves out, tokens of the longest prompt, at least `longest`).
    `say` gets the counts of tasks left out.

    Raises UserError for a longer prompt if `tasks.too_long` refuses it, and if no training task is left.
    """
    kept = list[TaskSet]()
    for one in sets:
        config, environment = one.recipe.task_set, environment_of([one], given.environment)
        most = config.max_prompt_tokens
        if config.too_long == "refuse":
            longest = max(longest, check_prompts(one.tasks, environment, tokenizer, most))
            kept.append(one)
            continue
        (train, first), (held_out, second) = (
            without_long_prompts(tasks, environment, tokenizer, most) for tasks in (one.train, one.held_out)
        )
        fewer = (len(one.train) - len(train), len(one.held_out) - len(held_out))
        place = f"{one.name}: " if one.name else ""
        if any(fewer):
            say(
                f"{place}prompts of more than tasks.max_prompt_tokens={most} are left out: {fewer[0]} of "
                f"{len(one.train)} training tasks, {fewer[1]} of {len(one.held_out)} held out"
            )
        if not train:
            fault = f"{place}all {len(one.train)} training tasks have prompts of more than"
            raise UserError(f"{fault} tasks.max_prompt_tokens={most}; raise it, or use shorter tasks")
        kept.append(replace(one, train=train, held_out=held_out))
        longest = max(longest, first, second)
    return kept, longest


EXPERT, GUESS = "of the environment's expert", "of an expert who guesses what the agent asks for"
REFERENCE = "that answered with the reference"
"""Phrases for who played."""


def shown_play(one: TaskSet, task: Task, verifier: Verifier, given: Overrides) -> tuple[Rollout, str]:
    """(a play by the environment's expert, or with the reference if the expert says nothing; who played)."""
    config, said = one.recipe.task_set, ""
    with suppress(UserError):  # an environment with its own prompts
        said = solution(task, render(task, config.style, config.template, config.answer), config.answer)
    environment, shown = environment_of([one], given.environment), list[Iterator[str]]()
    who, playing = REFERENCE, None

    def made(task: Task) -> Environment:
        nonlocal playing
        playing = environment(task)
        if show := getattr(playing, "demonstrate", None):
            shown.append(show(rng(one.recipe.seed, "preflight", task.id)))
        return playing

    def answer(prompt: Sequence[int], seed: int, number: int) -> str:
        nonlocal who
        text = next(shown[-1], None) if shown else None
        if text is None:
            return said
        who = GUESS if getattr(playing, "guesses", False) else EXPERT
        return text

    recipe = one.recipe.having({"play.max_tokens": None})  # the limit is in a model's tokens
    player = dispatcher_of(recipe, ScriptedPolicy(answer), verifier, made, prompt=1 << 40)
    (rollout,) = player.play([task], 1, SamplingParams(max_tokens=1 << 20), seed=recipe.seed, tag="preflight")
    return rollout, who


def unseen(one: TaskSet, given: Overrides) -> Iterator[str]:
    """Warnings about a set's plays: too few turns, test results that stay hidden, copies of the answer to be found."""
    environment, most = one.recipe.task_set.environment, one.recipe.play.max_turns
    place = f"{one.name}: " if one.name else ""
    if (turns := turns_of(find_environment(given.environment or environment)) or 0) > most:
        yield (
            f"{place}plays have {most} turns (play.max_turns), fewer than the {turns} of their environment; raise "
            "play.max_turns, or lower tasks.environment.turns"
        )
    tells = environment.type not in ("feedback", "workspace") or environment.options.get("tell") is not None
    if not tells and (hidden := sum(not shows_tests(task) for task in one.tasks)):
        yield (
            f"{place}{hidden} of {len(one.tasks)} tasks show no tests, so plays are told only whether they passed; "
            "tasks.environment.tell=true tells what failed, by the tests that judge"
        )
    for line in copies_left(one.tasks):
        yield f"{place}{line}; it may hold what the task asks for"
