"""Names that Rust source defines, imports, calls and tests."""

from collections.abc import Sequence
from itertools import pairwise
from unicodedata import normalize

from strop_verify.code.rust.items import attributes
from strop_verify.code.trees import Node, parse, text_of, walk

STANDARD = ("std", "core", "alloc")
"""The standard library's crates."""


def plain(node: Node | None) -> str:
    """A name as rustc knows it: without `r#`, in Unicode form NFC."""
    name = text_of(node).removeprefix("r#")
    return name if name.isascii() else normalize("NFC", name)


def trait_methods(text: str) -> set[str]:
    """Methods of the traits that a text defines; `*` if a macro may define some."""
    found: set[str] = set()
    end = 0
    """End of the traits around the current node."""
    for node in walk(parse(text)):
        if node.type == "trait_item":
            end = max(end, node.end_byte)
        elif node.type in ("function_item", "function_signature_item") and node.start_byte < end:
            found.add(text_of(node.child_by_field_name("name")))
        elif node.type == "macro_definition" and any(text_of(n) == "trait" for n in walk(node)):
            found.add("*")
    return found


def leaves(root: Node) -> list[Node]:
    """Tokens in order, without comments; each literal is one token."""
    whole = ("string_literal", "raw_string_literal", "char_literal", "line_comment", "block_comment")
    found, skip = [], -1
    for node in walk(root):
        if node.start_byte < skip:
            continue
        if node.type in whole:
            skip = node.end_byte
            if "comment" not in node.type:
                found.append(node)
        elif node.child_count == 0:
            found.append(node)
    return found


def defined(text: str) -> set[str]:
    """Names that a text defines or imports by name."""
    found: set[str] = set()
    for node in walk(parse(text)):
        if node.type.endswith("_item") or node.type == "macro_definition":
            found.add(text_of(node.child_by_field_name("name")))
    return found | imported(text)


def imported(text: str) -> set[str]:
    """Names in a text's use declarations, except the standard library's crates."""
    declarations = (n for n in walk(parse(text)) if n.type == "use_declaration")
    return {text_of(x) for d in declarations for x in walk(d) if x.type == "identifier"} - {*STANDARD}


def first_names(tokens: Sequence[str], place: int) -> set[str]:
    """First names of the paths in the braced list that starts at token `place`: of `{{fs}, io::{self}}`, fs and io."""
    names: set[str] = set()
    outer: list[bool] = []
    """For each brace around the current token, whether no name precedes it."""
    for number in range(place, len(tokens)):
        token, before = tokens[number], tokens[number - 1]
        if token == "{":
            outer.append(not outer or (outer[-1] and before in ("{", ",")))
        elif token == "}":
            outer.pop()
            if not outer:
                break
        elif outer[-1] and before in ("{", ","):
            names.add(token)
    return names


def macros_called(root: Node) -> set[str]:
    """Names of the macros called below a node."""
    tokens = [text_of(leaf) for leaf in leaves(root)]
    pairs = pairwise(tokens)
    return {a for a, b in pairs if b == "!" and a.isidentifier() and a != "macro_rules"}


def methods_called(root: Node) -> set[str]:
    """Names that follow a dot, such as called methods."""
    tokens = [text_of(leaf) for leaf in leaves(root)]
    return {b for a, b in pairwise(tokens) if a == "." and b.isidentifier()}


def tests_of(parent: Node, path: str = "") -> set[str]:
    """Module paths of test functions below a node, except ignored and conditional ones."""
    names: set[str] = set()
    for child in parent.named_children:
        body = child.child_by_field_name("body")
        if child.type not in ("function_item", "mod_item") or body is None:
            continue
        marks = [mark.strip("#[]") for mark in attributes(child)]
        if any(mark.startswith("cfg") and mark != "cfg(test)" for mark in marks):
            continue
        name = f"{path}{text_of(child.child_by_field_name('name'))}"
        if child.type == "mod_item":
            names |= tests_of(body, f"{name}::")
        elif "test" in marks and not any(mark.split("=")[0] == "ignore" for mark in marks):
            names.add(name)
    return names
