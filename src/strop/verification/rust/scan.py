"""What the source text of an answer says about how it must be built, read from its parse tree.

Nothing here decides a verdict by itself: a scan chooses the way (with others in one crate, or alone), names the types
whose equality the answer wrote by hand, and finds what strict mode refuses. Linear in the text; never runs it.
"""

from functools import lru_cache

from tree_sitter import Node

from strop.verification.rust.delimiters import balanced
from strop.verification.rust.reader import Reader, Scan
from strop.verification.rust.syntax import parse, text_of, walk

__all__ = ["LONGEST", "Scan", "scan"]

LONGEST = 100_000
"""Bytes of an answer that are parsed; longer ones are compiled alone."""


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
    Reader(found, text.encode()).read(root)
    _spread_equality(root, found)
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


def _spread_equality(root: Node, found: Scan) -> None:
    """Adds the types whose definition names a type with equality of its own."""
    if not found.own_equality:
        return
    kinds = ("struct_item", "enum_item", "union_item", "type_item")
    definitions = {
        text_of(n.child_by_field_name("name")): {text_of(x) for x in walk(n) if x.type == "type_identifier"}
        for n in walk(root)
        if n.type in kinds
    }
    built_from: dict[str, set[str]] = {}
    for name, parts in definitions.items():
        for part in parts:
            built_from.setdefault(part, set()).add(name)
    names, waiting = set(found.own_equality), list(found.own_equality)
    while waiting:
        fresh = built_from.get(waiting.pop(), set()) - names
        names |= fresh
        waiting += fresh
    found.own_equality = sorted(names)
