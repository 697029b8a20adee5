"""Progress and current stages of this process, which the watchdog over a run's processes reads (`training.watch`).

A beat is a piece of finished work: a token of each row, a turn, a tool's result, a verdict, a score, a micro-batch, an
update. No timer beats. In a `busy` stage, which is one long call of ours or of a library, the CPU time that the process
uses and the bytes that it reads and writes count as well.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class ProgressStage:
    """What a thread is doing now.

    busy   whether CPU time and bytes count as progress
    most   seconds that one operation may take there by its own deadline
    waits  whether it only waits for other processes
    """

    name: str
    busy: bool = False
    most: float = 0.0
    waits: bool = False


class RunProgress:
    """Progress of one process; any thread may call it.

    beats  pieces of work done; two threads that beat at once may count as one
    """

    def __init__(self) -> None:
        self.beats = 0
        self._stages: list[ProgressStage] = []
        self._last = "the start"

    def beat(self) -> None:
        """Records that something was done."""
        self.beats += 1

    @contextmanager
    def at(self, name: str, *, busy: bool = False, most: float = 0.0, waits: bool = False) -> Iterator[None]:
        """A stage during which this thread does what `name` says; see `ProgressStage`."""
        stage = ProgressStage(name, busy, most, waits)
        self._stages.append(stage)
        self.beat()
        try:
            yield
        finally:
            self._stages.remove(stage)
            self._last = name
            self.beat()

    @property
    def stages(self) -> list[ProgressStage]:
        """The stages of all threads, outer ones first."""
        return list(self._stages)

    def __str__(self) -> str:
        names = [stage.name for stage in self.stages]
        return ", ".join(names) or f"after {self._last}"


PROGRESS = RunProgress()
"""The progress of this process."""
