"""What summary.json says of a run's evaluations."""

from collections.abc import Mapping, Sequence
from typing import Any

from strop.evaluation.result import Evaluation, compare, paired_json, rates_json
from strop.tasks.task_sets import TaskSet

Sides = dict[str, Evaluation]
"""{"before", "warm", "after": evaluation} of one task set, those that there are."""


def evaluation_summary(
    before: Mapping[str, Evaluation],
    warm: Mapping[str, Evaluation],
    after: Mapping[str, Evaluation],
    sets: Sequence[TaskSet],
) -> dict[str, Any]:
    """The held-out tasks, by task set too where there are several, and each set of evaluation.extra.

    `before`, `warm` and `after` are {set of evaluation.extra: evaluation}; "" is the held-out tasks.
    """
    by_time = {"before": before, "warm": warm, "after": after}

    def sides(name: str) -> Sides:
        return {side: found[name] for side, found in by_time.items() if name in found}

    summary = _whole(sides(""))
    if len(sets) > 1:
        held_out = {one.name: {task.id for task in one.held_out} for one in sets if one.held_out}
        summary["task_sets"] = {name: _part(sides(""), tasks) for name, tasks in held_out.items()}
    extra = {name: _whole(sides(name)) for name in {**before, **after} if name}
    return {**summary, **({"extra": extra} if extra else {})}


def _whole(sides: Sides) -> dict[str, Any]:
    found: dict[str, Any] = {side: one.as_json(per_task=False) for side, one in sides.items()}
    return found | _paired(sides, None)


def _part(sides: Sides, tasks: set[str]) -> dict[str, Any]:
    """The rates on some of the tasks."""
    found: dict[str, Any] = {
        side: rates_json({key: one.estimate(key, tasks=tasks) for key in one.keys})
        for side, one in sides.items()
    }
    return {"tasks": len(tasks), **found, **_paired(sides, tasks)}


def _paired(sides: Sides, tasks: set[str] | None) -> dict[str, Any]:
    starts = {"paired": "before", "paired_after_warm_start": "warm"}
    return {
        name: paired_json(compare(sides[start], sides["after"], tasks=tasks))
        for name, start in starts.items()
        if start in sides and "after" in sides
    }
