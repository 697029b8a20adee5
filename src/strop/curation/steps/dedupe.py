"""Step `dedupe`: of tasks that are one task, the one with the most tests stays.

Found are equal statements, solutions that are equal but for names, layout, comments and annotations, equal tests, and
near-duplicates, of one source or of several. What counts for and against is in `curation/similar/same.py`. DeepCoder
(Luo et al., 2025) removed duplicates across its sets too, without saying how.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from pydantic import Field

from strop.config.section import Complaint, Section
from strop.core.errors import UserError
from strop.core.task import Task
from strop.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop.curation.similar.same import Judge, LikenessLimits, Same, same_tasks
from strop.curation.similar.table import TaskTable, table_of
from strop.tasks.splits import joined

Kind = Literal["statement", "code", "tests", "near"]


class DedupeConfig(Section):
    """Settings of `dedupe`."""

    by: tuple[Kind, ...] = ("statement", "code", "tests", "near")
    """What to compare: equal statements, equal solutions, equal tests, near-duplicates of statements and solutions."""
    threshold: float = Field(default=0.8, gt=0, le=1)
    """Jaccard index of two statements' word runs from which they are near-duplicates, if nothing else differs."""
    sure: float = Field(default=0.95, gt=0, le=1)
    """The same, where the solutions differ and no tests are shared."""
    code: float = Field(default=0.85, gt=0, le=1)
    """Jaccard index of two solutions' runs of four labels from which they are near-duplicates, if tests agree."""
    tests: float = Field(default=0.6, gt=0, le=1)
    """Share of the tests of the task that has fewer that the other must have too."""
    words: int = Field(default=3, ge=1, le=20)
    """Words in a run."""
    short: int = Field(default=6, ge=1)
    """Statements with fewer words than this are not enough by themselves."""
    small: int = Field(default=45, ge=1)
    """Solutions with fewer labels (nodes of the syntax tree, tokens) than this are not enough by themselves."""
    bits: float = Field(default=8.0, ge=0)
    """How much information equal outputs must hold to be enough by themselves: eight tests with two outputs, evenly,
    have 8, five with five have 11.6."""
    keep: Literal["most-tests", "first"] = "most-tests"
    """Which task stays; of equal ones the first."""
    permutations: int = Field(default=128, ge=16, le=1024)
    """Length of the MinHash signatures, 4 bytes each a task; a power of two has the most ways to be cut into bands."""

    def complaints(self) -> Iterator[Complaint]:
        """`sure` is the stricter one."""
        if self.sure < self.threshold:
            yield "sure", f"{self.sure} is below threshold={self.threshold}: raise it"
        if not self.by:
            yield "by", "nothing to compare: name one or more of statement, code, tests, near"


class Kept(NamedTuple):
    """Why a task is dropped."""

    by: int
    """Number of the task that stays."""
    reason: str
    similarity: float


class Dedupe(Step[DedupeConfig]):
    """Of tasks that are one task, one stays."""

    def check(self) -> None:
        """Raises UserError where the package for MinHash is missing."""
        try:
            import rensa  # noqa: F401
        except ImportError as error:
            raise UserError("step dedupe needs the package rensa: pip install 'strop[curate]'") from error

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Yields the tasks in order. One pass remembers them, one yields."""
        config = self.config
        table = table_of(
            read, context.folder / "table", config.words, lambda done: context.progress(done, context.size)
        )
        limits = LikenessLimits(
            config.threshold, config.sure, config.code, config.tests, config.short, config.small, config.bits,
            config.permutations,
        )  # fmt: skip
        found = list(same_tasks(table, limits, frozenset(config.by)))
        gone = duplicates(table, found, Judge(table, limits), most_tests=config.keep == "most-tests")
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
