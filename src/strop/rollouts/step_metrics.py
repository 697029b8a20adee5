"""Metrics of a step's rollouts, about the policy and about the grader."""

from collections import Counter
from collections.abc import Sequence
from statistics import stdev
from typing import Any

from strop.rollouts.groups import rollouts_of
from strop_verify.core.rollout import Group, Rollout
from strop_verify.core.verdict import Outcome, Verdict

_JUDGED = (Outcome.FAILED, Outcome.TAMPERED)


def step_metrics(
    played: Sequence[Group], learnt: Sequence[Group], *, mask_truncated: bool = False
) -> dict[str, Any]:
    """Means over all rollouts played in a step, and counts of groups. The reward is None if no rollout has one."""
    rows = list(rollouts_of(played))
    lengths = [len(turn.completion.token_ids) for r in rows for turn in r.turns]
    logprobs = [p for r in rows for turn in r.turns for p in turn.completion.logprobs]
    rewards = [r.reward for r in rows if r.reward is not None]
    scores: dict[str, list[float]] = {}
    for score in (s for r in rows for s in r.scores if s.value is not None):
        scores.setdefault(score.name, []).append(score.value)  # type: ignore[arg-type]
    return {
        "reward": _mean(rewards) if rewards else None,
        "rewards": {name: _mean(values) for name, values in scores.items()},
        "stages": _stage_rates(rows),
        **_pass_rate(rows),
        **_pass_rate_error(played),
        **_reward_auc(played),
        "completion_tokens": _mean(lengths),
        "truncated": _mean([float(r.truncated) for r in rows]),
        "sampling_surprise": -_mean(logprobs),
        "duplicates": duplicates(played),
        "refused": _mean([float(refused(r.verdict)) for r in rows if r.verdict and r.verdict.judged]),
        "disagreements": sum(bool(contradiction(r)) for r in rows),
        "rollouts": len(rows),
        "groups_played": len(played),
        "groups_with_signal": sum(teaches(g, mask_truncated) for g in played),
        "groups_learnt": sum(teaches(g, mask_truncated) for g in learnt),
        **_turns(rows),
        **({"stops": stops} if (stops := _stops(rows)) else {}),
        **({"task_sets": by_set} if (by_set := _by_set(played)) else {}),
    }


def teaches(group: Group, mask_truncated: bool = False) -> bool:
    """Whether a group changes the policy: some rollout is in the loss, and the rewards differ or, for advantages that
    do not compare them (a running baseline), an advantage is not 0.
    """
    if all(
        r.left_out or r.reward is None or (mask_truncated and r.truncated) or not r.turns
        for r in group.rollouts
    ):
        return False
    turns = (turn.advantage for r in group.rollouts for turn in r.turns)
    advantages = (*(r.advantage for r in group.rollouts), *turns)
    return group.has_signal or any(abs(a) > 1e-9 for a in advantages if a is not None)


def _turns(rows: Sequence[Rollout]) -> dict[str, float]:
    """Turns per play, and number and duration of effects; {} if all plays have one turn and no effect."""
    events = [turn.events for row in rows for turn in row.turns]
    if not any(events) and not _of_many(rows):
        return {}
    return {
        "turns": _mean([len(row.turns) for row in rows]),
        "effects": sum(map(len, events)) / len(rows),
        "turns_with_effects": _mean([float(bool(some)) for some in events]),
        "seconds_effects": sum(event.seconds for some in events for event in some) / len(rows),
    }


def _of_many(rows: Sequence[Rollout]) -> bool:
    """Whether any play has several turns."""
    return any(len(row.turns) > 1 for row in rows)


def _stops(rows: Sequence[Rollout]) -> dict[str, float]:
    """{stop reason: share of the plays}; {} if all have one turn and were answered."""
    count = Counter(row.stop_reason for row in rows)
    if not {*count} - {"answered"} and not _of_many(rows):
        return {}
    return {reason: number / len(rows) for reason, number in sorted(count.items())}


def _by_set(played: Sequence[Group]) -> dict[str, dict[str, float]]:
    """{task set: means over its rollouts}; {} if the run has only one."""
    found = {}
    for name in sorted({group.task_set for group in played} - {""}):
        groups = [group for group in played if group.task_set == name]
        rows = list(rollouts_of(groups))
        found[name] = {
            "reward": _mean([r.reward for r in rows if r.reward is not None]),
            **_pass_rate(rows),
            "completion_tokens": _mean([len(t.completion.token_ids) for r in rows for t in r.turns]),
            "truncated": _mean([float(r.truncated) for r in rows]),
            "groups_played": len(groups),
            "groups_with_signal": sum(teaches(group) for group in groups),
        }
    return found


def _pass_rate(rows: Sequence[Rollout]) -> dict[str, float]:
    """Share of the judged answers that passed; {} if rewards alone score the answers."""
    judged = [float(r.verdict.passed) for r in rows if r.verdict and r.verdict.judged]
    left_to_rewards = any(r.verdict and r.verdict.outcome is Outcome.UNJUDGED for r in rows)
    return {} if left_to_rewards and not judged else {"pass_rate": _mean(judged)}


def _pass_rate_error(groups: Sequence[Group]) -> dict[str, float]:
    """Standard error of the pass rate over groups; {} if fewer than two are judged."""
    rates = [
        _mean([float(r.verdict.passed) for r in judged])  # type: ignore[union-attr]
        for group in groups
        if (judged := [r for r in group.rollouts if r.verdict and r.verdict.judged])
    ]
    return {"pass_rate_error": stdev(rates) / len(rates) ** 0.5} if len(rates) > 1 else {}


def _reward_auc(groups: Sequence[Group]) -> dict[str, float]:
    """Probability that a passed answer has a higher reward than a failed one of its group (1/2 if equal), averaged over
    groups that have both; {} if there are none, or if `passed` alone is the reward.
    """
    weighted = {s.name for r in rollouts_of(groups) for s in r.scores if s.weight}
    if weighted <= {"passed"}:
        return {}
    shares = []
    for group in groups:
        known = [r for r in group.rollouts if r.reward is not None and r.verdict and r.verdict.judged]
        pairs = [
            (1.0 if good.reward > bad.reward else 0.5 if good.reward == bad.reward else 0.0)  # type: ignore[operator]
            for good in known
            for bad in known
            if good.verdict.passed and not bad.verdict.passed  # type: ignore[union-attr]
        ]
        shares += [_mean(pairs)] if pairs else []
    return {"reward_auc": _mean(shares)} if shares else {}


def _stage_rates(rows: Sequence[Rollout]) -> dict[str, float]:
    """{stage that ran: share of the judged answers that passed it}."""
    verdicts = [r.verdict for r in rows if r.verdict and r.verdict.judged]
    names = dict.fromkeys(stage.name for verdict in verdicts for stage in verdict.stages)
    found = {name: [verdict.stage(name) for verdict in verdicts] for name in names}
    return {
        name: _mean([float(s is not None and s.passed) for s in stages]) for name, stages in found.items()
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def contradiction(rollout: Rollout) -> str:
    """How a rollout contradicts itself, which only a bug in the grader can cause; "" if it does not.

    A verdict is contradicted by its stages (except lint, which never decides the outcome), by its tests, by the score
    of the reward `passed`, and an *error* by any score or reward.
    """
    verdict = rollout.verdict
    if verdict is None:
        return ""
    scored = [s.name for s in rollout.scores if s.value is not None]
    if not verdict.scored:
        return "an error has a reward" if scored or rollout.reward is not None else ""
    if not verdict.judged:
        return ""
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
    """Whether an answer passed all stages but was not accepted: tests that assert nothing, unsafe code, ..."""
    return (
        verdict is not None
        and verdict.outcome in _JUDGED
        and bool(verdict.stages)
        and all(stage.passed for stage in verdict.stages)
    )


def duplicates(groups: Sequence[Group]) -> float:
    """Share of answers that equal another one of their group, averaged over groups; 0 without groups."""
    shares = []
    for group in groups:
        counts = Counter(rollout.answer for rollout in group.rollouts)
        shares.append(sum(n for n in counts.values() if n > 1) / max(1, len(group.rollouts)))
    return sum(shares) / len(shares) if shares else 0.0
