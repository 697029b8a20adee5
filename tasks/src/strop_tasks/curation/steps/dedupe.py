"""Step `dedupe`: keeps the duplicate with the most tests.

It finds equal statements, solutions that differ only in names, layout, comments and annotations, equal tests, and
near-duplicates, within and across sources. `similar/evidence.py` describes the evidence. DeepCoder (Luo et al., 2025)
also removed duplicates across its sets, without saying how.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from strop.tasks.splits import joined
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_tasks.curation.similar.evidence import DedupeConfig, DuplicatePair, Judge, same_tasks
from strop_tasks.curation.similar.table import TaskTable, table_of
from strop_verify.core.optional_packages import require
from strop_verify.core.task import Task


class Dedupe(Step[DedupeConfig]):
    """Keeps one of several duplicates."""

    def check(self) -> None:
        """Raises UserError if the package for MinHash is missing."""
        require("rensa", package="rensa", extra="curate", purpose="step dedupe")

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Yields the tasks in order. One pass remembers them, one yields."""
        config = self.config
        table = table_of(
            read, context.folder / "table", config.words, lambda done: context.progress(done, context.size)
        )
        gone = duplicates(table, list(same_tasks(table, config)), config)
        for number, task in enumerate(read()):
            kept = gone.get(number)
            if kept is None:
                yield task
                continue
            context.totals[kept.reason] += 1
            yield drop(task, kept.reason, f"{kept.similarity:.2f} like {table.ids[kept.a]}")


def duplicates(
    table: TaskTable, pairs: Sequence[DuplicatePair], config: DedupeConfig
) -> dict[int, DuplicatePair]:
    """Number of each dropped task -> the kept one (`a`), and why.

    Tasks joined only through others both stay if their tests contradict each other.
    """
    judge, tests = Judge(table, config), table.columns["tests"]
    why: dict[int | tuple[int, int], DuplicatePair] = {}
    for same in pairs:
        for key in ((same.a, same.b), same.a, same.b):
            why.setdefault(key, same)
    groups: dict[int, list[int]] = defaultdict(list)
    for number, first in enumerate(joined(len(table), ((s.a, s.b) for s in pairs))):
        groups[first].append(number)
    gone: dict[int, DuplicatePair] = {}
    for members in groups.values():
        stay: list[int] = []
        if config.keep == "most-tests":
            members.sort(key=lambda number: (-int(tests[number]), number))
        for number in members:
            by = next((s for s in stay if not judge.agreement(s, number).contradict), None)
            if by is None:
                stay.append(number)
            else:
                pair = (min(by, number), max(by, number))
                same = judge.directly(*pair) or why.get(pair) or why[number]
                gone[number] = same._replace(a=by, b=number)
    return gone
