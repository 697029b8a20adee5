"""Step `decontaminate`: drops tasks that come from a benchmark you want to measure on.

It searches for the benchmark's statements, copied whole or with edits, its solutions, renamed or reformatted, and
its tests. `similar/leaks.py` describes the evidence.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from strop.tasks import sources
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_tasks.curation.similar.leaks import Benchmark, DecontaminateConfig, Item, items_of, searched
from strop_verify.core.checks import LabelCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


class Decontaminate(Step[DecontaminateConfig]):
    """Drops tasks that come from a benchmark."""

    def check(self) -> None:
        """Raises UserError for a benchmark without tasks."""
        for source in self.config.benchmarks:
            if not any(True for _ in _tasks_of(source)):
                raise UserError(f"decontaminate: the benchmark {source!r} holds no task: name another")

    def inputs(self) -> list[Path]:
        """The benchmarks that are files or folders."""
        rests = [part for source in self.config.benchmarks for part in (source, source.partition(":")[2])]
        return [path for rest in rests if rest and (path := Path(rest).expanduser()).exists()]

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """Yields the tasks in order. One pass counts common texts, one decides."""
        config = self.config
        items: list[Item] = []
        named: list[str] = []
        for source in config.benchmarks:
            for task in _tasks_of(source):
                for item in items_of(task, config.n):
                    items.append(item)
                    named.append(f"{task.id} of {source}")
        benchmark = Benchmark(items, config)
        for done, task in enumerate(read(), start=1):
            benchmark.see(searched(task, config.n))
            context.progress(done, 2 * context.size if context.size else None)
        benchmark.settle()
        for number, task in enumerate(read()):
            leak = benchmark.leak(searched(task, config.n))
            if context.size:
                context.progress(context.size + number + 1, 2 * context.size)
            if leak is None:
                yield task
                continue
            context.totals[leak.reason] += 1
            yield drop(task, f"leak: {leak.reason}", f"{leak.share:.2f} of {named[leak.item]}")


def _tasks_of(source: str) -> Iterator[Task]:
    """A benchmark's items. Raises UserError, one line, if they cannot be read."""
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


def statements_in(text: str) -> list[str]:
    """The statements of a text file, separated by lines of dashes or, if there are none, empty lines."""
    parts = re.split(r"^-{3,}[ \t]*$", text, flags=re.MULTILINE)
    if len(parts) == 1:
        parts = re.split(r"\n[ \t]*\n", text)
    return [part.strip() for part in parts if part.strip()]
