"""Which faults a task gets, in which order: drawn by the seed, every kind in its turn."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from strop.code.mutate.rust.faults import KINDS, Fault, Kind, Operator
from strop.code.mutate.rust.operators import OPERATORS
from strop.code.trees import Source, well_formed
from strop.core.ids import rng

RARE: frozenset[Kind] = frozenset({"borrows", "moves", "mutability", "lifetimes", "matches"})
"""Kinds that few programs can have; they come first where they can."""

Mutant = tuple[Fault, str]
"""A fault and the program that has it."""


def operators_for(kinds: Collection[Kind]) -> list[Operator]:
    """The operators whose faults may be of one of these kinds."""
    return [op for op in OPERATORS.values() if any(kind in kinds for kind in op.kinds)]


class Faults:
    """The faults of one program, to be drawn in an order that depends on the program, its task's id and the seed only.

    Kinds take turns, and within a kind operators do, so that a task gets faults of as many sorts as it has.
    """

    def __init__(self, program: str, *, seed: int, task_id: str, kinds: Collection[Kind] = KINDS) -> None:
        self._source = Source(program, "rust")
        self._random = rng("rust-fix", seed, task_id)
        self._by_kind: dict[Kind, dict[str, list[Fault]]] = defaultdict(dict)
        self.made: Counter[str] = Counter()
        """How many faults each operator could make."""
        usable = not (self._source.too_long or self._source.root.has_error)
        for op in operators_for(kinds) if usable else ():
            found = sorted(set(op.faults(self._source)), key=lambda f: (f.start, f.end, f.after))
            if found:
                self.made[op.name] = len(found)
                self._random.shuffle(found)
                first = next(kind for kind in op.kinds if kind in kinds)
                self._by_kind[first][op.name] = found

    def drawn(self) -> Iterator[Mutant]:
        """Programs with one fault each, that parse and differ from each other and from the program."""
        seen = {_spelt(self._source.text)}
        for fault in self._order():
            text = _apply(self._source, fault)
            if _spelt(text) not in seen and well_formed(text.encode(), "rust"):
                seen.add(_spelt(text))
                yield fault, text

    def _order(self) -> Iterator[Fault]:
        turns = {kind: self._by_operator(found) for kind, found in sorted(self._by_kind.items())}
        kinds = list(turns)
        self._random.shuffle(kinds)
        kinds.sort(key=lambda kind: kind not in RARE)
        while kinds:
            for kind in list(kinds):
                fault = next(turns[kind], None)
                if fault is None:
                    kinds.remove(kind)
                else:
                    yield fault

    def _by_operator(self, found: dict[str, list[Fault]]) -> Iterator[Fault]:
        names = sorted(found)
        self._random.shuffle(names)
        longest = max(map(len, found.values()))
        for turn in range(longest):
            for name in names:
                if turn < len(found[name]):
                    yield found[name][turn]


def _apply(source: Source, fault: Fault) -> str:
    data = source.data[: fault.start] + fault.after.encode() + source.data[fault.end :]
    return data.decode("utf-8", "surrogatepass")


def _spelt(text: str) -> str:
    """The text without its white space, by which programs count as the same."""
    return "".join(text.split())
