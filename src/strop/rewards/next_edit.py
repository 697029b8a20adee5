"""Rewards of next edits: what the simulated user did. The threshold is minus the weight of `shown`.

rewards:                          accepted: 1 - tau; shown and not accepted: -tau; silence: 0
  - {name: accepted, weight: 1.0}
  - {name: shown, weight: -0.25}  tau = .25: it pays to show what is accepted more often than one time in four
"""

from strop.core.protocols import Reward
from strop.core.rollout import Rollout
from strop.core.task import Task
from strop.core.verdict import Verdict


def accepted(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 where the simulated user accepts: the rest takes fewer keys, by more than reading costs; 0 for silence."""
    return verdict.numbers.get("accepted", 0.0)


def accepted_kept(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 where at least .8 of the characters that the suggestion changes are as they are in the end; 0 for silence."""
    return verdict.numbers.get("kept", 0.0)


def accepted_exact(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 where the suggestion is what the person did next; 0 for silence."""
    return verdict.numbers.get("exact", 0.0)


def shown(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """1 where there is a suggestion to show, 0 for silence. Its weight is minus the threshold."""
    return verdict.numbers.get("shown", 0.0)


def keys_saved(task: Task, rollout: Rollout, verdict: Verdict) -> float:
    """Keys that a suggestion saves, less the cost of reading it; below 0 where it is not accepted; 0 for silence."""
    return verdict.numbers.get("saved", 0.0)


NEXT_EDIT: dict[str, Reward] = {
    f.__name__: f for f in (accepted, accepted_kept, accepted_exact, shown, keys_saved)
}
"""By name."""
