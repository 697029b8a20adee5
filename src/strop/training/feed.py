"""Feeds: where the loop gets its groups. `TaskFeed` plays a task stream; others bring in rollouts from elsewhere.

Which weights play a step does not depend on timing: those after the previous step or, if the step is played ahead
(during the previous update), those of one step earlier. Groups played ahead are part of the checkpoint, so that a
resumed run uses the same ones.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from strop.config.algorithms import ProcessAdvantage
from strop.config.run_stages import RunStage
from strop.config.schema import Recipe
from strop.policies import release_memory
from strop.rewards.rubric import RubricBySet, WeightedRubric
from strop.rollouts.admission import Clock
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.groups import MixedStream, Stream, TaskShare, fill_step, play_groups
from strop.rollouts.process import with_steps
from strop.tasks.task_sets import TaskSet, tried_tasks
from strop.training.ranks import Ranks
from strop.training.watch import longest_wait
from strop_verify.core import files
from strop_verify.core.progress import PROGRESS
from strop_verify.core.protocols import Verifier
from strop_verify.core.rollout import Group, Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.threads import begun
from strop_verify.core.verdict import Outcome, Verdict

AHEAD = "ahead.jsonl.zst"
"""File in a checkpoint with the next step's groups, if they were played ahead."""


@dataclass(frozen=True)
class StepGroups:
    """A step's groups, scored, with the token ids and log-probabilities that were sampled.

    played  all groups
    learnt  indices in `played` of the groups to learn from
    spent   wall seconds by activity; rollouts: the total time
    """

    played: list[Group]
    learnt: list[int]
    spent: Clock = field(default_factory=Clock)
    rollouts: float = 0.0


class Feed:
    """Gives each step its groups. All processes make the same calls and get the same groups.

    A subclass with only `take` plays nothing ahead and keeps nothing in checkpoints.
    """

    progress: Callable[[str, int, int], None] = staticmethod(lambda what, done, total: None)
    """Receives what is being played, how many rollouts are done, and of how many."""
    played_seconds: float | None = None
    """Wall seconds spent playing, during updates or not; None if the rollouts come from elsewhere."""
    keeps_start = False
    """Whether it needs a checkpoint of the model before the first step."""

    def start(self) -> None:
        """Called when a run begins, not when it is resumed."""

    def take(self, stage: RunStage, number: int) -> StepGroups:
        """The groups of step `number`, from 1. The weights of the previous step have just been published."""
        raise NotImplementedError

    def begin(self, stage: RunStage, number: int) -> None:
        """Called before the previous step's update, during which it may get groups of step `number`."""

    def wait(self) -> None:
        """Called after the update; returns when all plays begun have ended, so that weights may be published. It may
        undo the update by loading the newest checkpoint.
        """

    def measured(self) -> dict[str, Any]:
        """The feed's own numbers for the step's line of metrics."""
        return {}

    def save(self, checkpoint: Path) -> dict[str, Any]:
        """State for a resumed run, as JSON; larger data goes to files in `checkpoint`. Only rank 0 calls it."""
        return {}

    def load(self, checkpoint: Path, state: dict[str, Any]) -> None:
        """Restores what `save` wrote and returned."""

    def end(self) -> None:
        """Called after the checkpoint of the last step."""

    @property
    def set_aside(self) -> Mapping[str, str]:
        """{id: why} of the tasks that are no longer played."""
        return {}


@dataclass(frozen=True)
class DistributedRollouts:
    """Plays tasks in all processes: each plays its share and gets all rollouts. All must make the same calls."""

    player: Dispatcher
    rubric: WeightedRubric | RubricBySet
    ranks: Ranks
    by_turn: bool = False
    """Whether turns with a verdict get their own reward."""
    process: ProcessAdvantage | None = None
    """How statements are valued; None if they are not."""

    def for_thread(self) -> "DistributedRollouts":
        """A copy for use in another thread. All processes must call it."""
        return replace(self, ranks=self.ranks.for_thread())

    def control(self) -> "DistributedRollouts | None":
        """The environment's control at equal sampled tokens; None if it has none."""
        found = self.player.control()
        return replace(self, player=found) if found else None

    def groups(
        self, tasks: Sequence[Task], size: int, params: SamplingParams, *, seed: int, step: int, round: int,
        done: Callable[[int, int], None] = lambda done, total: None,
    ) -> list[Group]:  # fmt: skip
        """One scored group of `size` rollouts per task, in order. `done` gets the progress of this process."""
        numbers = {"seed": seed, "step": step, "round": round}
        ranks, alone = self.ranks, self.ranks.world == 1
        mine = tasks if alone else ranks.share(tasks)
        played = play_groups(
            self.player, self.rubric, mine, size, params, **numbers, by_turn=self.by_turn, patient=True, done=done,
        )  # fmt: skip
        if self.process is not None:
            form = self.process
            played = with_steps(self.player, mine, played, params, form.continuations, form.most_steps)
        return played if alone else ranks.interleave(ranks.gather(played))

    def rollouts(
        self, tasks: Sequence[Task], samples: int, params: SamplingParams, *, seed: int, tag: str
    ) -> Iterator[Rollout]:
        """Every task `samples` times, with verdicts and without scores, in any order."""
        if self.ranks.world == 1:
            yield from self.player.play(tasks, samples, params, seed=seed, tag=tag)
            return
        mine = self.player.play(self.ranks.share(tasks), samples, params, seed=seed, tag=tag)
        for share in self.ranks.gather(list(mine)):
            yield from share


def reference_verdicts(verifier: Verifier, tasks: Sequence[Task]) -> dict[str, Verdict]:
    """{task id: the verdict on its reference}; a failed one is judged again, since the machine may have been busy."""
    first = [verifier.submit(task, task.reference) for task in tasks]
    found = {task.id: future.result() for task, future in zip(tasks, first, strict=True)}
    doubtful = [task for task in tasks if failed(found[task.id])]
    again = [verifier.submit(task, task.reference) for task in doubtful]
    for task, future in zip(doubtful, again, strict=True):
        found[task.id] = future.result()
    return found


def failed(verdict: Verdict) -> bool:
    """Whether the answer failed, not the grader."""
    return verdict.scored and not verdict.passed


def why(verdict: Verdict) -> str:
    """Why an answer did not pass, in at most 300 characters."""
    wrong = next((test for test in verdict.tests if test.outcome is not Outcome.PASSED), None)
    cause = verdict.detail or (f"{wrong.id}: {wrong.message}" if wrong else "")
    return " ".join(f"{verdict.outcome}: {cause}".removesuffix(": ").split())[:300]


class TriedStream(Stream):
    """A stream that judges a task's reference when the task is first drawn, and refuses the task if the reference
    fails: its reward would be 0 forever.

    play     judges, in rank 0
    untried  ids of the tasks whose reference is not judged yet
    """

    def __init__(self, inner: MixedStream, play: DistributedRollouts, untried: set[str]) -> None:
        self._inner, self._play, self._untried = inner, play, untried
        self.state, self.load = inner.state, inner.load

    @property
    def set_aside(self) -> Mapping[str, str]:
        """{id: why} of the tasks that are no longer drawn, including refused ones."""
        return self._inner.set_aside

    def draw(self, count: int, step: int) -> list[Task]:
        """The next tasks, after refusing those whose reference fails; see `Stream`."""
        found: dict[str, Task] = {}
        while more := [task for task in self._inner.draw(count - len(found), step) if task.id not in found]:
            refused = self._refused([task for task in more if task.id in self._untried])
            for task_id, cause in refused.items():
                self._inner.refuse(task_id, f"its reference fails its own tests ({cause})")
            found |= {task.id: task for task in more if task.id not in refused}
            if not refused:
                break
        return list(found.values())

    def played(self, group: Group, *, compares: bool = True) -> None:
        """Records the result of a group; see `Stream`."""
        self._inner.played(group, compares=compares)

    def _refused(self, tasks: Sequence[Task]) -> dict[str, str]:
        self._untried -= {task.id for task in tasks}
        player, started = self._play.player, time.perf_counter()

        def judged() -> dict[str, str]:
            verdicts = reference_verdicts(player.verifier, tasks)
            return {task_id: why(verdict) for task_id, verdict in verdicts.items() if failed(verdict)}

        refused = self._play.ranks.from_main(judged) if tasks else {}
        player.clock.verifying += time.perf_counter() - started
        return refused


class TaskFeed(Feed):
    """Plays the recipe's tasks. With grpo.max_staleness a thread plays the next step during the update, with a copy of
    the weights.
    """

    def __init__(self, recipe: Recipe, play: DistributedRollouts, sets: Sequence[TaskSet]) -> None:
        self._plays_ahead = recipe.grpo.max_staleness > 0
        self._play = play.for_thread() if self._plays_ahead else play
        stream = MixedStream({one.name: TaskShare(one.train, one.weight_at) for one in sets}, recipe.seed)
        self._stream = TriedStream(stream, self._play, {task.id for task in tried_tasks(sets)})
        self._begun: Future[StepGroups] | None = None
        self._ahead: StepGroups | None = None
        self.played_seconds: float = 0.0

    def take(self, stage: RunStage, number: int) -> StepGroups:
        """The groups played ahead, else plays them now; see `Feed`."""
        ahead, self._ahead = self._ahead, None
        return ahead or self._played(stage, number)

    def begin(self, stage: RunStage, number: int) -> None:
        """Starts playing the next step in a thread, if it is played ahead."""
        if self._plays_ahead:
            self._begun = begun(partial(self._played, stage, number), f"step {number}")

    def wait(self) -> None:
        """Waits for the groups that are played ahead."""
        if self._begun is not None:
            self._ahead, self._begun = self._begun.result(), None

    def save(self, checkpoint: Path) -> dict[str, Any]:
        """Writes the groups played ahead; returns the stream's state."""
        if self._ahead is not None:
            lines = [files.json_line(self._ahead.learnt)]
            lines += (f"{group.model_dump_json()}\n".encode() for group in self._ahead.played)
            files.write_jsonl_zst(checkpoint / AHEAD, lines)
        return self._stream.state()

    def load(self, checkpoint: Path, state: dict[str, Any]) -> None:
        """Restores the stream's state and the groups played ahead."""
        self._stream.load(state)
        if (checkpoint / AHEAD).is_file():
            learnt, *groups = files.read_jsonl(checkpoint / AHEAD)
            self._ahead = StepGroups([Group.model_validate(group) for group in groups], learnt)

    @property
    def set_aside(self) -> Mapping[str, str]:
        """{id: why} of the tasks that the stream no longer draws."""
        return self._stream.set_aside

    def _played(self, stage: RunStage, number: int) -> StepGroups:
        """Plays the groups of a step with the most recently published weights."""
        release_memory()
        recipe, started = stage.recipe, time.perf_counter()

        def play(tasks: Sequence[Task], params: SamplingParams, round: int) -> list[Group]:
            size, step = recipe.grpo.group_size, number - 1
            numbers = {"seed": recipe.seed, "step": step, "round": round}
            done = partial(self.progress, f"step {number}: rollouts")
            return self._play.groups(tasks, size, params, **numbers, done=done)

        with PROGRESS.at(f"playing step {number}", most=longest_wait(recipe)):
            learnt, played = fill_step(play, self._stream, recipe, number)
        places, seconds = [played.index(group) for group in learnt], time.perf_counter() - started
        self.played_seconds += seconds
        return StepGroups(played, places, self._play.player.clock.take(), seconds)
