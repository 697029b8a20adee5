"""A bounded window of concurrent work; results come in the order of the work.

`ahead` is for work that starts when it is taken from an iterable, such as futures. `bounded_map` is for work of several
rounds: one generator per piece, resumed as soon as what it waits for is ready.
"""

import queue
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Work = Generator[Collection[Future[Any]], None, T]
"""One piece of work: yields the futures that it waits for, goes on when all are done, returns its result."""


def ahead(
    items: Iterable[T], most: int, *, weight: Callable[[T], int] = lambda item: 0, heaviest: int = 1
) -> Iterator[T]:
    """The items in order; before one is given, up to `most` are taken, and none while they weigh `heaviest` or more."""
    source, window, held = iter(items), deque[tuple[T, int]](), 0
    more = True
    while more or window:
        while more and len(window) < most and held < heaviest:
            try:
                item = next(source)
            except StopIteration:
                more = False
            else:
                window.append((item, weight(item)))
                held += window[-1][1]
        if window:
            item, size = window.popleft()
            held -= size
            yield item


class _Piece(Generic[T]):
    """One piece of work under way."""

    def __init__(self, work: Work[T], ready: "queue.SimpleQueue[_Piece[T]]") -> None:
        self._work, self._ready, self._left = work, ready, 0
        self.result: list[T] = []
        """Empty while it is under way."""
        self.advance()

    def heard(self) -> None:
        """One more of its futures is done."""
        self._left -= 1
        if not self._left:
            self.advance()

    def advance(self) -> None:
        """Goes on until it waits for something that is not there."""
        try:
            while not (waiting := next(self._work)):
                pass
        except StopIteration as stop:
            self.result = [stop.value]
            return
        self._left = len(waiting)
        for future in waiting:
            future.add_done_callback(lambda _: self._ready.put(self))


def bounded_map(works: Iterable[Work[T]], most: int, *, ordered: bool = True) -> Iterator[T]:
    """The results of the works, with up to `most` under way; works are asked for as there is room.

    In the order of the works, or, not `ordered`, as they are done, so that a slow one holds up no other.
    """
    source, window, more = iter(works), deque[_Piece[T]](), True
    ready: queue.SimpleQueue[_Piece[T]] = queue.SimpleQueue()
    while more or window:
        while more and len(window) < most:
            work = next(source, None)
            if work is None:
                more = False
            else:
                window.append(_Piece(work, ready))
        for piece in list(window):
            if piece.result:
                window.remove(piece)
                yield from piece.result
            elif ordered:
                break
        if window and (len(window) == most or not more):
            ready.get().heard()
