"""Heads of functions and impl blocks in Rust source: the names of types that stand in them."""

from dataclasses import dataclass

from strop.code.trees import Node, walk
from strop.verification.rust.equality import plain
from strop.verification.rust.names import leaves

_NAMES = ("identifier", "type_identifier", "primitive_type", "metavariable")
_UNSAID = ("abstract_type", "dynamic_type", "qualified_type")
OPAQUE = "impl"
"""Stands among a head's names for a type that is not said."""


@dataclass
class FunctionHead:
    """A function's name, whose it is, and what its head says."""

    name: str
    owners: frozenset[str]
    """Types of its impl block, or its trait; empty for a free one."""
    trait: str
    """The trait that its impl block implements, or empty."""
    head: frozenset[str]


def function_of(node: Node, name: str, owner: Node | None) -> FunctionHead:
    """Reads a function's head. `owner`: the impl block, trait or function around it."""
    owners, trait = frozenset[str](), ""
    generic = generics(node)
    if owner is not None and owner.type == "impl_item":
        generic |= generics(owner)
        owners = frozenset(names_in(owner.child_by_field_name("type")) - generic)
        trait = trait_of(owner)
    elif owner is not None:
        owners = frozenset({plain(owner.child_by_field_name("name"))})
    head: set[str] = set()
    back = node.child_by_field_name("return_type")
    for part in node.named_children:
        if part.type in ("type_parameters", "where_clause") or part == back:
            head |= names_in(part)
        elif part.type == "parameters":
            for parameter in part.named_children:
                head |= names_in(parameter.child_by_field_name("type"))
    if back is not None and any(n.type in _UNSAID for n in walk(back)):
        head.add(OPAQUE)
    if owner is not None and owner.type == "impl_item":
        head |= {n for name, inside in associated(owner).items() if name in head for n in inside}
    return FunctionHead(name, owners, trait, frozenset(head - generic - {"Self"}))


def associated(impl: Node) -> dict[str, frozenset[str]]:
    """Names in the associated types of an impl block."""
    body = impl.child_by_field_name("body")
    parts = [p for p in body.named_children if p.type == "type_item"] if body is not None else []
    generic = generics(impl)
    return {
        plain(p.child_by_field_name("name")): frozenset(names_in(p.child_by_field_name("type")) - generic)
        for p in parts
    }


def trait_of(impl: Node) -> str:
    """The last name of the path of an impl block's trait."""
    trait = impl.child_by_field_name("trait")
    if trait is not None and trait.type == "generic_type":
        trait = trait.child_by_field_name("type")
    return plain(leaves(trait)[-1]) if trait is not None else ""


def names_in(node: Node | None) -> set[str]:
    """Names of types, generics and modules below a node."""
    if node is None:
        return set()
    nodes = list(walk(node))
    hidden = {OPAQUE} if any(n.type == "macro_invocation" for n in nodes) else set()
    return {plain(n) for n in nodes if n.type in _NAMES} | hidden


def generics(node: Node) -> set[str]:
    """Names of an item's type parameters."""
    parameters = node.child_by_field_name("type_parameters")
    found = set()
    for part in parameters.named_children if parameters is not None else ():
        name = part.child_by_field_name("name")
        found.add(plain(name if name is not None else part))
    return found
