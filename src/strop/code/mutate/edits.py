"""Edits of one span of a text, and the lines around it."""

from strop.code.trees import Node, Source, span

Edit = tuple[int, int, str]
"""Start, end (bytes) and what takes the place of that span."""


def replace(node: Node, text: str) -> Edit:
    """The node replaced by a text."""
    return node.start_byte, node.end_byte, text


def swapped(source: Source, left: Node, right: Node) -> Edit:
    """The two nodes in each other's place, with what is between them kept."""
    between = source.data[left.end_byte : right.start_byte].decode("utf-8", "surrogatepass")
    return left.start_byte, right.end_byte, f"{source.string(right)}{between}{source.string(left)}"


def indent_of(source: Source, node: Node) -> str:
    """The indentation of the line on which a node starts."""
    start = source.data.rfind(b"\n", 0, node.start_byte) + 1
    line = source.data[start : node.start_byte]
    return line[: len(line) - len(line.lstrip())].decode()


def line_span(source: Source, node: Node) -> tuple[int, int]:
    """The node with the rest of its line, if nothing else is on it."""
    start, end = span(node)
    head = source.data.rfind(b"\n", 0, start) + 1
    foot = source.data.find(b"\n", end)
    alone = not source.data[head:start].strip() and foot >= 0 and not source.data[end:foot].strip()
    return (head, foot + 1) if alone else (start, end)
