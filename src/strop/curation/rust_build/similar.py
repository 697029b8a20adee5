"""Near-duplicates among many texts in little memory: each text is an array of 64-bit shingle hashes.

The same pairs as `strop.tasks.splits.similar_pairs`, by the same prefix filter, with sorted arrays in the place of sets
and dictionaries: 8 bytes a shingle.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Any

import numpy as np

from strop.tasks.splits import statement_shingles

Hashes = np.ndarray[Any, np.dtype[np.uint64]]
"""Sorted, each value once."""
SMALLEST_CODE = 40
"""Tokens below which code is not compared: short functions are alike by chance."""
_TOKEN = re.compile(r"//[^\n]*|\w+|[^\s\w]")


def of_statement(text: str) -> Hashes:
    """The hashes of a statement's three-word runs."""
    return _hashes(statement_shingles(text))


def of_code(text: str) -> Hashes:
    """The hashes of the five-token runs of Rust code without its line comments; none where it is short."""
    tokens = [token for token in _TOKEN.findall(text) if not token.startswith("//")]
    if len(tokens) < SMALLEST_CODE:
        return _hashes([])
    return _hashes(" ".join(tokens[i : i + 5]) for i in range(len(tokens) - 4))


def pairs(sets: Sequence[Hashes], threshold: float) -> Iterator[tuple[int, int]]:
    """Every pair (a, b), a < b, with a Jaccard index of at least `threshold` > 0, by b and then a; never empty sets."""
    for a, b in _candidates(sets, threshold):
        both = len(np.intersect1d(sets[a], sets[b], assume_unique=True))
        if both >= threshold * (len(sets[a]) + len(sets[b]) - both):
            yield a, b


def _candidates(sets: Sequence[Hashes], threshold: float) -> list[tuple[int, int]]:
    """Pairs that share one of the rarest hashes of each: all that can be similar enough are among them."""
    if not any(map(len, sets)):
        return []
    known, counts = np.unique(np.concatenate(sets), return_counts=True)
    order = np.lexsort((known, counts))
    rank = np.empty(len(known), np.uint64)
    rank[order] = np.arange(len(known), dtype=np.uint64)
    ranks: list[Hashes] = []
    owners: list[Any] = []
    for number, own in enumerate(sets):
        rare_first = np.sort(rank[np.searchsorted(known, own)])
        prefix = rare_first[: len(own) - ceil(threshold * len(own)) + 1]
        ranks.append(prefix)
        owners.append(np.full(len(prefix), number, np.int64))
    all_ranks, all_owners = np.concatenate(ranks), np.concatenate(owners)
    by_rank = np.lexsort((all_owners, all_ranks))
    all_ranks, all_owners = all_ranks[by_rank], all_owners[by_rank]
    edges = np.flatnonzero(np.diff(all_ranks)) + 1
    found: set[tuple[int, int]] = set()
    for group in np.split(all_owners, edges):
        if len(group) > 1:
            members = group.tolist()
            found.update((a, b) for at, b in enumerate(members) for a in members[:at])
    return sorted(found, key=lambda pair: (pair[1], pair[0]))


def _hashes(shingles: Iterable[str]) -> Hashes:
    values = [int.from_bytes(hashlib.blake2b(s.encode(), digest_size=8).digest(), "big") for s in shingles]
    return np.unique(np.array(values, dtype=np.uint64))
