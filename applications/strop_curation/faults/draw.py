"""Which faults a text gets, in which order: drawn by the seed, kinds and operators in their turns."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from rapidfuzz.distance import Postfix, Prefix

from strop.code.mutate.sites import Change
from strop_curation.faults.operators import Kind, Operator, Text

T = TypeVar("T")
RARE: frozenset[Kind] = frozenset({"borrows", "moves", "mutability", "lifetimes", "matches"})
"""Kinds that few programs can have; they come first where they can."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One or several changes of one function, and the file that has them."""

    operators: tuple[str, ...]
    function: str
    """Dotted name; of Rust with the modules around it."""
    lines: tuple[int, int]
    """First and last changed line of the original, from 1."""
    text: str
    """The whole file."""
    shape: str
    """By what faults of one function count as the same."""


class Pool(Generic[Text]):
    """The changes that operators could make to one text. Kinds take turns, and within a kind operators do."""

    def __init__(
        self, text: Text, operators: Iterable[Operator[Text]], random: Random, kinds: Collection[Kind] = ()
    ) -> None:
        self._random = random
        self._by_kind: dict[str, dict[str, list[Change]]] = defaultdict(dict)
        self.by_operator: dict[str, list[Change]] = {}
        for op in operators:
            found = op.changes(text)
            if found:
                random.shuffle(found)
                kind = next((kind for kind in op.kinds if kind in kinds), "")
                self.by_operator[op.name] = self._by_kind[kind][op.name] = found
        self.made = Counter({name: len(found) for name, found in self.by_operator.items()})
        """How many faults each operator could make."""

    def drawn(self) -> Iterator[Change]:
        """Each change once."""
        turns = {kind: self._shuffled(found) for kind, found in sorted(self._by_kind.items())}
        kinds = list(turns)
        self._random.shuffle(kinds)
        kinds.sort(key=lambda kind: kind not in RARE)
        yield from in_turns(turns[kind] for kind in kinds)

    def _shuffled(self, found: dict[str, list[Change]]) -> Iterator[Change]:
        names = sorted(found)
        self._random.shuffle(names)
        yield from in_turns(iter(found[name]) for name in names)


def both_changes(text: str, one: str, other: str) -> str | None:
    """The text with what was changed in two others, each in one place; None where the places touch."""
    (a, b, new), (c, d, more) = sorted(_change(text, changed) for changed in (one, other))
    return text[:a] + new + text[b:c] + more + text[d:] if b < c else None


def _change(text: str, changed: str) -> tuple[int, int, str]:
    """Where a text was changed, and to what."""
    first = Prefix.similarity(text, changed)
    last = Postfix.similarity(text[first:], changed[first:])
    return first, len(text) - last, changed[first : len(changed) - last]


def in_turns(lists: Iterable[Iterator[T]]) -> Iterator[T]:
    """Round robin over the iterators."""
    waiting = list(lists)
    while waiting:
        for one in list(waiting):
            try:
                found = next(one)
            except StopIteration:
                waiting.remove(one)
            else:
                yield found
