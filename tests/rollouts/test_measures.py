"""Contradictions, refusals and duplicates, as training counts them."""

from typing import Any

import pytest

from strop.rollouts.step_metrics import contradiction, duplicates, refused, step_metrics
from strop_verify.core import verdict as core
from strop_verify.core.rollout import Completion, Group, Rollout, Score, Turn
from strop_verify.core.verdict import Outcome, Stage, Verdict

pytestmark = pytest.mark.unit


def rollout(
    outcome: Outcome, stages: str = "", *, tests: str = "", passed: float | None = None, answer: str = "x"
) -> Rollout:
    """`stages` and `tests`: a letter each, b l t for the stage, p f for the test; upper case stages passed."""
    names = {"b": "build", "l": "lint", "t": "test"}
    turn = Turn(
        prompt_ids=[1], completion=Completion(token_ids=[], logprobs=[], text="", finish_reason="eos")
    )
    outcomes = {"p": Outcome.PASSED, "f": Outcome.FAILED}
    return Rollout(
        task_id="t", index=0, seed=0, prompt="", turns=[turn], answer=answer,
        verdict=Verdict(
            outcome=outcome,
            stages=[Stage(name=names[s.lower()], passed=s.isupper()) for s in stages],
            tests=[core.TestResult(id=str(i), outcome=outcomes[t]) for i, t in enumerate(tests)],
        ),
        scores=[Score(name="passed", value=passed)], reward=passed,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (rollout(Outcome.PASSED, "BT", tests="pp", passed=1.0), ""),
        (rollout(Outcome.PASSED, "BlT", passed=1.0), ""),  # lint is never the outcome
        (rollout(Outcome.PASSED, "bT", passed=1.0), "its stage build did not"),
        (rollout(Outcome.PASSED, "Bt", passed=1.0), "its stage test did not"),
        (rollout(Outcome.PASSED, "BT", tests="pf", passed=1.0), "a test did not"),
        (rollout(Outcome.PASSED, "BT", passed=0.0), "its score passed is 0"),
        (rollout(Outcome.FAILED, "Bt", passed=0.0), ""),
        (rollout(Outcome.FAILED, "Bt", passed=1.0), "its score passed is 1"),
        (rollout(Outcome.FAILED, "BT", passed=0.0), ""),  # refused, which is counted apart
        (rollout(Outcome.NO_ANSWER, passed=0.0), ""),
        (rollout(Outcome.ERROR), ""),
        (rollout(Outcome.ERROR, passed=0.0), "an error has a reward"),
        (rollout(Outcome.PASSED, "BT"), ""),  # not scored
        (rollout(Outcome.UNJUDGED, passed=1.0), ""),  # rewards alone decide
    ],
)
def test_contradictions(made: Rollout, said: str) -> None:
    assert (said in contradiction(made)) if said else contradiction(made) == ""


def test_refused_is_green_and_not_passed() -> None:
    verdicts = {
        True: [rollout(Outcome.FAILED, "BLT"), rollout(Outcome.TAMPERED, "BT")],
        False: [rollout(Outcome.PASSED, "BT"), rollout(Outcome.FAILED, "Bt"), rollout(Outcome.FAILED),
                rollout(Outcome.TIMED_OUT, "BT"), rollout(Outcome.ERROR, "BT")],
    }  # fmt: skip
    for expected, made in verdicts.items():
        assert all(refused(r.verdict) is expected for r in made)
    assert not refused(None)


def test_duplicates_are_counted_within_their_group() -> None:
    def group(*answers: str) -> Group:
        return Group(task_id="t", step=1, rollouts=[rollout(Outcome.PASSED, answer=a) for a in answers])

    assert duplicates([group("a", "b", "c", "d"), group("a", "b", "c", "d")]) == 0
    assert duplicates([group("a", "a", "c", "d"), group("a", "a", "a", "a")]) == 0.75
    assert duplicates([]) == 0


def test_what_nothing_judges_counts_in_rewards_alone() -> None:
    def metrics(*made: Rollout) -> dict[str, Any]:
        return step_metrics([Group(task_id="t", step=1, rollouts=list(made))], [])

    judged = [rollout(Outcome.PASSED, "BT", passed=1.0), rollout(Outcome.FAILED, "Bt", passed=0.0)]
    unjudged = [rollout(Outcome.UNJUDGED, passed=1.0)] * 2
    found = metrics(*judged, *unjudged)
    assert found["pass_rate"] == 0.5 and found["reward"] == 0.75 and found["disagreements"] == 0
    assert found["stages"] == {"build": 1.0, "test": 0.5}
    assert "pass_rate" not in metrics(*unjudged) and metrics(*unjudged)["reward"] == 1.0
    assert metrics(rollout(Outcome.ERROR))["pass_rate"] == 0.0


def alone(reward: float, advantage: float | None, *turns: float) -> Group:
    """A group of one rollout, with the advantages of its turns."""
    made = rollout(Outcome.PASSED, passed=reward).model_copy(update={"advantage": advantage})
    each = [made.turns[0].model_copy(update={"advantage": of_turn}) for of_turn in turns]
    return Group(task_id="t", step=1, rollouts=[made.model_copy(update={"turns": each}) if each else made])


def test_groups_that_carry_an_advantage_have_signal() -> None:
    """Also groups of one, whose rewards cannot differ: a running baseline gives them an advantage."""
    learnt = [alone(1.0, 0.4), alone(0.0, -0.6), alone(1.0, 0.0, 0.5, -0.5), alone(1.0, 0.0)]
    same = learnt[3].model_copy(update={"rollouts": learnt[3].rollouts * 4})
    differ = Group(task_id="t", step=1, rollouts=[*alone(1.0, None).rollouts, *alone(0.0, None).rollouts])
    assert step_metrics(learnt, learnt)["groups_with_signal"] == 3
    metrics = step_metrics([*learnt, same, differ], learnt)
    assert (metrics["groups_played"], metrics["groups_with_signal"], metrics["groups_learnt"]) == (6, 4, 3)
