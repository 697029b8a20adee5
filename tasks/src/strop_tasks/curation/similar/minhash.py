"""Near-duplicates among many sets: MinHash and banding propose pairs, the exact Jaccard index decides.

MinHash: Broder, "On the resemblance and containment of documents", 1997. Banding: Leskovec, Rajaraman and Ullman,
"Mining of Massive Datasets", chapter 3: a pair is proposed when it agrees in all rows of some band, which two sets with
Jaccard index s do with probability 1 - (1 - s^rows)^bands. Rows are chosen so that this is at least `RECALL` at the
threshold; the more similar a pair, the less likely it is missed. rensa computes the signatures and flags the sets that
share a band with another; only those are paired. No reported pair is false.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from strop_tasks.curation.similar.hashes import Hashes, shared
from strop_tasks.curation.similar.store import Numbers, Store

Signatures = np.ndarray[Any, np.dtype[np.uint32]]  # shape (sets, permutations)
PERMUTATIONS = 128
RECALL = 0.94
SEED = 20240229
REACH = 64
"""Number of sets in a bucket that each set is compared with; buckets are larger only if very many sets are alike."""
_BATCH = 20_000


class Pair(NamedTuple):
    """Two sets, a < b, and their Jaccard index."""

    a: int
    b: int
    similarity: float


def near(store: Store, threshold: float, permutations: int = PERMUTATIONS) -> Iterator[Pair]:
    """The pairs of a sealed store whose Jaccard index is at least `threshold` > 0, by a and then b.

    Empty sets match nothing. Memory: at most 8 bytes per set and permutation, 8 bytes per proposed pair.
    """
    chosen, table = _suspects(store, threshold, permutations)
    rows = rows_of(threshold, permutations)
    columns = np.ascontiguousarray(table.T)
    bands = (columns[at : at + rows] for at in range(0, permutations, rows))
    found = np.unique(np.concatenate([_same(_keys(band)) for band in bands]))
    pairs = np.stack(np.divmod(found, max(len(chosen), 1)), axis=1)
    for a, b in chosen[pairs[_likely(table, pairs, threshold)]].tolist():
        both = shared(store[a], store[b])
        either = len(store[a]) + len(store[b]) - both
        if both >= threshold * either:
            yield Pair(a, b, both / either)


def _suspects(store: Store, threshold: float, permutations: int) -> tuple[Numbers, Signatures]:
    """(sets that share a band with another one, ascending; their signatures)."""
    from rensa import RMinHash, RMinHashLSH

    filled = np.flatnonzero(np.diff(store.offsets))
    starts = np.append(store.offsets[filled], store.offsets[-1]).astype(np.uint64)
    if len(filled) < 2:
        return filled[:0], np.empty((0, permutations), np.uint32)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(store.flat, starts, permutations, SEED)
    search = RMinHashLSH(threshold, permutations, permutations // rows_of(threshold, permutations))
    chosen = filled[np.array(search.query_duplicate_flags_matrix_one_shot(matrix), bool)]
    del matrix, search
    table = np.empty((len(chosen), permutations), np.uint32)
    for first in range(0, len(chosen), _BATCH):
        some = chosen[first : first + _BATCH]
        starts, sizes = store.offsets[some], store.offsets[some + 1] - store.offsets[some]
        ends = np.concatenate(([0], np.cumsum(sizes)))
        places = np.repeat(starts - ends[:-1], sizes)
        flat = store.flat[places + np.arange(len(places))]
        part = RMinHash.digest_matrix_from_flat_token_hashes(flat, ends.astype(np.uint64), permutations, SEED)
        table[first : first + _BATCH] = part.to_rows()
    return chosen, table


def rows_of(threshold: float, permutations: int = PERMUTATIONS) -> int:
    """Rows per band: the largest divisor of `permutations` that finds a pair at the threshold with `RECALL`."""
    fitting = (r for r in range(permutations, 0, -1) if permutations % r == 0)
    return next((r for r in fitting if 1 - (1 - threshold**r) ** (permutations // r) >= RECALL), 1)


def _keys(columns: Signatures) -> Hashes:
    """A 64-bit hash per set, of signatures in columns."""
    mixed = np.full(columns.shape[1], len(columns), np.uint64)
    for column in columns:
        mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _same(keys: Hashes) -> Numbers:
    """Pairs of positions with equal keys, as smaller x number of keys + larger."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    found = [np.empty(0, np.int64)]
    at = np.arange(len(keys))
    for distance in range(1, REACH + 1):
        at = at[at + distance < len(keys)]
        at = at[ordered[at] == ordered[at + distance]]
        if not len(at):
            break
        found.append(order[at] * len(keys) + order[at + distance])
    return np.concatenate(found)


def _likely(table: Signatures, pairs: Numbers, threshold: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which pairs may reach the threshold: the estimate is less than five standard deviations below it."""
    least = threshold - 5 * np.sqrt(threshold * (1 - threshold) / table.shape[1])
    good = np.zeros(len(pairs), bool)
    for first in range(0, len(pairs), _BATCH):
        a, b = pairs[first : first + _BATCH].T
        good[first : first + _BATCH] = (table[a] == table[b]).mean(axis=1) >= least
    return good
