"""What a run needs, made from its recipe: tasks, model, policy, verifier, player."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from transformers import set_seed

from strop.config.algorithms import PerTurnAdvantage
from strop.config.schema import Recipe
from strop.core.errors import UserError
from strop.core.ids import content_hash
from strop.core.protocols import Environment, Trainable
from strop.core.task import Task
from strop.environments.kinds import Kind, Played, played_by
from strop.policies.open import open_trainable, tokenizer_of
from strop.policies.tokenizer import HubTokenizer
from strop.rewards.rubric import RubricBySet, WeightedRubric
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.rollouts.encoding import check_prompts
from strop.tasks.demos import read_demos
from strop.tasks.splits import assign_splits
from strop.tasks.task_sets import TaskSet, split_tasks, task_sets
from strop.training.backend import TrainingBackend
from strop.training.feed import DistributedRollouts
from strop.training.ranks import Ranks
from strop.verification import open_configured

GIVEN = "given.json"
"""File of a run folder that notes what the process that began it brought."""


@dataclass(frozen=True)
class Given:
    """What the calling process brings to a run, each in place of what the recipe names.

    tasks  split by their own field; where one has none, by tasks.held_out_fraction as tasks from a source are
    """

    tasks: Sequence[Task] | None = None
    rubric: WeightedRubric | None = None
    environment: Kind | str | None = None

    def names(self) -> dict[str, Any]:
        """What it is, for a reader and to know it again."""
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
        """Raises UserError where the run of that folder was begun with other things than these."""
        path, now = run / GIVEN, self.names()
        before = json.loads(path.read_text()) if path.is_file() else {}
        if differs := [name for name in {**before, **now} if before.get(name) != now.get(name)]:
            brought = ", ".join(before) or "nothing"
            remedy = f"strop.train(..., resume={str(run)!r})"
            raise UserError(
                f"{run} was begun by a program that brought {brought} of its own; resume it with the same by {remedy} "
                f"(not the same: {', '.join(differs)})"
            )

    def sets(self, recipe: Recipe, say: Callable[[str], None]) -> list[TaskSet]:
        """The run's task sets. Raises UserError."""
        if self.names() and isinstance(recipe.tasks, list):
            fault = "tasks, rewards or environment of a program need a recipe with one task set"
            raise UserError(f"{fault}; this one has {len(recipe.tasks)}")
        if self.tasks is None:
            return task_sets(recipe, say)
        if len({task.id for task in self.tasks}) < len(self.tasks) or not self.tasks:
            raise UserError("the tasks given are none, or one of them is given twice; give each once")
        config = recipe.task_set.model_copy(update={"source": "given"})
        recipe, tasks = recipe.model_copy(update={"tasks": config}), list(self.tasks)
        if not all(task.split for task in tasks):
            tasks = assign_splits(tasks, config.held_out_fraction)
        return [TaskSet("", recipe, *split_tasks(recipe, tasks))]


NOTHING = Given()


@dataclass(frozen=True)
class RunParts:
    """A run's parts."""

    backend: TrainingBackend
    policy: Trainable
    tokenizer: HubTokenizer
    play: DistributedRollouts
    ranks: Ranks
    sets: list[TaskSet]
    given: Given

    def publish(self, version: int) -> None:
        """Gives the policy the model's weights, which have seen so many updates. Collective."""
        self.policy.update(version, self.backend.named_weights())

    @property
    def train(self) -> list[Task]:
        """Training tasks of all sets."""
        return [task for one in self.sets for task in one.train]

    @property
    def held_out(self) -> list[Task]:
        """Held-out tasks of all sets."""
        return [task for one in self.sets for task in one.held_out]


def set_up(
    recipe: Recipe, ranks: Ranks, stack: ExitStack, say: Callable[[str], None], given: Given = NOTHING,
    warm: Path | None = None,
) -> RunParts:  # fmt: skip
    """Loads everything, the model last, from the folder `warm` or the recipe's own; what must be closed is entered into
    `stack`. Raises UserError.
    """
    set_seed(recipe.seed % 2**32)
    sets = given.sets(recipe, say)
    if recipe.sft.warm_start and recipe.sft.demos:
        read_demos(Path(recipe.sft.demos))
    rubric = given.rubric or rubric_of(sets)
    tokenizer = tokenizer_of(recipe)
    environment = environment_of(sets, given.environment)
    for one in sets:
        check_prompts(one.tasks, environment, tokenizer, one.recipe.task_set.max_prompt_tokens)
    verifier = open_configured(recipe.sandbox)
    stack.callback(verifier.close)
    backend = TrainingBackend.load(recipe, ranks, ends=tokenizer.eos_ids, folder=warm)
    policy = open_trainable(recipe, backend.model)
    stack.callback(getattr(policy, "close", lambda: None))
    longest = max(one.recipe.task_set.max_prompt_tokens for one in sets)
    player = dispatcher_of(recipe, policy, verifier, environment, prompt=longest)
    by_turn = isinstance(recipe.grpo.advantage, PerTurnAdvantage)
    play = DistributedRollouts(player, rubric, ranks, by_turn=by_turn)
    return RunParts(backend, policy, tokenizer, play, ranks, sets, given)


def untrained_parts(recipe: Recipe, parts: RunParts, stack: ExitStack) -> RunParts:
    """The parts with the model as it was before training, loaded anew."""
    backend = TrainingBackend.load(recipe, parts.ranks)
    policy = open_trainable(recipe, backend.model)
    stack.callback(getattr(policy, "close", lambda: None))
    player = parts.play.player.like(policy, environment_of(parts.sets, parts.given.environment))
    return replace(parts, backend=backend, policy=policy, play=replace(parts.play, player=player))


def rubric_of(sets: Sequence[TaskSet]) -> WeightedRubric | RubricBySet:
    """The rewards of the run, or of each set. Raises UserError."""
    rubrics = {
        one.name: WeightedRubric.from_names([(reward.name, reward.weight) for reward in one.recipe.rewards])
        for one in sets
    }
    if len(sets) == 1:
        return rubrics[sets[0].name]
    return RubricBySet(rubrics, {task.id: one.name for one in sets for task in one.tasks})


@dataclass(frozen=True)
class PlayedBySet:
    """Makes the environment of each task as its set is played."""

    makers: Mapping[str, Played]
    set_of: Mapping[str, str]

    def __call__(self, task: Task) -> Environment:
        """The environment of one rollout."""
        return self.makers[self.set_of[task.id]](task)

    @property
    def control(self) -> "PlayedBySet | None":
        """As of `Played`; sets that are held against nothing are played as they are."""
        controls = {name: maker.control for name, maker in self.makers.items()}
        if not any(controls.values()):
            return None
        return PlayedBySet(
            {name: controls[name] or maker for name, maker in self.makers.items()}, self.set_of
        )


def environment_of(sets: Sequence[TaskSet], kind: Kind | str | None) -> Played | PlayedBySet:
    """How each task is played; `kind` takes the place of tasks.environment."""
    makers = {one.name: played_by(one.recipe, kind=kind) for one in sets}
    if len(sets) == 1:
        return makers[sets[0].name]
    return PlayedBySet(makers, {task.id: one.name for one in sets for task in one.tasks})
