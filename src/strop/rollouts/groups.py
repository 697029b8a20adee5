"""Groups for one training step: draw tasks, play, score, and refill groups that carry no signal."""

import time
from collections.abc import Callable, Iterator, Sequence

from strop.config.schema import Recipe
from strop.core.errors import TooManyErrors
from strop.core.protocols import JudgedRollout
from strop.core.rollout import CUT, Group, Rollout, SamplingParams, Score, Turn
from strop.core.task import Task
from strop.rewards.rubric import RubricBySet, WeightedRubric, total
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.streams import Stream


def scored(
    rubric: WeightedRubric | RubricBySet,
    played: Sequence[tuple[Task, Rollout]],
    *,
    by_turn: bool = False,
    patient: bool = False,
) -> list[Rollout]:
    """The rollouts with their scores and rewards, in order. `by_turn`: also turns that have a verdict, each as a play
    that ended there. `patient`: see `WeightedRubric.score_all`.
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
    so_far = judged.rollout.turns[: place + 1]
    changes = {"turns": so_far, "answer": turn.answer, "verdict": turn.verdict, "stop_reason": CUT}
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
    patient: bool = False,
    done: Callable[[int, int], None] = lambda done, total: None,
) -> list[Group]:
    """One group a task, in the tasks' order; a task that comes twice has two. A task drawn again in a later round gets
    other seeds. `by_turn`, `patient`: see `scored`; `done` hears how many of how many rollouts are there.
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
"""(tasks, sampling, round) -> their groups, scored."""


def fill_step(play: PlayRound, stream: Stream, recipe: Recipe, step: int) -> tuple[list[Group], list[Group]]:
    """(groups to learn from, every group played) in a training step, from 1.

    Groups without signal are replaced by groups of other tasks, up to grpo.max_refill_rounds times ("dynamic
    sampling", DAPO, arXiv 2503.14476, section 3.2); groups without signal, which move nothing, make up what is still
    missing.
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
