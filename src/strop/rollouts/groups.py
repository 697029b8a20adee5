"""Groups for one training step: draw tasks, play, score, and refill groups that carry no signal."""

from collections.abc import Iterator, Sequence
from typing import Any

from strop.config.schema import Recipe
from strop.core.ids import rng
from strop.core.rollout import Group, Rollout, SamplingParams
from strop.core.task import Task
from strop.rewards.rubric import WeightedRubric, total
from strop.rollouts.player import Player

MAX_REST = 3
"""A task that gave no signal k times in a row rests for min(2^k - 1, 2^MAX_REST - 1) passes."""


class TaskStream:
    """Draws tasks in shuffled passes; those that gave no signal are paused.

    Its whole state is a small JSON value, so a resumed run draws what the first would have drawn.
    """

    def __init__(self, tasks: Sequence[Task], seed: int, *, rank: int = 0, world: int = 1) -> None:
        self._tasks = sorted(tasks, key=lambda task: task.id)[rank::world]
        self._by_id = {task.id: task for task in self._tasks}
        self._seed = seed
        self._pass = 0
        self._queue: list[str] = []
        self._rest: dict[str, int] = {}
        self._silent: dict[str, int] = {}

    def draw(self, count: int) -> list[Task]:
        """The next `count` different tasks (fewer only when there are fewer in all)."""
        chosen: list[str] = []
        count = min(count, len(self._tasks))
        while len(chosen) < count:
            if not self._queue:
                self._begin_pass()
            candidate = self._queue.pop(0)
            if candidate not in chosen:
                chosen.append(candidate)
        return [self._by_id[task_id] for task_id in chosen]

    def played(self, group: Group) -> None:
        """Notes whether a group carried signal."""
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
        return {"pass": self._pass, "queue": self._queue, "rest": self._rest, "silent": self._silent}

    def load(self, state: dict[str, Any]) -> None:
        """Takes over a state given by `state`."""
        self._pass = state["pass"]
        self._queue = list(state["queue"])
        self._rest = dict(state["rest"])
        self._silent = dict(state["silent"])


def scored(task: Task, rollout: Rollout, rubric: WeightedRubric) -> Rollout:
    """The rollout with its scores and its reward."""
    assert rollout.verdict is not None
    scores = rubric.score(task, rollout, rollout.verdict)
    return rollout.model_copy(update={"scores": scores, "reward": total(scores)})


def play_groups(
    player: Player,
    rubric: WeightedRubric,
    tasks: Sequence[Task],
    group_size: int,
    params: SamplingParams,
    *,
    seed: int,
    step: int,
    round: int = 0,
) -> list[Group]:
    """One group a task, in the tasks' order. A task drawn again in a later round gets other seeds."""
    by_id = {task.id: task for task in tasks}
    rollouts: dict[str, list[Rollout]] = {task.id: [] for task in tasks}
    for rollout in player.play(list(by_id.values()), group_size, params, seed=seed, tag=f"{step}.{round}"):
        rollouts[rollout.task_id].append(scored(by_id[rollout.task_id], rollout, rubric))
    return [
        Group(task_id=task_id, step=step, rollouts=sorted(members, key=lambda r: r.index))
        for task_id, members in rollouts.items()
    ]


def fill_step(
    player: Player,
    rubric: WeightedRubric,
    stream: TaskStream,
    recipe: Recipe,
    step: int,
    *,
    world: int = 1,
) -> tuple[list[Group], list[Group]]:
    """(groups to learn from, every group played); this process plays its share of `world`.

    Groups without signal are replaced by groups of other tasks, up to grpo.max_refill_rounds times ("dynamic
    sampling", DAPO, arXiv 2503.14476, section 3.2); groups without signal, which move nothing, make up what is still
    missing.
    """
    grpo, sampling = recipe.grpo, recipe.sampling
    params = SamplingParams(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        stop=tuple(sampling.stop or ()),
    )
    tasks_per_step = grpo.tasks_per_step // world
    played: list[Group] = []
    for round in range((grpo.max_refill_rounds if grpo.refill else 0) + 1):
        missing = tasks_per_step - sum(group.has_signal for group in played)
        if missing <= 0:
            break
        tasks = stream.draw(missing)
        which = {"seed": recipe.seed, "step": step, "round": round}
        groups = play_groups(player, rubric, tasks, grpo.group_size, params, **which)
        for group in groups:
            stream.played(group)
        played += groups
    return sorted(played, key=lambda group: not group.has_signal)[:tasks_per_step], played


def rollouts_of(groups: Sequence[Group]) -> Iterator[Rollout]:
    """Every rollout, group by group."""
    for group in groups:
        yield from group.rollouts
