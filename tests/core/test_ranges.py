"""Ranges of lines: how they are read and written, and F0.5 against a count of single lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.tasks.comparison import MAX_PLACES, RetrievalToolchain
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.ranges import MOST_RANGES, Range, merged, read_ranges, score, write_ranges
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome

SPANS = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 12)).map(lambda one: (one[0], one[0] + one[1])), max_size=6
)
PLACES = st.dictionaries(st.sampled_from(["a.py", "b/c.py", "d e.rs"]), SPANS.filter(bool), max_size=3)
Places = dict[str, list[Range]]


def counted(places: Places) -> set[tuple[str, int]]:
    return {(path, line) for path, spans in places.items() for a, b in spans for line in range(a, b + 1)}


def brute(answer: set[object], truth: set[object]) -> float:
    common = len(answer & truth)
    if not common:
        return 0.0
    precision, recall = common / len(answer), common / len(truth)
    return 1.25 * precision * recall / (0.25 * precision + recall)


@given(PLACES, PLACES)
def test_the_score_is_that_of_single_lines(answer: Places, truth: Places) -> None:
    found = score(answer, truth)
    assert found.lines == pytest.approx(brute(set(counted(answer)), set(counted(truth))))
    assert found.files == pytest.approx(brute(set(answer), set(truth)))
    assert 0 <= found.mean <= 1


@given(PLACES.filter(bool), PLACES.filter(bool), st.randoms())
def test_order_overlaps_and_repetitions_count_once(answer: Places, truth: Places, random: object) -> None:
    shuffled = {
        path: [*reversed(spans), spans[0], (spans[0][0], spans[0][0])]
        for path, spans in reversed(answer.items())
    }
    assert score(shuffled, truth) == score(answer, truth)


@given(PLACES.filter(bool))
def test_the_truth_is_the_only_best_answer(truth: Places) -> None:
    assert score(truth, truth).mean == 1
    assert score({**truth, "other.py": [(1, 1)]}, truth).mean < 1
    whole = {path: [(1, 1000)] for path in truth}
    assert score(whole, truth).lines < 0.9


@given(PLACES)
def test_what_is_written_is_read_again(places: Places) -> None:
    assert read_ranges(write_ranges(places)) == {path: merged(spans) for path, spans in places.items()}


@pytest.mark.parametrize(
    "text",
    ["shop/cart.py", "shop/cart.py:", ":3", "a.py:0", "a.py:9-3", "a.py:1-", "a.py:1;2", "a.py:99999999999",
     "see a.py:3!",
     "\n".join(f"a{n}.py:1" for n in range(MOST_RANGES + 1))],
)  # fmt: skip
def test_what_is_no_place_is_said_in_a_line(text: str) -> None:
    with pytest.raises(ValueError) as error:
        read_ranges(text)
    assert "\n" not in str(error.value) and len(str(error.value)) < 120


def task(**truth: list[Range]) -> Task:
    return Task(statement="Where?", check=RetrievalCheck(tree="t.git", commit="c", truth=truth))


@pytest.mark.parametrize(
    ("answer", "outcome", "value"),
    [
        ("./a:1-4", Outcome.PASSED, 1.0),
        ("a:1-2\na: 3,4", Outcome.NO_ANSWER, 0.0),  # a blank behind the colon
        ("a:1-2\na:3, 4", Outcome.PASSED, 1.0),
        ("a:1-8", Outcome.FAILED, (1 + 1.25 * 0.5 / 1.125) / 2),
        ("b:1-4", Outcome.FAILED, 0.0),
        ("", Outcome.NO_ANSWER, 0.0),
        ("It is in a", Outcome.NO_ANSWER, 0.0),
        ("a:1\n" * MAX_PLACES, Outcome.NO_ANSWER, 0.0),
    ],
)
def test_verdicts(answer: str, outcome: Outcome, value: float) -> None:
    (verdict,) = RetrievalToolchain().judge([(task(a=[(1, 4)]), answer)])
    assert (verdict.outcome, verdict.score) == (outcome, pytest.approx(value))
    assert verdict.passed == (value == 1)
