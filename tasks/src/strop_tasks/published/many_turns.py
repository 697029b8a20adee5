"""Rewards of published systems that learn from feedback: pure functions of (task, rollout, verdict).

RLEF    Gehring et al., arXiv 2410.02089, section 2.2. Its reward is per turn: set grpo.advantage to per-turn
CodeRL  Le et al., arXiv 2207.01780, equation 3
"""

from strop_verify.core.rollout import CUT, Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

_COMPARED = ("returned ", "wrong output", "assertion failed", "did not pass", "not run")
"""Beginnings of the messages of tests whose answer ran to completion but was wrong."""


def rlef(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if all tests passed, else -1; a turn before the last one gets -.2 without valid code, else 0."""
    if rollout.stop_reason == CUT:
        return 0.0 if _is_code(verdict) else -0.2
    return 1.0 if verdict.passed else -1.0


def coderl(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 if every test passed, -.3 for a wrong result, -.6 for a runtime error, -1 for code that does not compile."""
    if verdict.passed:
        return 1.0
    if not _is_code(verdict):
        return -1.0
    failed = [test for test in verdict.tests if test.outcome is not Outcome.PASSED]
    wrong = all(test.outcome is Outcome.FAILED and test.message.startswith(_COMPARED) for test in failed)
    return -0.3 if failed and wrong else -0.6


def _is_code(verdict: Verdict) -> bool:
    """Whether there is an answer that compiles."""
    build = verdict.stage("build")
    return verdict.outcome is not Outcome.NO_ANSWER and build is not None and build.passed


MANY_TURNS = {"rlef": rlef, "coderl": coderl}
"""These rewards by their names in recipes."""
