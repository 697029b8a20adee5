"""How far this process has come, and what it is doing: what the watch over a run's processes reads (`training.watch`).

A beat is work that is done: a token of each row, a turn, a tool's result, a verdict, a score, a micro-batch, an
update. Nothing beats by the clock. In a stage that is `busy`, in one long call of ours or of a library, the CPU time
and the bytes that the process spends count as well.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class ProgressStage:
    """What a thread is doing.

    busy   whether CPU time and bytes count as progress
    most   seconds that one thing may take there by a deadline of its own
    waits  whether it only waits for other processes
    """

    name: str
    busy: bool = False
    most: float = 0.0
    waits: bool = False


class RunProgress:
    """Of one process; any thread may call it.

    beats  how much was done; two threads at once may count as one
    """

    def __init__(self) -> None:
        self.beats = 0
        self._stages: list[ProgressStage] = []
        self._last = "the start"

    def beat(self) -> None:
        """Something was done."""
        self.beats += 1

    @contextmanager
    def at(self, name: str, *, busy: bool = False, most: float = 0.0, waits: bool = False) -> Iterator[None]:
        """Within it this thread does what `name` says; see `ProgressStage`."""
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
        """Of all threads, the outer ones first."""
        return list(self._stages)

    def __str__(self) -> str:
        names = [stage.name for stage in self.stages]
        return ", ".join(names) or f"after {self._last}"


PROGRESS = RunProgress()
"""This process's."""
