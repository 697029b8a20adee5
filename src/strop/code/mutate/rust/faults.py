"""Faults that people write, their kinds, and the register of the operators that make them.

An operator is a function from a parsed program to the faults it could put there; each is one replaced span. It names
the kinds of error that its faults may end in. Which one it was is decided by the compiler's first error, or by the
tests for the kinds without codes; a fault that ends in anything else is no task.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from strop.code.trees import Source

Kind = Literal[
    "types", "borrows", "moves", "names", "mutability", "lifetimes", "returns", "matches", "off-by-one", "logic"
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)

CODES: dict[Kind, frozenset[str]] = {
    "types": frozenset(
        {"E0029", "E0061", "E0271", "E0277", "E0282", "E0283", "E0308", "E0368", "E0369", "E0600", "E0604"}
        | {"E0605", "E0606", "E0607", "E0608", "E0614", "E0631"}
    ),
    "borrows": frozenset({"E0373", "E0499", "E0502", "E0503", "E0505", "E0506", "E0597", "E0716"}),
    "moves": frozenset({"E0382", "E0507", "E0508"}),
    "names": frozenset(
        {"E0170", "E0405", "E0412", "E0422", "E0423", "E0425", "E0432", "E0433", "E0531", "E0599", "E0609"}
    ),
    "mutability": frozenset({"E0384", "E0594", "E0596"}),
    "lifetimes": frozenset({"E0106", "E0261", "E0515", "E0621"}),
    "returns": frozenset({"E0069", "E0277", "E0308", "E0317"}),
    "matches": frozenset({"E0004", "E0023", "E0026", "E0027", "E0063"}),
}
"""Codes of rustc that make up a kind. Kinds that are not here build, and fail a test."""
BEHAVIOUR: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind not in CODES)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault that could be put into a program. Positions in bytes of UTF-8."""

    operator: str
    start: int
    end: int
    after: str
    """What takes the place of that span."""


Finder = Callable[[Source], Iterator[tuple[int, int, str]]]


@dataclass(frozen=True, slots=True)
class Operator:
    """A way to go wrong."""

    name: str
    kinds: tuple[Kind, ...]
    """What its faults may end in, the likeliest first."""
    find: Finder

    @property
    def builds(self) -> bool:
        """Whether its faults are for the tests to find, not for the compiler."""
        return self.kinds[0] in BEHAVIOUR

    def faults(self, source: Source) -> Iterator[Fault]:
        """Every fault of this kind in a program, in no order that matters."""
        for start, end, after in self.find(source):
            if source.data[start:end] != after.encode():
                yield Fault(self.name, start, end, after)

    def kind_of(self, code: str) -> Kind | None:
        """The kind that an error with this code is, None for one that this operator is not to cause."""
        return next((kind for kind in self.kinds if code in CODES.get(kind, ())), None)


OPERATORS: dict[str, Operator] = {}
"""Every operator by name. Filled by the modules of `operators.py`."""


def operator(name: str, *kinds: Kind) -> Callable[[Finder], Finder]:
    """Registers a finder under a name, with the kinds that its faults may end in, the likeliest first."""

    def register(find: Finder) -> Finder:
        OPERATORS[name] = Operator(name, kinds, find)
        return find

    return register
