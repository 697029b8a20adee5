"""Parse trees of Rust source, by tree-sitter. Answers are hostile text: nothing here recurses over a tree."""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_BYTES = 1 << 16
"""Longest answer that `functions_of` looks at, in bytes of UTF-8."""


@lru_cache(maxsize=1)
def _parser() -> "Parser":
    import tree_sitter_rust
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_rust.language()))


def parse(text: str) -> "Node":
    """The root node of the parse tree of Rust source."""
    return _parser().parse(text.encode(errors="replace")).root_node


def walk(node: "Node") -> "Iterator[Node]":
    """A node and everything below it, in source order, without recursion."""
    cursor, down, depth = node.walk(), True, 0
    while True:
        if down:
            current = cursor.node
            assert current is not None
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


def text_of(node: "Node | None") -> str:
    """Source of a node."""
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def attributes(node: "Node") -> list[str]:
    """The attributes above an item, such as "#[test]", white space left out; comments may stand between."""
    found = []
    above = node.prev_named_sibling
    while above is not None and above.type in ("attribute_item", "line_comment", "block_comment"):
        if above.type == "attribute_item":
            found.append("".join(text_of(above).split()))
        above = above.prev_named_sibling
    return found


def functions_of(text: str) -> "tuple[list[Node], list[Node]]":
    """(functions with a body outside of test modules, test functions); both empty where the text is too long."""
    code: list[Node] = []
    tests: list[Node] = []
    if len(text) > MOST_BYTES:
        return code, tests
    testing: list[Node] = []
    for node in walk(parse(text)):
        if node.type == "mod_item" and "#[cfg(test)]" in attributes(node):
            testing.append(node)
        elif node.type == "function_item" and node.child_by_field_name("body") is not None:
            if "#[test]" in attributes(node):
                tests.append(node)
            elif not any(m.start_byte <= node.start_byte < m.end_byte for m in testing):
                code.append(node)
    return code, tests
