"""Groups for a training step: draws tasks, plays and scores them, and replaces groups without signal.

Tasks are drawn in shuffled passes over one task set, or over several by their weights.
"""

import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from strop.config.schema import Recipe
from strop.rewards.rubric import RubricBySet, WeightedRubric, total
from strop.rollouts.dispatcher import Dispatcher
from strop_verify.core.errors import TooManyErrors
from strop_verify.core.ids import derive_seed, rng
from strop_verify.core.protocols import JudgedRollout
from strop_verify.core.rollout import CUT, Group, Rollout, SamplingParams, Score, Turn
from strop_verify.core.task import Task

MAX_REST = 3
"""A task without signal k times in a row rests for min(2^k - 1, 2^MAX_REST - 1) passes."""
MOST_FAULTS = 3
"""A task is set aside if the grader fails on this many of its groups in a row."""
_FAILED = f"the grader failed on it {MOST_FAULTS} times"


class Stream(Protocol):
    """Where a step's tasks come from."""

    @property
    def set_aside(self) -> Mapping[str, str]:
        """{id: why} of the tasks that are no longer drawn."""

    def draw(self, count: int, step: int) -> list[Task]:
        """The next `count` different tasks, or fewer."""

    def played(self, group: Group, *, compares: bool) -> None:
        """Records the result of a group."""


def failed_by_us(rollout: Rollout) -> bool:
    """Whether the grader failed on a rollout; a play that reached its deadline does not count."""
    return rollout.verdict is not None and not rollout.verdict.scored and rollout.stop_reason != "deadline"


@dataclass(frozen=True)
class TaskShare:
    """A set's training tasks, and its weight by training step, from 1."""

    tasks: Sequence[Task]
    weight_at: Callable[[int], float]


class _Passes:
    """Shuffled passes over the tasks of one set; `rest` is {task id: passes to sit out}."""

    def __init__(self, tasks: Sequence[Task], seed: int) -> None:
        self.tasks = {task.id: task for task in sorted(tasks, key=lambda task: task.id)}
        self.seed, self.number = seed, 0
        self.queue: list[str] = []
        self.rest: dict[str, int] = {}

    def draw(self, count: int, gone: Container[str]) -> list[Task]:
        """The next `count` different tasks that are not in `gone`; there must be that many."""
        chosen: list[str] = []
        while len(chosen) < count:
            if not self.queue:
                self._begin()
            candidate = self.queue.pop(0)
            if candidate not in chosen and candidate not in gone:
                chosen.append(candidate)
        return [self.tasks[task_id] for task_id in chosen]

    def _begin(self) -> None:
        order = [*self.tasks]
        rng(self.seed, "pass", self.number).shuffle(order)
        self.number += 1
        awake = [task_id for task_id in order if self.rest.get(task_id, 0) == 0]
        self.rest = {task_id: left - 1 for task_id, left in self.rest.items() if left > 1}
        self.queue = awake or order


class MixedStream:
    """Draws from one task set or several; pauses tasks without signal, and sets aside tasks that are refused or on
    which the grader fails.

    Over the steps, each set gets exactly its share: each place goes to the set that is furthest behind its weight. The
    state is a small JSON value, so a resumed run draws the same tasks.
    """

    def __init__(self, sources: Mapping[str, TaskShare], seed: int) -> None:
        self._weight_at = {name: source.weight_at for name, source in sources.items()}
        self._sets = {
            name: _Passes(source.tasks, derive_seed(seed, "task set", name) if name else seed)
            for name, source in sources.items()
        }
        self._set_of = {task_id: passes for passes in self._sets.values() for task_id in passes.tasks}
        self._owed = dict.fromkeys(sources, 0.0)
        self._silent: dict[str, int] = {}
        self._faults: dict[str, int] = {}
        self._refused: dict[str, str] = {}

    @property
    def set_aside(self) -> dict[str, str]:
        """{id: why} of the tasks that are no longer drawn."""
        failed = [task_id for task_id, count in self._faults.items() if count >= MOST_FAULTS]
        return {task_id: _FAILED for task_id in sorted(failed)} | self._refused

    def refuse(self, task_id: str, why: str) -> None:
        """Sets a task aside for good."""
        self._refused[task_id] = why

    def draw(self, count: int, step: int) -> list[Task]:
        """The next `count` different tasks for a training step, from 1, set by set; fewer if there are fewer."""
        gone, places = self.set_aside.keys(), dict.fromkeys(self._sets, 0)
        there = {name: len(passes.tasks.keys() - gone) for name, passes in self._sets.items()}
        for _ in range(count):
            weights = {name: at(step) for name, at in self._weight_at.items() if places[name] < there[name]}
            if not any(weights.values()):
                break
            for name, weight in weights.items():
                self._owed[name] += weight / sum(weights.values())
            chosen = max((name for name in weights if weights[name]), key=lambda name: self._owed[name])
            self._owed[chosen] -= 1
            places[chosen] += 1
        return [task for name, number in places.items() for task in self._sets[name].draw(number, gone)]

    def played(self, group: Group, *, compares: bool = True) -> None:
        """Records whether the grader failed on a group and, if rewards are compared, whether it had signal."""
        if any(failed_by_us(rollout) for rollout in group.rollouts):
            self._faults[group.task_id] = self._faults.get(group.task_id, 0) + 1
        elif self._faults.get(group.task_id, 0) < MOST_FAULTS:
            self._faults.pop(group.task_id, None)
        if not compares:
            return
        if group.has_signal:
            self._silent.pop(group.task_id, None)
            return
        silent = min(self._silent.get(group.task_id, 0) + 1, MAX_REST)
        self._silent[group.task_id] = silent
        self._set_of[group.task_id].rest[group.task_id] = 2**silent - 1

    def state(self) -> dict[str, Any]:
        """State for a resumed run."""
        of_tasks: dict[str, dict[str, Any]] = {
            "silent": self._silent,
            "faults": self._faults,
            "refused": self._refused,
        }
        sets = {
            name: {"pass": one.number, "queue": one.queue, "rest": one.rest}
            | {what: {k: v for k, v in table.items() if k in one.tasks} for what, table in of_tasks.items()}
            for name, one in self._sets.items()
        }
        return {"owed": self._owed, "sets": sets}

    def load(self, state: dict[str, Any]) -> None:
        """Restores what `state` returned."""
        self._owed, self._silent, self._faults, self._refused = dict(state["owed"]), {}, {}, {}
        for name, passes in self._sets.items():
            kept = state["sets"][name]
            passes.number, passes.queue, passes.rest = kept["pass"], list(kept["queue"]), dict(kept["rest"])
            self._silent |= kept["silent"]
            self._faults |= kept.get("faults", {})
            self._refused |= kept.get("refused", {})


def scored(
    rubric: WeightedRubric | RubricBySet,
    played: Sequence[tuple[Task, Rollout]],
    *,
    by_turn: bool = False,
    patient: bool = False,
) -> list[Rollout]:
    """The judged rollouts with scores and rewards, in order. With `by_turn`, also scores each turn that has a verdict,
    as if the play had ended there. `patient`: see `WeightedRubric.score_all`.
    """
    judged = [
        JudgedRollout(task, rollout, rollout.verdict)
        for task, rollout in played
        if rollout.verdict is not None
    ]
    turns = [
        (number, place)
        for number, one in enumerate(judged)
        for place, turn in enumerate(one.rollout.turns)
        if by_turn and turn.verdict is not None
    ]
    asked = [*judged, *(_until(judged[number], place) for number, place in turns)]
    scores = rubric.score_all(asked, patient=patient)
    of_turns = dict(zip(turns, scores[len(judged) :], strict=True))
    found = list[Rollout]()
    for number, (_, rollout, _) in enumerate(judged):
        kept = [_scored_turn(turn, of_turns.get((number, place))) for place, turn in enumerate(rollout.turns)]
        reward = None if rollout.left_out == "scores" else total(scores[number])
        changes = {"scores": scores[number], "reward": reward, "turns": kept}
        found.append(rollout.model_copy(update=changes))
    return found


def _until(judged: JudgedRollout, place: int) -> JudgedRollout:
    """A play as if it had ended after turn `place`."""
    turn = judged.rollout.turns[place]
    assert turn.verdict is not None
    so_far = judged.rollout.turns[: place + 1]
    changes = {"turns": so_far, "answer": turn.answer, "verdict": turn.verdict, "stop_reason": CUT}
    return JudgedRollout(judged.task, judged.rollout.model_copy(update=changes), turn.verdict)


def _scored_turn(turn: Turn, scores: list[Score] | None) -> Turn:
    return turn if scores is None else turn.model_copy(update={"scores": scores, "reward": total(scores)})


def play_groups(
    player: Dispatcher,
    rubric: WeightedRubric | RubricBySet,
    tasks: Sequence[Task],
    group_size: int,
    params: SamplingParams,
    *,
    seed: int,
    step: int,
    round: int = 0,
    by_turn: bool = False,
    patient: bool = False,
    done: Callable[[int, int], None] = lambda done, total: None,
) -> list[Group]:
    """One group per task, in order; a repeated task has several. A task drawn again in a later round gets new seeds.
    `by_turn`, `patient`: see `scored`; `done` is called with the numbers of finished rollouts and of all rollouts.
    """
    set_of = rubric.set_of if isinstance(rubric, RubricBySet) else {}
    by_id = {task.id: task for task in tasks}
    found: list[Rollout] = []
    for rollout in player.play(tasks, group_size, params, seed=seed, tag=f"{step}.{round}"):
        found.append(rollout)
        done(len(found), len(tasks) * group_size)
    played = sorted(found, key=lambda rollout: (rollout.task_id, rollout.index))
    members: dict[str, list[Rollout]] = {}
    pairs, started = [(by_id[r.task_id], r) for r in played], time.perf_counter()
    for rollout in scored(rubric, pairs, by_turn=by_turn, patient=patient):
        members.setdefault(rollout.task_id, []).append(rollout)
    player.clock.rewards += time.perf_counter() - started
    groups = []
    for task in tasks:
        group, members[task.id] = members[task.id][:group_size], members[task.id][group_size:]
        set_name = set_of.get(task.id, "")
        groups.append(Group(task_id=task.id, step=step, rollouts=group, task_set=set_name))
    return groups


PlayRound = Callable[[Sequence[Task], SamplingParams, int], list[Group]]
"""(tasks, sampling, round) -> scored groups."""


def fill_step(play: PlayRound, stream: Stream, recipe: Recipe, step: int) -> tuple[list[Group], list[Group]]:
    """(groups to learn from, every group played) in a training step, from 1.

    Groups without signal are replaced by groups of other tasks, up to grpo.max_refill_rounds times ("dynamic sampling",
    DAPO, arXiv 2503.14476, section 3.2). If some are still missing, groups without signal, which have no gradient,
    complete the step.
    """
    grpo, params = recipe.grpo, recipe.sampling.params()
    played: list[Group] = []
    for round in range((grpo.max_refill_rounds if grpo.refill else 0) + 1):
        missing = grpo.tasks_per_step - sum(group.has_signal for group in played)
        if missing <= 0:
            break
        groups = play(stream.draw(missing, step), params, round)
        for group in groups:
            stream.played(group, compares=grpo.compares)
        played += groups
    if not played:
        task_id, why = next(iter(stream.set_aside.items()), ("", "there are none"))
        raise TooManyErrors(f"no task is left to train on: each was set aside, such as {task_id}: {why}")
    return sorted(played, key=lambda group: not group.has_signal)[: grpo.tasks_per_step], played


def rollouts_of(groups: Sequence[Group]) -> Iterator[Rollout]:
    """Every rollout, group by group."""
    for group in groups:
        yield from group.rollouts
