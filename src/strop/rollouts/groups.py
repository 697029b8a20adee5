"""Groups for one training step: play, score, and refill groups that carry no signal."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from strop.core.protocols import Rubric
from strop.core.rollout import Group, Rollout, SamplingParams
from strop.core.task import Task
from strop.rewards.rubric import total
from strop.rollouts.player import Player


class TaskSource(Protocol):
    """Where a step's tasks come from."""

    def draw(self, count: int) -> list[Task]:
        """The next tasks to play."""

    def played(self, group: Group) -> None:
        """Takes note of how a group went."""


def scored(task: Task, rollout: Rollout, rubric: Rubric) -> Rollout:
    """The rollout with its scores and its reward."""
    assert rollout.verdict is not None
    scores = rubric.score(task, rollout, rollout.verdict)
    return rollout.model_copy(update={"scores": scores, "reward": total(scores)})


def play_groups(
    player: Player,
    rubric: Rubric,
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
    rubric: Rubric,
    source: TaskSource,
    params: SamplingParams,
    *,
    tasks_per_step: int,
    group_size: int,
    refill_rounds: int,
    seed: int,
    step: int,
) -> tuple[list[Group], list[Group]]:
    """(groups to learn from, every group played).

    Groups without signal are replaced by groups of other tasks, up to `refill_rounds` times ("dynamic sampling", DAPO,
    arXiv 2503.14476, section 3.2); what is still missing then is made up of groups without signal, which move nothing.
    """
    played: list[Group] = []
    for round in range(refill_rounds + 1):
        missing = tasks_per_step - sum(group.has_signal for group in played)
        if missing <= 0:
            break
        groups = play_groups(
            player, rubric, source.draw(missing), group_size, params, seed=seed, step=step, round=round
        )
        for group in groups:
            source.played(group)
        played += groups
    return sorted(played, key=lambda group: not group.has_signal)[:tasks_per_step], played


def rollouts_of(groups: Sequence[Group]) -> Iterator[Rollout]:
    """Every rollout, group by group."""
    for group in groups:
        yield from group.rollouts
