"""Writes values into a test file in place of expressions, for each loop iteration and each set of parameters."""

import ast
import copy
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from strop_verify.verification.project.control_helpers import assigned, written
from strop_verify.verification.project.expression_sites import Site, SiteLoop, SiteProbe
from strop_verify.verification.project.names import Names
from strop_verify.verification.project.pure_expressions import Function

_MOST_ROUNDS = 40
_MOST_NODES = 30_000
NO_VALUE = object()


class PinSource(Protocol):
    """What is known of a file (`pins.FilePins`)."""

    def value(self, site: Site, test: str, rounds: Mapping[SiteLoop, int]) -> ast.expr | None:
        """What stands in place of a site."""

    def allowed(self, site: Site, test: str, counts: SiteLoop | None = None) -> bool:
        """Whether its value, or how many rounds it gives this loop, is certain."""

    def literal(self, probe: SiteProbe, test: str) -> str:
        """What a probe gave, as a literal, or an empty text."""

    def loop(self, node: ast.AST) -> SiteLoop | None:
        """The loop over clean values that a statement is."""

    def site(self, node: ast.AST) -> Site | None:
        """The site that an expression is."""


class Writer:
    """Copies functions and writes values into the copies."""

    def __init__(self, pins: PinSource, names: Names) -> None:
        self._pins, self._names, self._test, self._nodes = pins, names, "", 0
        self._rounds: dict[SiteLoop, int] = {}

    def function(self, function: Function, test: str, name: str) -> Function:
        """A copy for one test; `test` "" is for all without a copy of their own."""
        self._test, self._rounds, self._nodes = test, {}, 0
        made = copy.copy(function)
        made.name = name
        made.body = self._block(function.body)
        made.decorator_list = [copy.deepcopy(one) for one in function.decorator_list]
        return made

    def module(
        self, tree: ast.Module, rewritten: Mapping[Any, Function], copies: Mapping[Any, list[Function]]
    ) -> None:
        """Writes the functions and the code outside them into `tree`."""
        self._test, self._rounds, self._nodes = "", {}, 0
        tree.body[:] = self._outer(tree.body, rewritten, copies)

    def _outer(
        self, body: list[ast.stmt], rewritten: Mapping[Any, Function], copies: Mapping[Any, list[Function]]
    ) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for one in body:
            if isinstance(one, ast.FunctionDef):
                for new in [rewritten.get(one, one), *copies.get(one, [])]:
                    new.decorator_list = [self._made(mark) for mark in one.decorator_list]
                    made.append(new)
            elif isinstance(one, ast.ClassDef):
                one.body[:] = self._outer(one.body, rewritten, copies)
                one.decorator_list = [self._made(mark) for mark in one.decorator_list]
                made.append(one)
            else:
                made += self._statement(one)
        return made

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [new for one in body for new in self._statement(one)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        loop = self._pins.loop(node)
        if loop is None:
            return [self._made(node)]
        if (count := self._count(loop)) is not None:
            return self._written_out(loop, count)
        made = self._made(node)
        site = self._pins.site(loop.node.iter)
        items = self._items(loop)
        if site and items is not None and self._pins.allowed(site, self._test):
            made.iter = written(items)
        return [made]

    def _written_out(self, loop: SiteLoop, count: int) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        site = self._pins.site(loop.node.iter)
        items = self._items(loop) if site is None or self._pins.allowed(site, self._test) else None
        kept = self._names.new()
        if items is None:
            made.append(assigned(kept, _listed(self._made(loop.node.iter))))
        for number in range(count):
            self._rounds[loop] = number
            value: ast.expr = (
                ast.Subscript(ast.Name(kept, ast.Load()), ast.Constant(number), ast.Load())
                if items is None
                else written(items[number])
            )
            made.append(ast.Assign(targets=[copy.deepcopy(loop.node.target)], value=value))
            made += self._block(loop.node.body)
        self._rounds.pop(loop, None)
        return made or [ast.Pass()]

    def _count(self, loop: SiteLoop) -> int | None:
        """How many iterations a loop has; None if it cannot be unrolled."""
        node = loop.node
        told = self._pins.literal(loop.length, self._test)
        site = self._pins.site(node.iter)
        if not told or node.orelse or (site and not self._pins.allowed(site, self._test, loop)):
            return None
        inner = [one for statement in node.body for one in ast.walk(statement)]
        if any(isinstance(one, ast.Break | ast.Continue) for one in inner):
            return None
        if not any(self._pins.site(one) for one in inner):
            return None
        count = in_rounds(plain(told), loop.around, self._rounds)
        if not isinstance(count, int) or count > _MOST_ROUNDS:
            return None
        if self._nodes + count * len(inner) > _MOST_NODES:
            return None
        self._nodes += count * len(inner)
        return count

    def _items(self, loop: SiteLoop) -> list[Any] | None:
        told = self._pins.literal(loop.items, self._test)
        if not told:
            return None
        items = in_rounds(plain(told), loop.around, self._rounds)
        return [*items] if isinstance(items, tuple) else None

    def _made(self, node: Any) -> Any:
        """A copy of a node, with values in place of sites."""
        if not isinstance(node, ast.AST):
            return node
        if (site := self._pins.site(node)) and (value := self._pins.value(site, self._test, self._rounds)):
            return value
        made = copy.copy(node)
        for name, part in ast.iter_fields(node):
            if isinstance(part, list):
                new: list[Any] = []
                for one in part:
                    new += self._statement(one) if isinstance(one, ast.stmt) else [self._made(one)]
                setattr(made, name, new)
            elif isinstance(part, ast.AST):
                setattr(made, name, self._made(part))
        return made


@lru_cache(maxsize=64)
def plain(text: str) -> Any:
    """A literal's value, shared between calls: do not modify it."""
    return ast.literal_eval(text)


def in_rounds(value: Any, loops: Sequence[SiteLoop], rounds: Mapping[SiteLoop, int]) -> Any:
    """The value in an iteration; of a loop that is not unrolled, the value that all iterations share."""
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


def _listed(node: ast.expr) -> ast.expr:
    return ast.Call(func=ast.Name(id="list", ctx=ast.Load()), args=[node], keywords=[])
