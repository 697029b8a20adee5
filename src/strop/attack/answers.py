"""Answers from elsewhere for `strop attack`, as JSON lines."""

from pathlib import Path
from typing import Any

from strop.tasks.answers import answer_in
from strop.tasks.jsonl import read_rows
from strop.tasks.rows import own_task
from strop_verify.attacks.suite import Trial
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


def load_answers(folder: Path) -> list[Trial]:
    """Answers from elsewhere: a trial for each answer line of every *.jsonl below `folder`, in order of path and line.

    A line with `check` is a task, in any of the files; a line with `task_id` and `answer` is an answer
    (docs/formats.md). It may have a `name`, and `"honest": true` if it must pass; every other answer must fail. Raises
    UserError, naming file and line, for the first mistake.
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
                task = own_task(row, where)
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
    return [_given(where, row, tasks) for where, row in answers]


def _checked(where: str, row: dict[str, Any]) -> dict[str, Any]:
    for key, kind in (("task_id", str), ("answer", str), ("name", str), ("honest", bool)):
        needed = key in ("task_id", "answer")
        if (needed or key in row) and type(row.get(key)) is not kind:
            found = f"{key!r} is {row[key]!r:.60}" if key in row else f"it has neither 'check' nor {key!r}"
            raise UserError(f'{where}: an answer line is {{"task_id": TEXT, "answer": TEXT}}; {found}')
    return row


def _given(where: str, row: dict[str, Any], tasks: dict[str, tuple[Task, str]]) -> Trial:
    if row["task_id"] not in tasks:
        raise UserError(f"{where}: unknown task_id {row['task_id']!r}: no line with a `check` has it")
    task, _ = tasks[row["task_id"]]
    code, name = answer_in(row["answer"], task), row.get("name") or where
    hostile, honest = (None, code) if row.get("honest") else (code, None)
    return Trial(name, task.language, "given", "the grader", task, hostile, honest)
