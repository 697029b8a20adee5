"""Chunks: a text cut into its functions and classes.

Python and Rust are cut along their parse trees, even if broken; other languages, and texts too long to parse, are cut
where an unindented line follows a blank one. A class of more than MOST_LINES lines becomes its head and its methods;
a function stays whole. Text between definitions is cut after MOST_LINES lines.
"""

import re
from collections.abc import Iterable, Iterator

from strop_verify.code.trees import LANGUAGES as PARSED
from strop_verify.code.trees import Node, parse

MOST_LINES = 60
LONGEST = 1 << 18
"""Maximum characters of a parsed text."""
DEEPEST = 4
"""Maximum depth of nested definitions."""
Lines = tuple[int, int]
"""(first line, last line), from 1, both included."""
_DEFINITIONS = frozenset({
    "function_definition", "class_definition", "decorated_definition", "function_item", "struct_item", "enum_item",
    "union_item", "impl_item", "trait_item", "mod_item", "macro_definition",
})  # fmt: skip
_HOLDERS = frozenset({"class_definition", "impl_item", "trait_item", "mod_item"})
_BEFORE = frozenset({"attribute_item", "line_comment", "block_comment", "comment"})
"""Nodes that belong to the definition directly below them."""


def chunks(text: str, language: str) -> list[Lines]:
    """The chunks of a text, in order; together they cover every non-blank line. `language`: "" = none."""
    lines = text.split("\n")
    if language in PARSED and len(text) <= LONGEST:
        found = list(_of_nodes(parse(text, language).children, 1, len(lines)))
    else:
        found = list(_blocks(lines))
    return [one for part in found for one in [_without_blank(part, lines)] if one]


def _of_nodes(nodes: Iterable[Node], first: int, last: int, depth: int = 0) -> Iterator[Lines]:
    """Cuts the lines `first` to `last`, which hold these nodes."""
    at = first
    comment = 0  # start of comments and attributes directly above
    end_of_comment = -1
    for node in nodes:
        begins, ends = node.start_point[0] + 1, node.end_point[0] + (node.end_point[1] > 0)
        if node.type in _BEFORE:
            comment = comment if begins <= end_of_comment + 1 else begins
            end_of_comment = ends
        if node.type not in _DEFINITIONS or begins < at:
            continue
        if end_of_comment == begins - 1 and comment >= at:
            begins = comment
        yield from _pieces(at, begins - 1)
        ends = min(max(begins, ends), last)
        yield from _definition(node, begins, ends, depth)
        at = ends + 1
    yield from _pieces(at, last)


def _definition(node: Node, first: int, last: int, depth: int) -> Iterator[Lines]:
    """A definition, cut if it is long and holds others."""
    inner = node.child_by_field_name("definition") or node
    body = inner.child_by_field_name("body")
    long = last - first >= MOST_LINES and depth < DEEPEST
    if inner.type in _HOLDERS and body is not None and long:
        yield from _of_nodes(body.children, first, last, depth + 1)
    else:
        yield first, last


def _pieces(first: int, last: int) -> Iterator[Lines]:
    for start in range(first, last + 1, MOST_LINES):
        yield start, min(last, start + MOST_LINES - 1)


def _blocks(lines: list[str]) -> Iterator[Lines]:
    """Blocks that begin unindented after a blank line; small ones are joined up to MOST_LINES lines."""
    starts = [
        number
        for number, line in enumerate(lines, 1)
        if number == 1 or (re.match(r"[^\s)\]}]", line) and not lines[number - 2].strip())
    ]
    first = 1
    for start, following in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        if following - start >= MOST_LINES // 3 or following > len(lines):
            if start > first and following - first > MOST_LINES:
                yield from _pieces(first, start - 1)
                first = start
            yield from _pieces(first, following - 1)
            first = following


def _without_blank(part: Lines, lines: list[str]) -> Lines | None:
    first, last = part
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    return (first, last) if first <= last else None
