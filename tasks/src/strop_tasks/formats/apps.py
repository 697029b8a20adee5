"""APPS and TACO: competition problems, solved by programs or functions, in the same columns.

APPS: Hendrycks et al., "Measuring Coding Challenge Competence With APPS", 2021, arXiv:2105.09938; data set
codeparrot/apps (MIT). Rows: problem_id (integer), question, solutions (JSON text of a list, or empty), input_output
(JSON text, see `io_tests`, or empty), difficulty (introductory, interview, competition), url, starter_code.

1. The id is `apps/PROBLEM_ID`; train and test reuse the same numbers, so they are two sources.
2. The first solution is the reference, the others are `metadata.references`. For functions, the imports that they
   need are put above them (see `solutions`).

TACO: Li et al., "TACO: Topics in Algorithmic COde generation dataset", 2023, arXiv:2312.14852; data set BAAI/TACO, and
likaixin/TACO-verified. Rows: APPS' columns without problem_id, `solutions` possibly as a list, difficulty (EASY
to VERY_HARD, UNKNOWN_DIFFICULTY), raw_tags, name, source, tags, skill_types, url, Expected Auxiliary Space, time_limit,
date, picture_num, memory_limit, Expected Time Complexity.

3. BAAI/TACO has no ids, so a hash of the content is used. A column `id` becomes `taco/ID`.
4. `date` becomes `metadata.date` if it begins with a day, such as 2020-01-31.
"""

from collections.abc import Iterator
from typing import Any

from strop.tasks import io_tests
from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row, decoded
from strop_tasks.formats import solutions
from strop_tasks.formats.fields import date_of, has, name_of, text
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

_APPS_LEVELS = {"introductory": 2, "interview": 3, "competition": 4}


def task_of(row: Row, where: str, name: str, levels: dict[str, int]) -> Task:
    """The task of a row in APPS' columns. `name` is its id; "" means a hash of the content. Raises UserError."""
    starter = text(row, "starter_code", where, default="")
    answers = _answers(decoded(row, "solutions", where), where)
    tests = decoded(row, "input_output", where)
    if tests is None:
        raise UserError(f"{where}: the task has no tests: field 'input_output' is empty")
    check = io_tests.read_tests(tests, starter, f"{where}: input_output")
    signature = ""
    if entry := check.function:
        answers = [solutions.with_imports(answer) for answer in answers]
        signature = solutions.signature(starter, answers[0] if answers else "", entry)
    difficulty = text(row, "difficulty", where, default="")
    return Task(
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


def _answers(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(answer, str) for answer in value):
        raise UserError(f"{where}: field 'solutions' must be a list of strings")
    return [answer for answer in value if answer.strip()]


def _read_apps(row: Row, where: str) -> Iterator[Task]:
    number = name_of(row.get("problem_id"), "")
    yield task_of(row, where, f"apps/{number}" if number else "", _APPS_LEVELS)


APPS = Adapter(
    name="apps",
    about="APPS: question, solutions, input_output (codeparrot/apps)",
    read=_read_apps,
    fits=lambda row: has(row, question=str, problem_id=(int, str)) and "input_output" in row,
)


_TACO_LEVELS = {"EASY": 2, "MEDIUM": 3, "MEDIUM_HARD": 4, "HARD": 5, "VERY_HARD": 5}
_TACO_COLUMNS = ("raw_tags", "skill_types", "picture_num", "Expected Auxiliary Space")


def _read_taco(row: Row, where: str) -> Iterator[Task]:
    number = name_of(row.get("id"), "")
    task = task_of(row, where, f"taco/{number}" if number else "", _TACO_LEVELS)
    source = task.source or f"taco/{row.get('source') or ''}"
    yield task.model_copy(
        update={"source": source, "metadata": {**task.metadata, **date_of(row.get("date"))}}
    )


TACO = Adapter(
    name="taco",
    about="TACO: APPS' columns with tags, limits and dates (BAAI/TACO)",
    read=_read_taco,
    fits=lambda row: (
        has(row, question=str)
        and "problem_id" not in row
        and "input_output" in row
        and any(name in row for name in _TACO_COLUMNS)
    ),
)
