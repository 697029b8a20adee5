"""Whole tasks in rows: Strop's own task lines (docs/formats.md), and TRL's rows with such a line in a column.

TRL, "Dataset formats and types": standard rows have `prompt` as text, conversational ones as a list of {"role",
"content"}; prompt-completion rows have `completion` in the same form; a trainer passes further columns to reward
functions. TRL defines no column for tests, so ours is `task`: a task line as JSON text, which
`strop_verify.core.task.Task.model_validate_json` reads in a reward function. It holds the whole task, including
metadata.

Rows are written as conversations, in prompt style `chat`, with a `completion` if the task has a reference.
"""

from collections.abc import Iterator
from typing import Any

from strop.tasks import prompts
from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row, decoded, own_task
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

STROP = Adapter(
    name="strop",
    about="Strop's own task lines",
    read=lambda row, where: iter([own_task(row, where)]),
    fits=lambda row: isinstance(check := row.get("check"), dict) and isinstance(check.get("kind"), str),
    write=lambda task: task.model_dump(mode="json"),
    as_json=("check", "metadata"),
)


def _read_trl(row: Row, where: str) -> Iterator[Task]:
    inner = decoded(row, "task", where)
    if not isinstance(inner, dict):
        raise UserError(
            f"{where}: the row has no tests: column 'task' must hold a task line; for a set that keeps tests in "
            "another column, write -c statement=prompt -c tests=COLUMN"
        )
    yield own_task(inner, f"{where}: task")


def _write_trl(task: Task) -> dict[str, Any]:
    prompt = prompts.render(task, "chat")
    row: dict[str, Any] = {"prompt": [m.model_dump(include={"role", "content"}) for m in prompt.messages]}
    if answer := prompts.solution(task, prompt):
        row["completion"] = [{"role": "assistant", "content": answer}]
    return {**row, "task": task.model_dump_json()}


TRL = Adapter(
    name="trl",
    about="TRL: prompt (text or conversation), completion, and the task line in `task`",
    read=_read_trl,
    fits=lambda row: isinstance(row.get("prompt"), str | list) and isinstance(row.get("task"), str | dict),
    write=_write_trl,
)
