"""Parse trees by tree-sitter, indexed once for look-ups by kind and position.

Answers are hostile text: nothing here recurses over the tree, and a text longer than `MOST_BYTES` is not parsed. Trees
of broken text have error nodes; they are read as far as they go.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, lru_cache
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, cast

from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query
    from tree_sitter import Node as Node
else:
    try:
        from tree_sitter import Node
    except ImportError:  # parsing reports what to install
        Node = object

MOST_BYTES = 1 << 16
"""Longest answer that is parsed, in bytes of UTF-8."""

MOST_NODES = 1000
"""Maximum nodes of one kind to examine inside one function; the rest is skipped."""
MOST_DEPTH = 300
"""Maximum steps outwards from a node."""

LANGUAGES = ("rust", "python")
"""Languages whose code can be parsed here."""

Span = tuple[int, int]
"""Start and end. In bytes inside this package, in characters in results."""

_NAMES = frozenset({"identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"})
_COMMENTS = frozenset({"line_comment", "block_comment", "comment"})


_steps: ContextVar[list[float]] = ContextVar("steps", default=[inf])  # noqa: B039 (infinity less one is infinity)


@lru_cache
def _grammar(language: str) -> "Language":
    try:
        import tree_sitter
        import tree_sitter_python
        import tree_sitter_rust
    except ImportError as error:
        remedy = "install it: pip install 'strop-verify[strength]'"
        raise UserError(f"reading code needs tree-sitter ({error}); {remedy}") from None
    if language not in LANGUAGES:
        raise UserError(f"tests in {language!r} are not understood; known: {', '.join(LANGUAGES)}")
    grammar = tree_sitter_rust if language == "rust" else tree_sitter_python
    return tree_sitter.Language(grammar.language())


@lru_cache
def _parser(language: str) -> "Parser":
    grammar = _grammar(language)  # reports what to install
    import tree_sitter

    return tree_sitter.Parser(grammar)


@lru_cache(maxsize=256)
def _query(text: str, language: str) -> "Query":
    import tree_sitter

    return tree_sitter.Query(_grammar(language), text)


def found_by(query: str, top: Node, language: str) -> Iterator[dict[str, Node]]:
    """{name: node} of the captures of each match of a tree-sitter query within `top`."""
    import tree_sitter

    for _, captures in tree_sitter.QueryCursor(_query(query, language)).matches(top):
        yield {name: nodes[0] for name, nodes in captures.items()}


@lru_cache(maxsize=8)
def parse(text: str, language: str = "rust") -> Node:
    """The root node of the parse tree of a text. Raises UserError for an unknown language."""
    return _parser(language).parse(text.encode(errors="replace")).root_node


class TooCostly(Exception):
    """Walking a text took more steps than its length allows."""


@contextmanager
def bounded(steps: int) -> Iterator[None]:
    """Limits the nodes that all `walk` calls within it yield together; one more raises TooCostly."""
    before = _steps.set([steps])
    try:
        yield
    finally:
        _steps.reset(before)


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, in source order, without recursion. Raises TooCostly within `bounded`."""
    cursor, down, depth = node.walk(), True, 0
    left = _steps.get()
    while True:
        if down:
            current = cursor.node
            assert current is not None
            left[0] -= 1
            if left[0] < 0:
                raise TooCostly
            yield current
            if cursor.goto_first_child():
                depth += 1
                continue
        if cursor.goto_next_sibling():
            down = True
        elif cursor.goto_parent():
            down = False
            depth -= 1
            if depth == 0:
                return
        else:
            return


def text_of(node: Node | None) -> str:
    """The source text of a node; empty for None."""
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def having(nodes: Iterable[Node], *fields: str) -> Iterator[tuple[Node, ...]]:
    """(node, its fields) of the nodes that have all of these fields."""
    for node in nodes:
        found = [node.child_by_field_name(field) for field in fields]
        if None not in found:
            yield (node, *filter(None, found))


def well_formed(data: bytes, language: str) -> bool:
    """Whether `data` parses without an error."""
    return not _parser(language).parse(data).root_node.has_error


class Source:
    """One text, its tree and its indexes. Positions are byte offsets, except in `characters` and `line`.

    Raises UserError for an unknown language and if tree-sitter is missing. Check `too_long` first.
    """

    def __init__(self, text: str, language: str) -> None:
        parser = _parser(language)
        self.text = text
        self.language = language
        self.data = text.encode("utf-8", "surrogatepass")
        self.too_long = len(self.data) > MOST_BYTES
        self._tree = parser.parse(b"" if self.too_long else self.data)  # nodes need their tree alive
        self.root = self._tree.root_node
        self._kinds: dict[str, list[Node]] = {}
        self._parents: dict[int, Node] = {}
        self._leaves: list[Node] = []
        self._start_bytes: dict[str, list[int]] = {}
        self._index()
        self._leaf_starts = [leaf.start_byte for leaf in self._leaves]

    def _index(self) -> None:
        cursor = self.root.walk()
        stack: list[Node] = []
        while True:
            node = cast("Node", cursor.node)
            self._kinds.setdefault(node.type, []).append(node)
            if stack:
                self._parents[node.id] = stack[-1]
            if node.type in _COMMENTS:
                leaf = True
            else:
                leaf = not cursor.goto_first_child()
                if leaf and node.end_byte > node.start_byte:
                    self._leaves.append(node)
            if not leaf:
                stack.append(node)
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                stack.pop()

    def all(self, *kinds: str) -> list[Node]:
        """Every node of these kinds; in order of position within a kind."""
        return [node for kind in kinds for node in self._kinds.get(kind, ())]

    def inner(self, node: Node, *kinds: str) -> list[Node]:
        """The first `MOST_NODES` nodes of each of these kinds inside `node`, without itself."""
        found: list[Node] = []
        for kind in kinds:
            starts, nodes = self._starts(kind), self._kinds.get(kind, [])
            places = range(bisect_left(starts, node.start_byte), bisect_left(starts, node.end_byte))
            inside = (nodes[i] for i in places if nodes[i].end_byte <= node.end_byte and nodes[i] != node)
            found += islice(inside, MOST_NODES)
        return found

    def _starts(self, kind: str) -> list[int]:
        if kind not in self._start_bytes:
            self._start_bytes[kind] = [node.start_byte for node in self._kinds.get(kind, ())]
        return self._start_bytes[kind]

    def parent(self, node: Node) -> Node | None:
        """The parent of `node`; None for the root."""
        return self._parents.get(node.id)

    def ancestors(self, node: Node) -> Iterator[Node]:
        """The ancestors of `node`, innermost first, at most `MOST_DEPTH`."""
        outer = self._parents.get(node.id)
        for _ in range(MOST_DEPTH):
            if outer is None:
                return
            yield outer
            outer = self._parents.get(outer.id)

    def within(self, node: Node, kinds: frozenset[str]) -> Node | None:
        """The innermost node of one of these kinds around `node`."""
        return next((outer for outer in self.ancestors(node) if outer.type in kinds), None)

    def string(self, node: Node | None) -> str:
        """The text of a node; empty for None."""
        return "" if node is None else self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def tokens(self, node: Node | None) -> list[str]:
        """The texts of the leaves of a node, without comments and white space."""
        return [] if node is None else self._texts[slice(*self._range(node))]

    @cached_property
    def _texts(self) -> list[str]:
        return [self.string(leaf) for leaf in self._leaves]

    def _range(self, node: Node) -> Span:
        starts = self._leaf_starts
        return bisect_left(starts, node.start_byte), bisect_left(starts, node.end_byte)

    def leaves(self, node: Node) -> list[Node]:
        """The leaves of a node, comments left out."""
        return self._leaves[slice(*self._range(node))]

    def names(self, *nodes: Node | None) -> set[str]:
        """The identifiers inside these nodes."""
        found: set[str] = set()
        looked = 0  # nodes may be nested: each byte is examined once
        for start, end in sorted(span(node) for node in nodes if node is not None):
            starts, names = self._names
            found.update(names[bisect_left(starts, max(start, looked)) : bisect_left(starts, end)])
            looked = max(looked, end)
        return found

    @cached_property
    def _names(self) -> tuple[list[int], list[str]]:
        nodes = [leaf for leaf in self._leaves if leaf.type in _NAMES]
        return [node.start_byte for node in nodes], [self.string(node) for node in nodes]

    @cached_property
    def _to_characters(self) -> Callable[[int], int]:
        if len(self.text) == len(self.data):
            return lambda offset: offset
        starts, offset = [], 0
        for character in self.text:
            starts.append(offset)
            offset += len(character.encode("utf-8", "surrogatepass"))
        return lambda offset: bisect_left(starts, offset)

    def characters(self, start: int, end: int) -> Span:
        """A span in bytes as one in characters of `text`."""
        return self._to_characters(start), self._to_characters(end)

    def line(self, offset: int) -> int:
        """The line of a byte offset, from 1."""
        return self.data.count(b"\n", 0, offset) + 1


class Regions:
    """A set of spans, queried for what they contain."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans: list[Span] = []
        """In order, without those inside others."""
        for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            if not self.spans or end > self.spans[-1][1]:
                self.spans.append((start, end))
        self._starts = [start for start, _ in self.spans]

    def cover(self, place: Span) -> bool:
        """Whether one span contains `place`."""
        i = bisect_right(self._starts, place[0]) - 1
        return i >= 0 and place[1] <= self.spans[i][1]

    def hold(self, node: Node) -> bool:
        """Whether one span contains `node`."""
        return self.cover(span(node))


def span(node: Node) -> Span:
    """Start and end of a node, in bytes."""
    return node.start_byte, node.end_byte
