"""Compares the selectors of `strop scale` with a brute force that shares no code with them, and times them.

    python benchmarks/answer_selectors.py [--json FILE] [--matrices 10000] [--tasks 5] [--samples 32]

Random pass matrices have few samples and many ties; for every k, the brute force applies each selector's definition to
all subsets, in exact fractions. `max_difference_to_brute_force` is over all selectors, k and both columns (passed,
false positives), and over the same matrices with their samples in another order. `seconds_per_1000_tasks` are CPU
seconds of the curves of all selectors.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

from strop.evaluation.selectors import SELECTORS, Candidates, PublicSample, codet, expected


def made(draw: random.Random, count: int, inputs: int) -> tuple[list[PublicSample], list[tuple[int, int]]]:
    """(samples, [(passed, false positive)]) of a task."""
    samples, worth = [], []
    shown_tests, values = draw.randint(0, 3), draw.choice(["a", "ab", "abc"])
    for number in range(count):
        shown = tuple(draw.random() < 0.6 for _ in range(shown_tests))
        results = tuple(draw.choice([None, *values]) for _ in range(inputs))
        text = draw.choice(["same", f"{number}"])
        samples.append(PublicSample(text, draw.randint(0, 3), float(-draw.randint(0, 3)), shown, results))
        passed = draw.randint(0, 1)
        worth.append((passed, int(bool(shown) and all(shown) and not passed)))
    return samples, worth


def best(name: str, samples: Sequence[PublicSample], members: Sequence[int]) -> list[int]:
    """The members that a selector may choose, by its definition."""
    if name in ("first", "random"):
        return list(members)
    if name.startswith("shown"):
        most = max(samples[i].shown.count(True) for i in members)
        kept = [i for i in members if samples[i].shown.count(True) == most]
        return kept if name == "shown" else best("majority", samples, kept)
    if name == "codet":
        tests = Counter((x, r) for i in members for x, r in enumerate(samples[i].results) if r is not None)
        return best_of_codet(
            {i: {t for t in tests if samples[i].results[t[0]] == t[1]} for i in members}, tests
        )
    keys: dict[int, tuple[float, ...]] = {}
    for i in members:
        one = samples[i]
        ran = any(result is not None for result in one.results)
        votes = sum(ran and samples[j].results == one.results for j in members)
        logprob = one.logprob or 0.0
        means = {"log-prob": (logprob,), "log-prob-mean": (logprob / max(1, one.tokens),)}
        keys[i] = means.get(name, (votes, logprob))
    return [i for i in members if keys[i] == max(keys.values())]


def best_of_codet(passed: dict[int, set[tuple[int, str]]], tests: Counter[tuple[int, str]]) -> list[int]:
    """By sqrt(|S|) |T|, squared, with multiplicity."""
    scores = {}
    for i, own in passed.items():
        size = sum(other == own for other in passed.values())
        scores[i] = size * sum(tests[test] for test in own) ** 2
    return [i for i in passed if scores[i] == max(scores.values())]


def brute_force(
    name: str, samples: Sequence[PublicSample], worth: Sequence[tuple[int, int]]
) -> list[list[Fraction]]:
    """The result of `expected` by enumeration of all subsets of every size."""
    rows = []
    for k in range(1, len(samples) + 1):
        found = [best(name, samples, members) for members in combinations(range(len(samples)), k)]
        rows.append(
            [
                sum(
                    (Fraction(sum(worth[i][at] for i in chosen), len(chosen)) for chosen in found),
                    Fraction(0),
                )
                / len(found)
                for at in (0, 1)
            ]
        )
    return rows


def difference(draw: random.Random) -> float:
    """The largest difference on one random task, in its order and in another."""
    samples, worth = made(draw, draw.randint(1, 5), draw.randint(0, 3))
    order = draw.sample(range(len(samples)), len(samples))
    most = 0.0
    for name, selector in SELECTORS.items():
        right = np.array(brute_force(name, samples, worth), dtype=np.float64)
        for places in (range(len(samples)), order):
            candidates = Candidates("", tuple(samples[i] for i in places))
            found = expected(selector, candidates, np.array([worth[i] for i in places], dtype=np.float64))
            most = max(most, float(np.abs(found - right).max()))
    return most


def difference_of_codet(draw: random.Random) -> float:
    """The same for CodeT, with tests that their samples need not pass, some of them written twice."""
    count, tests = draw.randint(1, 6), draw.randint(0, 5)
    passed = np.array([[float(draw.random() < 0.5) for _ in range(tests)] for _ in range(count)]).reshape(
        count, tests
    )
    written = np.array([[float(draw.randint(0, 2)) for _ in range(tests)] for _ in range(count)]).reshape(
        count, tests
    )
    members = [i for i in range(count) if draw.random() < 0.7] or [0]
    inside = np.array([[i in members for i in range(count)]])
    known = Counter({(t, ""): int(sum(written[i][t] for i in members)) for t in range(tests)})
    own = {i: {t for t, times in known.items() if times and passed[i][t[0]]} for i in members}
    scores = np.where(inside, codet(passed, written, inside), -1.0)[0]
    found = {int(i) for i in np.flatnonzero(scores == scores.max())}
    return float(found != set(best_of_codet(own, known)))


def seconds(tasks: int, samples: int) -> float:
    """CPU seconds per task of the curves of all selectors."""
    draw = random.Random("time")
    given = [made(draw, samples, 16) for _ in range(tasks)]
    began = time.process_time()
    for found, worth in given:
        for selector in SELECTORS.values():
            expected(selector, Candidates("", tuple(found)), np.array(worth, dtype=np.float64))
    return (time.process_time() - began) / tasks


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    for name, value in (("--matrices", 10_000), ("--tasks", 5), ("--samples", 32)):
        parser.add_argument(name, type=int, default=value)
    asked = parser.parse_args()
    draw = random.Random("matrices")
    most = max(max(difference(draw), difference_of_codet(draw)) for _ in range(asked.matrices))
    found = {
        "matrices": asked.matrices,
        "max_difference_to_brute_force": most,
        "samples": asked.samples,
        "seconds_per_1000_tasks": round(1000 * seconds(asked.tasks, asked.samples), 1),
    }
    print(json.dumps(found, indent=1))
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
