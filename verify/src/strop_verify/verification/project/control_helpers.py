"""Helpers that control tests call: they change values and invert assertions, in the false control only."""

import ast
import inspect
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from strop_verify.core.syntax import expression_of, syntax_tree
from strop_verify.verification.project.names import COMPUTING, Names, computed

_MOST_PARTS = 12
"""Maximum number of parts of a literal that are changed one by one."""


def _changed(value: Any, number: int, parts: Callable[[Any], list[Any]] = list) -> Any:
    """A different value of the same built-in type, if there is one; for any other type, a plain object.

    An odd number makes an int a little larger, an even one much larger. `parts` lists a set; its first part is dropped.
    """
    kind = type(value)
    if value is None:
        return number
    if kind is bool:
        return not value
    if kind is int and number % 2:
        return value + 1 + number % 3
    if kind in (int, float, complex):
        other = value + abs(value) + number
        return other if other != value and other == other else number
    if kind in (str, bytes):
        return value + (str(number) if kind is str else str(number).encode())
    if kind in (list, tuple):
        at = number % (len(value) or 1)
        return (
            value[:at]
            + kind([_changed(one, number, parts) for one in value[at : at + 1] or [0]])
            + value[at + 1 :]
        )
    if kind in (set, frozenset):
        return kind(parts(value)[1:]) | {str(number)}
    if kind is dict:
        key = [*value, str(number)][number % (len(value) or 1)]
        return {**value, key: _changed(value.get(key), number, parts)}
    return object()


class ControlHelpers:
    """The helper functions, under random names; they change nothing in a true control."""

    def __init__(self, truth: bool, names: Names, rng: random.Random) -> None:
        self.truth, self.new, self._rng = truth, names.new, rng
        """`new` draws a name for a temporary value."""
        self.support: frozenset[str] = frozenset()
        """Names of functions outside the tests that fail a test if two values differ (`support`)."""
        self.named: dict[str, ast.expr] = {}
        """Module-level literals as rewritten, by name."""
        self.compared: set[str] = set()
        """Names that the whole file reads only in comparisons."""
        self.made, self.flag, self.changed = names.new(), names.new(), names.new()
        self.moved, self.turned, self.raised = names.new(), names.new(), names.new()
        self.less, self.greater = names.new(), names.new()
        self.fell, self.held = names.new(), names.new()
        self.error, self.holds = (names.new().title().replace("_", "") for _ in range(2))

    def text(self) -> str:
        """Source of the functions, to be inserted before their callers."""
        start, number = self._rng.randrange(100, 9000), self._rng.randrange(2, 900)
        lines = [
            COMPUTING.format(name=self.made),
            _CHANGED.replace("_changed", self.changed),
            f"def {self.flag}():\n    return {self.made}({start}) == {self._said(start)}\n",
            f"def {self.moved}(value):\n"
            f"    return value if {self.flag}() else {self.changed}(value, {number})\n",
            f"def {self.less}(a, b):\n    return a < b if {self.flag}() else a > b\n",
            f"def {self.greater}(a, b):\n    return a > b if {self.flag}() else a < b\n",
            f"def {self.turned}(value):\n    return value if {self.flag}() else not value\n",
            f"class {self.error}(Exception):\n    pass\n",
            f"class {self.holds}(BaseException):\n    pass\n",
            f"def {self.raised}(kind):\n    return kind if {self.flag}() else {self.error}\n",
            f"def {self.fell}():\n    if {self.flag}():\n        raise\n",
            f"def {self.held}():\n    return not {self.flag}()\n",
        ]
        return "\n\n".join(lines)

    def tail(self) -> ast.stmt:
        """An assertion that holds in a true control."""
        start = self._rng.randrange(100, 9000)
        return statement_of(f"assert {self.made}({start}) == {self._said(start)}")

    def literal(self, node: ast.expr) -> ast.expr:
        """The literal, or a different one in a false control."""
        if self.truth:
            return node
        return written(_changed(ast.literal_eval(node), self._rng.randrange(2, 900, 2), _sorted))

    def each(self, node: ast.expr) -> list[ast.expr]:
        """Copies of the literal, one for each part (at most `_MOST_PARTS`), which is changed in a false control.

        An int has two copies, changed a little: by an odd number and by two.
        """
        value = ast.literal_eval(node)
        if type(value) is int:
            near = self._rng.sample((self._rng.choice((1, 3)), 2), 2)
            return [written(value if self.truth else value + by) for by in near]
        if type(value) not in (list, tuple, dict) or len(value) < 2:
            return []
        keys = [*value] if isinstance(value, dict) else range(len(value))
        made = []
        for key in self._rng.sample(keys, min(len(keys), _MOST_PARTS)):
            other = dict(value) if isinstance(value, dict) else [*value]
            if not self.truth:
                other[key] = _changed(value[key], self._rng.randrange(2, 900), _sorted)
            made.append(written(type(value)(other)))
        return made

    def _said(self, start: int) -> int:
        return computed(start) + (0 if self.truth else self._rng.randrange(1, 900))


def assigned(name: str, value: ast.expr) -> ast.stmt:
    """The statement that binds a name to a value."""
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)


def call_of(name: str, *values: ast.expr) -> ast.expr:
    """A call of the function of that name."""
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(values), keywords=[])


def statement_of(text: str) -> ast.stmt:
    """Parses the text of one statement."""
    return syntax_tree(text).body[0]


def written(value: Any) -> ast.expr:
    """A value as an expression; set elements sorted, since their order differs between processes."""
    made = expression_of(repr(value))
    for node in ast.walk(made):
        if isinstance(node, ast.Set):
            node.elts.sort(key=ast.unparse)
    return made


_sorted = partial(sorted, key=repr)
_CHANGED = inspect.getsource(_changed).replace(
    "(value: Any, number: int, parts: Callable[[Any], list[Any]] = list) -> Any:",
    "(value, number, parts=list):",
    1,
)
