"""How much each task of a large collection shares with items of a small one: an inverted index over hashes.

Not counted, because common wording or code proves nothing: a gram of many tasks that share little else with the item,
and a gram of many items. The items' grams are in memory; those of them that each task has are on disk.
"""

from array import array
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from strop.code.near.hashes import Hashes
from strop.curation.similar.exact import Store

Counts = np.ndarray[Any, np.dtype[np.int64]]
COPY = 0.5
"""Tasks with at least this share of an item's grams do not make them common: they may be copies of it."""


class Overlap(NamedTuple):
    """What a task has in common with one item, common grams left out."""

    item: int
    shared: int
    of_item: float
    """Share of the item's grams."""
    of_task: float
    """Share of the task's grams."""


class Grams:
    """The items' grams, and the tasks' that are among them. First `see` every task, then `settle`, then ask."""

    def __init__(self, items: list[Hashes], path: Path) -> None:
        owners = np.repeat(np.arange(len(items), dtype=np.int64), [len(i) for i in items])
        flat = np.concatenate([*items, np.empty(0, np.uint64)])
        order = np.argsort(flat, kind="stable")
        self.known, starts = np.unique(flat[order], return_index=True)
        self._owners = owners[order]
        self._ends = np.append(starts, len(flat)).astype(np.int64)
        self.sizes: Counts = np.array([len(i) for i in items], np.int64)
        self._seen: Counts = np.zeros(len(self.known), np.int64)
        self._found = Store(path)
        self._totals = array("q")
        self.counted = np.ones(len(self.known), bool)
        self.rare: Counts = self.sizes

    def see(self, grams: Hashes) -> None:
        """Records the next task."""
        found = self._ranks(grams)
        self._found.append(found.astype(np.uint64))
        self._totals.append(len(grams))
        if not len(found):
            return
        owners, which = self._owned(found)
        shares = np.bincount(owners, minlength=len(self.sizes)) / np.maximum(self.sizes, 1)
        copied = which[shares[owners] >= COPY]
        self._seen[np.setdiff1d(found, copied) if len(copied) else found] += 1

    def _ranks(self, grams: Hashes) -> Counts:
        """Numbers of those of the grams that some item has, ascending."""
        if not len(self.known):
            return np.empty(0, np.int64)
        at = np.searchsorted(self.known, grams)
        at[at == len(self.known)] = 0
        found: Counts = at[self.known[at] == grams]
        return found

    def settle(self, common_tasks: int, common_items: int) -> None:
        """Ends seeing: grams that more tasks, or more items, than these have are not counted from here on."""
        self._found.seal()
        items = np.diff(self._ends)
        self.counted = (self._seen <= common_tasks) & (items <= common_items)
        owners = self._owners[np.repeat(self.counted, items)]
        self.rare = np.bincount(owners, minlength=len(self.sizes))

    def overlaps(self, task: int) -> list[Overlap]:
        """The items that a task shares counted grams with, the one with the largest share first."""
        found = self._found[task].astype(np.int64)
        found = found[self.counted[found]]
        if not len(found):
            return []
        owners, _ = self._owned(found)
        shared = np.bincount(owners, minlength=len(self.sizes))
        rows = [
            Overlap(int(i), int(shared[i]), shared[i] / self.rare[i], shared[i] / self._totals[task])
            for i in np.flatnonzero(shared)
        ]
        return sorted(rows, key=lambda row: (-row.of_item, row.item))

    def _owned(self, found: Counts) -> tuple[Counts, Counts]:
        """(items that have these grams, the gram of each): both with one entry for each pair."""
        sizes = self._ends[found + 1] - self._ends[found]
        which = np.repeat(found, sizes)
        first = np.repeat(self._ends[found] - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
        return self._owners[first + np.arange(len(which))], which
