"""Differences over several runs of one recipe, with tasks and seeds as crossed random effects."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from strop.evaluation.result import Evaluation
from strop_verify.core.errors import UserError

T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Quantiles .975 of Student's t with 1, 2, ... degrees of freedom; the last is used beyond them."""


class Pooled(NamedTuple):
    """A mean over seeds and tasks.

    low, high    95 % by resampling seeds and tasks independently (pigeonhole bootstrap, Owen 2007): too narrow below
                 about five seeds
    least, most  95 % by Student's t of the seeds' means: the range for another seed
    seeds        each seed's mean
    """

    delta: float
    low: float
    high: float
    least: float
    most: float
    seeds: list[float]


def pooled(pairs: Sequence[tuple[Evaluation, Evaluation]]) -> dict[str, Pooled]:
    """{rate: second minus first of each pair}, one pair per seed, over the tasks with a value in all.

    Raises UserError if seeds were evaluated on different tasks.
    """
    first = {one.task_id for one in pairs[0][0].counts}
    if any({one.task_id for one in side.counts} != first for pair in pairs for side in pair):
        raise UserError("cannot pool: the runs were evaluated on different tasks")
    keys = [key for key in (*pairs[0][0].keys, *pairs[0][0].stage_keys)
            if all(key in {*side.keys, *side.stage_keys} for pair in pairs for side in pair)]  # fmt: skip
    found: dict[str, Pooled] = {}
    for key in keys:
        values = [[side.values(key) for side in pair] for pair in pairs]
        tasks = [task for task in values[0][0] if all(task in side for pair in values for side in pair)]
        if tasks:
            found[key] = crossed([[after[task] - before[task] for task in tasks] for before, after in values])
    return found


def crossed(differences: Sequence[Sequence[float]], resamples: int = 10_000, seed: int = 0) -> Pooled:
    """The pooled mean of an array of differences (seeds, tasks)."""
    array = np.asarray(differences, dtype=np.float64)
    runs, tasks = array.shape
    random = np.random.default_rng(seed)
    by_seed = random.multinomial(runs, np.full(runs, 1 / runs), size=resamples) / runs
    by_task = random.multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples) / tasks
    means = ((by_seed @ array) * by_task).sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    each = array.mean(axis=1)
    half = T95[min(runs - 1, len(T95)) - 1] * each.std(ddof=1) / np.sqrt(runs) if runs > 1 else float("nan")
    middle = float(array.mean())
    return Pooled(middle, float(low), float(high), middle - float(half), middle + float(half), each.tolist())
