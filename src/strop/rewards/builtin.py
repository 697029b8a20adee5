"""The built-in rewards, each a pure function of (task, rollout, verdict), in [0, 1] except `published_swe_rl` (-1).

None means "not scored". An *error* verdict never reaches them: the rubric returns None for it.
"""

from strop.core.protocols import Reward
from strop.core.rollout import Rollout
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.rewards.cites import cites_fix
from strop.rewards.edits import EDITS
from strop.rewards.rust import RUST


def passed(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when every test passed, else 0: the sparse reward of DeepCoder and most of the field."""
    return float(verdict.passed)


def tests(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """Share of tests passed."""
    return verdict.fraction


def build(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when the answer compiles (for Python: parses and runs to the end of its module), else 0."""
    stage = verdict.stage("build")
    return float(stage is not None and stage.passed)


def lint(task: Task, rollout: Rollout, verdict: Verdict) -> float | None:
    """1 when the linter is content, 0 when not, None when no linter ran."""
    stage = verdict.stage("lint")
    return None if stage is None else float(stage.passed)


def finished(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when the policy ended its answer by itself, 0 when the token limit cut it off."""
    return float(not rollout.truncated)


def answered(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 when there was an answer to verify, else 0: the format reward of the simplest kind."""
    return float(bool(rollout.answer.strip()))


def brevity(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 for an answer no longer than the reference, falling to 0 at three times its characters; 0 if it failed."""
    if not verdict.passed or not task.reference:
        return 0.0
    excess = len(rollout.answer) / max(1, len(task.signature) + len(task.reference)) - 1
    return float(min(1.0, max(0.0, 1 - excess / 2)))


BUILTIN: dict[str, Reward] = (
    {f.__name__: f for f in (passed, tests, build, lint, finished, answered, brevity, cites_fix)}
    | RUST
    | EDITS
)
"""Every built-in reward by the name that a recipe uses."""
