"""shuffle: a random order, decided by the seed and the tasks' ids alone."""

from collections.abc import Iterator

from strop.config.section import Section
from strop.core.ids import derive_seed
from strop.core.task import Task
from strop_curation.pipeline.lines import Scratch
from strop_curation.pipeline.step import Context, Dropped, Read, Step


class ShuffleConfig(Section):
    """shuffle has no settings; the seed is the pipeline's."""


class Shuffle(Step[ShuffleConfig]):
    """Puts the tasks in a random order; the same whatever order they came in."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`. The texts lie on disk; 100 bytes or so a task are in memory."""
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
