"""Test-time scaling: for each selector the accuracy of its choice from k of n samples, for every k.

Means over tasks, over all subsets of k samples (`selectors.expected`), with bootstrap intervals over tasks; differences
are paired by task, and all numbers of one table are of the same tasks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from strop.evaluation.public_runs import PublicRun, key_of
from strop.evaluation.selectors import (
    FIRST,
    ORACLE,
    RANDOM,
    SELECTORS,
    SHOWN,
    Candidates,
    PublicSample,
    Selector,
    by_order,
    by_reward,
    expected,
)
from strop.evaluation.self_debug import Rounds
from strop.evaluation.statistics import Differences, Floats, Means, mean_differences, mean_intervals
from strop_verify.core.records import Record
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task


@dataclass(frozen=True)
class JudgedCandidates:
    """One task's samples with correctness and cost, which selectors do not see."""

    task_id: str
    candidates: Candidates
    passed: Floats
    """(n,): 1 where all tests passed."""
    tokens: Floats
    """(n,): sampled tokens."""
    cpu: Mapping[str, float]
    """CPU seconds of one sample: for "shown" tests, on public inputs ("results"), for all tests ("truth"), for runs
    of its environment ("play"), and for each reward."""

    @property
    def worth(self) -> Floats:
        """(n, 2): passed; passed the shown tests but failed others."""
        shown = np.array([bool(one.shown) and all(one.shown) for one in self.candidates.samples])
        return np.stack([self.passed, shown * (1 - self.passed)], axis=1)


class SelectorCurve(Record):
    """One selector's numbers, each a list over k = 1 ... n."""

    accuracy: Means
    false_positives: Means
    """Share of tasks whose chosen sample passes the shown tests but fails others."""
    samples: list[int]
    """Samples per choice."""
    cpu_seconds: list[float]
    """CPU seconds of sampling, in this process, and of the jailed runs that the choice needs; mean over tasks."""
    differences: dict[str, Differences]
    """{"random", "shown": this minus that selector}, at the same k."""


class Scaling(Record):
    """One model on one task set."""

    tasks: int
    samples: int
    left_out: dict[str, int]
    """Excluded tasks, by cause."""
    notes: list[str]
    """Selectors that could not be evaluated, with the reason."""
    confidence: float
    selectors: dict[str, SelectorCurve]
    per_task: dict[str, dict[str, list[float]]]
    """{selector: {task id: accuracy at every k}}"""
    rounds: Rounds | None = None
    """For plays with feedback: their rounds compared with blind resampling."""

    def as_json(self) -> dict[str, Any]:
        """The numbers as JSON values, without those of each task; an interval is [low, high]."""
        numbers = self.model_dump(mode="json", exclude={"per_task"}, exclude_none=True)
        return {**numbers, "k": list(range(1, self.samples + 1))}


def judged_candidates(
    tasks: Iterable[Task],
    rollouts: Iterable[Rollout],
    runs: Mapping[str, PublicRun],
    *,
    samples: int,
    inputs: int,
) -> tuple[list[JudgedCandidates], dict[str, int]]:
    """(the samples of each task, {cause: number of tasks left out}). A task is left out if a sample was not judged.

    If a sampled and a greedy rollout have the same index, the first counts.
    """
    found: dict[str, dict[int, Rollout]] = {}
    says = False
    for rollout in rollouts:
        if rollout.index < samples:
            found.setdefault(rollout.task_id, {}).setdefault(rollout.index, rollout)
            says = says or any(any(turn.completion.logprobs) for turn in rollout.turns)
    kept, errors, rewards = [], 0, sorted({name for run in runs.values() for name in run.rewards_cpu})
    for task in tasks:
        group = list(found.get(task.id, {}).values())
        public = [runs.get(key_of(task, one.answer, inputs)) for one in group]
        judged = [one.verdict for one in group if one.verdict is not None and one.verdict.judged]
        known = [run for run in public if run is not None]
        if len(judged) < samples or len(known) < samples:
            errors += 1
            continue
        pairs = list(zip(group, known, strict=True))
        candidates = Candidates(task.statement, tuple(public_sample(one, run, says) for one, run in pairs))
        costs = {
            SHOWN: float(np.mean([run.shown_cpu for run in known])),
            "results": float(np.mean([run.results_cpu for run in known])),
            "truth": float(np.mean([verdict.cpu_seconds for verdict in judged])),
            "play": float(np.mean([_played_cpu(one) for one in group])),
            **{name: float(np.mean([run.rewards_cpu.get(name, 0.0) for run in known])) for name in rewards},
        }
        passed = np.array([float(verdict.passed) for verdict in judged])
        tokens = np.array([float(sample.tokens) for sample in candidates.samples])
        kept.append(JudgedCandidates(task.id, candidates, passed, tokens, costs))
    return kept, {"a sample could not be judged": errors} if errors else {}


def public_sample(rollout: Rollout, run: PublicRun, says: bool) -> PublicSample:
    """A rollout as a selector sees it. `says`: whether its policy gives log-probabilities."""
    logprobs = [value for turn in rollout.turns for value in turn.completion.logprobs]
    return PublicSample(
        text=rollout.answer,
        tokens=len(logprobs),
        logprob=sum(logprobs) if says else None,
        shown=tuple(run.shown),
        results=tuple(run.results),
        rewards=run.rewards,
    )


def _played_cpu(rollout: Rollout) -> float:
    """CPU seconds of the jailed runs between a play's turns."""
    return sum(turn.verdict.cpu_seconds for turn in rollout.turns if turn.verdict is not None)


def scaling(
    judged: Sequence[JudgedCandidates],
    *,
    samples: int,
    left_out: Mapping[str, int],
    sampling_cpu: float,
    rewards: Sequence[str] = (),
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Scaling:
    """The curves of every selector whose inputs some task has; on a task without them it picks at random.

    sampling_cpu  CPU seconds per sampled token
    rewards       names of rewards that also serve as selectors
    """
    asked = {**SELECTORS, **{name: by_reward(name) for name in rewards}}
    fit = {name: one for name, one in asked.items() if any(one.fits(task.candidates) for task in judged)}
    tables = {name: np.array([_by_k(one, task) for task in judged]) for name, one in fit.items()}
    tables[ORACLE] = np.array([by_order(task.passed, task.worth) for task in judged])
    without = [(name, one) for name, one in asked.items() if name not in fit]
    notes = [f"{name}: {why_not(one)}" for name, one in without]
    sampled = sampling_cpu * float(np.mean([task.tokens.mean() for task in judged]))
    sampled += float(np.mean([task.cpu["play"] for task in judged]))
    means = partial(mean_intervals, resamples=resamples, confidence=confidence)
    minus = partial(mean_differences, resamples=resamples, confidence=confidence)
    curves = {}
    for name, table in tables.items():
        needs = fit[name].needs - {"logprob"} if name in fit else {"truth"}
        each = sampled + sum(float(np.mean([task.cpu[need] for task in judged])) for need in needs)
        ks = [1 if name == FIRST else k for k in range(1, samples + 1)]
        others = [other for other in (RANDOM, SHOWN) if other in tables and other != name]
        curves[name] = SelectorCurve(
            accuracy=means(table[:, :, 0]),
            false_positives=means(table[:, :, 1]),
            samples=ks,
            cpu_seconds=[k * each for k in ks],
            differences={other: minus(table[:, :, 0] - tables[other][:, :, 0]) for other in others},
        )
    return Scaling(
        tasks=len(judged),
        samples=samples,
        left_out=dict(left_out),
        notes=notes,
        confidence=confidence,
        selectors=curves,
        per_task={
            name: {task.task_id: rows[:, 0].tolist() for task, rows in zip(judged, table, strict=True)}
            for name, table in tables.items()
        },
    )


def compare_scaling(first: Scaling, later: Scaling) -> dict[str, Differences]:
    """{selector: later minus first at every k}, on the tasks and with the selectors that both have."""
    found = {}
    for name in later.selectors:
        before, after = first.per_task.get(name, {}), later.per_task[name]
        both = [task for task in after if task in before]
        if both:
            table = np.array([after[task] for task in both]) - np.array([before[task] for task in both])
            found[name] = mean_differences(table, confidence=later.confidence)
    return found


def scaling_json(
    results: Mapping[str, Scaling], paired: Mapping[str, Mapping[str, Differences]]
) -> dict[str, Any]:
    """{"models", "first", "differences"} as JSON values."""
    return {
        "models": {name: found.as_json() for name, found in results.items()},
        "first": next(iter(results)),
        "differences": {
            name: {selector: one.model_dump(mode="json") for selector, one in found.items()}
            for name, found in paired.items()
        },
    }


def why_not(selector: Selector) -> str:
    """Why the selector cannot choose."""
    why = {"logprob": "the policy gives no log-probabilities", "shown": "no task shows a test",
           "results": "no task has public inputs of a Python function"}  # fmt: skip
    return "; ".join(why.get(need, "the reward gives no value") for need in sorted(selector.needs))


def _by_k(selector: Selector, task: JudgedCandidates) -> Floats:
    return expected(
        selector if selector.fits(task.candidates) else SELECTORS[RANDOM], task.candidates, task.worth
    )
