"""What an answer does with third-party crates, by its text: which ones it names, and what their macros could hide."""

from collections.abc import Collection
from itertools import pairwise

from strop.code.trees import Node, parse, text_of, walk
from strop.verification.rust.equality import ANY, STANDARD_MACROS, plain
from strop.verification.rust.names import leaves

_DERIVES = {"Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Default"}
_ATTRIBUTES = {"derive", "allow", "expect", "warn", "deny", "doc", "repr", "non_exhaustive", "must_use", "default",
               "cfg", "deprecated", "inline"}  # fmt: skip
_TYPES = ("struct_item", "enum_item", "union_item")
_ATTRIBUTE = ("attribute_item", "inner_attribute_item")


def crates_named(text: str, names: Collection[str]) -> set[str]:
    """Those of `names` that the text uses as a crate: at the head of a path, in a use or extern crate declaration."""
    found: set[str] = set()
    if not any(name in text for name in names):
        return found
    root = parse(text)
    for node in walk(root):
        if node.type in ("use_declaration", "extern_crate_declaration"):
            found |= {plain(leaf) for leaf in leaves(node)}
    tokens = [plain(leaf) for leaf in leaves(root)]
    for number, token in enumerate(tokens):
        after = tokens[number + 1] if number + 1 < len(tokens) else ""
        before = tokens[number - 1] if number else ""
        if after == "::" or before in ("use", "crate"):
            found.add(token)
    return found & set(names)


def private_part(text: str) -> str:
    """A path into what crates keep for their own macros (`krate::__name`), or empty: it may reach what text hides."""
    tokens = [plain(leaf) for leaf in leaves(parse(text))]
    return next((b for a, b in pairwise(tokens) if a == "::" and b.startswith("__")), "")


def doubtful_types(text: str, crates: Collection[str]) -> set[str]:
    """Types whose equality a macro of these crates may have written; `*` stands for all types of the answer."""
    root = parse(text)
    own = {plain(n.child_by_field_name("name")) for n in walk(root) if n.type == "macro_definition"}
    found: set[str] = set()
    standard = not _takes_over_derive(root, crates)
    for node in walk(root):
        if node.type in _TYPES and _foreign_attributes(node) and not (standard and _derives_equality(node)):
            found.add(plain(node.child_by_field_name("name")))
        elif node.type == "macro_invocation":
            name = text_of(node.child_by_field_name("macro")).rpartition("::")[2]
            words = {plain(leaf) for leaf in leaves(node)}
            if name not in STANDARD_MACROS | own and words & {"impl", "PartialEq", "struct", "enum"}:
                found.add(ANY)
        elif node.type == "use_as_clause":
            found |= {ANY} if plain(node.child_by_field_name("alias")) == "PartialEq" else set()
        elif node.type == "impl_item" and any(_name(a) not in _ATTRIBUTES for a in _attributes(node)):
            found.add(ANY)
    return found


def _attributes(item: Node) -> list[Node]:
    """The attributes above an item and within it."""
    found = [n for n in walk(item) if n.type in _ATTRIBUTE]
    before = item.prev_named_sibling
    while before is not None and before.type in (*_ATTRIBUTE, "line_comment", "block_comment"):
        if before.type in _ATTRIBUTE:
            found.append(before)
        before = before.prev_named_sibling
    return found


def _name(attribute: Node) -> str:
    inner = attribute.named_children[0] if attribute.named_children else attribute
    return plain(inner.named_children[0]) if inner.named_children else text_of(inner)


def _derived(item: Node) -> list[str]:
    """What the item's derive attributes name; paths by their last name, with `::` before it."""
    names: list[str] = []
    for attribute in _attributes(item):
        if _name(attribute) == "derive":
            tokens = [plain(leaf) for leaf in leaves(attribute)]
            start = tokens.index("(") if "(" in tokens else len(tokens)
            for before, token in zip(tokens[start:], tokens[start + 1 :], strict=False):
                if token.isidentifier():
                    names.append(token if before in ("(", ",") else f"::{token}")
    return names


def _foreign_attributes(item: Node) -> bool:
    foreign = any(name not in _DERIVES for name in _derived(item))
    return foreign or any(_name(a) not in _ATTRIBUTES for a in _attributes(item))


def _derives_equality(item: Node) -> bool:
    """Whether the plain derive is there: then no other equality of the type with itself can be."""
    return "PartialEq" in _derived(item)


def _takes_over_derive(root: Node, crates: Collection[str]) -> bool:
    """Whether the name PartialEq may be another derive than the standard library's."""
    for node in walk(root):
        if node.type == "use_declaration":
            words = [plain(leaf) for leaf in leaves(node)]
            if set(words) & set(crates) and ("*" in words or "PartialEq" in words):
                return True
        if node.type == "extern_crate_declaration":
            return True
    return False
