"""Rewards of one's own: a function of task, rollout and verdict. None means "not scored"."""

import strop


def short(task: strop.Task, rollout: strop.Rollout, verdict: strop.Verdict) -> float:
    """1 for a right answer of under 400 characters, else 0."""
    return 1.0 if verdict.passed and len(rollout.answer) < 400 else 0.0
