"""Estimators: unbiased pass@k, bootstrap intervals over tasks, the paired bootstrap. numpy only.

The task is the unit of resampling, because answers to one task are not independent of each other (Miller, "Adding
Error Bars to Evals", arXiv 2411.00640, section 2.2).

Limits: percentile intervals of few tasks are too narrow, and if every task has the same value, the interval is a single
point: 0 of 164 passed gives [0, 0], although the true rate may be up to about 2 %.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from strop_verify.core.records import Record

Floats = NDArray[np.float64]

_CELLS = 4_000_000
"""Numbers drawn at a time, to bound memory at about 64 MB for any number of tasks."""


class Estimate(NamedTuple):
    """A mean over tasks and the ends of its interval."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """After minus before, a mean over the same tasks, and the ends of its interval."""

    delta: float
    low: float
    high: float


class Means(Record):
    """Means over tasks of several columns, and the ends of their intervals."""

    value: list[float]
    interval: list[tuple[float, float]]

    def at(self, column: int) -> Estimate:
        """The estimate of one column."""
        return Estimate(self.value[column], *self.interval[column])


class Differences(Record):
    """Mean differences over tasks of several columns, and the ends of their intervals."""

    delta: list[float]
    interval: list[tuple[float, float]]

    def at(self, column: int) -> Difference:
        """The difference of one column."""
        return Difference(self.delta[column], *self.interval[column])


def pass_at_k(n: int, c: int, k: int) -> float:
    """Unbiased chance that one of k answers passes, from n scored answers of which c passed.

    1 - C(n - c, k) / C(n, k), Chen et al. 2021, arXiv 2107.03374, equation 1, in their numerically stable form.
    Raises ValueError unless 1 <= k <= n and 0 <= c <= n.
    """
    if not 1 <= k <= n:
        raise ValueError(
            f"pass@{k} needs at least {k} scored answers per task (and k of at least 1), but there are {n}"
        )
    if not 0 <= c <= n:
        raise ValueError(f"{c} of {n} answers cannot have passed")
    if n - c < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def mean_interval(
    values: Sequence[float], *, resamples: int = 10_000, confidence: float = 0.95, seed: int = 0
) -> Estimate:
    """Mean of one value per task with its bootstrap percentile interval. Raises ValueError without values."""
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise ValueError("no task has a value, so there is no mean")
    if not np.isfinite(array).all():
        raise ValueError("a value is not finite; leave unscored tasks out")
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError(
            f"confidence {confidence} must lie between 0 and 1, resamples {resamples} be at least 1"
        )
    tail = (1 - confidence) / 2
    low, high = np.quantile(_resampled_means(array, resamples, seed), [tail, 1 - tail])
    return Estimate(float(array.mean()), float(low), float(high))


def mean_intervals(values: Floats, *, resamples: int = 10_000, confidence: float = 0.95) -> Means:
    """`mean_interval` of each column of (tasks, columns), with the same draws of tasks. ValueError without tasks."""
    tasks = len(values)
    if not tasks:
        raise ValueError("no task has a value, so there is no mean")
    random, tail = np.random.default_rng(0), (1 - confidence) / 2
    drawn = random.multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples).astype(np.float64)
    low, high = np.quantile(drawn @ values / tasks, [tail, 1 - tail], axis=0)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return Means(value=values.mean(axis=0).tolist(), interval=list(ends))


def mean_differences(values: Floats, *, resamples: int = 10_000, confidence: float = 0.95) -> Differences:
    """`mean_intervals` of paired differences (tasks, columns)."""
    means = mean_intervals(values, resamples=resamples, confidence=confidence)
    return Differences(delta=means.value, interval=means.interval)


def paired_difference(
    before: Sequence[float],
    after: Sequence[float],
    *,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Difference:
    """Mean of after - before, where both hold the values of the same tasks in the same order, with its interval.

    Resampling whole tasks keeps the pairs, so what makes a task easy or hard for both cancels out. Raises ValueError
    without values or if the lengths differ.
    """
    if len(before) != len(after):
        raise ValueError(f"not the same tasks: {len(before)} values before, {len(after)} after")
    array = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    return Difference(*mean_interval(array.tolist(), resamples=resamples, confidence=confidence, seed=seed))


def ratio_interval(
    parts: Sequence[float], wholes: Sequence[float], *, resamples: int = 10_000, confidence: float = 0.95
) -> Estimate | None:
    """Sum of the parts over the sum of the wholes, both per task in the same order, with its interval; None if all
    wholes are 0. Draws with only zero wholes are left out.
    """
    above, below = (np.asarray(values, dtype=np.float64) for values in (parts, wholes))
    if not below.sum():
        return None
    drawn = [_resampled_means(values, resamples, 0) for values in (above, below)]  # the same tasks in both
    some = drawn[1] != 0
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn[0][some] / drawn[1][some], [tail, 1 - tail])
    return Estimate(float(above.sum() / below.sum()), float(low), float(high))


def _resampled_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Means of `resamples` draws with replacement, each as large as `values`; the same for the same seed."""
    random = np.random.default_rng(seed)
    size = values.size
    means = np.empty(resamples)
    rows = max(1, _CELLS // size)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        means[start:stop] = values[random.integers(0, size, size=(stop - start, size))].mean(axis=1)
    return means
