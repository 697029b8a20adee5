"""Sites for faults in code that tests reach: the part common to all languages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import ClassVar

from strop_verify.code.functions import Function
from strop_verify.code.trees import Node, Regions, Source, span

_MOST_SITES = 400
_DEEPEST_CALL = 50
"""Maximum calls between a test and the changed code."""

OPERATORS = ("return value", "negated condition", "boundary", "comparison", "arithmetic", "constant", "boolean",
             "range", "deletion")  # fmt: skip
"""Names of the operators, in order of preference."""


@dataclass(frozen=True, slots=True)
class Change:
    """A fault that could be put into a text. Positions in bytes of UTF-8."""

    operator: str
    start: int
    end: int
    after: str
    """The replacement of that span."""
    unit: int = 0
    """Position of the enclosing function, if that matters."""


def applied(data: bytes, changes: Iterable[Change]) -> bytes:
    """A text with these changes, which do not overlap, in it."""
    for change in sorted(changes, key=lambda c: c.start, reverse=True):
        data = data[: change.start] + change.after.encode("utf-8", "surrogatepass") + data[change.end :]
    return data


def reachable(
    source: Source, left: Iterable[Function], wanted: set[str], leads: Callable[[Function, set[str]], bool]
) -> list[Function]:
    """The functions that the names in `wanted` lead to, directly or through other functions; by position."""
    left, reached = list(left), []
    for _ in range(_DEEPEST_CALL):
        now = [f for f in left if leads(f, wanted)]
        if not now:
            break
        taken = {f.node.id for f in now}
        left = [f for f in left if f.node.id not in taken]
        reached += now
        wanted = wanted.union(*(source.names(f.node) for f in now))
    return sorted(reached, key=lambda f: f.node.start_byte)


class Finder:
    """The changes that could be made to one function; a language adds the methods that `finders` lists."""

    loops: ClassVar[frozenset[str]]
    """Kinds of nodes that are loops with a condition, or functions."""

    def __init__(self, source: Source, function: Function, kept_out: Regions) -> None:
        self.source, self.node, self.body, self.kept_out = source, function.node, function.body, kept_out

    def finders(self) -> Sequence[Callable[[], Iterator[Change]]]:
        """One method per kind of change, in order of preference."""
        raise NotImplementedError

    def all(self) -> Iterator[Change]:
        """The changes of all finders, at most `_MOST_SITES`."""
        return islice(chain.from_iterable(finder() for finder in self.finders()), _MOST_SITES)

    def _nodes(self, *kinds: str) -> Iterator[Node]:
        inside = self.source.inner(self.body, *kinds)
        return (n for n in inside if not (n.has_error or self.kept_out.hold(n)))

    def _site(self, operator: str, node: Node, after: str) -> Change:
        return Change(operator, node.start_byte, node.end_byte, after, self.node.start_byte)

    def _steers_loop(self, node: Node) -> bool:
        """Whether the node is inside a loop whose end it may affect."""
        around = self.source.within(node, self.loops)
        return around is not None and not around.type.startswith("function")

    def _ends_loop(self, node: Node) -> bool:
        """Whether the node is part of the condition of a `while`."""
        around = self.source.within(node, self.loops)
        condition = None if around is None else around.child_by_field_name("condition")
        return condition is not None and Regions([span(condition)]).hold(node)
