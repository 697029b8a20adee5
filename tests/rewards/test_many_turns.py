"""The rewards of RLEF and CodeRL as published, a turn and a play."""

import pytest
from tests.evaluation.test_control import rollout, task, turn

from strop.rewards.rubric import WeightedRubric
from strop.rollouts.groups import scored
from strop_tasks.published.many_turns import coderl, rlef
from strop_verify.core.protocols import JudgedRollout
from strop_verify.core.rollout import CUT
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict

BUILT, BROKEN = Stage(name="build", passed=True), Stage(name="build", passed=False)
PASSED = Verdict(outcome=Outcome.PASSED, stages=[BUILT])
SYNTAX = Verdict(outcome=Outcome.FAILED, stages=[BROKEN])
NOTHING = Verdict(outcome=Outcome.NO_ANSWER)


def failed(*messages: str, outcome: Outcome = Outcome.FAILED) -> Verdict:
    tests = [TestResult(id=str(n), outcome=outcome, message=text) for n, text in enumerate(messages)]
    return Verdict(outcome=outcome, stages=[BUILT], tests=tests)


@pytest.mark.parametrize(
    ("verdict", "value"),
    [
        (PASSED, 1.0),
        (failed("returned 7"), -0.3),
        (failed("wrong output: 7", "assertion failed: the last call returned 8"), -0.3),
        (failed("returned 7", "ZeroDivisionError: division by zero, line 3"), -0.6),
        (failed("used more than 1 CPU seconds", outcome=Outcome.TIMED_OUT), -0.6),
        (SYNTAX, -1.0),
        (NOTHING, -1.0),
    ],
)
def test_coderl(verdict: Verdict, value: float) -> None:
    assert coderl(task("a"), rollout("a", 0, [turn(3)]), verdict) == value


def test_rlef_rewards_turns_and_the_end() -> None:
    """-.2 for a turn without valid code before the last, and 1 or -1 at the end by all tests."""
    played = rollout("a", 0, [turn(3, SYNTAX), turn(3, failed("returned 1")), turn(3, PASSED)], failed("x"))
    rubric = WeightedRubric([("rlef", rlef, 1.0)])
    (found,) = scored(rubric, [(task("a"), played)], by_turn=True)
    assert [one.reward for one in found.turns[:-1]] == [-0.2, 0.0] and found.reward == -1.0
    assert found.stop_reason == "answered"
    (found,) = scored(rubric, [(task("a"), played.model_copy(update={"verdict": PASSED}))])
    assert found.reward == 1.0


def test_a_play_that_goes_on_is_seen_as_cut() -> None:
    seen = []

    def note(task, rollout, verdict):
        seen.append((rollout.stop_reason, len(rollout.turns)))
        return 0.0

    played = rollout("a", 0, [turn(3, SYNTAX), turn(3)], PASSED)
    scored(WeightedRubric([("note", note, 1.0)]), [(task("a"), played)], by_turn=True)
    assert seen == [("answered", 2), (CUT, 1)]
    assert JudgedRollout(task("a"), played, PASSED).rollout.stop_reason == "answered"
