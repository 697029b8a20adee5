"""Windows by day, and fewer tests for a task."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.tasks.splits import similar_across, similar_pairs
from strop.tasks.task_sets import at_most, date_of, in_window
from strop_verify.core.checks import Case, CasesCheck, RustCheck, StdioCase, StdioCheck
from strop_verify.core.task import Task

CHECK = CasesCheck(entry_point="f", cases=[Case(args=[1], expected=1)])


def dated(number: int, day: object) -> Task:
    return Task(id=f"t{number}", statement="x", check=CHECK, metadata={} if day is None else {"date": day})


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-08-01", "2024-08-01"),
        ("2024-08-01T23:59:00", "2024-08-01"),
        ("2024-02-30", ""),
        ("yesterday", ""),
        (20240801, ""),
        (None, ""),
    ],
)
def test_a_day_is_read_or_there_is_none(value: object, day: str) -> None:
    assert date_of(dated(0, value)) == day


def test_both_ends_of_a_window_are_in_it_and_what_is_left_out_is_counted() -> None:
    days = ["2024-07-31", "2024-08-01", "2025-02-01T10:00:00", "2025-02-02", None, "soon"]
    tasks = [dated(n, day) for n, day in enumerate(days)]
    found = in_window(tasks, "2024-08-01", "2025-02-01")
    assert [task.id for task in found.tasks] == ["t1", "t2"]
    assert (found.undated, found.outside) == (2, 2)
    assert found.left_out == "2 of other days, 2 without a date"
    assert [t.id for t in in_window(tasks, None, "2024-07-31").tasks] == ["t0"]
    assert [t.id for t in in_window(tasks, "2025-02-02", None).tasks] == ["t3"]
    assert in_window(tasks, None, None).tasks == tasks and in_window(tasks, None, None).left_out == ""


@given(
    inputs=st.lists(st.tuples(st.text("ab", max_size=6), st.booleans()), max_size=12),
    most=st.integers(1, 8),
    base=st.integers(0, 12),
)
def test_the_longest_inputs_stay_in_their_order_and_shown_ones_before_them(
    inputs: list[tuple[str, bool]], most: int, base: int
) -> None:
    cases = [StdioCase(stdin=text, stdout=str(n), shown=shown) for n, (text, shown) in enumerate(inputs)]
    task = Task(statement="x", check=StdioCheck(cases=cases), metadata={"base_tests": base, "date": "d"})
    cut = at_most(task, most)
    assert isinstance(cut.check, StdioCheck)
    kept = [int(case.stdout) for case in cut.check.cases]
    assert len(kept) == min(most, len(cases)) and kept == sorted(kept) and cut.id == task.id
    if len(cases) <= most:
        assert cut == task
        return
    shown = [n for n, case in enumerate(cases) if case.shown]
    assert kept == shown[:most] if len(shown) >= most else set(shown) < set(kept) or not shown
    hidden = [n for n in range(len(cases)) if n not in shown]
    kept_hidden = [n for n in kept if n in hidden]
    left = [n for n in hidden if n not in kept]
    assert not kept_hidden or all(
        min(len(cases[n].stdin) for n in kept_hidden) >= len(cases[n].stdin) for n in left
    )
    assert cut.metadata == {"base_tests": sum(n < base for n in kept), "date": "d"}


def test_calls_are_chosen_by_their_arguments_and_test_code_stays() -> None:
    cases = [Case(args=[[0] * n], expected=n) for n in (3, 9, 1, 7)]
    task = Task(statement="x", check=CasesCheck(entry_point="f", cases=cases, any_order=True))
    cut = at_most(task, 2).check
    assert isinstance(cut, CasesCheck) and cut.any_order
    assert [case.expected for case in cut.cases] == [9, 7]
    rust = Task(statement="x", language="rust", check=RustCheck(tests="#[test] #[test] #[test]"))
    assert at_most(rust, 1) == rust


@given(
    st.lists(st.frozensets(st.sampled_from("abcdefgh")), max_size=8),
    st.lists(st.frozensets(st.sampled_from("abcdefgh")), max_size=8),
    st.sampled_from([0.3, 0.6, 1.0]),
)
def test_similar_across_is_similar_pairs_between_the_two(
    sets: list[frozenset[str]], others: list[frozenset[str]], threshold: float
) -> None:
    pairs = similar_pairs([*others, *sets], threshold)
    expected = sorted({b - len(others) for a, b in pairs if a < len(others) <= b})
    assert similar_across(sets, others, threshold) == expected
