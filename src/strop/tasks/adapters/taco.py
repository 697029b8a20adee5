"""TACO: competition problems with tags, limits and many solutions, in the columns of APPS and more.

Reference: Li et al., "TACO: Topics in Algorithmic COde generation dataset", 2023, arXiv:2312.14852; data set BAAI/TACO,
and likaixin/TACO-verified. Rows: question, solutions (JSON text of a list, or the list), starter_code, input_output
(see `io_tests`), difficulty (EASY to VERY_HARD, UNKNOWN_DIFFICULTY), raw_tags, name, source, tags, skill_types, url,
Expected Auxiliary Space, time_limit, date, picture_num, memory_limit, Expected Time Complexity.

1. BAAI/TACO has no ids: a hash of the content serves. Where there is a column `id` it becomes `taco/ID`.
2. The columns of tags hold Python literals, which stay as they are, text.
3. `date` becomes `metadata.date` where it begins with a day, such as 2020-01-31.
4. The rest is as in `apps`.
"""

import re
from collections.abc import Iterator
from typing import Any

from strop.core.task import Task
from strop.tasks.adapters import apps
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, name_of
from strop.tasks.adapters.leftovers import original
from strop.tasks.rows import Row

FIELDS = ("id", "question", "input_output", "difficulty", "starter_code")
LEVELS = {"EASY": 2, "MEDIUM": 3, "MEDIUM_HARD": 4, "HARD": 5, "VERY_HARD": 5}
_OWN = ("raw_tags", "skill_types", "picture_num", "Expected Auxiliary Space")


def _read(row: Row, where: str) -> Iterator[Task]:
    number = name_of(row.get("id"), "")
    known = (*FIELDS, "solutions")
    task = apps.task_of(row, where, f"taco/{number}" if number else "", LEVELS, known)
    day = re.match(r"\d{4}-\d\d-\d\d", str(row.get("date") or ""))
    more: dict[str, Any] = {"date": day.group()} if day else {}
    kept = original(task) | ({"list": True} if isinstance(row.get("solutions"), list) else {})
    more |= {"original": kept} if kept else {}
    source = task.source or f"taco/{row.get('source') or ''}"
    yield task.model_copy(update={"source": source, "metadata": {**task.metadata, **more}})


def _write(task: Task) -> dict[str, Any]:
    row = apps.row_of(task)
    number = task.id.removeprefix("taco/")
    if row.pop("list", False):
        row["solutions"] = apps.answers_of(task)
    if number != task.id:
        row["id"] = int(number) if number.isdecimal() else number
    return row


def _fits(row: Row) -> bool:
    return (
        has(row, question=str)
        and "problem_id" not in row
        and "input_output" in row
        and any(name in row for name in _OWN)
    )


ADAPTER = Adapter(
    name="taco",
    about="TACO: APPS' columns with tags, limits and dates (BAAI/TACO)",
    read=_read,
    fits=_fits,
    write=_write,
)
