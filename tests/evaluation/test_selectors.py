"""Ways of choosing among samples: equal to a brute force that shares no code with them, and blind to hidden tests."""

import ast
import importlib.util
import random
import sys
from dataclasses import fields
from math import comb
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.scale import most

import strop.evaluation.selectors
from strop.evaluation.selectors import (
    SELECTORS,
    SUBSETS,
    Candidates,
    PublicSample,
    by_order,
    expected,
    subsets,
)
from strop.evaluation.statistics import mean_interval, mean_intervals, pass_at_k

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """benchmarks/answer_selectors.py."""
    spec = importlib.util.spec_from_file_location(
        "selectors_benchmark", ROOT / "benchmarks" / "answer_selectors.py"
    )
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_selector_equals_the_brute_force_with_ties_in_any_order(bench: ModuleType) -> None:
    draw = random.Random("test")
    for _ in range(most(2000, short=60)):
        assert bench.difference(draw) < 1e-12
        assert bench.difference_of_codet(draw) == 0.0


def test_drawn_subsets_do_not_depend_on_the_order_of_the_samples(bench: ModuleType) -> None:
    count = 13
    assert comb(count, count // 2) > SUBSETS
    samples, worth = bench.made(random.Random("order"), count, 4)
    order = random.Random("other").sample(range(count), count)
    for name, selector in SELECTORS.items():
        first = expected(selector, Candidates("", tuple(samples)), np.array(worth, dtype=float))
        again = Candidates("", tuple(samples[i] for i in order))
        assert np.allclose(
            first, expected(selector, again, np.array([worth[i] for i in order], dtype=float))
        ), name


def test_subsets_are_all_or_drawn_evenly() -> None:
    found = list(subsets(13, "seed"))
    for k, members in enumerate(found, 1):
        assert len(members) == min(comb(13, k), SUBSETS) and (members.sum(axis=1) == k).all()
        assert comb(13, k) > SUBSETS or len({tuple(row) for row in members}) == len(members)
        assert np.abs(members.mean(axis=0) - k / 13).max() < 0.06
    assert (found[5] == list(subsets(13, "seed"))[5]).all()


def test_random_is_pass_at_1_and_the_oracle_pass_at_k_and_nothing_beats_it(bench: ModuleType) -> None:
    samples, worth = bench.made(random.Random("bounds"), 9, 3)
    table = np.array(worth, dtype=float)
    passed = int(table[:, 0].sum())
    best = by_order(table[:, 0], table)[:, 0]
    assert best == pytest.approx([pass_at_k(9, passed, k) for k in range(1, 10)])
    for name, selector in SELECTORS.items():
        found = expected(selector, Candidates("", tuple(samples)), table)[:, 0]
        assert found[0] == pytest.approx(passed / 9) and (found <= best + 1e-12).all(), name
        assert name not in ("first", "random") or found == pytest.approx([passed / 9] * 9)


def test_a_false_majority_of_answers_that_all_raise_has_no_votes() -> None:
    raising = [PublicSample(f"r{n}", 1, 0.0, (), (None, None)) for n in range(3)]
    right = PublicSample("right", 1, -9.0, (), ("a", None))
    for name in ("majority", "codet"):
        found = expected(SELECTORS[name], Candidates("", (*raising, right)), np.array([[0.0]] * 3 + [[1.0]]))
        assert found[-1, 0] == 1.0, name


def test_a_selector_is_given_nothing_of_hidden_tests() -> None:
    plain = {"text", "statement", "samples", "tokens", "logprob", "shown", "results", "rewards"}
    assert {field.name for kind in (PublicSample, Candidates) for field in fields(kind)} == plain
    tree = ast.parse(Path(str(strop.evaluation.selectors.__file__)).read_text())
    taken = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in taken if name and name.startswith("strop")} == {
        "strop_verify.core.ids", "strop_verify.core.registry", "strop.evaluation.statistics",
    }  # fmt: skip


def test_intervals_of_many_columns_are_those_of_one() -> None:
    values = np.random.default_rng(3).random((40, 2))
    for number in range(2):
        found, one = mean_intervals(values).at(number), mean_interval(values[:, number].tolist())
        assert found.value == pytest.approx(one.value)
        assert (found.low, found.high) == pytest.approx((one.low, one.high), abs=0.01)
    with pytest.raises(ValueError, match="no task"):
        mean_intervals(np.zeros((0, 2)))
