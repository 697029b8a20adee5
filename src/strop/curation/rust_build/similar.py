"""Texts as arrays of shingle hashes, 8 bytes a shingle, for the search in `strop.curation.similar.exact`."""

import hashlib
import re
from collections.abc import Iterable

import numpy as np

from strop.code.near.hashes import Hashes
from strop.curation.similar.exact import pairs
from strop.tasks.splits import statement_shingles

__all__ = ["Hashes", "of_code", "of_statement", "pairs"]
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


def _hashes(shingles: Iterable[str]) -> Hashes:
    values = [int.from_bytes(hashlib.blake2b(s.encode(), digest_size=8).digest(), "big") for s in shingles]
    return np.unique(np.array(values, dtype=np.uint64) >> np.uint64(12))
