"""Advantages: against the paper's words in plain arithmetic, TRL's numbers, and what holds for any rewards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.algorithms.advantages import (
    EPSILON,
    RunningBaseline,
    group_relative,
    leave_one_out,
    per_turn,
    process,
    times_calls,
)

REWARD = st.none() | st.floats(-5, 5).map(lambda value: round(value, 3))
CALLS = st.lists(st.integers(0, 8), max_size=4)
GROUPS = st.lists(st.lists(REWARD, min_size=1, max_size=6), min_size=1, max_size=4)


def test_group_relative_by_hand():
    (found,) = group_relative([[1.0, 0.0, 0.5, 0.5]])
    std = (0.5 / 3) ** 0.5
    assert found == pytest.approx([0.5 / (std + 1e-4), -0.5 / (std + 1e-4), 0, 0])
    assert group_relative([[1.0, 0.0]], "none") == [[0.5, -0.5]]
    assert group_relative([[1.0, 1.0], [3.0, 1.0]], "batch") == [
        [0.0, 0.0],
        pytest.approx([1 / 1.0001, -1 / 1.0001]),
    ]


def test_leave_one_out_is_each_reward_against_the_mean_of_the_others():
    rewards = [0.1, 0.7, 0.4, 1.0]
    (found,) = leave_one_out([rewards])
    assert found == pytest.approx([r - (sum(rewards) - r) / 3 for r in rewards])


@given(GROUPS)
def test_what_is_not_scored_moves_nothing(groups):
    scored = [[reward for reward in rewards if reward is not None] for rewards in groups]
    for form in (group_relative, leave_one_out):
        for rewards, found, alone in zip(groups, form(groups), form(scored), strict=True):
            assert [a for r, a in zip(rewards, found, strict=True) if r is not None] == pytest.approx(alone)
            assert all(a == 0 for r, a in zip(rewards, found, strict=True) if r is None)
            assert sum(alone) == pytest.approx(0, abs=1e-6)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=5), st.floats(-3, 3))
def test_a_constant_added_to_all_rewards_of_a_task_changes_no_advantage(rewards, shift):
    for form in (group_relative, leave_one_out):
        (found,), (moved,) = form([rewards]), form([[r + shift for r in rewards]])
        assert found == pytest.approx(moved, abs=1e-5)


def test_plays_that_call_side_by_side_count_for_more():
    assert times_calls([0.5, -0.5, 0.25], [[5, 0], [1, 1, 0], []]) == [1.5, -0.5, 0.25]


@given(st.lists(st.tuples(REWARD, CALLS), min_size=2, max_size=6))
def test_calls_scale_what_the_group_said(plays):
    (alone,) = leave_one_out([[reward for reward, _ in plays]])
    found = times_calls(alone, [calls for _, calls in plays])
    for one, a, (reward, calls) in zip(found, alone, plays, strict=True):
        if reward is None or not a:
            assert one == 0
        elif max(calls, default=0) <= 1:
            assert one == a
        else:
            assert one == pytest.approx(a * sum(n or 1 for n in calls) / len(calls))
            assert abs(a) < abs(one) <= abs(a) * max(calls) + 1e-9


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=6), CALLS, st.randoms())
def test_alike_plays_stay_around_zero_in_whatever_order_they_called(rewards, calls, rng):
    (alone,) = leave_one_out([rewards])
    found = times_calls(alone, [rng.sample(calls, len(calls)) for _ in rewards])
    assert sum(found) == pytest.approx(0, abs=1e-6)


def test_a_running_baseline_serves_groups_of_one():
    first = RunningBaseline(decay=0.5)
    assert first.advantages(["a"], [[1.0]]) == [
        [1.0]
    ]  # nothing is known yet: held against 0, not against itself
    assert first.advantages(["a"], [[0.0]]) == [[-1.0]]
    assert first.advantages(["b"], [[1.0]]) == [[0.5]]  # a task that is new stands against the mean over all
    again = RunningBaseline(decay=0.5)
    again.load(first.state())
    assert again.advantages(["a", "b"], [[1.0], [None]]) == first.advantages(["a", "b"], [[1.0], [None]])


def test_turns_answer_for_themselves_or_for_what_followed():
    plays = [[0.0, 1.0], [0.0, 0.0], [1.0]]
    alone = per_turn(plays, discount=0.0)
    assert alone == [pytest.approx([-1 / 3, 0.5]), pytest.approx([-1 / 3, -0.5]), pytest.approx([2 / 3])]
    rest = per_turn(plays, discount=1.0)
    assert rest == [pytest.approx([1 / 3, 0.5]), pytest.approx([-2 / 3, -0.5]), pytest.approx([1 / 3])]


@given(st.lists(REWARD, min_size=2, max_size=6), st.floats(0, 1))
def test_with_one_turn_each_turn_credit_is_the_group_s(rewards, discount):
    (expected,) = group_relative([rewards], "none")
    assert [turns[0] for turns in per_turn([[r] for r in rewards], discount)] == pytest.approx(expected)


def test_a_turn_that_one_play_reached_or_that_was_not_scored_has_no_advantage():
    assert per_turn([[0.0, 5.0], [1.0]], 0.0)[0][1] == 0.0
    assert per_turn([[None, 1.0], [1.0, 0.0], [0.0, 0.0]], 1.0)[0][0] == 0.0


def test_a_step_answers_for_itself_and_what_follows_against_all_steps_of_the_group():
    found = process([[0.0, 1.0], [0.5], []])
    mean, spread = 0.5, 0.5 + EPSILON
    assert found == [pytest.approx([0.0, (1.0 - mean) / spread]), pytest.approx([0.0]), []]
    alone = process([[1.0], [0.0], [0.0]])
    assert [play[0] for play in alone] == group_relative([[1.0, 0.0, 0.0]])[
        0
    ]  # one step each: the outcome form
    assert process([[None, 1.0], [0.0]])[0][0] == process([[None, 1.0], [0.0]])[0][1]
