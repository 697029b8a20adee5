"""HumanEval's schema from any file: task_id, prompt, canonical_solution, test (a function `check`), entry_point.

Reference: github.com/openai/human-eval; Chen et al. 2021, arXiv:2107.03374. Files of the same schema with other
functions come through as well. The built-in source `humaneval` brings the data set itself.

`metadata.original.test` keeps the test text, so that a row is written as it was read.
"""

from collections.abc import Iterator
from typing import Any

from strop.core.checks import AssertsCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks import humaneval
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, text
from strop.tasks.adapters.leftovers import original, with_original
from strop.tasks.rows import Row

FIELDS = ("task_id", "prompt", "canonical_solution", "test", "entry_point")


def _read(row: Row, where: str) -> Iterator[Task]:
    fields = {name: text(row, name, where) for name in FIELDS}
    try:
        task = humaneval.task(fields)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(
            f"{where}: prompt or test is no Python that defines the entry point: {error}"
        ) from error
    yield with_original(task, row, FIELDS, test=fields["test"])


def _fits(row: Row) -> bool:
    if not has(row, **dict.fromkeys(FIELDS, str)) or "suffix" in row or "base_input" in row:
        return False
    return "def check(" in row["test"] and "\n    inputs = " not in row["test"]


def _write(task: Task) -> dict[str, Any]:
    check = task.check.maybe(AssertsCheck)
    if check is None or task.prompt is None or not task.reference.startswith(task.prompt):
        raise UserError(f"task {task.id!r} has no prompt that its reference continues and that asserts judge")
    kept = original(task)
    call = f"\n\ncheck({check.entry_point})\n"
    return {
        "task_id": task.id,
        "prompt": task.prompt,
        "canonical_solution": task.reference[len(task.prompt) :],
        "test": check.code.removesuffix(call) + "\n" if check.code.endswith(call) else _wrapped(check),
        "entry_point": check.entry_point,
        **kept,
    }


def _wrapped(check: AssertsCheck) -> str:
    """Top-level test code as the body of a function `check`, whose argument shadows the entry point."""
    body = "\n".join(f"    {line}" if line.strip() else "" for line in check.code.splitlines())
    if '"""' in check.code or "'''" in check.code:
        raise UserError("test code with multi-line strings cannot be put into a function 'check'")
    return f"def check({check.entry_point}):\n{body}\n"


ADAPTER = Adapter(
    name="humaneval",
    about="HumanEval's rows (OpenAI): a prompt to continue, a function check(candidate)",
    read=_read,
    fits=_fits,
    write=_write,
)
