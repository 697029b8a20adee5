"""The functions of a Python text, each cut out by its lines as a small text that operators inspect and change. Text
outside of a function stays byte for byte.
"""

import ast
import re
import warnings
from dataclasses import dataclass
from functools import cached_property

from strop_verify.code.python.source import UNPARSABLE, Function, functions, tree_of
from strop_verify.code.trees import Node, Regions, Source, span

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")  # lines as Python's parser counts them
_WRAP = "if 1:\n"  # the header put above an indented function
_UNTOUCHED = ("decorator", "type", "import_statement", "import_from_statement")


class Routine:
    """One function or method with what is nested in it. Positions are bytes of `source.data`."""

    def __init__(self, name: str, first: int, lines: list[str], node: Function) -> None:
        self.name = name  # dotted, from the top of the file: `Class.method`
        self.first = first  # line of the `def` in the file, from 1; decorators are above it
        self.last = node.end_lineno or first
        self._head, self._tail = "".join(lines[: first - 1]), "".join(lines[self.last :])
        self._wrap = _WRAP if node.col_offset else ""
        self.source = Source(self._wrap + "".join(lines[first - 1 : self.last]), "python")
        found = self.source.all("function_definition")
        self.node = min(found, key=lambda n: n.start_byte) if found else None
        self.usable = self.node is not None and not (self.source.too_long or self.source.root.has_error)
        """False if it cannot be parsed; then nothing in it is changed."""

    @property
    def data(self) -> bytes:
        """Its text with the header above it, in UTF-8."""
        return self.source.data

    @cached_property
    def shape(self) -> str:
        """The function's `shape`: a change that keeps it has no effect."""
        return shape(self.tree)

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree, lines and columns those of `source`."""
        return parsed(self.source.text)

    @cached_property
    def _kept_out(self) -> Regions:
        docstrings = []
        for text in self.source.all("expression_statement"):
            if text.named_children and text.named_children[0].type in ("string", "concatenated_string"):
                docstrings.append(span(text))
        return Regions([*docstrings, *(span(n) for n in self.source.all(*_UNTOUCHED))])

    def all(self, *kinds: str) -> list[Node]:
        """Every node of these kinds that may be changed, not in docstrings, annotations, imports or decorators."""
        inside = self.source.inner(self.node, *kinds) if self.node is not None else []
        return [n for n in inside if self.is_open(n)]

    def is_open(self, node: Node) -> bool:
        """Whether a node may be changed."""
        return not (node.has_error or self._kept_out.hold(node))

    def string(self, node: Node | None) -> str:
        """The text of a node; empty for None."""
        return self.source.string(node)

    def changed(self, data: bytes) -> str:
        """The whole file with the function as in `data`."""
        return self._head + data.decode("utf-8", "surrogatepass")[len(self._wrap) :] + self._tail

    def line(self, offset: int) -> int:
        """The line in the file, from 1, of a byte offset."""
        return self.first + self.source.line(offset) - 1 - bool(self._wrap)

    def offset(self, line: int, column: int) -> int:
        """The byte offset of an `ast` position."""
        return self._starts[line - 1] + column

    @cached_property
    def _starts(self) -> list[int]:
        starts, at = [], 0
        for line in _lines(self.source.text):
            starts.append(at)
            at += len(line.encode("utf-8", "surrogatepass"))
        return starts


@dataclass(frozen=True)
class RoutinePlace:
    """A function's position in a file; `routine` parses it."""

    name: str
    """Dotted, from the top of the file: `Class.method`."""
    lines: list[str]
    """All lines of the file."""
    node: Function

    @property
    def first(self) -> int:
        """Line of the `def` in the file, from 1."""
        return self.node.lineno

    def holds(self, line: int) -> bool:
        """Whether code that begins at this line is the function's head or in its body."""
        head = min([self.first, *(decorator.lineno for decorator in self.node.decorator_list)])
        return line == head or self.node.body[0].lineno <= line <= (self.node.end_lineno or self.first)

    def routine(self) -> Routine:
        """Parses the function."""
        return Routine(self.name, self.first, self.lines, self.node)


def routines(text: str) -> list[Routine]:
    """The outermost functions and methods of a file, in order; empty for a text that does not parse."""
    return [place.routine() for place in places(text)]


def places(text: str) -> list[RoutinePlace]:
    """The positions of the outermost functions and methods of a file; empty for a text that does not parse."""
    try:
        found = functions(parsed(text))
    except UNPARSABLE:
        return []
    lines = _lines(text)
    return [RoutinePlace(f.qualified_name, lines, f.node) for f in found if f.outermost]


def parsed(text: str) -> ast.Module:
    """The tree of a text, without warnings. Raises SyntaxError or ValueError if it does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = tree_of(text)
        compile(tree, "<code>", "exec", dont_inherit=True)
    return tree


def shape(tree: ast.AST) -> str:
    """The key by which two programs count as equal: the tree without positions."""
    return ast.dump(tree, annotate_fields=False)


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)
