"""Texts as sets of hashes.

A set is a sorted array without repetitions. Hashes are the same in every process and on every platform. Shingles have
52-bit hashes, so that many sets can be sorted in one array; two different shingles collide once in 10^15 pairs, so
Jaccard indices of hashes count as exact.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

Hashes = np.ndarray[Any, np.dtype[np.uint64]]  # shape (n,); as a set: sorted, each value once
Sizes = np.ndarray[Any, np.dtype[np.int64]]
BITS = np.uint64(52)
TOGETHER = 4096
_MASK = np.uint64((1 << 52) - 1)
_WORD = re.compile(
    r"\d+(?:\.\d+)?|[^\W\d]+(?:['\u2019][^\W\d]+)?|_+|[<>=+/%&|^\u2264\u2265\u2260]"
    r"|(?<=[\w)\] ])(?<!\n)[-*](?= ?[\w(\[])"
)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MIXER = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


def words(text: str) -> list[str]:
    """The words, numbers and operators of a text, in order; case, punctuation and layout are ignored."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def hash_text(text: str) -> int:
    """64 bits of the BLAKE2b digest."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class _Hashed(dict[str, int]):
    """A cache of the hashes of the first `most` different words."""

    most = 500_000

    def __missing__(self, word: str) -> int:
        found = hash_text(word)
        if len(self) < self.most and len(word) <= 64:
            self[word] = found
        return found


_HASHED = _Hashed()


def set_of(values: Iterable[int]) -> Hashes:
    """The set of these hashes."""
    return np.unique(np.fromiter(values, dtype=np.uint64))


def shingles(tokens: Sequence[str], width: int) -> Hashes:
    """The set of runs of `width` tokens; a shorter text is one run, an empty one has none."""
    return shingled([tokens], width)[0]


def shingled(texts: Sequence[Sequence[str]], width: int) -> tuple[Hashes, Sizes]:
    """The shingles of at most `TOGETHER` texts: (their sets end to end, the size of each)."""
    if len(texts) > TOGETHER:
        raise ValueError(f"{len(texts)} texts at once, at most {TOGETHER}")
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    own = np.fromiter(map(_HASHED.__getitem__, chain.from_iterable(texts)), np.uint64, int(lengths.sum()))
    owner = np.repeat(np.arange(len(texts)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(own))
    mixed = np.empty(len(own), np.uint64)
    whole = left >= width
    mixed[: max(0, len(own) - width + 1)] = _mixed(own, width)
    for size in np.unique(lengths[lengths < width]).tolist():  # a shorter text is one run
        first = (left == size) & (lengths[owner] == size)
        whole |= first
        mixed[np.flatnonzero(first)] = _mixed(own, size)[np.flatnonzero(first)] if size else 0
    mixed = (mixed | (owner.astype(np.uint64) << BITS))[whole]
    mixed.sort()
    mixed = mixed[np.concatenate((mixed[:1] == mixed[:1], mixed[1:] != mixed[:-1]))]
    sizes = np.bincount((mixed >> BITS).astype(np.int64), minlength=len(texts))
    return mixed & _MASK, sizes


def _mixed(own: Hashes, width: int) -> Hashes:
    """A hash of `BITS` bits for every run of `width` hashes: shape (max(0, len(own) - width + 1),)."""
    count = max(0, len(own) - width + 1)
    mixed = np.full(count, width, np.uint64)
    for at in range(width):
        mixed *= _FACTOR
        mixed ^= own[at : at + count]
        mixed ^= mixed >> _SHIFT
        mixed *= _MIXER
    mixed ^= mixed >> _SHIFT
    mixed &= _MASK
    return mixed


def jaccard(a: Hashes, b: Hashes) -> float:
    """Shared elements of two sets over all of their elements; 0 where both are empty."""
    both = shared(a, b)
    return both / (len(a) + len(b) - both) if both else 0.0


def shared(a: Hashes, b: Hashes) -> int:
    """The size of the intersection."""
    if not len(a) or not len(b):
        return 0
    at = np.searchsorted(b, a)
    at[at == len(b)] = 0
    return int(np.count_nonzero(b[at] == a))
