"""Asserts: Python test code that calls functions of the answer."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import not_
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from strop_verify.core.checks.base import (
    CheckBase,
    EntryPoint,
    Identifier,
    RevealedTests,
    SingleTest,
    one_text,
    words_of,
)
from strop_verify.core.checks.beyond_values import UNREADABLE, beyond_values, shares_process, tree_of
from strop_verify.core.ids import canonical_json
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.test_code import last_name, never_fails
from strop_verify.core.text import squeeze


class AssertsCheck(CheckBase):
    """Trusted Python test code that calls `entry_point`; any exception in it fails the answer.

    Each top-level statement that can fail is one test; see `strop_verify.core.test_code`.
    """

    answer = "function"
    toolchains: ClassVar[Mapping[str, str]] = {"python": "python"}
    kind: Literal["asserts"] = "asserts"
    entry_point: EntryPoint
    code: str
    helpers: list[Identifier] = Field(default_factory=list, exclude_if=not_)
    """Further functions of the answer that the test code may call; other names of the answer are hidden."""
    preamble: str = Field(default="", exclude_if=not_)
    """Python code that is put above every answer, as the original grader does."""
    shown: list[int] = Field(default_factory=list, exclude_if=not_)
    """Numbers, from 0, of the top-level assert statements that the prompt shows; the others only judge."""

    def test_count(self) -> int:
        return 1 if self.code.strip() else 0

    def different_tests(self, *, hidden: bool = False) -> int:
        """Asserts are compared by text, not by position."""
        return len({ast.dump(node) for node in self._asserts()})

    def assertions(self) -> int:
        return sum(map(_weight, ast.walk(tree_of(self.code))))

    def single_tests(self) -> list[SingleTest]:
        """The top-level assert statements; empty for code of another form, such as HumanEval's single function."""
        body = tree_of(self.code).body
        others = (node for node in body if not isinstance(node, ast.Assert))
        if any(isinstance(inner, ast.Assert) for node in others for inner in ast.walk(node)):
            return []
        asserts = [node for node in body if isinstance(node, ast.Assert)]
        shown = set(self.shown)
        return [
            SingleTest(ast.dump(node), len(ast.unparse(node)), number in shown)
            for number, node in enumerate(asserts)
        ]

    def with_tests(self, numbers: Sequence[int]) -> Self:
        """Layout and comments of the rest are normalised."""
        gone = set(range(len(self.single_tests()))) - set(numbers)
        body = syntax_tree(self.code).body
        places = [at for at, node in enumerate(body) if isinstance(node, ast.Assert)]
        left_out = {places[number] for number in gone}
        kept = [node for at, node in enumerate(body) if at not in left_out]
        places = [number for number in range(len(places)) if number not in gone]
        shown = [at for at, number in enumerate(places) if number in self.shown]
        return self.model_copy(update={"code": ast.unparse(ast.Module(kept, [])) + "\n", "shown": shown})

    def examples(self, noted: Sequence[str]) -> str:
        """The shown asserts, as written in the tests."""
        lines = self.code.splitlines()
        return "\n".join(
            "\n".join(lines[node.lineno - 1 : node.end_lineno])
            for number, node in enumerate(_top_level(self.code))
            if number in self.shown
        )

    def functions(self) -> tuple[str, ...]:
        return (self.entry_point, *self.helpers)

    def calls(self) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """The calls whose arguments are all literals of JSON types."""
        return ((args, {}) for args in literal_calls(self.entry_point, self.code))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """`assert f(1) == 2` as the pair (arguments, 2); an assertion of another form as its own text."""
        try:
            tree = syntax_tree(self.code)
        except UNREADABLE:
            yield words_of(self.code), ""
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                try:
                    yield _of_call(node.test, self.entry_point)
                except (ValueError, TypeError, SyntaxError, RecursionError):
                    names = rf"\b(?:candidate|{re.escape(self.entry_point)})\b"
                    yield re.sub(names, "f", ast.unparse(node.test)), ""

    def test_code(self) -> str:
        return self.code

    def revealed(self, text: str) -> RevealedTests:
        told = {ast.dump(node) for at, node in enumerate(_top_level(self.code)) if at in self.shown}
        hidden = {ast.unparse(node) for node in self._asserts() if ast.dump(node) not in told}
        if self.takes_nothing():  # the code under test may assert too
            hidden = {line for line in hidden if self.entry_point in line}
        lines = set(map(squeeze, hidden))
        plain = squeeze(text).replace('"', "'")
        found = sum(line.replace('"', "'") in plain for line in lines)
        return RevealedTests(found, len(lines), bool(told))

    def takes_nothing(self) -> bool:
        calls = list(_calls_of(self.entry_point, self.code))
        named = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == self.entry_point]
        return bool(calls) and not any(call.args or call.keywords for call in named or calls)

    def strength(self) -> str:
        return "values asserted"

    def never_fails(self) -> str:
        return never_fails(self.code, self.functions())

    def shares_process(self) -> bool:
        return shares_process(self.code, self.functions())

    def beyond_values(self) -> bool:
        return beyond_values(self.code)

    def readable(self) -> str:
        return self.code

    def _asserts(self) -> list[ast.Assert]:
        return [node for node in ast.walk(tree_of(self.code)) if isinstance(node, ast.Assert)]


def literal_calls(entry_point: str, code: str) -> Iterator[list[Any]]:
    """Arguments of the calls in test code that are all literals of JSON types."""
    for node in _calls_of(entry_point, code):
        if not node.args or node.keywords:
            continue
        try:
            args = [ast.literal_eval(a) for a in node.args]
            canonical_json(args)
        except (TypeError, *UNREADABLE):
            continue
        yield args


def _calls_of(entry_point: str, code: str) -> Iterator[ast.Call]:
    """Calls of the answer in test code: by its name, or by that of a function's parameter, as HumanEval's tests do."""
    nodes = list(ast.walk(tree_of(code)))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    names = {entry_point} | {a.arg for f in functions for a in f.args.args}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def _top_level(code: str) -> list[ast.Assert]:
    """The assert statements of the code's top level."""
    return [node for node in tree_of(code).body if isinstance(node, ast.Assert)]


def _weight(node: ast.AST) -> int:
    if isinstance(node, ast.Assert):
        return 1
    if isinstance(node, ast.For | ast.While):
        return 10 if any(isinstance(inner, ast.Assert) for inner in ast.walk(node)) else 0
    return int(isinstance(node, ast.Call) and last_name(node.func).startswith("assert"))


def _of_call(test: ast.expr, entry_point: str) -> tuple[str, str]:
    """(arguments, expected). Raises ValueError for forms other than `f(...) == literal` and the like."""
    expected: Any = True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, expected = test.operand, False
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
        expected = ast.literal_eval(test.comparators[0])
        test = test.left
    name = test.func.id if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) else ""
    if not isinstance(test, ast.Call) or name not in ("candidate", entry_point):
        raise ValueError("not a call of the answer")
    args: list[Any] = [ast.literal_eval(arg) for arg in test.args]
    if test.keywords:
        args.append({k.arg: ast.literal_eval(k.value) for k in test.keywords})
    return one_text(args), one_text(expected)
