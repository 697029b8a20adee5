"""Counts over a step's rollouts that describe the grader and the policy, for its line of metrics."""

from collections import Counter
from collections.abc import Sequence

from strop.core.rollout import Group, Rollout
from strop.core.verdict import Outcome, Verdict

_JUDGED = (Outcome.FAILED, Outcome.TAMPERED)


def contradiction(rollout: Rollout) -> str:
    """How a rollout contradicts itself, in a few words; "" when it does not.

    A verdict is contradicted by its stages (lint apart, which is never the outcome), by its tests, by the score of the
    reward `passed`, and an *error* by any score or reward. Nothing of this can happen unless the grader has a fault.
    """
    verdict = rollout.verdict
    if verdict is None:
        return ""
    scored = [s.name for s in rollout.scores if s.value is not None]
    if not verdict.scored:
        return "an error has a reward" if scored or rollout.reward is not None else ""
    if verdict.passed:
        red = [s.name for s in verdict.stages if not s.passed and s.name != "lint"]
        if red:
            return f"passed, but its stage {red[0]} did not"
        if any(test.outcome is not Outcome.PASSED for test in verdict.tests):
            return "passed, but a test did not"
    for score in rollout.scores:
        if score.name == "passed" and score.value is not None and (score.value > 0) != verdict.passed:
            return f"{verdict.outcome.value}, but its score passed is {score.value:g}"
    return ""


def refused(verdict: Verdict | None) -> bool:
    """Whether an answer's stages are all green and it did not pass: tests that assert nothing, unsafe code, ..."""
    return (
        verdict is not None
        and verdict.outcome in _JUDGED
        and bool(verdict.stages)
        and all(stage.passed for stage in verdict.stages)
    )


def duplicates(groups: Sequence[Group]) -> float:
    """Share of a group's answers that equal another of the same group, mean over groups; 0 without groups."""
    shares = []
    for group in groups:
        counts = Counter(rollout.answer for rollout in group.rollouts)
        shares.append(sum(n for n in counts.values() if n > 1) / max(1, len(group.rollouts)))
    return sum(shares) / len(shares) if shares else 0.0
