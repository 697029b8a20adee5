"""Groups of tasks that are alike, directly or through others: one number a task, for a split that keeps them together.

Wider than being the same task: likeness in words or in code is enough, and nothing speaks against it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from strop.core.task import Task
from strop.curation.similar.minhash import near
from strop.curation.similar.same import LikenessLimits, same_tasks
from strop.curation.similar.table import TaskTable, table_of
from strop.tasks.splits import joined

Numbers = np.ndarray[Any, np.dtype[np.int64]]
"""Shape (tasks,): the position of the first task of its cluster."""


def clusters(
    read: Callable[[], Iterator[Task]],
    folder: Path,
    statement: float = 0.7,
    code: float = 0.85,
    small: int = 45,
) -> Numbers:
    """The cluster of every task that `read` gives, in order.

    statement, code  Jaccard index of three-word runs, and of four-label runs of the solutions, from which on two tasks
                     are alike
    small            solutions with fewer labels than this are alike only when their tasks are the same
    folder           scratch: some kilobytes a task; the caller removes it
    """
    table = table_of(read, folder)
    return np.array(joined(len(table), _alike(table, statement, code, small)), np.int64)


def _alike(table: TaskTable, statement: float, code: float, small: int) -> Iterator[tuple[int, int]]:
    what = frozenset({"statement", "code", "tests"})
    for same in same_tasks(table, LikenessLimits(small=small), what):
        yield same.a, same.b
    for pair in near(table.statements, statement):
        yield pair.a, pair.b
    sizes = table.columns["size"]
    for pair in near(table.codes, code):
        if min(int(sizes[pair.a]), int(sizes[pair.b])) >= small:
            yield pair.a, pair.b
