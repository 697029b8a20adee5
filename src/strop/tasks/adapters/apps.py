"""APPS: problems of Codewars, AtCoder, Kattis and Codeforces, as programs or functions.

Reference: Hendrycks et al., "Measuring Coding Challenge Competence With APPS", 2021, arXiv:2105.09938; data set
codeparrot/apps (MIT). Rows: problem_id (integer), question, solutions (JSON text of a list, or empty), input_output
(JSON text, see `io_tests`, or empty), difficulty (introductory, interview, competition), url, starter_code.

1. The id is `apps/PROBLEM_ID`; train and test number their problems alike, so they are two sources.
2. The first solution is the reference, the others are `metadata.references`. Of functions, both stand below the imports
   that they rely on (see `solutions`).
3. JSON texts come back as equal values, not byte by byte.
"""

import json
from collections.abc import Iterator
from typing import Any

from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import io_tests, solutions
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import decoded, has, name_of, text
from strop.tasks.adapters.leftovers import original, with_original
from strop.tasks.rows import Row

FIELDS = ("problem_id", "question", "solutions", "input_output", "difficulty", "starter_code")
LEVELS = {"introductory": 2, "interview": 3, "competition": 4}


def task_of(row: Row, where: str, name: str, levels: dict[str, int], known: tuple[str, ...]) -> Task:
    """The task of a row of APPS' columns; `name` is its id, empty for a hash of its content. Raises UserError."""
    starter = text(row, "starter_code", where, default="")
    answers = _answers(decoded(row, "solutions", where), where)
    tests = decoded(row, "input_output", where)
    if tests is None:
        raise UserError(f"{where}: the task has no tests: field 'input_output' is empty")
    check, form = io_tests.read_tests(tests, starter, f"{where}: input_output")
    signature, bare = "", list[int]()
    if entry := check.function:
        given, answers = answers, [solutions.with_imports(answer) for answer in answers]
        bare = [i for i, answer in enumerate(given) if answer != answers[i]]
        signature = solutions.signature(starter, answers[0] if answers else "", entry)
    difficulty = text(row, "difficulty", where, default="")
    task = Task(
        id=name,
        family="function" if check.function else "program",
        statement=text(row, "question", where),
        signature=signature,
        reference=answers[0] if answers else "",
        check=check,
        topic=difficulty,
        level=levels.get(difficulty, 0),
        source=name,
        metadata={"references": answers[1:]} if len(answers) > 1 else {},
    )
    more = {name: value for name, value in (("starter_code", starter), ("bare", bare)) if value}
    return with_original(task, row, known, **form.named(), **more)


def row_of(task: Task) -> dict[str, Any]:
    """APPS' columns of a task, without the id. Raises UserError for a task that they cannot hold."""
    if task.language != "python":
        raise UserError(f"task {task.id!r}: the format holds Python, this is {task.language}")
    kept = original(task)
    tests = io_tests.write_tests(task, io_tests.form_of(kept))
    answers = answers_of(task)
    starter = kept.get("starter_code", task.signature)
    rest = {k: v for k, v in kept.items() if k not in ("lines", "text", "wrapped", "starter_code", "bare")}
    return {
        "question": task.statement,
        "solutions": json.dumps(answers, ensure_ascii=False) if answers else "",
        "input_output": json.dumps(tests, ensure_ascii=False),
        "difficulty": task.topic,
        "starter_code": starter,
        **rest,
    }


def answers_of(task: Task) -> list[str]:
    """The reference and the further references, as the data set has them."""
    answers = [task.reference, *task.metadata.get("references", [])] if task.reference else []
    bare = original(task).get("bare", [])
    return [solutions.without_imports(a) if i in bare else a for i, a in enumerate(answers)]


def _answers(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(answer, str) for answer in value):
        raise UserError(f"{where}: field 'solutions' must hold a list of texts")
    return [answer for answer in value if answer.strip()]


def _read(row: Row, where: str) -> Iterator[Task]:
    number = name_of(row.get("problem_id"), "")
    yield task_of(row, where, f"apps/{number}" if number else "", LEVELS, FIELDS)


def _write(task: Task) -> dict[str, Any]:
    number = task.id.removeprefix("apps/")
    return {"problem_id": int(number) if number.isdecimal() else task.id, "url": "", **row_of(task)}


def _fits(row: Row) -> bool:
    return has(row, question=str, problem_id=(int, str)) and "input_output" in row


ADAPTER = Adapter(
    name="apps",
    about="APPS: question, solutions, input_output (codeparrot/apps)",
    read=_read,
    fits=_fits,
    write=_write,
)
