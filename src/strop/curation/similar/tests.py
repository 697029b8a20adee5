"""The tests of a task as pairs of hashes, what goes in and what must come out, and what two tasks' tests say together.

Tests of one input and different outputs speak against two tasks being one. Equal outputs speak for it as far as they
could have differed: bits are those of the empirical distribution of the outputs (Shannon, 1948), so that five tests
which all expect `True` say nothing.
"""

from collections import Counter
from math import log2
from typing import NamedTuple

import numpy as np

from strop.code.near.hashes import Hashes, hash_text
from strop.core.task import Task

MOST = 32
"""Tests of a task that are looked at: those with the smallest hashes, so that two tasks' samples meet."""


class Tests(NamedTuple):
    """Hashes of inputs, sorted, each once, and of the output that belongs to each; shape (tests,) both."""

    inputs: Hashes
    outputs: Hashes


class Agreement(NamedTuple):
    """What two tasks' tests say together."""

    shared: int
    """Inputs that both have."""
    agreeing: int
    """Those of them with equal outputs."""
    bits: float
    """The information in the equal outputs, in bits."""
    share: float
    """Agreeing tests over those of the task that has fewer; 0 where one has none."""

    @property
    def contradict(self) -> bool:
        """Some input must give different outputs."""
        return self.agreeing < self.shared


def tests_of(task: Task) -> Tests:
    """The task's tests. Two outputs for one input: the first counts."""
    pairs: dict[int, int] = {}
    for given, expected in task.check.pairs():
        pairs.setdefault(hash_text(given), hash_text(expected))
    kept = sorted(pairs)[:MOST]
    return Tests(np.array(kept, np.uint64), np.array([pairs[key] for key in kept], np.uint64))


def agreement(a: Tests, b: Tests) -> Agreement:
    """What the tests of two tasks say together."""
    _, at_a, at_b = np.intersect1d(a.inputs, b.inputs, assume_unique=True, return_indices=True)
    equal = a.outputs[at_a] == b.outputs[at_b]
    outputs = a.outputs[at_a][equal].tolist()
    fewer = min(len(a.inputs), len(b.inputs))
    return Agreement(len(at_a), len(outputs), _bits(outputs), len(outputs) / fewer if fewer else 0.0)


def _bits(outputs: list[int]) -> float:
    count = len(outputs)
    return sum(c * log2(count / c) for c in Counter(outputs).values())
