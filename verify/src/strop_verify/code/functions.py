"""The functions of a file, from its parse tree: one record for all languages."""

from collections.abc import Iterable
from dataclasses import dataclass

from strop_verify.code.trees import Node, Regions, Source, Span


@dataclass(slots=True)
class Function:
    """One `def`, or `fn` with a body."""

    name: str
    node: Node
    body: Node
    path: list[str]
    """The enclosing classes or modules, outermost first."""
    nested: bool
    """Whether it is nested in another function."""
    is_test: bool = False
    """Whether the test runner collects it as a test."""
    ignored: bool = False
    """Whether it is marked to be skipped, or to be allowed to fail."""
    should_panic: bool = False
    """`#[should_panic]`, with or without an expected message."""
    removed: bool = False
    """Whether a `cfg` excludes it from a test build, or might."""
    in_tests: bool = False
    """Whether it is in test code."""


class Items:
    """Functions and test regions of one file; a language fills in `functions`. Positions in bytes."""

    source: Source
    functions: list[Function]
    regions: Regions
    """Test code."""

    def _mark(self, tests: Iterable[Span]) -> None:
        self.regions = Regions(tests)
        for function in self.functions:
            function.in_tests = self.regions.hold(function.node)
