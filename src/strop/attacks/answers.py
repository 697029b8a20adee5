"""Hostile answers from other sources: JSON lines below a folder, as trials.

A line with `check` is a task; a line with `task_id` and `answer` is an answer (docs/formats.md). An answer may have a
`name`, and `"honest": true` when it must pass; every other answer must not.
"""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from strop.attacks.suite import Trial
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.answers import answer_in
from strop.tasks.jsonl import read_rows

_TASK_FIELDS = frozenset(Task.model_fields)


def load_answers(folder: Path) -> list[Trial]:
    """One trial an answer line of every *.jsonl below `folder`, in the order of paths and lines.

    Task lines may stand in any of the files. Raises UserError, naming file and line, for the first fault.
    """
    if not folder.is_dir():
        raise UserError(f"--answers {folder}: no such folder; it must hold *.jsonl files")
    paths = sorted(folder.rglob("*.jsonl"))
    if not paths:
        raise UserError(f"--answers {folder}: no *.jsonl file below it")
    tasks: dict[str, tuple[Task, str]] = {}
    answers: list[tuple[str, dict[str, Any]]] = []
    for path in paths:
        for where, row in read_rows(path):
            if "check" in row:
                task = _task(where, row)
                known, first = tasks.get(task.id, (task, where))
                if known != task:
                    raise UserError(
                        f"{where}: task {task.id!r} differs from the one at {first}; ids must be unique"
                    )
                tasks[task.id] = (task, where)
            else:
                answers.append((where, _checked(where, row)))
    if not answers:
        raise UserError(f"--answers {folder}: no answer line in {len(paths)} file(s)")
    return [_trial(where, row, tasks) for where, row in answers]


def _task(where: str, row: dict[str, Any]) -> Task:
    if unknown := sorted(set(row) - _TASK_FIELDS):
        raise UserError(f"{where}: a task has no field {unknown[0]!r}; put it into metadata")
    try:
        return Task(**{"statement": "", **row})
    except (ValidationError, TypeError, ValueError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{where}: bad task: {place}: {first['msg']}") from error


def _checked(where: str, row: dict[str, Any]) -> dict[str, Any]:
    for key, kind, needed in (
        ("task_id", str, True),
        ("answer", str, True),
        ("name", str, False),
        ("honest", bool, False),
    ):
        if (needed or key in row) and type(row.get(key)) is not kind:
            found = f"{key!r} is {row[key]!r:.60}" if key in row else f"it has neither 'check' nor {key!r}"
            raise UserError(f'{where}: an answer line is {{"task_id": TEXT, "answer": TEXT}}; {found}')
    return row


def _trial(where: str, row: dict[str, Any], tasks: dict[str, tuple[Task, str]]) -> Trial:
    if row["task_id"] not in tasks:
        raise UserError(f"{where}: unknown task_id {row['task_id']!r}: no line with a `check` has it")
    task, _ = tasks[row["task_id"]]
    code, honest = answer_in(row["answer"], task), bool(row.get("honest"))
    return Trial(
        name=row.get("name") or where,
        language=task.language,
        family="given",
        layer="the grader",
        task=task,
        hostile=None if honest else code,
        honest=code if honest else None,
    )
