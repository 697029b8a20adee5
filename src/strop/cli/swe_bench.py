"""SWE-bench's harness (package `swebench` 5.0): the predictions that it reads, and the reports that it writes.

A prediction is a line {"instance_id", "model_name_or_path", "model_patch"}; an empty patch means none. A report is
MODEL.RUN.json, with `resolved_ids` and others (harness/reporting.py), or report.json, {INSTANCE: {"resolved"}}.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from strop.evaluation.result import Evaluation, TaskCounts
from strop.reports.rollout_files import evaluation_file, read_whole
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS, EditError, Tolerance, apply_answer

_WRONG = ("unresolved_ids", "empty_patch_ids", "error_ids")
"""Keys of a report for instances that were submitted and not resolved."""


def instance_of(task: Task) -> str:
    """The name of the task's row in the data set, which tasks made from rows keep; otherwise the task's id."""
    names = (task.metadata.get(name) for name in ("instance", "original"))
    return next((name for name in names if isinstance(name, str) and name), task.id)


def model_patch(task: Task, answer: str) -> str:
    """The answer's changes as `git diff` writes them; "" if it does not apply. Raises UserError for other tasks."""
    check = task.edit
    if check is None:
        kind = task.check.kind
        raise UserError(
            f"task {task.id}: an answer to a check of kind {kind} is not a patch; make edit tasks: strop build commits"
        )
    try:
        after = apply_answer(answer, check.files, check.format, Tolerance.of(*check.tolerance))
    except EditError:
        return ""
    return FORMATS["unified-diff"].render(check.files, after)


def predictions(run: Path, name: str, model: str, tasks: Iterable[Task]) -> Iterator[dict[str, str]]:
    """One prediction per task: its greedy answer if the evaluation has one, else its first."""
    chosen: dict[str, dict[str, Any]] = {}
    for row in read_whole(evaluation_file(run, name).path):
        if row["index"] == 0:  # greedy answers come after sampled ones
            chosen[row["task_id"]] = row
    for task in tasks:
        if (line := chosen.get(task.id)) is not None:
            patch = model_patch(task, line.get("answer", ""))
            yield {"instance_id": instance_of(task), "model_name_or_path": model, "model_patch": patch}


def reported(path: Path) -> Evaluation:
    """The instances that a report of the harness counts, each resolved or not. Raises UserError."""
    try:
        report = json.loads(path.read_text())
        resolved = _resolved(report)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path}: not a report of SWE-bench's harness ({type(error).__name__}: {error})"
        ) from None
    if not resolved:
        raise UserError(f"{path}: it counts no instance")
    counts = [TaskCounts(task_id=name, n=0, c=0, greedy=passed) for name, passed in sorted(resolved.items())]
    return Evaluation(
        counts=counts, samples=0, temperature=1.0, max_tokens=0, k=[], greedy=True, tokens_mean=0.0, truncated_rate=0.0,
        seconds=0.0, outcomes={"passed": sum(resolved.values()), "failed": len(resolved) - sum(resolved.values())},
    )  # fmt: skip


def _resolved(report: Mapping[str, Any]) -> dict[str, bool]:
    if "resolved_ids" in report:
        wrong = {name: False for field in _WRONG for name in report[field]}
        return wrong | dict.fromkeys(report["resolved_ids"], True)
    return {name: bool(one["resolved"]) for name, one in report.items()}
