"""The claims of an answer's own tests in one form for all languages, and which of them are real.

A claim is real when it can fail because of the code under test: it names that code, or a variable that a value of that
code flowed into. Flow is followed by name within one function and ignores order, so it errs towards "real". Whether the
tests notice a fault is measured in `measure`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strop.code.functions import Function, Items
from strop.code.trees import Node, Regions, Source, Span, span

_ROUNDS = 12
"""Most passes of the flow analysis; longer chains of variables are cut off."""


@dataclass(frozen=True, slots=True)
class Test:
    """One test function of an answer."""

    __test__: ClassVar[bool] = False

    name: str
    """As the test runner prints it: "tests::works" (Rust), "TestStack::test_push" or "test_push" (Python)."""
    span: Span
    """Characters of the whole function, attributes and decorators left out."""
    line: int
    ignored: bool = False
    """`#[ignore]`, or a decorator that skips it or lets it fail."""
    should_panic: bool = False
    removed: bool = False
    """A `cfg` takes it out of a test build, or may do so."""

    @property
    def live(self) -> bool:
        """Whether a test run runs it."""
        return not (self.ignored or self.removed)


@dataclass(slots=True)
class Claim:
    """One place of a function that can fail a test. Positions in bytes."""

    span: Span
    names: set[str]
    """The identifiers that it looks at."""
    key: str
    """Its text without white space and comments; equal claims of one test count once."""
    constant: bool = False
    """Whether it always holds, whatever its names are bound to."""
    helper: str = ""
    """The helper called; then `names` are those of the arguments."""


@dataclass(slots=True)
class Scope:
    """A test, or a helper of tests."""

    name: str
    node: Node
    test: Test | None = None
    names: set[str] = field(default_factory=set)
    """Every identifier in it."""
    parameters: set[str] = field(default_factory=set)
    claims: list[Claim] = field(default_factory=list)
    flows: list[tuple[set[str], set[str]]] = field(default_factory=list)
    """(targets, sources): a value of any source may reach every target."""

    def reached(self, base: set[str]) -> set[str]:
        """`base` and the names that values of it flow into."""
        found = set(base)
        for _ in range(_ROUNDS):
            before = len(found)
            for targets, sources in self.flows:
                if not sources.isdisjoint(found):
                    found |= targets
            if len(found) == before:
                break
        return found


@dataclass(slots=True)
class Suite:
    """The tests of one text."""

    tests: list[Test] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    code_names: set[str] = field(default_factory=set)
    """Names of the code under test: defined in the text outside its tests, or imported from elsewhere."""
    faults: list[str] = field(default_factory=list)
    """Reasons why these tests cannot count, whatever they claim."""
    generated: bool = False
    """Whether macros make further tests, which are not in `tests`."""

    def live(self) -> list[Scope]:
        """The tests that run."""
        return [scope for scope in self.scopes if scope.test is not None and scope.test.live]

    def touched(self) -> set[str]:
        """Names that lead to the code under test: its own, and the helpers that use it."""
        base = set(self.code_names)
        helpers = [scope for scope in self.scopes if scope.test is None]
        for _ in range(_ROUNDS):
            more = {scope.name for scope in helpers if not scope.names.isdisjoint(base)} - base
            if not more:
                break
            base |= more
        return base

    def real_claims(self) -> dict[str, int]:
        """How many real claims each live test makes, by name."""
        base = self.touched()
        always: set[str] = set()
        given: set[str] = set()
        helpers = [scope for scope in self.scopes if scope.test is None]
        for _ in range(_ROUNDS):
            before = len(always) + len(given)
            for scope in helpers:
                inner = scope.reached(base)
                if _real(scope.claims, inner, always, given):
                    always.add(scope.name)
                if _real(scope.claims, inner | scope.reached(base | scope.parameters), always, given):
                    given.add(scope.name)
            if len(always) + len(given) == before:
                break
        return {
            scope.test.name: len(_real(scope.claims, scope.reached(base), always, given))
            for scope in self.live()
            if scope.test is not None
        }


def _real(claims: Iterable[Claim], reached: set[str], always: set[str], given: set[str]) -> set[str]:
    """The keys of the claims that are real where values of the code under test are in `reached`."""
    found = set()
    for claim in claims:
        if claim.constant:
            continue
        if claim.helper:
            real = claim.helper in always or (claim.helper in given and not claim.names.isdisjoint(reached))
        else:
            real = not claim.names.isdisjoint(reached)
        if real:
            found.add(claim.key)
    return found


class SuiteReader(ABC):
    """Makes scopes of functions in test code; a language fills in `_scope`."""

    definition: ClassVar[str]
    """The node of a function."""
    decides: ClassVar[Mapping[str, str]]
    """Node to the field of it that decides whether control goes on inside of it."""

    def __init__(self, source: Source, suite: Suite, helpers: set[str]) -> None:
        self.source, self.suite, self.helpers = source, suite, helpers

    def read(self, items: Items) -> None:
        """Adds the scopes of the items' test code to the suite."""
        self.suite.scopes += [self._scope(function) for function in items.functions if function.in_tests]

    @abstractmethod
    def _scope(self, function: Function) -> Scope:
        """What a function of test code claims and decides."""

    def _test(self, function: Function) -> Test | None:
        if not function.is_test:
            return None
        name, place = "::".join([*function.path, function.name]), self.source.characters(*span(function.node))
        line = self.source.line(function.node.start_byte)
        return Test(name, place, line, function.ignored, function.should_panic, function.removed)

    def _claim(self, node: Node, names: set[str], constant: bool = False, helper: str = "") -> Claim:
        return Claim(span(node), names, " ".join(self.source.tokens(node)), constant, helper)

    def _condition(self, node: Node) -> set[str]:
        """The names that decide whether control comes here."""
        found: set[str] = set()
        for outer in self.source.ancestors(node):
            if outer.type == self.definition:
                break
            if outer.type in self.decides:
                found |= self.source.names(outer.child_by_field_name(self.decides[outer.type]))
        return found


def living(claims: Iterable[Claim], dead: Iterable[Span]) -> list[Claim]:
    """The claims that no dead span covers."""
    regions = Regions(dead)
    return [claim for claim in claims if not regions.cover(claim.span)]
