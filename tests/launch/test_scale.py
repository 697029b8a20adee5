"""benchmarks/scale.py: the page has its numbers, and they move the way they must."""

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import scale

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_tables() -> None:
    page = (ROOT / "docs" / "launch.md").read_text()
    for name, text in scale.tables().items():
        assert text in page, f"docs/launch.md has another table {name}; it is now\n{text}"


def test_published_runs_are_within_about_twice() -> None:
    for one in scale.RUNS:
        low, high = one.computed()
        assert low < high and low / one.hours > 0.45 and high / one.hours < 2, one.name


def test_a_step_by_hand() -> None:
    """One row, so that no cache counts: weights are read once a token; 8 operations a weight and token, attention."""
    run = scale.Run("14B", 2, 2, 10, 100, 100, 1)
    step, weights = scale.step_of(run), run.shape.parameters
    assert step.sampling == pytest.approx(100 * (2 * weights / (3.35e12 * 0.6) + 0.005), rel=0.01)
    attention = 4 * 2 * 48 * 5120 * 110
    assert step.update == pytest.approx(2 * 110 * (8 * weights + attention) / (2 * 989e12 * 0.35))
    assert step.cores == pytest.approx(2 * scale.PROGRAM / step.sampling)


def test_more_of_it_takes_more() -> None:
    run = scale.WORKLOAD["14B"]
    step = scale.step_of(run)
    for more in (
        replace(run, rows=2048),
        replace(run, mean=10_000),
        replace(run, gpus=16),
        replace(run, model="32B"),
    ):
        assert scale.step_of(more).seconds > step.seconds
    assert scale.step_of(replace(run, longest=32_768)).sampling > step.sampling
    assert scale.step_of(replace(run, passes=1)).update == pytest.approx(1.25 * step.update)
    assert [scale.least_gpus(name) for name in ("1.5B", "14B")] == [1, 4]
    with pytest.raises(ValueError, match="does not fit"):
        scale.step_of(replace(run, model="70B"))
