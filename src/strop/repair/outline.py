"""Outlines: the positions of a file's definitions, and views of its lines with numbers."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from strop_verify.code.python.source import UNPARSABLE, tree_of
from strop_verify.core.ranges import Range, merged
from strop_verify.edits.lines import split

WINDOW = 40
"""Lines of a piece of a file without parsed definitions."""
_LONGEST_PARSED = 512 * 1024
_HEAD = re.compile(
    r"\s*(?:(?:pub(?:\([^)]*\))?|async|unsafe|const|static|export|default|public|private|protected|final|abstract)\s+)*"
    r"(?:fn|def|class|struct|enum|trait|impl|mod|func|function|interface|type|namespace)\b"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A definition or a window of lines.

    name   dotted inside a class; "" for a window
    first  first line, from 1
    last   last line, included
    heads  lines that an outline shows
    """

    name: str
    first: int
    last: int
    heads: tuple[int, ...] = ()


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of Python source, None if it is too long or cannot be parsed. Never raises."""
    if len(text) > _LONGEST_PARSED:
        return None
    try:
        return tree_of(text)
    except UNPARSABLE:
        return None


def pieces(path: str, text: str) -> list[Piece]:
    """The functions and classes of a Python file in order, or windows of WINDOW lines of any other file."""
    tree = parsed(text) if path.endswith(".py") else None
    if tree is not None:
        found = _definitions(tree.body, "")
        if found:
            return found
    lines = split(text)
    heads = [number for number, line in enumerate(lines, 1) if _HEAD.match(line[:200])]
    return [
        Piece("", first, min(first + WINDOW - 1, len(lines)),
              tuple(n for n in heads if first <= n < first + WINDOW) or (first,))
        for first in range(1, len(lines) + 1, WINDOW)
    ]  # fmt: skip


def _definitions(body: Sequence[ast.stmt], inside: str) -> list[Piece]:
    found = []
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        name = f"{inside}{node.name}"
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        head_end = max(node.lineno, min(node.body[0].lineno - 1, node.lineno + 5))
        last = node.end_lineno or node.lineno
        if isinstance(node, ast.ClassDef):
            inner = _definitions(node.body, f"{name}.")
            found.append(Piece(name, first, min([last, *(p.first - 1 for p in inner)]), (node.lineno,)))
            found += inner
        else:
            found.append(Piece(name, first, last, tuple(range(node.lineno, min(head_end, last) + 1))))
    return found


def numbered(text: str, wanted: Sequence[int]) -> str:
    """The wanted lines with their numbers, with a line of dots where others are left out."""
    lines, out, previous = split(text), [], 0
    width = len(str(len(lines)))
    for number in wanted:
        if number != previous + 1:
            out.append("...\n")
        out.append(f"{number:>{width}}| {lines[number - 1].rstrip()}\n")
        previous = number
    return "".join(out) + ("...\n" if previous < len(lines) else "")


def grown(ranges: Sequence[Range], total: int, around: int = 0) -> list[Range]:
    """Ranges of lines, extended by `around` lines on both sides within 1 to `total`; touching ranges are merged."""
    wider = ((max(1, first - around), min(total, last + around)) for first, last in ranges)
    return merged((first, last) for first, last in wider if first <= last)
