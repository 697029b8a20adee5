"""Alarms: none on healthy curves with noise, each planted fault found within its number of steps, once."""

import json
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strop.reports.alarms import AlarmWatch, alarms

START = 30
"""The step from which a planted fault is there."""


def healthy(steps: int, seed: int, *, rise: float = 0.3, every: int = 10) -> list[dict[str, Any]]:
    """Metrics of a run that goes well, with the noise of small steps; reward and held-out result rise together."""
    rng = random.Random(seed)
    length, entropy = rng.uniform(15, 400), rng.uniform(0.05, 1.5)
    lines = []
    for step in range(1, steps + 1):
        share = step / steps
        passed = min(1.0, max(0.0, 0.25 + rise * share + rng.gauss(0, 0.06)))
        line = {
            "step": step, "reward": passed + 0.1, "pass_rate": passed, "pass_rate_error": 0.06, "rollouts": 192,
            "error_rate": 0.0, "disagreements": 0, "refused": rng.uniform(0, 0.04), "truncated": rng.uniform(0, 0.2),
            "duplicates": min(1.0, max(0.0, 0.45 + 0.15 * share + rng.gauss(0, 0.05))),
            "completion_tokens": length * (1 - 0.3 * share) * math.exp(rng.gauss(0, 0.12)),
            "groups_played": 12, "groups_with_signal": rng.randint(4, 11),
            "entropy": entropy * (1 - 0.5 * share) * math.exp(rng.gauss(0, 0.25)),
            "loss": rng.gauss(0, 0.05), "grad_norm": rng.expovariate(2),
        }  # fmt: skip
        if every and step % every == 0:
            line["held_out"] = result(0.2 + rise * share + rng.gauss(0, 0.01))
        lines.append(line)
    return lines


def result(value: float, width: float = 0.05) -> dict[str, Any]:
    return {"pass@1": value, "intervals": {"pass@1": [value - width, value + width]}, "tasks": 100}


def sides(before: float, after: float | None = None) -> list[dict[str, Any]]:
    found = [{"name": "before", "set": "", "result": result(before)}]
    return found + ([{"name": "after", "set": "", "result": result(after)}] if after is not None else [])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 120), rise=st.sampled_from([0.0, 0.1, 0.4]))
def test_no_alarm_on_healthy_runs(seed: int, steps: int, rise: float) -> None:
    lines = healthy(steps, seed, rise=rise)
    assert alarms(lines, sides(0.2, 0.2 + rise)) == []


FAULTS: dict[str, tuple[int, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "errors": (1, lambda line: {"error_rate": 0.03}),
    "disagreement": (1, lambda line: {"disagreements": 2 if line["step"] == START else 0}),
    "refused": (3, lambda line: {"refused": 0.15}),
    "not finite": (1, lambda line: {"loss": math.nan}),
    "length collapse": (2, lambda line: {"completion_tokens": 0.25 * line["completion_tokens"]}),
    "truncation": (3, lambda line: {"truncated": 0.7}),
    "duplicates": (3, lambda line: {"duplicates": 0.95}),
    "no signal": (5, lambda line: {"groups_with_signal": 1}),
    "entropy collapse": (3, lambda line: {"entropy": 0.05 * line["entropy"]}),
    "reward, not passes": (5, lambda line: {"reward": line["reward"] + 0.5, "pass_rate": 0.0}),
}
"""Name -> (within how many steps it must ring, what it does to a line)."""


@pytest.mark.parametrize("name", FAULTS)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_a_planted_fault_rings_once_and_in_time(name: str, seed: int) -> None:
    within, fault = FAULTS[name]
    lines = [line | (fault(line) if line["step"] >= START else {}) for line in healthy(60, seed)]
    found = alarms(lines, sides(0.2, 0.5))
    assert [alarm.name for alarm in found] == [name]
    assert START <= found[0].step < START + within
    assert "\n" not in found[0].text
    assert name == "not finite" or any(c.isdigit() for c in found[0].text)


def test_passes_that_are_lost_in_the_first_steps_ring() -> None:
    """As a bonus for comments did it to a real run: two updates, and no answer passes any more."""
    passed = [0.135, 0.115, 0.042, *[0.0] * 7]
    error = [0.061, 0.059, 0.031, *[0.0] * 7]
    reward = [-0.03, 0.24, 1.72, 3.42, 3.46, 3.59, 3.58, 3.59, 3.54, 3.59]
    lines: list[dict[str, Any]] = [
        {"step": step, "reward": r, "pass_rate": p, "pass_rate_error": e}
        for step, (r, p, e) in enumerate(zip(reward, passed, error, strict=True), 1)
    ]
    assert [(alarm.step, alarm.name) for alarm in alarms(lines)] == [(5, "reward, not passes")]
    assert alarms([line | {"reward": 0.0} for line in lines]) == []


def test_pairs_that_turn_over_within_two_steps_ring_while_more_pass_than_at_the_start() -> None:
    """As another run was hacked, after it had learnt for twelve steps."""
    auc = [0.95, 0.69, 0.72, 0.61, 0.68, 0.97, 0.89, 1.0, 0.82, 0.65, 0.75, 0.77, 0.47, 0.29]
    reward = [-0.09, -0.02, 0.02, 0.18, 0.29, 0.24, 0.43, 0.26, 0.3, 0.25, 0.36, 0.52, 0.65, 0.8]
    lines: list[dict[str, Any]] = [
        {
            "step": step,
            "reward": r,
            "pass_rate": 0.135 + 0.003 * step,
            "pass_rate_error": 0.06,
            "reward_auc": a,
        }
        for step, (r, a) in enumerate(zip(reward, auc, strict=True), 1)
    ]
    assert [(alarm.step, alarm.name) for alarm in alarms(lines)] == [(14, "reward, not passes")]
    assert alarms([line | {"reward": 0.0} for line in lines]) == []


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_reward_that_rises_while_held_out_stays_rings_at_an_evaluation_within_twenty_steps(seed: int) -> None:
    lines = healthy(80, seed, rise=0.0)
    rng = random.Random(seed)
    for line in lines:
        climbed = 0.4 * min(1.0, max(0, line["step"] - START) / 10)
        line["reward"] += climbed
        line["pass_rate"] += climbed
        if "held_out" in line:
            line["held_out"] = result(0.2 + rng.gauss(0, 0.01))
    found = alarms(lines, sides(0.2, 0.21))
    assert [alarm.name for alarm in found] == ["reward, not held-out"]
    assert START < found[0].step <= START + 20 and found[0].step % 10 == 0
    assert "pass@1" in found[0].text


def test_without_evaluations_in_between_the_one_after_training_tells() -> None:
    lines = healthy(40, 1, rise=0.6, every=0)
    assert [(a.step, a.name) for a in alarms(lines, sides(0.2, 0.21))] == [(40, "reward, not held-out")]
    assert alarms(lines, sides(0.2)) == [] and alarms(lines, sides(0.2, 0.7)) == []


def test_a_warm_start_is_where_training_starts_from() -> None:
    lines = healthy(40, 1, rise=0.6, every=0)
    warm = [{"name": "warm", "set": "", "result": result(0.6)}]
    assert [a.name for a in alarms(lines, [*warm, *sides(0.0, 0.61)])] == ["reward, not held-out"]
    assert alarms(lines, [*sides(0.0, 0.61), {"name": "warm", "set": "extra", "result": result(0.6)}]) == []


def truncated(*runs: tuple[float, int]) -> list[dict[str, Any]]:
    shares = [share for share, steps in runs for _ in range(steps)]
    return [{"step": step, "truncated": share} for step, share in enumerate(shares, 1)]


def test_an_alarm_that_comes_again_is_one_that_tells_from_when_to_when_and_how_often() -> None:
    lines = truncated((0.6, 10), *[(0.45, 1), (0.55, 1)] * 5, (0.1, 5), (0.9, 5))
    (found,) = alarms(lines)
    assert (found.step, found.last, found.times) == (3, 30, 2)
    assert found.when == "at steps 3 to 30, 2 times" and found.text.startswith("63.3 %")
    assert [one.when for end in (2, 3, 4, 25, 27) for one in alarms(lines[:end])] == [
        "at step 3", "at steps 3 to 4", "at steps 3 to 20", "at steps 3 to 27, 2 times",
    ]  # fmt: skip


def test_a_run_says_an_alarm_that_comes_again_ever_less_often() -> None:
    watch = AlarmWatch()
    said = [one for line in truncated(*[(0.9, 5), (0.0, 5)] * 100) for one in watch.see(line)]
    assert [one.times for one in said] == [1, 2, 4, 8, 16, 32, 64]
    assert [(one.step, one.times) for one in watch.found] == [(3, 100)]
    assert said[-1].when == "at steps 3 to 632, 64 times"


def test_the_watch_finds_line_by_line_what_alarms_finds_in_the_whole() -> None:
    lines = [
        line | ({"truncated": 0.9, "loss": None} if line["step"] >= 20 else {}) for line in healthy(50, 3)
    ]
    watch = AlarmWatch()
    watch.begin(result(0.2))
    said = [one for line in lines for one in watch.see(line)]
    assert watch.found == alarms(lines, sides(0.2))
    assert [one.name for one in said] == [one.name for one in watch.found] == ["not finite", "truncation"]


def test_what_is_on_disk_reads_the_same_as_what_was_seen() -> None:
    from strop_verify.core.files import json_line

    lines = [line | ({"grad_norm": math.inf} if line["step"] == 7 else {}) for line in healthy(12, 5)]
    stored = [json.loads(json_line(line)) for line in lines]
    assert [a.name for a in alarms(stored)] == ["not finite"] and alarms(stored) == alarms(lines)
    assert alarms([{"step": 1, "loss": 0.1, "grad_norm": 1.0}, {"step": 2, "loss": 0.2}]) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner, max_size=2),
    max_leaves=4,
)
NAMES = ["reward", "pass_rate", "error_rate", "disagreements", "refused", "truncated", "duplicates", "held_out",
         "completion_tokens", "groups_played", "groups_with_signal", "entropy", "loss", "grad_norm"]  # fmt: skip


@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), JSON), max_size=14),
    st.dictionaries(st.sampled_from(["pass@1", "intervals"]), JSON),
)
def test_no_line_whatever_it_holds_raises(lines: list[dict[str, Any]], after: dict[str, Any]) -> None:
    numbered = [{**line, "step": number} for number, line in enumerate(lines, 1)]
    alarms(numbered, [{"name": "before", "set": "", "result": after}, {"name": "after", "result": after}])
