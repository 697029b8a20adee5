"""Draws steps, groups and tasks by a seed."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

SIDE_BY_SIDE = 3
"""Fewest groups that a step shows, where it has them."""
T = TypeVar("T")


def quotas(steps: Sequence[int], groups: int, a_step: int) -> dict[int, int]:
    """How many groups to take of which step: steps evenly spaced, the first and the last among them.

    A step shows at least `SIDE_BY_SIDE` of its `a_step` groups where that leaves room for two steps.
    """
    count = min(len(steps), groups, max(2, groups // min(SIDE_BY_SIDE, a_step)))
    if count <= 0:
        return {}
    places = [round(at * (len(steps) - 1) / max(1, count - 1)) for at in range(count)] if count > 1 else [-1]
    each, more = divmod(groups, count)
    ends_first = sorted(range(count), key=lambda at: (0 < at < count - 1, at))
    extra = set(ends_first[:more])
    return {steps[place]: each + (at in extra) for at, place in enumerate(places)}


def rank(seed: int, *parts: object) -> bytes:
    """A number drawn for `parts`, as bytes to sort by: the same for the same seed."""
    return hashlib.blake2b(json.dumps([seed, *parts]).encode(), digest_size=8).digest()


class Shelf(Generic[T]):
    """Keeps what belongs to the `wanted` keys that come first in an order, of those that are allowed."""

    def __init__(self, wanted: int, order: Callable[[Any], bytes], allowed: set[str] | None = None) -> None:
        self._wanted, self._order, self._allowed = wanted, order, allowed
        self._last = b""
        self.kept: dict[Any, list[T]] = {}

    def takes(self, key: Any) -> bool:
        """Makes room for a key; False when it is none of the first."""
        if key in self.kept:
            return True
        if self._wanted <= 0 or (self._allowed is not None and key not in self._allowed):
            return False
        if len(self.kept) >= self._wanted:
            if self._last <= self._order(key):
                return False
            del self.kept[max(self.kept, key=self._order)]
        self.kept[key] = []
        self._last = max(map(self._order, self.kept))
        return True
