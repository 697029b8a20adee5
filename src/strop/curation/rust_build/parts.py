"""Which tasks stay, and on which side: near-duplicates are dropped once, look-alikes stay together."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from strop.core.ids import unit_interval
from strop.curation.rust_build.folder import PART_NAMES
from strop.curation.rust_build.similar import Hashes, of_code, of_statement, pairs
from strop.tasks.splits import CODE_THRESHOLD, STATEMENT_THRESHOLD, joined


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
