"""Ids derived from content, and the seeds of every random choice."""

import hashlib
import json
import random
from typing import Any


def canonical_json(value: Any) -> str:
    """The canonical JSON text of a value: sorted keys, no spaces, no NaN. Raises ValueError for NaN and infinities."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(value: Any, *, length: int = 16) -> str:
    """First `length` hex digits of the SHA-256 of the value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:length]


def derive_seed(*parts: int | str) -> int:
    """A 63-bit seed from (seed, step, task id, rollout index) or any other parts.

    Same parts give the same seed in every process and on every platform; the order of parts matters.
    """
    digest = hashlib.sha256("\x1f".join(f"{type(p).__name__}:{p}" for p in parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def rng(*parts: int | str) -> random.Random:
    """A generator for one random choice, seeded by `derive_seed`."""
    return random.Random(derive_seed(*parts))


def unit_interval(*parts: int | str) -> float:
    """A number in [0, 1) that depends only on the parts; used to split tasks by content."""
    return derive_seed(*parts) / 2**63
