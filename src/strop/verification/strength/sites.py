"""One change that could be made to a text."""

from dataclasses import dataclass
from typing import Literal, get_args

Operator = Literal[
    "return value", "negated condition", "boundary", "comparison", "arithmetic", "constant", "boolean", "range",
    "deletion",
]  # fmt: skip

OPERATORS: tuple[Operator, ...] = get_args(Operator)
"""In the order in which they are preferred."""


@dataclass(frozen=True, slots=True)
class Site:
    """One change that could be made. Positions in bytes."""

    operator: Operator
    start: int
    end: int
    after: str
    """What takes the place of that text."""
    unit: int
    """The function it is in: the position of that function."""
