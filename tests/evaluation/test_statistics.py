from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from strop.evaluation.statistics import mean_interval, paired_difference, pass_at_k


@given(st.data())
def test_pass_at_k_is_the_share_of_subsets_that_hold_a_pass(data):
    n = data.draw(st.integers(1, 9))
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    answers = [i < c for i in range(n)]
    subsets = [any(chosen) for chosen in combinations(answers, k)]
    assert pass_at_k(n, c, k) == pytest.approx(sum(subsets) / len(subsets), abs=1e-12)


def test_pass_at_k_is_stable_for_many_answers():
    expected = 1 - float(stats.hypergeom.pmf(0, 20_000, 300, 100))
    assert pass_at_k(20_000, 300, 100) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "c", "k"), [(7, 3, 8), (0, 0, 1), (4, 2, 0), (4, 5, 1), (4, -1, 1)])
def test_pass_at_k_refuses_what_has_no_answer(n, c, k):
    with pytest.raises(ValueError):
        pass_at_k(n, c, k)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=40), st.integers(0, 5))
def test_interval_holds_the_mean_of_its_range_and_repeats(values, seed):
    estimate = mean_interval(values, resamples=300, seed=seed)
    assert estimate.value == pytest.approx(np.mean(values))
    assert min(values) - 1e-9 <= estimate.low <= estimate.high <= max(values) + 1e-9
    assert estimate == mean_interval(values, resamples=300, seed=seed)


def test_interval_agrees_with_scipy():
    values = np.random.default_rng(3).random(60)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    ours = mean_interval(values.tolist(), resamples=20_000)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.003)
    half = mean_interval(values.tolist(), resamples=20_000, confidence=0.5)
    assert ours.low < half.low < ours.value < half.high < ours.high


def test_interval_covers_the_truth_as_often_as_it_says():
    draws = np.random.default_rng(0).random((300, 80)) < 0.3
    estimates = [mean_interval(row.astype(float).tolist(), resamples=400, seed=1) for row in draws]
    covered = np.mean([e.low <= 0.3 <= e.high for e in estimates])
    assert 0.88 < covered < 0.99


def test_pairing_takes_out_what_tasks_have_in_common():
    before = np.random.default_rng(0).random(100)
    after = before + 0.05
    delta, low, high = paired_difference(before.tolist(), after.tolist())
    assert (delta, low, high) == pytest.approx((0.05, 0.05, 0.05))


def test_difference_is_after_minus_before():
    delta, low, high = paired_difference([1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0])
    assert delta == -0.5
    assert low == -1 and high <= 0


def test_difference_depends_on_the_seed_and_chunks_do_not_matter(monkeypatch):
    before, after = [0.0] * 30, np.random.default_rng(0).random(30).tolist()
    whole = paired_difference(before, after, seed=4)
    assert whole != paired_difference(before, after, seed=5)
    monkeypatch.setattr("strop.evaluation.statistics._CELLS", 1000)
    assert paired_difference(before, after, seed=4) == whole


def test_bad_values_are_refused():
    with pytest.raises(ValueError, match="not the same tasks"):
        paired_difference([1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="no task"):
        mean_interval([])
    with pytest.raises(ValueError, match="not finite"):
        mean_interval([float("nan"), 1.0])
