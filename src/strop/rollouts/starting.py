"""Plays that wait for their turn: environments that hold something are set up ahead of it."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait

from strop.core.play import PlayLimits
from strop.core.protocols import Environment
from strop.core.task import Task
from strop.rollouts.holding import Holders
from strop.rollouts.plays import Order, Play

_WAIT = 0.05
"""Seconds to wait for a set-up where nothing else is to be done."""


class Starts:
    """Makes plays of a queue of (task, index, seed): in its order, or in the order `as-ready` as they are set up."""

    def __init__(
        self,
        queue: Iterator[tuple[Task, int, int]],
        environment: Callable[[Task], Environment],
        holders: Holders,
        limits: PlayLimits,
        order: Order,
    ) -> None:
        self._queue, self._environment, self._holders = queue, environment, holders
        self._limits, self._order = limits, order
        self._waiting: deque[Play] = deque()
        self._drawn = False  # whether the queue has no more

    @property
    def ended(self) -> bool:
        """Whether no play is left to begin."""
        return self._drawn and not self._waiting

    @property
    def left(self) -> list[Play]:
        """Those that wait."""
        return list(self._waiting)

    def next(self, *, idle: bool) -> Play | None:
        """A play whose environment is set up, or should be by now. `idle`: nothing goes on meanwhile."""
        self._draw()
        if not self._waiting:
            return None
        setups = [play.setup for play in self._waiting if play.setup is not None]
        if self._order == "deterministic" or not setups:
            return self._waiting.popleft()
        if idle:
            wait(setups, timeout=_WAIT, return_when=FIRST_COMPLETED)
        late = time.monotonic() - self._limits.setup
        for play in self._waiting:
            if play.setup is None or play.setup.done() or play.made < late:
                self._waiting.remove(play)
                return play
        return None

    def _draw(self) -> None:
        """Makes the next play, and while they hold something some of those that follow."""
        while not self._drawn and (
            not self._waiting
            or (self._waiting[-1].setup is not None and len(self._waiting) < self._limits.setups)
        ):
            found = next(self._queue, None)
            if found is None:
                self._drawn = True
                return
            task, index, seed = found
            environment = self._environment(task)
            setup = self._holders.set_up(environment)
            self._waiting.append(Play(task, index, seed, environment, time.monotonic(), setup))
