"""Reads the type names in signatures of functions and heads of impl blocks in Rust source."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from strop_verify.code.trees import Node, walk
from strop_verify.verification.rust.names import leaves, plain

_NAMES = ("identifier", "type_identifier", "primitive_type", "metavariable")
_UNSAID = ("abstract_type", "dynamic_type", "qualified_type")
OPAQUE = "impl"
"""Represents a type without a name in a signature, such as `impl Trait`."""
OPAQUES = "impl impl"
"""Represents a second one, such as the items of an unnamed iterator type."""


@dataclass
class FunctionHead:
    """A function's name, its owner, and the names in its signature."""

    name: str
    owners: frozenset[str]
    """Types of its impl block, or its trait; empty for a free function."""
    trait: str
    """The trait that its impl block implements, or that contains it; or empty."""
    head: frozenset[str]


@dataclass(frozen=True)
class OwnerHead:
    """What the enclosing impl block, trait or function adds to the signatures inside; read once for all of them."""

    generic: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    trait: str = ""
    bounds: frozenset[str] = frozenset()
    said: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Names in its associated types."""


def owner_head(owner: Node | None) -> OwnerHead:
    """Reads the impl block, trait or function around a function, if there is one."""
    if owner is None:
        return OwnerHead()
    if owner.type == "impl_item":
        generic = frozenset(generics(owner))
        return OwnerHead(
            generic, owners(owner), trait_of(owner), frozenset(bounds(owner, generic)), associated(owner)
        )
    name = plain(owner.child_by_field_name("name"))
    return OwnerHead(owners=frozenset({name}), trait=name if owner.type == "trait_item" else "")


def function_of(node: Node, name: str, owner: OwnerHead) -> FunctionHead:
    """Reads a function's signature."""
    generic = generics(node) | owner.generic
    head = set(owner.bounds)
    back = node.child_by_field_name("return_type")
    for part in node.named_children:
        if part.type in ("type_parameters", "where_clause") or part == back:
            head |= names_in(part, generic)
        elif part.type == "parameters":
            for parameter in part.named_children:
                head |= names_in(parameter.child_by_field_name("type"), generic)
    said = owner.said
    within = walk(back) if back is not None else ()
    unsaid = [n.type for n in within if n.type in _UNSAID or _of_self(n, said)]
    head |= {OPAQUE} if unsaid else set()
    head |= {OPAQUES} if unsaid.count("abstract_type") + unsaid.count("dynamic_type") > 1 else set()
    head |= {n for name in head & said.keys() for n in said[name]}
    return FunctionHead(name, owner.owners, owner.trait, frozenset(head - {"Self"}))


def _of_self(node: Node, said: Collection[str]) -> bool:
    """Whether the node is an associated type (`Self::Unit`) that the impl block does not define."""
    parts = [plain(n) for n in leaves(node)] if node.type == "scoped_type_identifier" else []
    return parts[:1] == ["Self"] and parts[-1] not in said


def associated(impl: Node) -> dict[str, frozenset[str]]:
    """Names in the associated types of an impl block."""
    body = impl.child_by_field_name("body")
    parts = [p for p in body.named_children if p.type == "type_item"] if body is not None else []
    generic = generics(impl)
    return {
        plain(p.child_by_field_name("name")): frozenset(names_in(p.child_by_field_name("type"), generic))
        for p in parts
    }


def owners(impl: Node) -> frozenset[str]:
    """Names in the type that an impl block is for; with `OPAQUE` if a projection or a macro hides it."""
    target = impl.child_by_field_name("type")
    hidden = target is not None and any(n.type == "qualified_type" for n in walk(target))
    return frozenset(names_in(target, generics(impl))) | ({OPAQUE} if hidden else set())


def bounds(item: Node, generic: Collection[str]) -> set[str]:
    """Names in an item's type parameters, with their bounds and defaults, and in its where clause."""
    parts = (p for p in item.named_children if p.type in ("type_parameters", "where_clause"))
    return {name for part in parts for name in names_in(part, generic)}


def trait_of(impl: Node) -> str:
    """The last name of the path of an impl block's trait."""
    trait = impl.child_by_field_name("trait")
    if trait is not None and trait.type == "generic_type":
        trait = trait.child_by_field_name("type")
    return plain(leaves(trait)[-1]) if trait is not None else ""


def names_in(node: Node | None, without: Collection[str] = ()) -> set[str]:
    """Names of types, generics and modules below a node. `without`: generics to leave out unless they end a path."""
    if node is None:
        return set()
    nodes = list(walk(node))
    hidden = {OPAQUE} if any(n.type == "macro_invocation" for n in nodes) else set()
    named = [n for n in nodes if n.type in _NAMES]
    return {name for n in named if (name := plain(n)) not in without or _ends_path(n)} | hidden


def _ends_path(name: Node) -> bool:
    path = name.parent
    return path is not None and path.type.startswith("scoped_") and path.child_by_field_name("name") == name


def generics(node: Node) -> set[str]:
    """Names of an item's type parameters."""
    parameters = node.child_by_field_name("type_parameters")
    found = set()
    for part in parameters.named_children if parameters is not None else ():
        name = part.child_by_field_name("name")
        found.add(plain(name if name is not None else part))
    return found
