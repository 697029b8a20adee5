"""The faults of Python functions: drawn by the seed, functions and operators in their turns."""

from collections.abc import Collection, Iterator
from random import Random

from strop.code.mutate.sites import Change, applied
from strop.code.python.source import UNPARSABLE
from strop.core.ids import rng
from strop_curation.faults.draw import Fault, Pool, in_turns
from strop_curation.faults.python import OPERATORS
from strop_curation.faults.routines import Routine, parsed, routines, shape

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
    return in_turns(draw.faults() for draw in draws)


class Draw:
    """The faults of one routine in the order of the draw."""

    def __init__(
        self,
        routine: Routine,
        random: Random,
        at_once: tuple[int, int],
        operators: Collection[str] | None = None,
    ) -> None:
        self.routine, self._random, self._at_once = routine, random, at_once
        names = sorted(OPERATORS if operators is None else operators) if routine.usable else ()
        self._pool = Pool(routine, [OPERATORS[name] for name in names], random)

    def faults(self) -> Iterator[Fault]:
        """Each fault once; those that do not compile or change nothing are left out."""
        if not self._pool.by_operator:
            return
        first, most = self._at_once
        seen = {self.routine.shape}
        for change in self._pool.drawn():
            together = self._with_others(change, self._random.randint(first, most))
            fault = _made(self.routine, together) if len(together) >= first else None
            if fault is not None and fault.shape not in seen:
                seen.add(fault.shape)
                yield fault

    def _with_others(self, change: Change, count: int) -> list[Change]:
        """The fault with others of other operators, apart from it."""
        together, by_operator = [change], self._pool.by_operator
        for _ in range(_PARTNERS):
            others = [name for name in by_operator if name not in {c.operator for c in together}]
            if len(together) >= count or not others:
                break
            other = self._random.choice(by_operator[self._random.choice(others)])
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
