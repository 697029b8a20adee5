"""Names in Rust source: what it defines, imports, calls and tests."""

from collections.abc import Sequence
from itertools import pairwise

from strop.code.trees import Node, parse, text_of, walk


def trait_methods(text: str) -> set[str]:
    """Names of the methods of the traits that a text defines; `*` when a macro may define some."""
    found: set[str] = set()
    end = 0
    """Of the traits around the current node."""
    for node in walk(parse(text)):
        if node.type == "trait_item":
            end = max(end, node.end_byte)
        elif node.type in ("function_item", "function_signature_item") and node.start_byte < end:
            found.add(text_of(node.child_by_field_name("name")))
        elif node.type == "macro_definition" and any(text_of(n) == "trait" for n in walk(node)):
            found.add("*")
    return found


def leaves(root: Node) -> list[Node]:
    """Tokens in order, literals whole, comments left out."""
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
    """Names in the use declarations of a text."""
    declarations = (n for n in walk(parse(text)) if n.type == "use_declaration")
    return {text_of(x) for d in declarations for x in walk(d) if x.type == "identifier"} - {
        "std",
        "core",
        "alloc",
    }


def first_names(tokens: Sequence[str], place: int) -> set[str]:
    """First names of the paths in the braced list that begins at a token: of `{{fs}, io::{self}}`, fs and io."""
    names: set[str] = set()
    outer: list[bool] = []
    """For each brace around the current token, whether no name stands before it."""
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
    """Names of macros that are called."""
    tokens = [text_of(leaf) for leaf in leaves(root)]
    pairs = pairwise(tokens)
    return {a for a, b in pairs if b == "!" and a.isidentifier() and a != "macro_rules"}


def methods_called(root: Node) -> set[str]:
    """Names behind a dot."""
    tokens = [text_of(leaf) for leaf in leaves(root)]
    return {b for a, b in pairwise(tokens) if a == "." and b.isidentifier()}


def tests_of(root: Node) -> tuple[set[str], bool]:
    """Test functions by module path, and whether macros cannot have made more."""
    names: set[str] = set()
    complete = not root.has_error

    def visit(parent: Node, path: str) -> None:
        nonlocal complete
        attributes: list[str] = []
        for child in parent.named_children:
            if child.type == "attribute_item":
                attributes.append("".join(text_of(child).split()).strip("#[]"))
                continue
            if child.type in ("line_comment", "block_comment"):
                continue
            conditional = any(a.startswith("cfg") and a != "cfg(test)" for a in attributes)
            ignored = any(a.split("=")[0] == "ignore" for a in attributes)
            name = f"{path}{text_of(child.child_by_field_name('name'))}"
            if child.type == "function_item" and "test" in attributes and not conditional and not ignored:
                names.add(name)
            elif child.type == "mod_item" and not conditional:
                body = child.child_by_field_name("body")
                if body is not None:
                    visit(body, f"{name}::")
            elif child.type == "macro_invocation" or (
                child.type == "expression_statement" and "!" in text_of(child)
            ):
                complete = False
            attributes = []

    visit(root, "")
    return names, complete
