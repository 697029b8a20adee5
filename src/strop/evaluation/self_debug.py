"""Rounds of self-debug compared with blind resampling of as many tokens, both stopped by the shown tests.

A play with feedback ends with the first answer that passes the shown tests. After r rounds that answer counts; a play
that still fails a shown test is wrong. Each play is compared with single answers of the same model
(`control.resampled`), in the order in which they were sampled, until they have at least as many tokens as the play had
after r rounds. The first of them that passes the shown tests is taken, by the same rule that ends a play. The control
stops early at an answer that passes all tests, and therefore the shown ones, so it never misses an answer that would
have been taken.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from strop.evaluation.evaluate import resampled, tokens_of
from strop.evaluation.public_runs import PublicRun, key_of
from strop.evaluation.result import Evaluation
from strop.evaluation.statistics import Differences, Floats, Means, mean_differences, mean_intervals
from strop_verify.core.records import Record
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task

Key = tuple[str, int]
"""(task id, index) of a play."""


class Rounds(Record):
    """Numbers after 1, 2, ... rounds, means over tasks of the means over their plays."""

    tasks: int
    tokens: list[float]
    """Mean number of tokens that a play has sampled by each round."""
    debugged: Means
    """Share of plays whose answer passes all tests."""
    resampled: Means
    resampled_tokens: list[float]
    differences: Differences
    """Self-debug minus resampling."""


def rounds(
    result: Evaluation,
    tasks: Sequence[Task],
    plays: Iterable[Rollout],
    control: Iterable[Rollout],
    runs: Mapping[str, PublicRun],
    *,
    inputs: int,
    resamples: int = 10_000,
) -> Rounds | None:
    """Self-debug of a recorded evaluation with its plays and the answers of its control; None if they do not match,
    or no task shows a test.
    """
    sampled, greedy = _apart(plays)
    beside = _beside(result, tasks, sampled, greedy, control)
    by_id = {task.id: task for task in tasks}
    shown = {run.key: bool(run.shown) and all(run.shown) for run in runs.values() if run.shown}
    rows: defaultdict[str, list[Floats]] = defaultdict(list)
    most = max((len(play.turns) for play in sampled.values()), default=0)
    for (task_id, index), play in sorted(sampled.items()) if beside is not None else ():
        answers = beside.get((task_id, index), []) if beside else []
        keys = [key_of(by_id[task_id], one.answer, inputs) for one in answers]
        if play.verdict is None or not play.verdict.judged or any(key not in shown for key in keys):
            continue
        right = [bool(one.verdict and one.verdict.passed) for one in answers]
        drawn = list(zip(map(tokens_of, answers), (shown[key] for key in keys), right, strict=True))
        rows[task_id].append(np.array([_row(play, drawn, turns) for turns in range(1, most + 1)]))
    if not rows:
        return None
    table = np.array([np.mean(found, axis=0) for found in rows.values()])
    means = partial(mean_intervals, resamples=resamples, confidence=result.confidence)
    differences = partial(mean_differences, resamples=resamples, confidence=result.confidence)
    debugged, other = table[:, :, 0], table[:, :, 1]
    return Rounds(
        tasks=len(table),
        tokens=table[:, :, 2].mean(axis=0).tolist(),
        debugged=means(debugged),
        resampled=means(other),
        resampled_tokens=table[:, :, 3].mean(axis=0).tolist(),
        differences=differences(debugged - other),
    )


def _row(play: Rollout, drawn: Sequence[tuple[int, bool, bool]], turns: int) -> list[float]:
    """[is the play right after `turns` turns, is resampling right, tokens of the play, tokens of resampling]."""
    done = len(play.turns) <= turns
    budget = sum(len(turn.completion.token_ids) for turn in play.turns[:turns])
    spent, taken = 0, False
    for tokens, passes, right in drawn:
        if spent >= budget:
            break
        spent += tokens
        if passes:
            taken = right
            break
    return [float(bool(done and play.verdict and play.verdict.passed)), float(taken), budget, spent]


def _beside(
    result: Evaluation,
    tasks: Sequence[Task],
    sampled: Mapping[Key, Rollout],
    greedy: Mapping[Key, Rollout],
    control: Iterable[Rollout],
) -> dict[Key, list[Rollout]] | None:
    """{play: the control's answers that were sampled for it}, found by repeating the control's rule."""
    kept: defaultdict[str, list[Rollout]] = defaultdict(list)
    for one in control:
        kept[one.task_id].append(one)
    left = {task: iter(found) for task, found in kept.items()}
    found: defaultdict[Key, list[Rollout]] = defaultdict(list)

    def again(some: Sequence[Task], count: int, params: SamplingParams, tag: str) -> Iterator[Rollout]:
        for task in some:
            for index in range(count):
                yield next(left[task.id]).model_copy(update={"index": index})

    try:
        resampled(
            result,
            again,
            tasks,
            {key: tokens_of(play) for key, play in sampled.items()},
            {key: tokens_of(play) for key, play in greedy.items()},
            SamplingParams(),
            see=lambda key, one: found[key].append(one),
        )
    except (StopIteration, KeyError, RuntimeError):
        return None
    return dict(found)


def _apart(plays: Iterable[Rollout]) -> tuple[dict[Key, Rollout], dict[Key, Rollout]]:
    """Sampled plays and greedy ones; a greedy one is the second of its index."""
    sampled: dict[Key, Rollout] = {}
    greedy: dict[Key, Rollout] = {}
    for one in plays:
        key = one.task_id, one.index
        (greedy if key in sampled else sampled)[key] = one
    return sampled, greedy
