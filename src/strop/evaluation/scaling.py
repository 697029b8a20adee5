"""How far sampling more goes: for each selector the accuracy of what it chooses from k of n samples, for every k.

Means over tasks, over all subsets of k samples (`selectors.expected`), with bootstrap intervals over tasks; differences
are paired by task, and all numbers of one table are of the same tasks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strop.core.records import Record
from strop.core.rollout import Rollout
from strop.core.task import Task
from strop.evaluation.public_runs import PublicRun, key_of
from strop.evaluation.selectors import (
    ORACLE,
    RANDOM,
    SELECTORS,
    SHOWN,
    Candidates,
    PublicSample,
    by_order,
    expected,
)
from strop.evaluation.statistics import Difference, Estimate, Floats, mean_intervals


@dataclass(frozen=True)
class JudgedCandidates:
    """One task's samples with the truth and what they cost, which no selector sees."""

    task_id: str
    candidates: Candidates
    passed: Floats
    """(n,): 1 where all tests passed."""
    tokens: Floats
    """(n,): sampled."""
    cpu: Mapping[str, float]
    """CPU seconds of one sample's runs: of "shown" tests, on public inputs ("results"), of all tests ("truth")."""

    @property
    def worth(self) -> Floats:
        """(n, 2): passed; passed the shown tests and failed others."""
        shown = np.array([bool(one.shown) and all(one.shown) for one in self.candidates.samples])
        return np.stack([self.passed, shown * (1 - self.passed)], axis=1)


class SelectorCurve(Record):
    """One selector's numbers, each a list over k = 1 ... n."""

    accuracy: list[Estimate]
    false_positives: list[Estimate]
    """Share of tasks whose chosen sample passes the shown tests and fails others."""
    samples: list[int]
    """Sampled for one choice."""
    cpu_seconds: list[float]
    """Of sampling, in this process, and of the jailed runs that the choice needs; mean over tasks."""
    differences: dict[str, list[Difference]]
    """{"random", "shown": this minus that selector}, at the same k."""


class Scaling(Record):
    """One model on one task set."""

    tasks: int
    samples: int
    left_out: dict[str, int]
    """Tasks that are not counted, by cause."""
    notes: list[str]
    """Selectors that could not be asked, and why."""
    confidence: float
    curves: dict[str, SelectorCurve]
    per_task: dict[str, dict[str, list[float]]]
    """{selector: {task id: accuracy at every k}}"""

    def as_json(self) -> dict[str, Any]:
        """The numbers as JSON values; an interval is [low, high]."""

        def estimates(found: Sequence[Estimate]) -> dict[str, Any]:
            return {"value": [e.value for e in found], "interval": [[e.low, e.high] for e in found]}

        return {
            **self.model_dump(include={"tasks", "samples", "left_out", "notes", "confidence"}),
            "k": list(range(1, self.samples + 1)),
            "selectors": {
                name: {
                    "accuracy": estimates(curve.accuracy),
                    "false_positives": estimates(curve.false_positives),
                    "samples": curve.samples,
                    "cpu_seconds": curve.cpu_seconds,
                    "differences": {other: _differences(d) for other, d in curve.differences.items()},
                }
                for name, curve in self.curves.items()
            },
        }


def judged_candidates(
    tasks: Iterable[Task],
    rollouts: Iterable[Rollout],
    runs: Mapping[str, PublicRun],
    *,
    samples: int,
    inputs: int,
) -> tuple[list[JudgedCandidates], dict[str, int]]:
    """The samples of each task, and how many tasks were left out by cause: those with a sample that was not judged.

    Of rollouts with one index, a sampled and a greedy one, the first counts.
    """
    found: dict[str, dict[int, Rollout]] = {}
    says = False
    for rollout in rollouts:
        if rollout.index < samples:
            found.setdefault(rollout.task_id, {}).setdefault(rollout.index, rollout)
            says = says or any(any(turn.completion.logprobs) for turn in rollout.turns)
    kept, errors = [], 0
    for task in tasks:
        group = list(found.get(task.id, {}).values())
        public = [runs.get(key_of(task, one.answer, inputs)) for one in group]
        judged = [one.verdict for one in group if one.verdict is not None and one.verdict.judged]
        known = [run for run in public if run is not None]
        if len(judged) < samples or len(known) < samples:
            errors += 1
            continue
        pairs = list(zip(group, known, strict=True))
        candidates = Candidates(task.statement, tuple(_candidate(one, run, says) for one, run in pairs))
        costs = {
            SHOWN: float(np.mean([run.shown_cpu for run in known])),
            "results": float(np.mean([run.results_cpu for run in known])),
            "truth": float(np.mean([verdict.cpu_seconds for verdict in judged])),
        }
        passed = np.array([float(verdict.passed) for verdict in judged])
        tokens = np.array([float(sample.tokens) for sample in candidates.samples])
        kept.append(JudgedCandidates(task.id, candidates, passed, tokens, costs))
    return kept, {"a sample could not be judged": errors} if errors else {}


def _candidate(rollout: Rollout, run: PublicRun, says: bool) -> PublicSample:
    logprobs = [value for turn in rollout.turns for value in turn.completion.logprobs]
    return PublicSample(
        text=rollout.answer,
        tokens=len(logprobs),
        logprob=sum(logprobs) if says else None,
        shown=tuple(run.shown),
        results=tuple(run.results),
    )


def scaling(
    judged: Sequence[JudgedCandidates],
    *,
    samples: int,
    left_out: Mapping[str, int],
    sampling_cpu: float,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Scaling:
    """The curves of every selector that has what it needs on some task; on a task without it, it takes any sample.

    sampling_cpu  CPU seconds that a sampled token cost
    """
    names = [name for name, one in SELECTORS.items() if any(one.fits(task.candidates) for task in judged)]
    tables = {name: np.array([_by_k(name, task) for task in judged]) for name in [*names, ORACLE]}
    why = {"logprob": "the policy gives no log-probabilities", "shown": "no task shows a test",
           "results": "no task has public inputs of a Python function"}  # fmt: skip
    without = [(name, one) for name, one in SELECTORS.items() if name not in names]
    notes = [f"{name}: {'; '.join(why[need] for need in sorted(one.needs))}" for name, one in without]
    sampled = sampling_cpu * float(np.mean([task.tokens.mean() for task in judged]))

    def intervals(values: Floats) -> list[tuple[float, float, float]]:
        return mean_intervals(values, resamples=resamples, confidence=confidence)

    curves = {}
    for name, table in tables.items():
        needs = SELECTORS[name].needs - {"logprob"} if name in SELECTORS else {"truth"}
        each = sampled + sum(float(np.mean([task.cpu[need] for task in judged])) for need in needs)
        ks = [1 if name == RANDOM else k for k in range(1, samples + 1)]
        others = [other for other in (RANDOM, SHOWN) if other in tables and other != name]
        curves[name] = SelectorCurve(
            accuracy=[Estimate(*one) for one in intervals(table[:, :, 0])],
            false_positives=[Estimate(*one) for one in intervals(table[:, :, 1])],
            samples=ks,
            cpu_seconds=[k * each for k in ks],
            differences={
                other: [Difference(*one) for one in intervals(table[:, :, 0] - tables[other][:, :, 0])]
                for other in others
            },
        )
    return Scaling(
        tasks=len(judged),
        samples=samples,
        left_out=dict(left_out),
        notes=notes,
        confidence=confidence,
        curves=curves,
        per_task={
            name: {task.task_id: rows[:, 0].tolist() for task, rows in zip(judged, table, strict=True)}
            for name, table in tables.items()
        },
    )


def compare_scaling(
    first: Scaling, later: Scaling, *, resamples: int = 10_000
) -> dict[str, list[Difference]]:
    """{selector: later minus first at every k}, on the tasks and with the selectors that both have."""
    found = {}
    for name in later.curves:
        before, after = first.per_task.get(name, {}), later.per_task[name]
        both = [task for task in after if task in before]
        if both:
            table = np.array([after[task] for task in both]) - np.array([before[task] for task in both])
            ends = mean_intervals(table, resamples=resamples, confidence=later.confidence)
            found[name] = [Difference(*one) for one in ends]
    return found


def scaling_json(
    results: Mapping[str, Scaling], paired: Mapping[str, Mapping[str, Sequence[Difference]]]
) -> dict[str, Any]:
    """{"models", "first", "differences"} as JSON values."""
    return {
        "models": {name: found.as_json() for name, found in results.items()},
        "first": next(iter(results)),
        "differences": {
            name: {selector: _differences(one) for selector, one in found.items()}
            for name, found in paired.items()
        },
    }


def _differences(found: Sequence[Difference]) -> dict[str, Any]:
    return {"delta": [d.delta for d in found], "interval": [[d.low, d.high] for d in found]}


def _by_k(name: str, task: JudgedCandidates) -> Floats:
    if name == ORACLE:
        return by_order(task.passed, task.worth)
    selector = SELECTORS[name]
    return expected(
        selector if selector.fits(task.candidates) else SELECTORS[RANDOM], task.candidates, task.worth
    )
