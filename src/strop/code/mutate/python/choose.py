"""Which faults a text gets, in which order: drawn by the seed, functions and operators in their turns."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from random import Random
from typing import TypeVar

from strop.code.mutate.python.faults import Fault, Site, sites
from strop.code.mutate.python.operators import OPERATORS
from strop.code.python.routines import Routine, parsed, routines, shape
from strop.core.ids import rng

T = TypeVar("T")
_PARTNERS = 8
"""Second faults that are looked at for one first."""


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

    The order depends on the text, `seed` and `key` alone; operators take turns, and so do functions. `at_once`: how
    many faults are put in together, least and most. Every text compiles, and neither two of them nor one and the
    source have the same tree. Empty for what does not parse.
    """
    chosen = [r for r in routines(source) if function is None or r.name == function]
    draws = [Draw(r, rng("bugs", seed, key, r.name, r.first), at_once, operators) for r in chosen]
    return _in_turns(draw.faults() for draw in draws)


class Draw:
    """The faults of one routine in the order of the draw."""

    def __init__(
        self,
        routine: Routine,
        random: Random,
        at_once: tuple[int, int] = (1, 1),
        operators: Collection[str] | None = None,
    ) -> None:
        self.routine, self._random, self._at_once = routine, random, at_once
        self._by_operator: dict[str, list[Site]] = {}
        self.made: Counter[str] = Counter()
        """How many faults each operator could make."""
        for name in sorted(OPERATORS if operators is None else operators):
            found = sites(routine, name)
            if found:
                self.made[name] = len(found)
                random.shuffle(found)
                self._by_operator[name] = found

    def faults(self) -> Iterator[Fault]:
        """Each fault once; those that do not compile or change nothing are left out."""
        if not self._by_operator:
            return
        names = list(self._by_operator)
        self._random.shuffle(names)
        seen = {shape(self.routine.tree)}
        first, most = self._at_once
        for site in _in_turns(iter(self._by_operator[name]) for name in names):
            together = self._with_others(site, self._random.randint(first, most))
            fault = made(self.routine, together) if len(together) >= first else None
            if fault is not None and fault.shape not in seen:
                seen.add(fault.shape)
                yield fault

    def _with_others(self, site: Site, count: int) -> list[Site]:
        """The fault with others of other operators, apart from it."""
        together = [site]
        for _ in range(_PARTNERS):
            others = [name for name in self._by_operator if name not in {s.operator for s in together}]
            if len(together) >= count or not others:
                break
            other = self._random.choice(self._by_operator[self._random.choice(others)])
            if all(other.end < s.start or s.end < other.start for s in together):
                together.append(other)
        return sorted(together, key=lambda s: s.start)


def made(routine: Routine, chosen: Iterable[Site]) -> Fault | None:
    """The file with these faults, which do not overlap, in it; None when it does not compile or is the same."""
    chosen, data = sorted(chosen, key=lambda s: s.start), routine.source.data
    for site in reversed(chosen):
        data = data[: site.start] + site.after.encode("utf-8", "surrogatepass") + data[site.end :]
    try:
        tree = parsed(data.decode("utf-8", "surrogatepass"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    spelt = shape(tree)
    if spelt == shape(routine.tree):
        return None
    lines = routine.line(chosen[0].start), routine.line(chosen[-1].end)
    return Fault(tuple(s.operator for s in chosen), routine.name, lines, routine.changed(data), spelt)


def _in_turns(lists: Iterable[Iterator[T]]) -> Iterator[T]:
    """One of each, again and again."""
    waiting = list(lists)
    while waiting:
        for one in list(waiting):
            found = list(islice(one, 1))
            if found:
                yield found[0]
            else:
                waiting.remove(one)
