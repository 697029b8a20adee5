"""Builds a run's parts from its recipe: tasks, model, policy, verifier, player."""

from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from transformers import set_seed

from strop.config.algorithms import PerTurnAdvantage, ProcessAdvantage
from strop.config.schema import Recipe
from strop.policies.open import open_trainable, tokenizer_of
from strop.policies.tokenizer import HubTokenizer
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.tasks.task_sets import TaskSet
from strop.training import checkpoints
from strop.training.backend import TrainingBackend
from strop.training.caller_overrides import NOTHING, Overrides, environment_of, prompts_that_fit, rubric_of
from strop.training.feed import DistributedRollouts
from strop.training.ranks import Ranks
from strop.training.sharded_backends import load_backend
from strop_verify.core.progress import PROGRESS
from strop_verify.core.protocols import Sleeper, Trainable
from strop_verify.core.task import Task
from strop_verify.verification import open_configured


@dataclass(frozen=True)
class RunParts:
    """The parts of a run that loop, feed and evaluations share."""

    backend: TrainingBackend
    policy: Trainable
    tokenizer: HubTokenizer
    play: DistributedRollouts
    ranks: Ranks
    sets: list[TaskSet]
    given: Overrides

    def publish(self, version: int) -> None:
        """Gives the policy the model's current weights as version `version`. Collective."""
        with PROGRESS.at("giving the policy its weights", busy=True):
            weights = self.backend.named_weights()
            self.policy.update(version, weights)
            if self.backend.in_parts:  # a policy that sends from one process reads none in the others
                deque(weights, maxlen=0)

    def rest(self) -> None:
        """Makes a policy that can sleep (`policy.sleep`) free its share of the GPU until `publish`."""
        if isinstance(self.policy, Sleeper):
            self.policy.sleep()

    def save(self, folder: Path, state: Callable[[], dict[str, Any]]) -> None:
        """Saves a checkpoint completely or not at all; only rank 0 calls `state`. Collective."""
        main = self.ranks.main
        try:
            if main:
                folder.mkdir(parents=True, exist_ok=True)
            self.backend.save(folder)
            if main:
                self.tokenizer.inner.save_pretrained(folder)  # for strop eval
                checkpoints.complete(folder, state())
        except Exception as error:
            if not main:
                raise
            raise checkpoints.unsaved(folder, error) from error

    @property
    def train(self) -> list[Task]:
        """Training tasks of all sets."""
        return [task for one in self.sets for task in one.train]

    @property
    def held_out(self) -> list[Task]:
        """Held-out tasks of all sets."""
        return [task for one in self.sets for task in one.held_out]


@PROGRESS.at("loading", busy=True)
def set_up(
    recipe: Recipe, ranks: Ranks, stack: ExitStack, say: Callable[[str], None], given: Overrides = NOTHING,
    warm: Path | None = None,
) -> RunParts:  # fmt: skip
    """Loads everything; the model last, from `warm` or as the recipe says. `stack` closes it. Raises UserError."""
    set_seed(recipe.seed % 2**32)
    sets = given.sets(recipe, say)
    rubric = given.rubric or rubric_of(sets)
    tokenizer = tokenizer_of(recipe)
    environment = environment_of(sets, given.environment)
    sets, _ = prompts_that_fit(sets, given, tokenizer, lambda text: None)
    verifier = stack.enter_context(closing(open_configured(recipe.sandbox, recipe.verifier)))
    backend = load_backend(recipe, ranks, ends=tokenizer.eos_ids, folder=warm)
    policy = open_trainable(recipe, backend.model)
    stack.callback(getattr(policy, "close", lambda: None))
    longest = max(one.recipe.task_set.max_prompt_tokens for one in sets)
    player = dispatcher_of(recipe, policy, verifier, environment, prompt=longest, stack=stack)
    form = recipe.grpo.advantage
    process = form if isinstance(form, ProcessAdvantage) else None
    by_turn = isinstance(form, PerTurnAdvantage) or (process is not None and process.steps == "turn")
    valued = process if process and process.steps == "statement" else None
    play = DistributedRollouts(player, rubric, ranks, by_turn=by_turn, process=valued)
    return RunParts(backend, policy, tokenizer, play, ranks, sets, given)


def untrained_parts(
    recipe: Recipe, parts: RunParts, stack: ExitStack, folder: Path | None = None
) -> RunParts:
    """The parts with the untrained model, loaded again, from `folder` or as the recipe says."""
    backend = load_backend(recipe, parts.ranks, folder=folder)
    policy = open_trainable(recipe, backend.model)
    stack.callback(getattr(policy, "close", lambda: None))
    player = parts.play.player.copy_with(policy, environment_of(parts.sets, parts.given.environment))
    return replace(parts, backend=backend, policy=policy, play=replace(parts.play, player=player))
