"""Contamination: which evaluation tasks a model may have seen in training.

Two signs are reported, and neither is corrected for: tasks published before the end of the model's training data
(`model.cutoff`), with separate rates before and after that day, as in LiveCodeBench (arXiv 2403.07974, section 4);
and tasks whose statement is a near-duplicate of one that Strop trained on.
"""

from collections.abc import Sequence, Set
from typing import Any, Protocol

from pydantic import Field

from strop.core.records import Record
from strop.core.task import Task
from strop.evaluation.statistics import Estimate
from strop.tasks.splits import STATEMENT_THRESHOLD, similar_across, statement_shingles


class _Counted(Protocol):
    @property
    def task_id(self) -> str: ...
    @property
    def date(self) -> str: ...


class _Evaluation(Protocol):
    """What is asked of a `strop.evaluation.result.Evaluation`."""

    @property
    def counts(self) -> Sequence[_Counted]: ...
    @property
    def keys(self) -> list[str]: ...
    @property
    def stage_keys(self) -> list[str]: ...
    def estimate(self, key: str, *, tasks: Set[str]) -> Estimate | None: ...


class Contamination(Record):
    """What is known of the model's training data, and of the tasks that it touches."""

    cutoff: str | None = None
    """Day, as YYYY-MM-DD, up to which the training data reaches; None: not known."""
    source: str | None = None
    """Task set that was trained on; None: not known."""
    compared: int = 0
    """Training tasks that the evaluated ones were compared with."""
    similar: list[str] = Field(default_factory=list)
    """Ids of evaluated tasks whose statement is a near-duplicate of one of them."""


def contamination(
    tasks: Sequence[Task], *, cutoff: str | None, training: Sequence[Task] | None = None, source: str = ""
) -> Contamination | None:
    """What there is to say of an evaluation on `tasks`; None when neither a cut-off nor training tasks are known.

    Near-duplicates have statements with a Jaccard index of at least `STATEMENT_THRESHOLD` over runs of three words.
    """
    if cutoff is None and training is None:
        return None
    evaluated, trained = (
        [statement_shingles(task.statement) for task in some] for some in (tasks, training or ())
    )
    close = similar_across(evaluated, trained, STATEMENT_THRESHOLD)
    return Contamination(
        cutoff=cutoff,
        source=None if training is None else source,
        compared=len(training or ()),
        similar=sorted(tasks[at].id for at in close),
    )


def contamination_json(result: _Evaluation, found: Contamination) -> dict[str, Any]:
    """The same with the rates, as JSON: {"cutoff", "before": part, "after": part, "undated", "source", "compared",
    "similar", "similar_tasks", "note"}; a part is {"tasks", key: rate, "intervals"}. What is not known is not there.
    """
    report: dict[str, Any] = {}
    if found.cutoff is not None:
        before, after = parts(result, found.cutoff)
        report |= {"cutoff": found.cutoff, "undated": sum(not task.date for task in result.counts)}
        report |= {"before": _part(result, before), "after": _part(result, after)}
    if found.source is not None:
        report |= {"source": found.source, "compared": found.compared}
        report |= {"similar": len(found.similar), "similar_tasks": found.similar}
    return {**report, "note": note(result, found)}


def parts(result: _Evaluation, cutoff: str) -> tuple[set[str], set[str]]:
    """Ids of the tasks that are (before the cut-off or of that day, after it); those without a date are in neither."""
    dated = [task for task in result.counts if task.date]
    before = {task.task_id for task in dated if task.date <= cutoff}
    return before, {task.task_id for task in dated} - before


def note(result: _Evaluation, found: Contamination) -> str:
    """What there is to say, in one line."""
    said = []
    total = len(result.counts)
    if found.cutoff is not None:
        before, after = parts(result, found.cutoff)
        undated = sum(not task.date for task in result.counts)
        without = f", {undated} without a date" if undated else ""
        rates = [
            f"{name} {rate}"
            for name, ids in (("before", before), ("after", after))
            if (rate := _rate(result, ids))
        ]
        compared = f": {result.keys[0]} {', '.join(rates)}" if rates else ""
        said.append(
            f"{len(before)} of {total} tasks are dated up to the model's cutoff {found.cutoff}{without}{compared}"
        )
    if found.source is not None:
        said.append(
            f"{len(found.similar)} of {total} statements are near-duplicates of training tasks, {found.compared} in all"
            f" ({found.source})"
        )
    return "; ".join(said)


def _part(result: _Evaluation, ids: set[str]) -> dict[str, Any]:
    keys = [*result.keys, *result.stage_keys]
    found = {key: result.estimate(key, tasks=ids) for key in keys}
    return {
        "tasks": len(ids),
        **{key: None if e is None else e.value for key, e in found.items()},
        "intervals": {key: None if e is None else [e.low, e.high] for key, e in found.items()},
    }


def _rate(result: _Evaluation, ids: set[str]) -> str:
    estimate = result.estimate(result.keys[0], tasks=ids)
    if estimate is None:
        return ""
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}] of {len(ids)}"
