"""What is known about a clean expression: where its names come from, the loops around it, the probe of its value."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from strop_verify.core.syntax import literal_value

NO_VALUE = object()


@dataclass(eq=False)
class Root:
    """What binds names: an assignment, a loop, a `with`, parameters, the module."""

    made_of: tuple["Mention", ...] = ()
    """What its value may share objects with."""
    probe: "SiteProbe | None" = None
    """Evaluates it, which shows whether it can be read more than once."""
    around: ast.AST | None = None
    """The innermost loop in which it is bound once per iteration."""
    made_in: ast.AST | None = None
    """The innermost loop around the expression that makes it."""
    loads: int = 0


@dataclass(frozen=True)
class Mention:
    """A part of a root's value, by position or key."""

    root: Root
    path: tuple[object, ...] = ()

    def meets(self, other: "Mention") -> bool:
        """Whether one mention equals the other or is a part of it."""
        return self.root is other.root and all(a == b for a, b in zip(self.path, other.path, strict=False))


@dataclass(frozen=True)
class Bound:
    """A clean name in a function."""

    mention: Mention
    value: ast.expr | None = None
    """What to write in its place; None = the name itself."""
    loops: tuple["SiteLoop", ...] = ()
    parameter: str = ""


@dataclass(eq=False)
class SiteProbe:
    """An expression to evaluate in the module of the file."""

    owner: str
    text: str
    parameters: bool
    number: int = -1


@dataclass(eq=False)
class SiteLoop:
    """A `for` over clean values."""

    node: ast.For
    iterable: ast.expr
    around: tuple["SiteLoop", ...]
    """Enclosing loops, outermost first."""
    root: Root
    length: SiteProbe
    items: SiteProbe


@dataclass(eq=False)
class Site:
    """A clean expression."""

    node: ast.expr
    probe: SiteProbe
    mentions: frozenset[Mention]
    loops: tuple[SiteLoop, ...]
    around: ast.AST | None
    escapes: bool
    """Whether its value is passed to code that is not clean."""
    owner: ast.AST
    inside: list["Site"] = field(default_factory=list)


@lru_cache(maxsize=64)
def plain(text: str) -> Any:
    """A literal's value, shared between calls: do not modify it."""
    return literal_value(text)


def in_rounds(value: Any, loops: Sequence[SiteLoop], rounds: Mapping[SiteLoop, int]) -> Any:
    """The value in an iteration; for a loop that is not unrolled, the value that all iterations share."""
    for place, loop in enumerate(loops):
        if loop in rounds:
            if rounds[loop] >= len(value):
                return NO_VALUE
            value = value[rounds[loop]]
        else:
            every = [in_rounds(one, loops[place + 1 :], rounds) for one in value]
            alike = bool(every) and all(one is not NO_VALUE and repr(one) == repr(every[0]) for one in every)
            return every[0] if alike else NO_VALUE
    return value
