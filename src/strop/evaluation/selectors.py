"""Selectors that choose one of k samples, and their expected accuracy over all subsets of k of n samples.

A selector gets `Candidates`: what a user would have; the type has no field for hidden tests. It scores the samples of
each subset. The highest score is chosen and ties are broken at random, so the samples' order does not matter.

    first           the first sample only: pass@1
    random          any sample: the accuracy of one at the cost of all, the baseline of every selector
    log-prob        highest sum of the tokens' log-probabilities; log-prob-mean: highest mean
    shown           most shown tests passed
    majority        MBR-exec (Shi et al. 2022, arXiv 2204.11454): most samples with the same results on the public
                    inputs, itself included, then the sum of log-probabilities
    shown-majority  the same among the samples that pass the most shown tests
    a reward        by its name, such as model:PATH: the highest value of a learned reward, which gets the same inputs
    codet           CodeT (Chen et al. 2022, arXiv 2207.10397): sqrt(|S|) |T| of the samples S that pass the same
                    tests T, both with multiplicity; sets of equal score are merged

Deviations: 1. MBR-exec's inputs are made from the shown calls, and samples that return on no input do not count.
2. CodeT's tests are not written by the model: each result that a sample returned is its test of that input, with that
   result as the expected value. So a subset holds the tests of its own samples.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from strop.evaluation.statistics import Floats
from strop_verify.core.ids import rng
from strop_verify.core.registry import Registry

Members = NDArray[np.bool_]
"""(subsets, n): which samples are in each subset."""
SUBSETS = 1000
"""Maximum subsets of one size; all, if there are fewer."""
_WIDE = 1 << 40
"""Bound of the random numbers whose sum identifies a set of tests: sums of 8,000 are exact in a float."""


@dataclass(frozen=True)
class PublicSample:
    """One sample, as a selector sees it."""

    text: str
    """The text of the answer."""
    tokens: int
    logprob: float | None
    """Sum over its tokens; None if unknown."""
    shown: tuple[bool, ...]
    """Which of the shown tests it passed."""
    results: tuple[str | None, ...]
    """Its result on each public input as canonical text; None if it returned nothing."""
    rewards: Mapping[str, float] = field(default_factory=dict)
    """Values of rewards, which saw no hidden test, by name."""


@dataclass(frozen=True)
class Candidates:
    """The samples of one task with its public information."""

    statement: str
    samples: tuple[PublicSample, ...]

    @cached_property
    def same(self) -> Floats:
        """(n, n): 1 where both samples returned something, and the same on every input."""
        results = [sample.results for sample in self.samples]
        return np.array([[float(any(a) and a == b) for b in results] for a in results])

    @cached_property
    def tests(self) -> tuple[Floats, Floats]:
        """(passed, written), both (n, tests): 1 where a sample passes a test; how often it wrote the test."""
        known = {pair: number for number, pair in enumerate(sorted(set().union(*map(_pairs, self.samples))))}
        table = np.zeros((len(self.samples), len(known)))
        for number, sample in enumerate(self.samples):
            table[number, [known[pair] for pair in _pairs(sample)]] = 1
        return table, table

    @cached_property
    def logprobs(self) -> Floats:
        """(n,); 0 where the policy gives none."""
        return np.array([sample.logprob or 0.0 for sample in self.samples])

    @cached_property
    def shown(self) -> Floats:
        """(n,): number of shown tests that each sample passed."""
        return np.array([float(sum(sample.shown)) for sample in self.samples])


@dataclass(frozen=True)
class Selector:
    """Scores samples: (candidates, members) -> (subsets, n); scores of non-members are ignored."""

    score: Callable[[Candidates, Members], Floats]
    needs: frozenset[str] = frozenset()
    """The inputs that samples must have, whose cost counts: "logprob", "shown", "results" or a reward's name."""
    alone: bool = False
    """Whether a sample's score depends only on the sample, which gives a formula for every k."""
    about: str = ""
    """Its choice in one line."""

    def fits(self, candidates: Candidates) -> bool:
        """Whether the candidates have its inputs."""
        have = {
            "logprob": all(sample.logprob is not None for sample in candidates.samples),
            "shown": any(sample.shown for sample in candidates.samples),
            "results": any(sample.results for sample in candidates.samples),
        }
        rewards = set().union(*(sample.rewards for sample in candidates.samples))
        return all(have.get(need, need in rewards) for need in self.needs)

    def choice(self, candidates: Candidates, members: Members) -> Floats:
        """(subsets, n): how likely each sample is chosen."""
        scores = np.where(members, self.score(candidates, members), -np.inf)
        best = (scores == scores.max(axis=1, keepdims=True)) & members
        chances: Floats = best / best.sum(axis=1, keepdims=True)
        return chances


def expected(selector: Selector, candidates: Candidates, worth: Floats) -> Floats:
    """(n, q): for k = 1 ... n, the mean of each column of `worth` (n, q) over the samples chosen from k of the n.

    Means are over all subsets: by a formula if samples are scored alone, else by enumeration up to `SUBSETS` of a size.
    Beyond that, as many are drawn, seeded by the samples' texts in any order.
    """
    order = sorted(
        range(len(candidates.samples)),
        key=lambda at: (repr(candidates.samples[at]), tuple(worth[at])),
    )
    candidates = Candidates(candidates.statement, tuple(candidates.samples[at] for at in order))
    worth = worth[order]
    if selector.alone:
        everything = np.ones((1, len(order)), dtype=np.bool_)
        return by_order(selector.score(candidates, everything)[0], worth)
    rows = [
        (selector.choice(candidates, members) @ worth).mean(axis=0)
        for members in subsets(len(order), "".join(sample.text for sample in candidates.samples))
    ]
    return np.array(rows)


def best(selector: Selector, candidates: Candidates) -> list[int]:
    """The samples that tie when it chooses from all, likelier ones first, then earlier ones."""
    everything = np.ones((1, len(candidates.samples)), dtype=np.bool_)
    found = np.flatnonzero(selector.choice(candidates, everything)[0])
    return sorted(map(int, found), key=lambda at: (-candidates.logprobs[at], at))


def by_order(scores: Floats, worth: Floats) -> Floats:
    """(n, q): `expected` for scores (n,) that do not depend on the subset, by order statistics; ties are broken at
    random."""
    count = len(scores)
    levels, level = np.unique(scores, return_inverse=True)
    sizes = np.bincount(level, minlength=len(levels))
    means = np.array([worth[level == at].mean(axis=0) for at in range(len(levels))])
    upto = np.cumsum(sizes)
    rows = []
    for k in range(1, count + 1):
        chances = [
            (comb(int(top), k) - comb(int(top - size), k)) / comb(count, k)
            for top, size in zip(upto, sizes, strict=True)
        ]
        rows.append(np.array(chances) @ means)
    return np.array(rows)


def subsets(count: int, seed: str) -> Iterator[Members]:
    """For k = 1 ... count: all subsets of k, or the first k of each of `SUBSETS` drawn orders."""
    draw = np.random.default_rng(rng("subsets", seed).getrandbits(63))
    ranks = draw.random((SUBSETS, count)).argsort(axis=1).argsort(axis=1)
    for k in range(1, count + 1):
        if comb(count, k) > SUBSETS:
            yield ranks < k
            continue
        members = np.zeros((comb(count, k), count), dtype=np.bool_)
        for row, chosen in enumerate(combinations(range(count), k)):
            members[row, chosen] = True
        yield members


def _pairs(sample: PublicSample) -> set[tuple[int, str]]:
    return {(number, result) for number, result in enumerate(sample.results) if result is not None}


def _alone(
    values: Callable[[Candidates], Sequence[float] | Floats],
) -> Callable[[Candidates, Members], Floats]:
    return lambda candidates, members: np.broadcast_to(np.asarray(values(candidates)), members.shape)


def _majority(candidates: Candidates, members: Members) -> Floats:
    _, rank = np.unique(candidates.logprobs, return_inverse=True)
    votes: Floats = members.astype(np.float64) @ candidates.same + rank / (len(rank) + 1)
    return votes


def _shown_majority(candidates: Candidates, members: Members) -> Floats:
    passed = np.where(members, candidates.shown, -1.0)
    kept = passed == passed.max(axis=1, keepdims=True)
    return np.where(kept, _majority(candidates, kept & members), -np.inf)


def codet(passed: Floats, written: Floats, members: Members) -> Floats:
    """(subsets, n): |S| |T|^2 of each sample's set. It orders like sqrt(|S|) |T| and is exact, so that ties are ties.

    passed   (n, tests): 1 where a sample passes a test
    written  (n, tests): how often a sample wrote it; a subset has the tests of its samples
    """
    inside = members.astype(np.float64)
    weights = inside @ written
    names = np.random.default_rng(0).integers(1, _WIDE, passed.shape[1]).astype(np.float64)
    sets = ((weights > 0) * names) @ passed.T
    size = ((sets[:, :, None] == sets[:, None, :]) * inside[:, None, :]).sum(axis=2)
    score: Floats = size * (weights @ passed.T) ** 2
    return score


def by_reward(name: str) -> Selector:
    """The highest value of a reward; samples without one come last."""

    def values(found: Candidates) -> list[float]:
        return [sample.rewards.get(name, -np.inf) for sample in found.samples]

    return Selector(_alone(values), frozenset({name}), alone=True)


_ZERO = _alone(lambda found: np.zeros(len(found.samples)))
_SUM = _alone(lambda found: found.logprobs)
_MEAN = _alone(
    lambda found: [p / max(1, sample.tokens) for p, sample in zip(found.logprobs, found.samples, strict=True)]
)
FIRST, RANDOM, SHOWN, ORACLE = "first", "random", "shown", "oracle"
_LOGPROB, _RESULTS, _SHOWN = frozenset({"logprob"}), frozenset({"results"}), frozenset({SHOWN})
SELECTORS: Registry[Selector] = Registry(
    "selectors",
    {
        FIRST: Selector(_ZERO, alone=True, about="The first sample."),
        RANDOM: Selector(_ZERO, alone=True, about="Any sample."),
        "log-prob": Selector(_SUM, _LOGPROB, True, "The highest sum of log-probabilities."),
        "log-prob-mean": Selector(_MEAN, _LOGPROB, True, "The highest mean log-probability per token."),
        "majority": Selector(_majority, _RESULTS, about="The largest set of samples that return the same."),
        "codet": Selector(
            lambda candidates, members: codet(*candidates.tests, members),
            _RESULTS,
            about="The best set of samples that pass the same tests (CodeT, arXiv 2207.10397).",
        ),
        SHOWN: Selector(_alone(lambda found: found.shown), _SHOWN, True, "The most shown tests passed."),
        "shown-majority": Selector(
            _shown_majority, _SHOWN | _RESULTS, about="The majority among those that pass most shown tests."
        ),
    },
    fits=lambda found: isinstance(found, Selector),
)
"""Selectors by name; rewards use `by_reward`. The oracle is not among them, because it knows the truth: it is
`by_order` of the truth."""
