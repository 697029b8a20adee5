"""Groups for one training step: draw tasks, play, score, and refill groups that carry no signal."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from strop.config.schema import Recipe
from strop.core.errors import TooManyErrors
from strop.core.ids import rng
from strop.core.protocols import JudgedRollout
from strop.core.rollout import Group, Rollout, SamplingParams, Score, Turn
from strop.core.task import Task
from strop.rewards.rubric import RubricBySet, WeightedRubric, total
from strop.rollouts.dispatcher import Dispatcher

MAX_REST = 3
"""A task that gave no signal k times in a row rests for min(2^k - 1, 2^MAX_REST - 1) passes."""
MOST_FAULTS = 3
"""A task whose groups fail by our fault so often in a row is set aside."""


def failed_by_us(rollout: Rollout) -> bool:
    """Whether it has no verdict on the model by our fault; that its time was up is nobody's."""
    return rollout.verdict is not None and not rollout.verdict.scored and rollout.stop_reason != "deadline"


class TaskStream:
    """Draws tasks in shuffled passes; those that gave no signal are paused, those that fail by our fault set aside.

    Its whole state is a small JSON value, so a resumed run draws what the first would have drawn.
    """

    def __init__(self, tasks: Sequence[Task], seed: int) -> None:
        self._tasks = sorted(tasks, key=lambda task: task.id)
        self._by_id = {task.id: task for task in self._tasks}
        self._seed = seed
        self._pass = 0
        self._queue: list[str] = []
        self._rest: dict[str, int] = {}
        self._silent: dict[str, int] = {}
        self._faults: dict[str, int] = {}

    @property
    def set_aside(self) -> list[str]:
        """Ids of tasks that are not drawn any more."""
        return sorted(task_id for task_id, count in self._faults.items() if count >= MOST_FAULTS)

    def draw(self, count: int) -> list[Task]:
        """The next `count` different tasks (fewer only when there are fewer in all)."""
        chosen: list[str] = []
        gone = {*self.set_aside}
        count = min(count, len(self._tasks) - len(gone))
        while len(chosen) < count:
            if not self._queue:
                self._begin_pass()
            candidate = self._queue.pop(0)
            if candidate not in chosen and candidate not in gone:
                chosen.append(candidate)
        return [self._by_id[task_id] for task_id in chosen]

    def played(self, group: Group, *, compares: bool = True) -> None:
        """Notes whether a group failed by our fault, and where rewards are compared, whether it carried signal."""
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
        self._rest[group.task_id] = 2**silent - 1

    def _begin_pass(self) -> None:
        order = [task.id for task in self._tasks]
        rng(self._seed, "pass", self._pass).shuffle(order)
        self._pass += 1
        awake = [task_id for task_id in order if self._rest.get(task_id, 0) == 0]
        self._rest = {task_id: left - 1 for task_id, left in self._rest.items() if left > 1}
        self._queue = awake or order

    def state(self) -> dict[str, Any]:
        """Everything that a resumed run needs."""
        return {
            "pass": self._pass,
            "queue": self._queue,
            "rest": self._rest,
            "silent": self._silent,
            "faults": self._faults,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes over a state given by `state`."""
        self._pass = state["pass"]
        self._queue = list(state["queue"])
        self._rest = dict(state["rest"])
        self._silent = dict(state["silent"])
        self._faults = dict(state.get("faults", {}))


def scored(
    rubric: WeightedRubric | RubricBySet, played: Sequence[tuple[Task, Rollout]], *, by_turn: bool = False
) -> list[Rollout]:
    """The rollouts with their scores and rewards, in order. `by_turn`: also turns that have a verdict, each as a play
    that ended there.
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
    scores = rubric.score_all([*judged, *(_until(judged[number], place) for number, place in turns)])
    of_turns = dict(zip(turns, scores[len(judged) :], strict=True))
    return [
        one.rollout.model_copy(
            update={
                "scores": scores[number],
                "reward": _reward(one.rollout, scores[number]),
                "turns": [
                    _scored_turn(turn, of_turns.get((number, place)))
                    for place, turn in enumerate(one.rollout.turns)
                ],
            }
        )
        for number, one in enumerate(judged)
    ]


def _until(judged: JudgedRollout, place: int) -> JudgedRollout:
    """A play as if it had ended after the turn at that place."""
    turn = judged.rollout.turns[place]
    assert turn.verdict is not None
    changes = {"turns": judged.rollout.turns[: place + 1], "answer": turn.answer, "verdict": turn.verdict}
    return JudgedRollout(judged.task, judged.rollout.model_copy(update=changes), turn.verdict)


def _scored_turn(turn: Turn, scores: list[Score] | None) -> Turn:
    return turn if scores is None else turn.model_copy(update={"scores": scores, "reward": total(scores)})


def _reward(rollout: Rollout, scores: list[Score]) -> float | None:
    return None if rollout.left_out == "scores" else total(scores)


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
) -> list[Group]:
    """One group a task, in the tasks' order. A task drawn again in a later round gets other seeds. `by_turn`: see
    `scored`.
    """
    by_id = {task.id: task for task in tasks}
    set_of = rubric.set_of if isinstance(rubric, RubricBySet) else {}
    order = {task_id: number for number, task_id in enumerate(by_id)}
    rollouts = player.play(list(by_id.values()), group_size, params, seed=seed, tag=f"{step}.{round}")
    played = sorted(rollouts, key=lambda rollout: (order[rollout.task_id], rollout.index))
    members: dict[str, list[Rollout]] = {task_id: [] for task_id in by_id}
    judged = [(by_id[rollout.task_id], rollout) for rollout in played]
    for rollout in scored(rubric, judged, by_turn=by_turn):
        members[rollout.task_id].append(rollout)
    return [
        Group(task_id=task_id, step=step, rollouts=group, task_set=set_of.get(task_id, ""))
        for task_id, group in members.items()
    ]


class Stream(Protocol):
    """Where a step's tasks come from."""

    def draw(self, count: int, step: int) -> list[Task]:
        """The next `count` different tasks, or fewer."""

    def played(self, group: Group, *, compares: bool) -> None:
        """Notes what came of a group."""


PlayRound = Callable[[Sequence[Task], SamplingParams, int], list[Group]]
"""(tasks, sampling, round) -> their groups, scored."""


def fill_step(play: PlayRound, stream: Stream, recipe: Recipe, step: int) -> tuple[list[Group], list[Group]]:
    """(groups to learn from, every group played) in a training step, from 1.

    Groups without signal are replaced by groups of other tasks, up to grpo.max_refill_rounds times ("dynamic
    sampling", DAPO, arXiv 2503.14476, section 3.2); groups without signal, which move nothing, make up what is still
    missing.
    """
    grpo, sampling = recipe.grpo, recipe.sampling
    params = SamplingParams(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
    )
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
        raise TooManyErrors(
            f"every task failed {MOST_FAULTS} times in a row by the grader's fault; nothing is left"
        )
    return sorted(played, key=lambda group: not group.has_signal)[: grpo.tasks_per_step], played


def rollouts_of(groups: Sequence[Group]) -> Iterator[Rollout]:
    """Every rollout, group by group."""
    for group in groups:
        yield from group.rollouts
