"""Chooses faults for a text and their order by the seed; functions, kinds and operators take turns."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from rapidfuzz.distance import Postfix, Prefix

from strop_tasks.curation.faults.operators import BEHAVIOUR, KINDS, Kind, Operator, Text
from strop_tasks.curation.faults.python import OPERATORS as PYTHON
from strop_tasks.curation.faults.routines import Routine, parsed, routines, shape
from strop_tasks.curation.faults.rust import OPERATORS as RUST
from strop_verify.code.mutate.sites import Change, applied
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.code.rust.items import RustItems
from strop_verify.code.trees import Source, Span, span, well_formed
from strop_verify.core.ids import rng
from strop_verify.core.text import squeeze

T = TypeVar("T")
_PARTNERS = 8  # maximum attempts to find partners for a fault
RARE: frozenset[Kind] = frozenset({"borrows", "moves", "mutability", "lifetimes", "matches"})
"""Kinds that few programs allow; they come first."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One or several changes of one function, and the file that has them."""

    operators: tuple[str, ...]
    function: str
    """Dotted name; in Rust with its modules."""
    lines: tuple[int, int]
    """First and last changed line of the original, from 1."""
    text: str
    """The whole file with the fault."""
    shape: str
    """The key by which faults of one function count as equal."""


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
        """Yields each change once; rare kinds first."""
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
    """The text with the changes of two others, each in one place; None if the places touch."""
    (a, b, new), (c, d, more) = sorted(_change(text, changed) for changed in (one, other))
    return text[:a] + new + text[b:c] + more + text[d:] if b < c else None


def _change(text: str, changed: str) -> tuple[int, int, str]:
    """The places of a text's changes, and their replacements."""
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


def faults(
    source: str,
    function: str | None = None,
    *,
    seed: int = 0,
    key: str = "",
    at_once: tuple[int, int] = (1, 1),
    operators: Collection[str] | None = None,
) -> Iterator[Fault]:
    """The faults of one function (its dotted name) or of all functions of a Python text, each once.

    The order depends on the text, `seed` and `key` alone; operators take turns, and so do functions. `at_once`: the
    minimum and maximum faults put in together. Every text compiles; its tree differs from the source's and the others'.
    Empty if the source does not parse.
    """
    chosen = [r for r in routines(source) if function is None or r.name == function]
    return in_turns(
        routine_faults(r, rng("bugs", seed, key, r.name, r.first), at_once, operators) for r in chosen
    )


def routine_faults(
    routine: Routine, random: Random, at_once: tuple[int, int], operators: Collection[str] | None = None
) -> Iterator[Fault]:
    """Each fault of a routine once; those that do not compile or change nothing are left out."""
    names = sorted(PYTHON if operators is None else operators) if routine.usable else ()
    pool = Pool(routine, [PYTHON[name] for name in names], random)
    if not pool.by_operator:
        return
    first, most = at_once
    seen = {routine.shape}
    for change in pool.drawn():
        together = _with_others(change, random.randint(first, most), pool.by_operator, random)
        fault = _made(routine, together) if len(together) >= first else None
        if fault is not None and fault.shape not in seen:
            seen.add(fault.shape)
            yield fault


def _with_others(
    change: Change, count: int, by_operator: Mapping[str, list[Change]], random: Random
) -> list[Change]:
    """The change with non-touching changes by other operators, up to `count` in all."""
    together = [change]
    for _ in range(_PARTNERS):
        others = [name for name in by_operator if name not in {c.operator for c in together}]
        if len(together) >= count or not others:
            break
        other = random.choice(by_operator[random.choice(others)])
        if all(other.end < c.start or c.end < other.start for c in together):
            together.append(other)
    return sorted(together, key=lambda c: c.start)


def _made(routine: Routine, chosen: list[Change]) -> Fault | None:
    """The file with these non-overlapping faults; None when it does not compile or is unchanged."""
    data = applied(routine.data, chosen)
    try:
        spelt = shape(parsed(data.decode("utf-8", "surrogatepass")))
    except UNPARSABLE:
        return None
    if spelt == routine.shape:
        return None
    lines = routine.line(chosen[0].start), routine.line(chosen[-1].end)
    return Fault(tuple(c.operator for c in chosen), routine.name, lines, routine.changed(data), spelt)


class Faults:
    """The faults of one program, in an order that depends on the program, its task's id and the seed only."""

    def __init__(self, program: str, *, seed: int, task_id: str, kinds: Collection[Kind] = KINDS) -> None:
        self._source = Source(program, "rust")
        usable = not (self._source.too_long or self._source.root.has_error)
        wanted = [op for op in RUST.values() if usable and not set(op.kinds).isdisjoint(kinds)]
        self._pool = Pool(self._source, wanted, rng("rust-fix", seed, task_id), kinds)
        self.made = self._pool.made

    def drawn(self) -> Iterator[tuple[Change, str]]:
        """(fault, program with it); each parses and differs from the others and from the original."""
        seen = {squeeze(self._source.text)}
        for fault in self._pool.drawn():
            data = applied(self._source.data, [fault])
            text = data.decode("utf-8", "surrogatepass")
            if squeeze(text) not in seen and well_formed(data, "rust"):
                seen.add(squeeze(text))
                yield fault, text


@dataclass(frozen=True)
class RustFunction:
    """One `fn` with a body, outside of tests."""

    name: str
    """With its modules: `module::name`."""
    span: Span
    """In bytes."""
    first: int
    """Its first line, from 1."""


def rust_functions(text: str) -> list[RustFunction]:
    """The outermost functions of a file, tests excluded; empty for a file that is too long or broken."""
    source = Source(text, "rust")
    if source.too_long or source.root.has_error:
        return []
    return [
        RustFunction("::".join([*f.path, f.name]), span(f.node), source.line(f.node.start_byte))
        for f in RustItems(source).functions
        if not (f.nested or f.in_tests or f.is_test)
    ]


def rust_faults(text: str, function: RustFunction, *, seed: int, key: str) -> Iterator[Fault]:
    """Faults that should build, in an order that depends on the function, `seed` and `key`."""
    data = text.encode("utf-8", "surrogatepass")
    start, end = function.span
    inner = data[start:end].decode("utf-8", "surrogatepass")
    drawn = Faults(inner, seed=seed, task_id=f"{key}:{function.name}:{start}", kinds=BEHAVIOUR)
    for fault, program in drawn.drawn():
        above = (data[start : start + place].count(b"\n") for place in (fault.start, fault.end))
        first, last = (function.first + lines for lines in above)
        whole = data[:start] + program.encode("utf-8", "surrogatepass") + data[end:]
        file = whole.decode("utf-8", "surrogatepass")
        yield Fault((fault.operator,), function.name, (first, last), file, squeeze(program))
