"""Which tasks stay, and on which side: near-duplicates are dropped once, look-alikes stay together."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from strop.code.near.hashes import Hashes
from strop.core.ids import unit_interval
from strop.curation.similar.exact import pairs
from strop.tasks.splits import CODE_THRESHOLD, STATEMENT_THRESHOLD, joined, statement_shingles

PART_NAMES = ("train", "test", "eval")
SMALLEST_CODE = 40
"""Tokens below which code is not compared: short functions are alike by chance."""
_TOKEN = re.compile(r"//[^\n]*|\w+|[^\s\w]")


class Member(NamedTuple):
    """What is kept in memory of a task."""

    task_id: str
    statement: Hashes
    code: Hashes

    @classmethod
    def of(cls, task_id: str, statement: str, code: str) -> "Member":
        """From the texts."""
        return cls(task_id, of_statement(statement), of_code(code))


def duplicates(members: Sequence[Member]) -> tuple[dict[int, int], list[list[int]]]:
    """(position of a near-duplicate -> position of the one that stays, clusters of those that stay).

    A task is dropped when its statement is like that of an earlier one that stays. Clusters join what is alike in
    statement or code, directly or through others, the dropped included.
    """
    stated = list(pairs([m.statement for m in members], STATEMENT_THRESHOLD))
    dropped: dict[int, int] = {}
    for a, b in stated:
        if a not in dropped and b not in dropped:
            dropped[b] = a
    alike = chain(stated, pairs([m.code for m in members], CODE_THRESHOLD))
    groups: dict[int, list[int]] = defaultdict(list)
    for i, first in enumerate(joined(len(members), alike)):
        if i not in dropped:
            groups[first].append(i)
    return dropped, list(groups.values())


def assign(
    members: Sequence[Member], clusters: Iterable[list[int]], shares: tuple[int, int, int], seed: int
) -> dict[int, str]:
    """Position -> "train", "test" or "eval".

    Clusters come in an order drawn by content and go to eval, then test, while they fit into its share; the rest is
    train.
    """
    drawn = sorted(
        (sorted(cluster) for cluster in clusters),
        key=lambda c: unit_interval("build", seed, min(members[i].task_id for i in c)),
    )
    count = sum(map(len, drawn))
    room = {name: round(count * share / sum(shares)) for name, share in zip(PART_NAMES, shares, strict=True)}
    if not shares[0]:
        room["test" if shares[1] else "eval"] = count
    sides: dict[int, str] = {}
    for cluster in drawn:
        name = next((n for n in ("eval", "test") if len(cluster) <= room[n]), "train")
        if name == "train" and not shares[0]:
            name = "test" if shares[1] else "eval"
        room[name] -= len(cluster)
        sides.update(dict.fromkeys(cluster, name))
    return sides


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
