"""A bounded window of concurrent work; results come in the order of the work.

`ahead` is for items whose work starts when they are taken from an iterable, such as futures. `bounded_map` is for
work in several rounds: one generator per item, resumed as soon as its futures are ready.
"""

import queue
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Work = Generator[Collection[Future[Any]], None, T]
"""One item of work: yields the futures to wait for, is resumed when all are done, returns its result."""


def ahead(
    items: Iterable[T], most: int, *, weight: Callable[[T], int] = lambda item: 0, heaviest: int = 1
) -> Iterator[T]:
    """The items in order. Up to `most` are taken ahead, and none while their weights reach `heaviest`."""
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
    """One item in progress."""

    def __init__(self, work: Work[T], ready: "queue.SimpleQueue[_Piece[T]]") -> None:
        self._work, self._ready, self._left = work, ready, 0
        self.result: list[T] = []
        """Empty while in progress."""
        self.advance()

    def heard(self) -> None:
        """Called when one of its futures is done."""
        self._left -= 1
        if not self._left:
            self.advance()

    def advance(self) -> None:
        """Resumes it until it waits for an unfinished future."""
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
    """The results of the works, with up to `most` in progress.

    In the order of the works if `ordered`, else as they finish, so a slow one does not block others.
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
