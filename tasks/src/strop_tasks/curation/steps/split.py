"""split: divides tasks by content into parts of given sizes, with near-duplicates in one part.

Tasks that are alike, directly or through others, form a cluster, which goes as a whole into the part that lacks the
most tasks. Parts come as close to their sizes as the clusters allow; the largest clusters are placed first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import Field

from strop.tasks.splits import joined
from strop_tasks.curation.pipeline.folder import RESERVED
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, part_of
from strop_tasks.curation.similar.evidence import DedupeConfig, same_tasks
from strop_tasks.curation.similar.minhash import near
from strop_tasks.curation.similar.table import TaskTable, table_of
from strop_verify.core.ids import derive_seed
from strop_verify.core.optional_packages import require
from strop_verify.core.section import Complaint, Section
from strop_verify.core.task import Split as Side
from strop_verify.core.task import Task


class SplitConfig(Section):
    """Settings of the step `split`."""

    parts: dict[str, float] = Field(default={"train": 0.9, "held-out": 0.1}, min_length=1)
    """Share of each part by name; the sum is 1. Each is also written to NAME.jsonl; all but train are held out."""
    keep: bool = True
    """A task that already has one of these parts stays there with its cluster; a held-out part wins."""
    statement: float = Field(default=0.7, gt=0, le=1)
    """Minimum Jaccard index of the word runs of two statements for their tasks to be alike."""
    code: float = Field(default=0.85, gt=0, le=1)
    """Minimum Jaccard index of the label runs of two solutions for their tasks to be alike."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that shares add up to 1 and names are valid file names."""
        for name, share in self.parts.items():
            if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii() or name in RESERVED:
                rule = f"use letters, digits, - and _, not {', '.join(RESERVED)}"
                yield "parts", f"{name!r} is not a name for a part: {rule}"
            if share < 0:
                yield "parts", f"{name}: {share:g} is below 0"
        total = sum(self.parts.values())
        if abs(total - 1) > 1e-6:
            remedy = "they must add up to 1, such as train: 0.9, held-out: 0.1"
            yield "parts", f"the shares add up to {total:g}; {remedy}"


class Split(Step[SplitConfig]):
    """Puts every task into a part; near-duplicates share one."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts, each of which becomes a file."""
        return tuple(self.config.parts)

    def check(self) -> None:
        """Raises UserError if the package for MinHash is missing."""
        require("rensa", package="rensa", extra="curate", purpose="step split")

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Yields every task in its part; see `Step.run`."""
        numbers = clusters(read, context.folder, self.config.statement, self.config.code)
        numbers = with_pairs(numbers, (task.metadata.get("pair") for task in read()))
        ranks: list[int] = []
        fixed: dict[int, str] = {}
        for place, task in enumerate(read()):
            ranks.append(derive_seed(context.seed, task.id))
            part = part_of(task)
            kept = self.config.keep and part in self.config.parts
            if kept and fixed.get(numbers[place], "train") == "train":
                fixed[numbers[place]] = part
        chosen = place_clusters(numbers, ranks, self.config.parts, fixed)
        joint = sum(count > 1 for count in Counter(numbers).values())
        context.totals["clusters of more than one task"] = joint
        for place, task in enumerate(read()):
            context.progress(place + 1, context.size)
            yield in_part(task, chosen[numbers[place]])


def clusters(read: Read, folder: Path, statement: float = 0.7, code: float = 0.85) -> list[int]:
    """For each task of `read`, in order, the index of the first task of its cluster.

    Wider than duplicates: similar words or code suffice, and no evidence counts against it.

    statement, code  minimum Jaccard index of three-word runs, and of four-label runs of the solutions
    folder           scratch, some kilobytes per task; the caller removes it
    """
    table = table_of(read, folder)
    return joined(len(table), _alike(table, statement, code))


def _alike(table: TaskTable, statement: float, code: float) -> Iterator[tuple[int, int]]:
    sameness = DedupeConfig(by=("statement", "code", "tests"))
    for same in same_tasks(table, sameness):
        yield same.a, same.b
    for pair in near(table.statements, statement):
        yield pair.a, pair.b
    sizes = table.columns["size"]
    for pair in near(table.codes, code):
        if min(int(sizes[pair.a]), int(sizes[pair.b])) >= sameness.small:
            yield pair.a, pair.b


def with_pairs(numbers: list[int], pairs: Iterable[object]) -> list[int]:
    """The clusters, joined if they hold members of one pair; `pairs`: each task's pair, or None."""
    first: dict[str, int] = {}
    named = ((place, pair) for place, pair in enumerate(pairs) if isinstance(pair, str))
    links = [*enumerate(numbers), *((place, first.setdefault(pair, place)) for place, pair in named)]
    return joined(len(numbers), links)


def place_clusters(
    numbers: list[int], ranks: list[int], shares: dict[str, float], fixed: dict[int, str]
) -> dict[int, str]:
    """The part of each cluster: largest first, into the part that lacks the most tasks. `fixed` clusters stay.

    numbers, ranks  for each task: its cluster, and a random rank, which orders clusters of equal size
    """
    sizes = Counter(numbers)
    order: dict[int, int] = {}
    for number, rank in zip(numbers, ranks, strict=True):
        order[number] = min(order.get(number, rank), rank)
    lacking = {part: share * len(numbers) for part, share in shares.items()}
    for number, part in fixed.items():
        lacking[part] -= sizes[number]
    chosen = dict(fixed)
    for number in sorted(sizes, key=lambda n: (-sizes[n], order[n])):
        if number not in fixed:
            part = max(lacking, key=lambda name: lacking[name])
            chosen[number] = part
            lacking[part] -= sizes[number]
    return chosen


def in_part(task: Task, part: str) -> Task:
    """The task in that part. Every part but train is held out."""
    side: Side = "train" if part == "train" else "held-out"
    metadata = {key: value for key, value in task.metadata.items() if key != "split"}
    if part != side:
        metadata["split"] = part
    return task.model_copy(update={"split": side, "metadata": metadata})
