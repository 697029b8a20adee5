"""The order of waiting jobs: clients take turns, and within a client the oldest job goes first.

A job waits in a lane (its toolchain), so that a worker can take several of one kind at once. Not thread-safe.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")
_Lanes = dict[Hashable, deque[tuple[int, Item]]]


class FairQueue(Generic[Item]):
    """Round robin over clients; first in, first out within a client's lane."""

    def __init__(self) -> None:
        self._clients: OrderedDict[str, _Lanes[Item]] = OrderedDict()
        self._count = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, client: str, lane: Hashable, item: Item) -> None:
        """Appends to the client's lane."""
        self._count += 1
        self._lane(client, lane).append((self._count, item))
        self._size += 1

    def put_first(self, client: str, lane: Hashable, item: Item) -> None:
        """Puts an item that was taken and must run again before the client's others."""
        self._lane(client, lane).appendleft((0, item))
        self._size += 1

    def take(self, lane: Hashable | None = None) -> Item | None:
        """The next job (of that lane), or None; its client moves to the back."""
        for client, lanes in self._clients.items():
            if lane is not None and lane not in lanes:
                continue
            chosen = min(lanes, key=lambda name: lanes[name][0][0]) if lane is None else lane
            _, item = lanes[chosen].popleft()
            if not lanes[chosen]:
                del lanes[chosen]
            if lanes:
                self._clients.move_to_end(client)
            else:
                del self._clients[client]
            self._size -= 1
            return item
        return None

    def prune(self, unwanted: Callable[[Item], bool]) -> int:
        """Drops unwanted items; returns how many."""
        before = self._size
        for client, lanes in list(self._clients.items()):
            for lane, waiting in list(lanes.items()):
                kept = deque(entry for entry in waiting if not unwanted(entry[1]))
                self._size -= len(waiting) - len(kept)
                lanes[lane] = kept
                if not kept:
                    del lanes[lane]
            if not lanes:
                del self._clients[client]
        return before - self._size

    def drain(self) -> list[Item]:
        """Takes everything, in no particular order."""
        every = [waiting for lanes in self._clients.values() for waiting in lanes.values()]
        items = [item for waiting in every for _, item in waiting]
        self._clients.clear()
        self._size = 0
        return items

    def _lane(self, client: str, lane: Hashable) -> "deque[tuple[int, Item]]":
        return self._clients.setdefault(client, {}).setdefault(lane, deque())
