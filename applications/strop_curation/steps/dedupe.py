"""Step `dedupe`: of tasks that are the same, keeps the one with the most tests.

It finds equal statements, solutions that are equal but for names, layout, comments and annotations, equal tests, and
near-duplicates, of one source or of several. What counts for and against is in `similar/evidence.py`. DeepCoder
(Luo et al., 2025) removed duplicates across its sets too, without saying how.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from strop.core.optional_packages import require
from strop.core.task import Task
from strop.tasks.splits import joined
from strop_curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_curation.similar.evidence import DedupeConfig, Judge, Same, same_tasks
from strop_curation.similar.table import TaskTable, table_of


class Kept(NamedTuple):
    """Why a task is dropped."""

    by: int
    """Number of the task that stays."""
    reason: str
    similarity: float


class Dedupe(Step[DedupeConfig]):
    """Keeps one of the tasks that are the same."""

    def check(self) -> None:
        """Raises UserError where the package for MinHash is missing."""
        require("rensa", package="rensa", extra="curate", purpose="step dedupe")

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Yields the tasks in order. One pass remembers them, one yields."""
        config = self.config
        table = table_of(
            read, context.folder / "table", config.words, lambda done: context.progress(done, context.size)
        )
        found = list(same_tasks(table, config))
        gone = duplicates(table, found, Judge(table, config), most_tests=config.keep == "most-tests")
        for number, task in enumerate(read()):
            kept = gone.get(number)
            if kept is None:
                yield task
                continue
            context.totals[kept.reason] += 1
            yield drop(task, kept.reason, f"{kept.similarity:.2f} like {table.ids[kept.by]}")


def duplicates(
    table: TaskTable, found: Iterable[Same], judge: Judge, *, most_tests: bool = True
) -> dict[int, Kept]:
    """Number of each task that is dropped -> what stays in its place.

    Tasks joined through others stay both when their tests contradict each other.
    """
    pairs = list(found)
    direct: dict[tuple[int, int], Same] = {}
    near: dict[int, Same] = {}
    for same in pairs:
        direct.setdefault((same.a, same.b), same)
        near.setdefault(same.a, same)
        near.setdefault(same.b, same)
    groups: dict[int, list[int]] = defaultdict(list)
    for number, first in enumerate(joined(len(table), ((s.a, s.b) for s in pairs))):
        groups[first].append(number)
    tests = table.columns["tests"]
    gone: dict[int, Kept] = {}
    for members in groups.values():
        if len(members) == 1:
            continue
        stay: list[int] = []
        for number in sorted(members, key=lambda n: (-int(tests[n]) if most_tests else 0, n)):
            by = next((s for s in stay if not judge.agreement(s, number).contradict), None)
            if by is None:
                stay.append(number)
            else:
                pair = (min(by, number), max(by, number))
                same = judge.directly(*pair) or direct.get(pair) or near[number]
                gone[number] = Kept(by, same.reason, same.similarity)
    return gone
