"""Changes that could be made to a text, and what finding them has in common in all languages."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from strop.code.trees import Node, Regions, Source

_MOST_SITES = 400

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


class Finder:
    """The changes that could be made to one function; a language adds the methods that `finders` lists."""

    def __init__(self, source: Source, node: Node, body: Node, kept_out: Regions) -> None:
        self.source, self.node, self.body, self.kept_out = source, node, body, kept_out

    def finders(self) -> Sequence[Callable[[], Iterator[Site]]]:
        """One method a kind of change."""
        raise NotImplementedError

    def all(self) -> Iterator[Site]:
        """At most a few hundred."""
        made = 0
        for finder in self.finders():
            for site in finder():
                made += 1
                if made > _MOST_SITES:
                    return
                yield site

    def _nodes(self, *kinds: str) -> Iterator[Node]:
        return (
            n for n in self.source.inner(self.body, *kinds) if not n.has_error and not self.kept_out.hold(n)
        )

    def _site(self, operator: Operator, node: Node, after: str) -> Site:
        return Site(operator, node.start_byte, node.end_byte, after, self.node.start_byte)
