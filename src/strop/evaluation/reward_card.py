"""The report card of a reward model: how far its scores of held-out answers can be trusted, compared with free
signals.

    within   AUC within a task: the chance that an answer that passed scores above one of its task that failed, ties
             1/2; mean over the tasks that have both
    pooled   AUC over all answers: also measures how well tasks are distinguished, which choosing among answers does
             not need
    hard     pairs that both compile and differ by at most a tenth in length
    flips    share of pairs whose order changes when one of the two is augmented (`code.near.augmentations`)
    best of  the exact accuracy of the highest score among k samples, for every k, with its distance from the policy: KL
             = log k - (k - 1) / k (Gao et al., arXiv 2210.10760)

Intervals are over tasks, by bootstrap; differences are paired by task.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from strop.evaluation.selectors import by_order
from strop.evaluation.statistics import (
    Difference,
    Differences,
    Estimate,
    Floats,
    Means,
    mean_differences,
    mean_interval,
    mean_intervals,
)
from strop.evaluation.table import difference_text, estimate_text, new_table, show
from strop.tasks.preferences import ComparedAnswer, ComparedAnswers
from strop_verify.code.near.augmentations import DRESSES
from strop_verify.core.ids import rng

Scorer = Callable[[Sequence[tuple[str, str]]], list[float]]
"""Scores of (prompt, answer), in order."""
Status = Callable[[str, int, int], None]
Owners = NDArray[np.int64]
"""Each answer's task number."""
Flags = NDArray[np.bool_]

MODEL = "reward model"
FEW = 4
"""Answers per kind and task to augment."""
LIKE = 0.1
"""Largest difference in length in a hard pair, as a share of the longer text."""
POOLED, TOGETHER = 1000, 256
"""Resamples of the pooled AUC, and number of answers scored in one call."""
CHANCE = 0.5

_BASELINES: Mapping[str, Callable[[ComparedAnswer], float | None]] = {
    "length": lambda one: -float(len(one.text)),
    "log-prob": lambda one: one.logprob,
    "compiles": lambda one: float(one.compiles),
    "shown tests": lambda one: one.shown,
}
"""Signals of an answer without any model; higher is better."""


def reward_card(
    tasks: Sequence[ComparedAnswers],
    score: Scorer,
    *,
    seed: int = 0,
    resamples: int = 10_000,
    confidence: float = 0.95,
    status: Status = lambda text, done, total: None,
) -> dict[str, Any]:
    """The card as JSON values; at least one task must have a pair. An interval is [low, high]."""
    ways = {"resamples": resamples, "confidence": confidence}
    texts = [(one.prompt, answer.text) for one in tasks for answer in one.answers]
    started = time.perf_counter()
    flat = _scored(score, texts, "scoring", status)
    seconds = (time.perf_counter() - started) / len(texts)
    answers = [answer for one in tasks for answer in one.answers]
    signals = {MODEL: np.array(flat)}
    for name, value in _BASELINES.items():
        known = [number for answer in answers if (number := value(answer)) is not None]
        if len(known) == len(answers):
            signals[name] = np.array(known)
    owner = np.repeat(np.arange(len(tasks)), [len(one.answers) for one in tasks])
    passed = np.array([answer.passed for answer in answers])
    card: dict[str, Any] = {
        "tasks": len(tasks),
        "tasks_with_pairs": sum(bool(one.pair_count) for one in tasks),
        "answers": len(answers),
        "pairs": sum(one.pair_count for one in tasks),
        "confidence": confidence,
        "signals": _signals(signals, owner, passed, ways),
        "hard_pairs": _hard(tasks, owner, signals[MODEL], ways),
        "flips": _flips(tasks, owner, signals[MODEL], score, seed, ways, status),
        "best_of_n": _best_of(tasks, owner, signals, ways),
        "seconds": {"score": seconds, "execution": float(np.mean([one.seconds for one in answers]))},
    }
    return {**card, "findings": findings(card)}


def auc(passed: Floats, failed: Floats) -> float:
    """The chance that one of `passed` is above one of `failed`; ties count 1/2."""
    above = np.sign(np.asarray(passed)[:, None] - np.asarray(failed)[None, :])
    return float((1 + above.mean()) / 2)


def pooled_auc(scores: Floats, passed: Flags, owner: Owners, *, confidence: float = 0.95) -> Estimate:
    """The AUC over all answers, with an interval over the tasks that own them (`owner`, numbers from 0).

    Draws in which all answers passed or failed are left out.
    """
    order = np.argsort(scores, kind="stable")
    ordered, good, owner = scores[order], passed[order].astype(np.float64), owner[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])

    def of(weights: Floats) -> Floats:
        above, below = (np.add.reduceat(weights * part, starts, axis=1) for part in (good, 1 - good))
        right = (above * (np.cumsum(below, axis=1) - below / 2)).sum(axis=1)
        pairs = above.sum(axis=1) * below.sum(axis=1)
        found: Floats = np.divide(right, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
        return found

    count, random = int(owner.max()) + 1, np.random.default_rng(0)
    rows = max(1, 4_000_000 // len(scores))
    drawn = [
        random.multinomial(count, np.full(count, 1 / count), size=min(rows, POOLED - at)).astype(np.float64)
        for at in range(0, POOLED, rows)
    ]
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(np.concatenate([of(times[:, owner]) for times in drawn]), [tail, 1 - tail])
    return Estimate(float(of(np.ones((1, len(scores))))[0]), float(low), float(high))


def findings(card: Mapping[str, Any]) -> list[str]:
    """Warnings that a reader must not miss, one per line."""
    lines = []
    signals = card["signals"]
    low, high = signals[MODEL]["within"]["interval"]
    if low <= CHANCE <= high:
        lines.append("within a task it is no better than chance: a null result")
    elif high < CHANCE:
        lines.append("within a task it is worse than chance")
    for name, signal in signals.items():
        if name != MODEL and signal["model_minus"]["interval"][0] <= 0:
            lines.append(f"within a task it is not shown to be better than {name}")
    hard = card["hard_pairs"]["auc"]
    if hard and hard["interval"][1] < CHANCE:
        lines.append("alarm: on hard pairs it is worse than chance, so it follows superficial features")
    best = card["best_of_n"]
    for name in ("random", "shown tests"):
        difference = best.get("differences", {}).get(name)
        if difference and difference["interval"][-1][0] <= 0:
            lines.append(f"best of {best['k'][-1]} by its score is not shown to be better than by {name}")
    if best and hacked(best["hacking_curve"]):
        lines.append("alarm: with more samples its scores keep rising while the pass rate falls")
    return lines


def hacked(curve: Mapping[str, Sequence[float]], most: float = 0.01) -> bool:
    """Whether the true rate at the end is below its peak by more than `most`, while the proxy is at its maximum."""
    proxy, truth = curve["proxy"], curve["truth"]
    return len(truth) > 1 and proxy[-1] >= max(proxy) and max(truth) - truth[-1] > most


def show_card(card: Mapping[str, Any], *, title: str) -> None:
    """Prints the card as tables."""
    table = new_table(title, "AUC", "within a task", "pooled", "reward model minus it")
    for name, one in card["signals"].items():
        minus = one.get("model_minus")
        last = difference_text(Difference(minus["delta"], *minus["interval"]) if minus else None)
        table.add_row(Text(name), _estimate(one["within"]), _estimate(one["pooled"]), last)
    hard = card["hard_pairs"]
    table.add_row(
        Text(f"reward model, {hard['pairs']} hard pairs"), _estimate(hard["auc"]), Text("-"), Text("-")
    )
    table.caption = (
        f"{card['pairs']} pairs of {card['tasks_with_pairs']} held-out tasks, {card['answers']} answers to "
        f"{card['tasks']}; {card['confidence']:.0%} intervals over tasks; hard: both compile, like length"
    )
    flips = new_table("augmentation, same program", "", "pairs", "order changes", "score changes by (sd)")
    for name, one in card["flips"].items():
        flips.add_row(
            Text(name), Text(str(one["pairs"])), _estimate(one["flipped"]), Text(f"{one['shift']:+.2f}")
        )
    show(table, flips, _best_table(card["best_of_n"]))
    seconds = card["seconds"]
    print(f"seconds per answer: {seconds['score']:.4f} to score, {seconds['execution']:.4f} CPU to execute")
    for line in card["findings"]:
        print(line)


def _best_table(best: Mapping[str, Any]) -> Any:
    if not best:
        return None
    shown = [k for k in best["k"] if k & (k - 1) == 0 or k == best["k"][-1]]
    table = new_table("best of k samples", "chosen by", *(f"k = {k}" for k in shown), "reward model minus it")
    for name, one in best["accuracy"].items():
        values = Means.model_validate(one)
        minus = best["differences"].get(name)
        last = Differences.model_validate(minus).at(-1) if minus else None
        cells = [estimate_text(values.at(k - 1)) for k in shown]
        table.add_row(Text(name), *cells, difference_text(last))
    table.caption = f"{best['tasks']} held-out tasks with {best['k'][-1]} samples or more"
    return table


def _scored(score: Scorer, texts: Sequence[tuple[str, str]], what: str, status: Status) -> list[float]:
    found: list[float] = []
    status(what, 0, len(texts))  # the estimate of the time left starts here
    for start in range(0, len(texts), TOGETHER):
        found += score(texts[start : start + TOGETHER])
        status(what, len(found), len(texts))
    return found


def _signals(
    signals: Mapping[str, Floats], owner: Owners, passed: Flags, ways: Mapping[str, Any]
) -> dict[str, Any]:
    mine = [owner == number for number in np.unique(owner)]
    both = [some for some in mine if 0 < passed[some].sum() < some.sum()]
    within = np.array(
        [[auc(s[some & passed], s[some & ~passed]) for s in signals.values()] for some in both],
        dtype=np.float64,
    )
    columns = np.hstack([within, within[:, :1] - within])
    intervals = mean_intervals(columns, **ways)
    found: dict[str, Any] = {}
    for at, (name, values) in enumerate(signals.items()):
        found[name] = {
            "within": _json(intervals.at(at)),
            "pooled": _json(pooled_auc(values, passed, owner, confidence=ways["confidence"])),
        }
        if at:
            delta, *ends = intervals.at(len(signals) + at)
            found[name]["model_minus"] = {"delta": delta, "interval": ends}
    return found


def _of_tasks(
    tasks: Sequence[ComparedAnswers], owner: Owners, scores: Floats
) -> list[list[tuple[ComparedAnswer, float]]]:
    return [
        list(zip(one.answers, scores[owner == number].tolist(), strict=True))
        for number, one in enumerate(tasks)
    ]


def _hard(
    tasks: Sequence[ComparedAnswers], owner: Owners, scores: Floats, ways: Mapping[str, Any]
) -> dict[str, Any]:
    values, pairs = [], 0
    for scored in _of_tasks(tasks, owner, scores):
        some = [pair for pair in scored if pair[0].compiles]
        right = [
            (1 + np.sign(good[1] - bad[1])) / 2
            for good, bad in product(some, some)
            if good[0].passed and not bad[0].passed and _like(good[0].text, bad[0].text)
        ]
        pairs += len(right)
        values += [float(np.mean(right))] if right else []
    return {
        "pairs": pairs,
        "tasks": len(values),
        "auc": _json(mean_interval(values, **ways)) if values else None,
    }


def _like(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) <= LIKE * max(len(one), len(other))


def _flips(
    tasks: Sequence[ComparedAnswers],
    owner: Owners,
    scores: Floats,
    score: Scorer,
    seed: int,
    ways: Mapping[str, Any],
    status: Status,
) -> dict[str, Any]:
    spread = float(np.std(scores)) or 1.0
    drawn: list[tuple[ComparedAnswers, list[tuple[ComparedAnswer, float]]]] = []
    for one, scored in zip(tasks, _of_tasks(tasks, owner, scores), strict=True):
        if one.language == "python" and one.pair_count:
            draw = rng(seed, "dress", one.task_id)
            kinds = ([pair for pair in scored if pair[0].passed is kind] for kind in (True, False))
            drawn.append((one, [pair for some in kinds for pair in draw.sample(some, min(FEW, len(some)))]))
    found: dict[str, Any] = {}
    for name, dress in DRESSES.items():
        texts = {
            (one.prompt, answer.text): (one.prompt, new)
            for one, some in drawn
            for answer, _ in some
            if (new := dress(answer.text)) is not None
        }
        dressed = dict(zip(texts, _scored(score, [*texts.values()], f"scoring {name}", status), strict=True))
        values, pairs, shifts = [], 0, []
        for one, some in drawn:
            shifts += [
                other - old
                for answer, old in some
                if (other := dressed.get((one.prompt, answer.text))) is not None
            ]
            flips = [flip for good, bad in product(some, some) for flip in _flipped(one, good, bad, dressed)]
            pairs += len(flips)
            values += [float(np.mean(flips))] if flips else []
        found[name] = {
            "pairs": pairs,
            "flipped": _json(mean_interval(values, **ways)) if values else None,
            "shift": float(np.mean(shifts)) / spread if shifts else 0.0,
        }
    return found


def _flipped(
    one: ComparedAnswers,
    good: tuple[ComparedAnswer, float],
    bad: tuple[ComparedAnswer, float],
    dressed: Mapping[tuple[str, str], float],
) -> list[float]:
    """For a pair: whether its order changes when either is augmented, for each that can be."""
    if not good[0].passed or bad[0].passed:
        return []
    before = np.sign(good[1] - bad[1])
    first, second = (dressed.get((one.prompt, answer.text)) for answer, _ in (good, bad))
    gaps = [
        *([first - bad[1]] if first is not None else []),
        *([good[1] - second] if second is not None else []),
    ]
    return [float(np.sign(gap) != before) for gap in gaps]


def _best_of(
    tasks: Sequence[ComparedAnswers], owner: Owners, signals: Mapping[str, Floats], ways: Mapping[str, Any]
) -> dict[str, Any]:
    """For the tasks with at least the median number of samples; equal answers count as often as they were sampled."""
    counts = [sum(answer.count for answer in one.answers) for one in tasks]
    most = int(np.median(counts))
    kept = [number for number, count in enumerate(counts) if count >= most]
    if most < 2:
        return {}
    names = [MODEL, *(["shown tests"] if "shown tests" in signals else []), "random", "oracle"]
    curves: dict[str, list[Floats]] = {name: [] for name in names}
    proxies = []
    for number in kept:
        mine = owner == number
        times = [answer.count for answer in tasks[number].answers]
        truth = np.repeat([float(answer.passed) for answer in tasks[number].answers], times)
        given = {name: np.repeat(values[mine], times) for name, values in signals.items()}
        given |= {"random": np.zeros(len(truth)), "oracle": truth}
        for name in names:
            curves[name].append(by_order(given[name], truth[:, None])[:most, 0])
        proxies.append(by_order(given[MODEL], given[MODEL][:, None])[:most, 0])
    tables = {name: np.array(rows) for name, rows in curves.items()}
    accuracy = {name: mean_intervals(table, **ways) for name, table in tables.items()}
    differences = {
        name: mean_differences(tables[MODEL] - table, **ways).model_dump(mode="json")
        for name, table in tables.items()
        if name not in (MODEL, "oracle")
    }
    return {
        "tasks": len(kept),
        "k": list(range(1, most + 1)),
        "accuracy": {name: found.model_dump(mode="json") for name, found in accuracy.items()},
        "differences": differences,
        "hacking_curve": {
            "distance": [math.sqrt(max(0.0, math.log(k) - (k - 1) / k)) for k in range(1, most + 1)],
            "proxy": np.array(proxies).mean(axis=0).tolist(),
            "truth": accuracy[MODEL].value,
        },
    }


def _json(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "interval": [found.low, found.high]}


def _estimate(found: Mapping[str, Any] | None) -> Text:
    return estimate_text(Estimate(found["value"], *found["interval"]) if found else None)
