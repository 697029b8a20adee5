"""Steps on single tasks or ids: a minimum of tests, a sample, a random order."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from strop_tasks.curation.pipeline.lines import Scratch
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_verify.core.ids import derive_seed
from strop_verify.core.section import Complaint, Section
from strop_verify.core.task import Task

By = Literal["topic", "level", "set", "source", "language", "family"]


class MinTestsConfig(Section):
    """Settings of the step `min-tests`."""

    at_least: int = Field(default=5, ge=1)
    """Minimum tests of a task."""
    hidden: bool = False
    """Count only tests that the prompt does not show."""


class MinTests(Step[MinTestsConfig]):
    """Drops tasks with too few different tests: DeepCoder asks for five (Together, 2025, section on data)."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Keeps tasks with enough tests; see `Step.run`."""
        for done, task in enumerate(read(), start=1):
            context.progress(done, context.size)
            count = task.check.different_tests(hidden=self.config.hidden)
            if count >= self.config.at_least:
                yield task
            else:
                what = "hidden tests" if self.config.hidden else "tests"
                yield drop(task, f"fewer than {self.config.at_least} {what}", f"{count} different {what}")


class SampleStepConfig(Section):
    """Settings of the step `sample`."""

    n: int | None = Field(default=None, ge=1)
    """How many tasks to keep; all if there are fewer."""
    share: float | None = Field(default=None, gt=0, le=1)
    """Share of tasks to keep, instead of `n`."""
    by: By | None = None
    """Keep the same share of every value of this field, as near as whole tasks allow. source is the task's, up to its
    first slash; set is the pipeline's."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that exactly one of `n` and `share` is given."""
        if (self.n is None) == (self.share is None):
            yield "n", "give either n (how many tasks) or share (which part of them)"


class SampleStep(Step[SampleStepConfig]):
    """Keeps some of the tasks, chosen by the seed and their ids."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Keeps the sampled tasks, in order; see `Step.run`."""
        ranks: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, task in enumerate(read()):
            ranks[kind_of(task, self.config.by)].append((derive_seed(context.seed, task.id), place))
        sizes = {kind: len(found) for kind, found in ranks.items()}
        total = sum(sizes.values())
        wanted = self.config.n if self.config.n is not None else round((self.config.share or 0) * total)
        quotas = shares(sizes, min(wanted, total))
        chosen = {place for kind, found in ranks.items() for _, place in sorted(found)[: quotas[kind]]}
        for place, task in enumerate(read()):
            context.progress(place + 1, context.size)
            yield task if place in chosen else drop(task, "not sampled")


def kind_of(task: Task, by: By | None) -> str:
    """The kind of a task, for `sample`."""
    if by is None:
        return ""
    if by == "set":
        return str(task.metadata.get("set", ""))
    return task.source.partition("/")[0] if by == "source" else str(getattr(task, by))


def shares(sizes: dict[str, int], wanted: int) -> dict[str, int]:
    """`wanted` split over kinds in proportion to their sizes, by largest remainders; never more than a kind has."""
    total = sum(sizes.values())
    exact = {kind: wanted * size / total for kind, size in sizes.items()} if total else {}
    found = Counter({kind: int(value) for kind, value in exact.items()})
    rest = sorted(exact, key=lambda kind: (found[kind] - exact[kind], kind))
    for kind in rest[: wanted - found.total()]:
        found[kind] += 1
    return dict(found)


class ShuffleConfig(Section):
    """shuffle has no settings; the seed is the pipeline's."""


class Shuffle(Step[ShuffleConfig]):
    """Puts the tasks in a random order, independent of their input order."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`. Texts are on disk; memory holds about 100 bytes per task."""
        ranks: list[tuple[int, int]] = []

        def ranked() -> Iterator[Task]:
            for place, task in enumerate(read()):
                ranks.append((derive_seed(context.seed, task.id), place))
                yield task

        scratch = Scratch(context.folder / "tasks")
        scratch.fill(ranked())
        ranks.sort()
        for done, task in enumerate(scratch.in_order(place for _, place in ranks), start=1):
            context.progress(done, context.size)
            yield task
