"""Step `decontaminate`: what comes from a benchmark that one wants to measure on goes.

Searched for are the benchmark's statements, copied whole or with edits, its solutions, renamed or laid out anew, and
its tests. What counts for and against is in `curation/similar/leaks.py`.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from strop.config.section import Complaint, Section
from strop.core.checks import LabelCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop.curation.similar.leaks import Benchmark, Item, LeakLimits, items_of, searched, statements_in
from strop.tasks import sources


class DecontaminateConfig(Section):
    """Settings of `decontaminate`."""

    against: str | tuple[str, ...] = ("humaneval",)
    """Benchmarks: any source of tasks (humaneval, livecodebench:PATH, mbpp:PATH, a file), or a .txt file of statements
    that are separated by lines of dashes or else by empty lines."""
    n: int = Field(default=10, ge=4, le=50)
    """Words in a run: 13 in the paper of GPT-3, 10 in that of Llama 2."""
    share: float = Field(default=0.3, gt=0, le=1)
    """Share of an item's runs of n words from which the task is a copy."""
    edited: float = Field(default=0.5, gt=0, le=1)
    """Share of an item's runs of three words from which the task is an edited copy; six tenths of it are enough where
    the function's name or tests are the item's."""
    code: float = Field(default=0.8, gt=0, le=1)
    """Share of the runs of four labels of an item's solution that the task's solution must hold."""
    common: int = Field(default=20, ge=1)
    """Runs that more tasks than this have, which are not copies otherwise, are not counted."""
    short: int = Field(default=6, ge=1)
    """Statements with fewer words than this are not enough by themselves."""
    small: int = Field(default=24, ge=1)
    """Solutions with fewer labels than this are not enough by themselves."""
    bits: float = Field(default=8.0, ge=0)
    """How much information equal outputs of tests must hold to be enough by themselves."""

    def complaints(self) -> Iterator[Complaint]:
        """At least one benchmark."""
        if not self.against:
            yield "against", "no benchmark is named: write against: [humaneval]"

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """`against`, always several."""
        return (self.against,) if isinstance(self.against, str) else self.against


class Decontaminate(Step[DecontaminateConfig]):
    """What comes from a benchmark goes."""

    def check(self) -> None:
        """Raises UserError for a benchmark that is not there."""
        for source in self.config.benchmarks:
            if not any(True for _ in _tasks_of(source)):
                raise UserError(f"decontaminate: the benchmark {source!r} holds no task: name another")

    def inputs(self) -> list[Path]:
        """Benchmarks that are files."""
        rests = [part for source in self.config.benchmarks for part in (source, source.partition(":")[2])]
        return [path for rest in rests if rest and (path := Path(rest).expanduser()).exists()]

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Yields the tasks in order. One pass learns what is common, one decides."""
        config = self.config
        limits = LeakLimits(
            config.n, config.share, config.edited, config.code, config.short, config.small, config.bits
        )
        items: list[Item] = []
        named: list[str] = []
        for source in config.benchmarks:
            for task in _tasks_of(source):
                for item in items_of(task, config.n):
                    items.append(item)
                    named.append(f"{task.id} of {source}")
        benchmark = Benchmark(items, context.folder / "grams", limits)
        for done, task in enumerate(read(), start=1):
            benchmark.see(searched(task, config.n))
            context.progress(done, 2 * context.size if context.size else None)
        benchmark.settle(config.common)
        for number, task in enumerate(read()):
            leak = benchmark.leak(number, searched(task, config.n)) if benchmark.suspect(number) else None
            if context.size:
                context.progress(context.size + number + 1, 2 * context.size)
            if leak is None:
                yield task
                continue
            context.totals[leak.reason] += 1
            yield drop(task, f"leak: {leak.reason}", f"{leak.share:.2f} of {named[leak.item]}")


def _tasks_of(source: str) -> Iterator[Task]:
    """A benchmark's items. Raises UserError, one line, where they cannot be read."""
    if not source.endswith(".txt"):
        yield from sources.iter_tasks(source)
        return
    path = Path(source.removeprefix("text:")).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the benchmark {path}: {error}") from error
    for number, statement in enumerate(statements_in(text), start=1):
        nothing = LabelCheck(choices=[], expected="")
        yield Task(id=f"{path.name}:{number}", statement=statement, check=nothing)
