"""Parse trees of Rust source, by tree-sitter."""

import re
from collections.abc import Iterator
from functools import lru_cache

import tree_sitter_rust
from tree_sitter import Language, Node, Parser


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_rust.language()))


def parse(text: str) -> Node:
    """The root node of the parse tree of Rust source."""
    return _parser().parse(text.encode()).root_node


def walk(node: Node) -> Iterator[Node]:
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


def text_of(node: Node | None) -> str:
    """Source of a node."""
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def rest_of_path(data: bytes, end: int) -> str:
    """The text behind a name, white space and comments left out, up to the end of its statement."""
    text = data[end : end + 2000].decode(errors="replace")
    return re.sub(r"//[^\n]*|/\*.*?\*/|\s+", "", text, flags=re.S).partition(";")[0]


def first_names(group: str) -> set[str]:
    """First names of the paths in a braced list, nested lists left out."""
    names, depth, start = set(), 0, 0
    for position, char in enumerate(group + ","):
        if (char == "," and depth == 0) or (char == "}" and depth == 0):
            names.add(re.split(r"::|as", group[start:position], maxsplit=1)[0].removeprefix("r#"))
            start = position + 1
            if char == "}":
                break
        depth += (char == "{") - (char == "}")
    return names
