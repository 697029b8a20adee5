"""Writes values into a test file in place of expressions, for each loop iteration and each set of parameters."""

import ast
import copy
from collections.abc import Mapping
from typing import Any

from strop_verify.verification.project.control_helpers import assigned, call_of, written
from strop_verify.verification.project.expression_sites import SiteLoop, in_rounds, plain
from strop_verify.verification.project.names import Names
from strop_verify.verification.project.pins import FilePins
from strop_verify.verification.project.pure_expressions import Function

_MOST_COPIES = 24
_MOST_ROUNDS = 40
_MOST_NODES = 30_000


class Writer:
    """Copies functions and writes values into the copies."""

    def __init__(self, pins: FilePins, names: Names) -> None:
        self._pins, self._names, self._test, self._nodes = pins, names, "", 0
        self._rounds: dict[SiteLoop, int] = {}

    def write(self) -> dict[str, str]:
        """Writes the values into the tree. Returns the new names of renamed tests."""
        called: dict[str, str] = {}
        pins, copies = self._pins, dict[ast.AST, list[Function]]()
        for owner, function, _ in pins.functions:
            mine = [rest for rest in pins.place.rests if rest.partition("[")[0] == owner and "[" in rest]
            if pins.parameters[owner] and len(mine) <= _MOST_COPIES:
                for rest in mine:
                    made = self._function(function, f"{pins.place.home}::{rest}", self._names.new("test_"))
                    copies.setdefault(function, []).append(made)
                    called[rest] = (
                        f"{owner.rpartition('::')[0]}::{made.name}[{rest.partition('[')[2]}".lstrip(":")
                    )
        rewritten = {
            function: self._function(function, "", function.name) for _, function, _ in pins.functions
        }
        self._test, self._rounds, self._nodes = "", {}, 0
        pins.tree.body[:] = self._outer(pins.tree.body, rewritten, copies)
        return called

    def _function(self, function: Function, test: str, name: str) -> Function:
        """A copy for one test; with `test` "", for all tests that get no separate copy."""
        self._test, self._rounds, self._nodes = test, {}, 0
        made = copy.copy(function)
        made.name = name
        made.body = self._block(function.body)
        made.decorator_list = [copy.deepcopy(one) for one in function.decorator_list]
        return made

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
            made.append(assigned(kept, call_of("list", self._made(loop.node.iter))))
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
