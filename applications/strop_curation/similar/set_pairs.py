"""Every pair of sets whose Jaccard index reaches a threshold, by arrays: the prefix filter, then counting.

Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007: two sets that are alike enough share one of
each other's rarest elements, whatever the order in which elements count as rare, if it is one for all. Here it is that
of hashed counts, so that memory is 48 MiB at most and 16 bytes for each element of a prefix. Elements have at most 52
bits; they count by 40 of them when pairs are proposed, which proposes a few more.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from strop_curation.similar.hashes import Hashes, Sizes

Numbers = np.ndarray[Any, np.dtype[np.int64]]
_CHUNK = 4096
"""Sets, or pairs, at a time: their number within the chunk fits into 12 bits."""
_MOST_COUNTERS = 1 << 21
_TWELVE = np.uint64(12)


class Store:
    """Many arrays of hashes in one file: written once, in order, then read by number.

    In memory are 8 bytes an array and what the system keeps of the file. The file goes with its folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._ends: list[int] = [0]
        self._flat: Hashes | None = None
        self._offsets: Numbers | None = None

    def extend(self, flat: Hashes, sizes: Sizes) -> None:
        """Adds the next arrays, given end to end. Raises OSError when the disk is full."""
        self._file.write(flat.tobytes())
        self._ends.extend((self._ends[-1] + np.cumsum(sizes)).tolist())

    def append(self, values: Hashes) -> None:
        """Adds the next array. Raises OSError when the disk is full."""
        self.extend(values, np.array([len(values)]))

    def seal(self) -> "Store":
        """Ends writing; reading begins. Returns itself."""
        self._file.close()
        self._offsets = np.array(self._ends, np.int64)
        self._ends = []
        size = int(self._offsets[-1])
        self._flat = np.memmap(self._path, np.uint64, "r", shape=(size,)) if size else np.empty(0, np.uint64)
        return self

    @property
    def offsets(self) -> Numbers:
        """Where each array begins, and the end of the last: shape (len + 1,). Only when sealed."""
        assert self._offsets is not None, "the store is still being written"
        return self._offsets

    @property
    def flat(self) -> Hashes:
        """All arrays end to end, on disk. Only when sealed."""
        assert self._flat is not None, "the store is still being written"
        return self._flat

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> Hashes:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return np.asarray(self.flat[self.offsets[number] : self.offsets[number + 1]])


class Listed:
    """Sets that are in memory."""

    def __init__(self, sets: Sequence[Hashes]) -> None:
        self.flat: Hashes = np.concatenate([*sets, np.empty(0, np.uint64)])
        self.offsets: Numbers = np.concatenate(([0], np.cumsum([len(s) for s in sets]))).astype(np.int64)


Sets = Store | Listed
"""Sets end to end in one array, on disk or in memory."""


def pairs(sets: Sequence[Hashes], threshold: float) -> Iterator[tuple[int, int]]:
    """Every pair (a, b), a < b, with a Jaccard index of at least `threshold` > 0, by b and then a; never empty sets."""
    found = alike(Listed(sets), np.arange(len(sets), dtype=np.int64), threshold)
    yield from map(tuple, found[np.lexsort((found[:, 0], found[:, 1]))].tolist())


def alike(sets: Sets, chosen: Numbers, threshold: float) -> Numbers:
    """Pairs of those of the chosen sets that are alike: shape (pairs, 2), a < b, sorted."""
    sizes = np.diff(sets.offsets)
    proposed = _proposed(*_prefixes(sets, chosen, threshold), sizes, threshold)
    return confirmed(sets, proposed, threshold)[0]


def confirmed(
    sets: Sets, proposed: Numbers, threshold: float
) -> tuple[Numbers, np.ndarray[Any, np.dtype[np.float64]]]:
    """(those of the proposed pairs that reach the threshold, in order; their Jaccard indices)."""
    sizes = np.diff(sets.offsets)
    kept: list[Numbers] = [np.empty((0, 2), np.int64)]
    indices: list[Any] = [np.empty(0)]
    for first in range(0, len(proposed), _CHUNK):
        some = proposed[first : first + _CHUNK]
        both = _shared(sets, some)
        union = sizes[some].sum(axis=1) - both
        good = both >= threshold * union
        kept.append(some[good])
        indices.append(both[good] / union[good])
    return np.concatenate(kept), np.concatenate(indices)


def gathered(sets: Sets, chosen: Numbers) -> tuple[Hashes, Numbers]:
    """(the elements of some sets end to end, for each the position of its set among them)."""
    starts, sizes = sets.offsets[chosen], sets.offsets[chosen + 1] - sets.offsets[chosen]
    first = np.repeat(starts - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return sets.flat[first + np.arange(len(first))], np.repeat(np.arange(len(chosen)), sizes)


def _prefixes(sets: Sets, chosen: Numbers, threshold: float) -> tuple[Hashes, Numbers]:
    """(rarest elements, with their rarity on top, of each chosen set; the set that each belongs to)."""
    elements_in_all = int((sets.offsets[chosen + 1] - sets.offsets[chosen]).sum())
    counters = min(_MOST_COUNTERS, 1 << (elements_in_all.bit_length() + 2))
    counts = np.zeros(counters, np.int64)
    chunks = [chosen[at : at + _CHUNK] for at in range(0, len(chosen), _CHUNK)]
    for chunk in chunks:
        elements, _ = gathered(sets, chunk)
        counts += np.bincount((elements % np.uint64(counters)).astype(np.int64), minlength=counters)
    rarity = np.minimum(counts, 4095).astype(np.uint64)
    keys, owners = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for chunk in chunks:
        elements, number = gathered(sets, chunk)
        mixed = number.astype(np.uint64) << np.uint64(52)
        mixed |= rarity[(elements % np.uint64(counters)).astype(np.int64)] << np.uint64(40)
        mixed |= elements >> _TWELVE
        mixed.sort()
        sizes = sets.offsets[chunk + 1] - sets.offsets[chunk]
        wanted = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1
        place = np.arange(len(mixed)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        early = place < np.repeat(wanted, sizes)
        keys.append(mixed[early] << _TWELVE)  # the set's number falls off
        owners.append(chunk[number[early]])
    return np.concatenate(keys), np.concatenate(owners)


def _proposed(keys: Hashes, owners: Numbers, sizes: Numbers, threshold: float) -> Numbers:
    """Pairs of sets that have a key in common and sizes that allow the threshold: shape (pairs, 2), sorted."""
    order = np.argsort(keys, kind="stable")
    keys, owners = keys[order], owners[order]
    total = len(sizes)
    codes = np.empty(0, np.int64)
    waiting: list[Numbers] = []
    at = np.arange(len(keys))
    for distance in range(1, len(keys)):
        at = at[at + distance < len(keys)]
        at = at[keys[at] == keys[at + distance]]
        if not len(at):
            break
        a, b = owners[at], owners[at + distance]
        fit = np.minimum(sizes[a], sizes[b]) >= threshold * np.maximum(sizes[a], sizes[b]) - 1e-9
        waiting.append(a[fit] * total + b[fit])
        if sum(map(len, waiting)) > 4_000_000:
            codes, waiting = np.unique(np.concatenate([codes, *waiting])), []
    codes = np.unique(np.concatenate([codes, *waiting]))
    found = np.stack(np.divmod(codes, max(total, 1)), axis=1)
    different: Numbers = found[found[:, 0] != found[:, 1]]
    return different


def _shared(sets: Sets, some: Numbers) -> Numbers:
    """The size of each pair's intersection."""
    left, of_left = gathered(sets, some[:, 0])
    right, of_right = gathered(sets, some[:, 1])
    number = np.concatenate([of_left, of_right]).astype(np.uint64) << np.uint64(52)
    mixed = np.sort(number | np.concatenate([left, right]))
    twice = mixed[1:][mixed[1:] == mixed[:-1]]
    return np.bincount((twice >> np.uint64(52)).astype(np.int64), minlength=len(some))
