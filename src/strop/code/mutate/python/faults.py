"""Faults of Python functions, as people write them, and the register of the operators that make them.

An operator is a function from a routine to the edits that would each put one fault there. An edit replaces one span,
all else stays byte for byte. Whether a fault changes what the function does is for its tests to say.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from strop.code.mutate.edits import Edit
from strop.code.python.routines import Routine

Finder = Callable[[Routine], Iterator[Edit]]

OPERATORS: dict[str, Finder] = {}
"""Every operator by name. Filled by the modules of `operators.py`."""


@dataclass(frozen=True, slots=True)
class Site:
    """One fault that could be put into a routine. Positions in bytes of its source."""

    operator: str
    start: int
    end: int
    after: str
    """What takes the place of that span."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One or several faults in one function, and the file that has them."""

    operators: tuple[str, ...]
    function: str
    """Dotted name."""
    lines: tuple[int, int]
    """First and last line of the original that is changed, from 1."""
    text: str
    """The whole file."""
    shape: str
    """By what faults of one function count as the same."""


def operator(name: str) -> Callable[[Finder], Finder]:
    """Registers a finder under a name."""

    def register(find: Finder) -> Finder:
        assert name not in OPERATORS, name
        OPERATORS[name] = find
        return find

    return register


def sites(routine: Routine, name: str) -> list[Site]:
    """What one operator could do to a routine, by position."""
    if not routine.usable:
        return []
    found = {Site(name, *edit) for edit in OPERATORS[name](routine)}
    changing = (s for s in found if routine.source.data[s.start : s.end] != s.after.encode())
    return sorted(changing, key=lambda s: (s.start, s.end, s.after))
