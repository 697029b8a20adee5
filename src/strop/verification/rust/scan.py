"""What the source text of an answer says about how it must be built, read from its parse tree.

Nothing here decides a verdict by itself: a scan chooses the way (with others in one crate, or alone), names the types
whose equality the answer wrote by hand, and finds what strict mode refuses. Linear in the text; never runs it.

Whether brackets, quotes and comments close, a lexer for just that tells (`balanced`): rustc stops at a file where they
do not, before it has looked at the others of its crate. So such a file is compiled alone. A mistake here costs time,
never a verdict.
"""

import re
from functools import lru_cache

from strop.code.trees import Node, TooCostly, bounded, parse, text_of
from strop.verification.rust.equality import own_equality
from strop.verification.rust.reader import Scan, ScanReader

__all__ = ["LONGEST", "Scan", "scan", "steps_for"]

LONGEST = 100_000
"""Bytes of an answer that are parsed; longer ones are compiled alone."""
STEPS = 12
"""Nodes looked at for each character. An answer that takes more counts as too long."""


def steps_for(text: str) -> int:
    """Nodes that may be looked at to read a text: in proportion to its length."""
    return 20_000 + STEPS * len(text)


@lru_cache(maxsize=1024)
def scan(text: str) -> Scan:
    """Reads one answer."""
    found = Scan()
    if len(text.encode(errors="replace")) > LONGEST:
        found.alone.append("long")
        found.risky = True
        return found
    root = parse(text)
    found.broken = not balanced(text)
    found.head = _head(root)
    try:
        with bounded(steps_for(text)):
            ScanReader(found, text).read(root)
            found.own_equality = own_equality(root)
    except TooCostly:
        found.alone.append("long")
        found.risky = True
    if text.startswith("#!") and not text.startswith("#!["):
        found.alone.append("script line")
    if "$crate" in text:
        found.alone.append("$crate")
    return found


def _head(root: Node) -> int:
    end = 0
    for child in root.children:
        if child.type in ("inner_attribute_item", "shebang"):
            end = child.end_byte
        elif child.type not in ("line_comment", "block_comment"):
            break
        elif text_of(child).startswith(("//!", "/*!")):
            end = child.end_byte
    return end


_TOKEN = re.compile(
    r"""
      //[^\n]*
    | /\*                                             # block comments nest
    | (?:b|c)?r(?P<hashes>\#*)"                        # raw strings
    | (?:b|c)?"(?:[^"\\]|\\.)*(?P<closed>"?)           # strings
    | b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'          # characters
    | '[A-Za-z_]\w*                                    # lifetimes
    | [(\[{}\])]
    """,
    re.X | re.S,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}


def balanced(text: str) -> bool:
    """Whether all brackets match and every string and comment ends. Linear in the text."""
    open_brackets: list[str] = []
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        token, position = match.group(), match.end()
        if token == "/*":
            position = _comment_end(text, position)
        elif match["hashes"] is not None:
            end = text.find('"' + match["hashes"], position)
            position = end + 1 + len(match["hashes"]) if end >= 0 else -1
        elif match["closed"] == "":
            return False
        elif token in "([{":
            open_brackets.append(token)
        elif token in _CLOSES and (not open_brackets or open_brackets.pop() != _CLOSES[token]):
            return False
        if position < 0:
            return False
    return not open_brackets


def _comment_end(text: str, position: int) -> int:
    depth = 1
    for match in re.compile(r"/\*|\*/").finditer(text, position):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return -1
