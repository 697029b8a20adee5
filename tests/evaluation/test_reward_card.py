"""The report card: its numbers equal plain loops, and what is wrong with a judge is said."""

import random
from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np
import pytest

from strop.evaluation.reward_card import MODEL, auc, findings, hacked, pooled_auc, reward_card
from strop.tasks.preferences import ComparedAnswer, ComparedAnswers
from strop_verify.code.near.augmentations import DRESSES, commented, padded, renamed
from strop_verify.code.near.labels import python_labels

SOURCE = '''import math

LIMIT = 3


def f(xs, n=2):
    """Doc.

    text
    """
    total = 0
    for x in xs:
        if x > LIMIT: total += x; n = 1
        elif x == 2:
            total = f"{total}"
    return [y for y in xs if y] + [total]
'''


def answer(text: str, passed: bool, **more: object) -> ComparedAnswer:
    return ComparedAnswer(text=text, passed=passed, compiles=True, logprob=-float(len(text)), **more)


def made(count: int, seed: int = 0) -> list[ComparedAnswers]:
    """Answers whose score is a number in their text."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        answers = []
        for at in range(draw.randint(2, 6)):
            passed, score = draw.random() < 0.4, draw.randint(0, 5)
            text = f"def f(a):\n    value = {score}\n    return value + {at}"
            answers.append(
                answer(text, passed, count=draw.randint(1, 2), shown=float(passed or draw.random() < 0.3))
            )
        found.append(ComparedAnswers(task_id=f"t{number}", split="held-out", prompt="p", answers=answers))
    return found


def number_in(pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [float(text.split("= ")[1].split("\n")[0]) for _, text in pairs]


def test_within_and_pooled_auc_equal_plain_loops() -> None:
    tasks = made(30)
    card = reward_card(tasks, number_in, resamples=500)

    def score(one: ComparedAnswer) -> float:
        return number_in([("", one.text)])[0]

    def chance(pairs: list[tuple[ComparedAnswer, ComparedAnswer]]) -> float:
        return sum(
            1.0 if score(g) > score(b) else 0.5 if score(g) == score(b) else 0.0 for g, b in pairs
        ) / len(pairs)

    within = [chance(list(one.pairs)) for one in tasks if one.pair_count]
    signal = card["signals"][MODEL]
    assert signal["within"]["value"] == pytest.approx(sum(within) / len(within))
    everything = [answer for one in tasks for answer in one.answers]
    good, bad = ([a for a in everything if a.passed is kind] for kind in (True, False))
    assert signal["pooled"]["value"] == pytest.approx(chance(list(product(good, bad))))
    low, high = signal["pooled"]["interval"]
    assert low < signal["pooled"]["value"] < high
    assert card["pairs"] == sum(one.pair_count for one in tasks)
    assert {*card["signals"]} == {MODEL, "length", "log-prob", "compiles", "shown tests"}
    assert card["signals"]["compiles"]["within"] == {"value": 0.5, "interval": [0.5, 0.5]}


def test_the_pooled_auc_also_tells_tasks_apart_and_the_one_within_does_not() -> None:
    """A judge that knows how easy a task is, and nothing of its answers."""
    draw = random.Random(3)
    tasks = []
    for number in range(60):
        ease = draw.random()
        answers = [
            answer(f"def f(a):\n    value = {ease}\n    return {at}", draw.random() < ease) for at in range(8)
        ]
        tasks.append(ComparedAnswers(task_id=f"t{number}", split="held-out", prompt="p", answers=answers))
    card = reward_card(tasks, number_in, resamples=500)
    signal = card["signals"][MODEL]
    assert signal["pooled"]["value"] > 0.7 and signal["within"]["value"] == 0.5
    assert "within a task it is no better than chance: a null result" in card["findings"]


def test_intervals_of_the_pooled_auc_are_over_tasks() -> None:
    rng = np.random.default_rng(0)
    scores, passed = rng.normal(size=400), rng.random(400) < 0.5
    scores[passed] += 1
    each, few = np.arange(400), np.arange(400) // 100
    alone, together = pooled_auc(scores, passed, each), pooled_auc(scores, passed, few)
    assert alone.value == together.value == pytest.approx(auc(scores[passed], scores[~passed]))
    assert alone.low < alone.value < alone.high and alone.high - alone.low < 0.15


def test_best_of_n_equals_all_subsets() -> None:
    tasks = made(12, seed=5)
    card = reward_card(tasks, number_in, resamples=200)
    best = card["best_of_n"]
    most = best["k"][-1]
    kept = [one for one in tasks if sum(a.count for a in one.answers) >= most]
    assert best["tasks"] == len(kept)
    for k in best["k"]:
        truth, proxy = [], []
        for one in kept:
            samples = [a for a in one.answers for _ in range(a.count)]
            found = []
            for some in combinations(samples, k):
                top = max(number_in([("", a.text)])[0] for a in some)
                chosen = [a for a in some if number_in([("", a.text)])[0] == top]
                found.append((sum(a.passed for a in chosen) / len(chosen), top))
            truth.append(sum(t for t, _ in found) / len(found))
            proxy.append(sum(p for _, p in found) / len(found))
        assert best["accuracy"][MODEL]["value"][k - 1] == pytest.approx(sum(truth) / len(truth))
        assert best["hacking_curve"]["proxy"][k - 1] == pytest.approx(sum(proxy) / len(proxy))
    assert best["hacking_curve"]["distance"][0] == 0.0
    assert best["differences"]["random"]["delta"][0] == pytest.approx(0.0)
    oracle = best["accuracy"]["oracle"]["value"]
    assert all(
        value <= top + 1e-12 for value, top in zip(best["accuracy"][MODEL]["value"], oracle, strict=True)
    )


def judge(bonus: Callable[[str], float]) -> Callable[[Sequence[tuple[str, str]]], list[float]]:
    return lambda pairs: [number_in([pair])[0] + bonus(pair[1]) for pair in pairs]


def test_a_judge_that_likes_comments_is_found_out_and_an_honest_one_is_not() -> None:
    tasks = made(30)
    honest = reward_card(tasks, number_in, resamples=200)
    assert all(one["flipped"]["value"] == 0 for one in honest["flips"].values() if one["flipped"])
    fond = reward_card(tasks, judge(lambda text: 9.0 * ("#" in text)), resamples=200)
    assert fond["flips"]["comments"]["flipped"]["value"] > 0.4 and fond["flips"]["comments"]["shift"] > 1
    assert fond["flips"]["padding"]["flipped"]["value"] == 0
    strict = reward_card(tasks, judge(lambda text: 9.0 * ("value_0" in text)), resamples=200)
    assert strict["flips"]["renamed locals"]["flipped"]["value"] > 0.4


def test_a_judge_that_is_wrong_on_hard_pairs_rings() -> None:
    tasks = [
        ComparedAnswers(
            task_id=f"t{n}",
            split="held-out",
            prompt="p",
            answers=[
                answer(f"def f(a):\n    value = {int(not ok)}\n    return a", ok) for ok in (True, False)
            ],
        )
        for n in range(20)
    ]
    card = reward_card(tasks, number_in, resamples=200)
    assert card["hard_pairs"]["pairs"] == 20 and card["hard_pairs"]["auc"]["value"] == 0.0
    assert any(line.startswith("alarm: on hard pairs") for line in findings(card))
    assert any("the pass rate falls" in line for line in card["findings"])


def test_a_curve_that_turns_is_hacked() -> None:
    assert hacked({"proxy": [0.0, 1.0, 2.0], "truth": [0.2, 0.3, 0.25]})
    assert not hacked({"proxy": [0.0, 1.0, 2.0], "truth": [0.2, 0.3, 0.31]})


def test_other_dresses_are_the_same_program() -> None:
    for name, dress in DRESSES.items():
        found = dress(SOURCE)
        assert found is not None and found != SOURCE
        scope, other = dict[str, object](), dict[str, object]()
        exec(SOURCE, scope)
        exec(found, other)
        assert scope["f"]([1, 5, 2]) == other["f"]([1, 5, 2]), name  # type: ignore[operator]
        if name != "padding":
            assert python_labels(found) == python_labels(SOURCE)
    assert "total" not in str(renamed(SOURCE)) and "xs, n=2" in str(renamed(SOURCE))
    assert [dress("def f(:") for dress in (commented, renamed, padded)] == [None] * 3
    assert renamed("def f(a):\n    return a\n") is None and padded("") is None


def test_the_time_that_is_left_counts_from_the_start_of_the_scoring() -> None:
    told: list[tuple[str, int, int]] = []
    reward_card(made(4), number_in, resamples=10, status=lambda *one: told.append(one))
    first = {what: done for what, done, _ in reversed(told)}
    assert "scoring" in first and len(first) == 1 + len(DRESSES) and set(first.values()) == {0}
