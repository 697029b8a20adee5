"""Reads from a Rust text's parse tree what it defines: kinds, variants, fields, signatures, impl blocks."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from strop_verify.code.trees import Node, parse, text_of, walk
from strop_verify.verification.rust.equality import STANDARD_MACROS
from strop_verify.verification.rust.heads import (
    FunctionHead,
    OwnerHead,
    associated,
    bounds,
    function_of,
    generics,
    names_in,
    owner_head,
    owners,
    trait_of,
)
from strop_verify.verification.rust.names import STANDARD, leaves, plain

_KINDS = {
    "struct_item": "struct", "enum_item": "enum", "union_item": "union", "type_item": "alias", "trait_item": "trait",
    "function_item": "fn", "function_signature_item": "fn", "const_item": "const", "static_item": "static",
    "mod_item": "mod", "macro_definition": "macro",
}  # fmt: skip
_ITEMS = {"const", "static", "struct", "enum", "union", "type", "trait", "fn", "mod", "as"}
"""Keywords before a name that is defined or imported."""
_ITEM_WORDS = {"impl", "fn", "macro_rules", *_ITEMS} - {"as"}
_OF_TYPES = {"struct", "enum", "union", "trait"}
_NO_DATA = {"PhantomData", "PhantomPinned", "Infallible", "Option"}


@dataclass
class Impl:
    """An impl block of a trait."""

    trait: str
    targets: frozenset[str]
    """With `OPAQUE` if the type's name is hidden by a projection or a macro."""
    types: dict[str, frozenset[str]]
    """Names in its associated types."""


@dataclass
class Outline:
    """What a text defines. Names have no `r#`."""

    kinds: dict[str, set[str]] = field(default_factory=dict)
    """Kinds of the items of each name, in any module."""
    top: set[str] = field(default_factory=set)
    """Unconditional top-level names."""
    own: set[str] = field(default_factory=set)
    """Types and traits that it defines."""
    aliases: dict[str, set[str]] = field(default_factory=dict)
    variants: dict[str, set[str]] = field(default_factory=dict)
    """Variants by enum."""
    common: dict[str, set[str]] = field(default_factory=dict)
    """Variants that all enums of a name have."""
    fields: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """Type names by (owner, name), over all items of that name: a struct and field, an enum and variant, "" and a
    constant; a type and "" hold the names in its parameters and where clause."""
    empty: set[str] = field(default_factory=set)
    """Structs without data."""
    functions: list[FunctionHead] = field(default_factory=list)
    impls: list[Impl] = field(default_factory=list)
    renamed: set[str] = field(default_factory=set)
    """New names given to imports."""
    imports: set[str] = field(default_factory=set)
    """Names imported from outside the standard library, and new names of imports."""
    glob: bool = False
    """Whether it has a glob import from outside the standard library."""
    in_macros: set[str] = field(default_factory=set)
    """Tokens of its macros and of macro calls outside functions."""
    made_by_macros: set[str] = field(default_factory=set)
    """Tokens after `fn` and `impl` there; `$` for a macro's argument."""
    types_of_macros: set[str] = field(default_factory=set)
    """Tokens after `struct`, `enum`, `union` and `type` there; `$` for anything but a name."""
    filled: set[str] = field(default_factory=set)
    """Types and traits with macro calls in their bodies or impl blocks."""
    given: set[str] = field(default_factory=set)
    """Tokens of calls of macros other than the standard library's."""
    defined_by_macros: set[str] = field(default_factory=set)
    """Names that macros may define: those after an item's keyword, and all that a macro is given or may pass on."""
    standard: set[str] = field(default_factory=set)
    """Names in imports from the standard library."""
    derives: dict[str, set[str]] = field(default_factory=dict)

    def spelled_out(self, names: Iterable[str]) -> set[str]:
        """These names and, for aliases, the names that they stand for."""
        found, waiting = set(), list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.aliases.get(name, ())
        return found

    def holds_data(self, name: str) -> bool:
        """Whether values of a type may differ in more than their variant."""
        variants = self.variants.get(name)
        return variants is None or any(self.fields.get((name, variant)) for variant in variants)


@lru_cache(maxsize=512)
def known_outline(text: str) -> Outline:
    """The outline of a task's own text."""
    return outline(text)


def outline(text: str) -> Outline:
    """Reads a text."""
    found = Outline()
    around: list[_Around] = []
    pending: list[set[str]] = []
    """Tokens of the attributes above the next item."""
    end = 0
    root = parse(text)
    for node in walk(root):
        while around and around[-1].end <= node.start_byte:
            around.pop()
        if node.type in ("attribute_item", "line_comment", "block_comment"):
            pending += [{plain(n) for n in leaves(node)}] if node.type == "attribute_item" else []
            end = node.end_byte
        if node.start_byte < end:
            continue
        attributes, pending = pending, []
        outer = around[-1] if around else None
        if node.type == "use_declaration":
            _imports(found, node)
        elif node.type == "impl_item":
            if trait := trait_of(node):
                found.impls.append(Impl(trait, owners(node), associated(node)))
            within = outer is not None and outer.in_function
            around.append(_Around(node.end_byte, node, True, within, owner_head(node)))
        elif node.type in _KINDS:
            _item(found, node, outer, attributes)
            around.append(_within(node, outer, attributes))
        elif node.type == "macro_invocation":
            _macro_call(found, node, outer)
    if root.has_error and any(_hides_items(n) for n in walk(root) if n.type == "ERROR"):
        _macro(found, root)
    return found


def _hides_items(error: Node) -> bool:
    """Whether the part that the parser could not read may contain items, not only parts of types or expressions."""
    outside = error.parent is None or error.parent.type in ("source_file", "declaration_list")
    return outside or bool(_ITEM_WORDS & {text_of(n) for n in leaves(error)})


@dataclass
class _Around:
    """An item around the current node."""

    end: int
    owner: Node | None
    """The nearest impl block, trait or function."""
    hidden: bool
    """Whether what it contains is conditional, or not an item of a module."""
    in_function: bool
    head: OwnerHead
    """What the owner adds to the signatures of its functions."""


def _within(node: Node, outer: _Around | None, attributes: list[set[str]]) -> _Around:
    owns = _KINDS[node.type] in ("fn", "trait")
    return _Around(
        node.end_byte,
        node if owns else outer.owner if outer else None,
        hidden=owns or _conditional(attributes) or (outer is not None and outer.hidden),
        in_function=_KINDS[node.type] == "fn" or (outer is not None and outer.in_function),
        head=owner_head(node) if owns else outer.head if outer else OwnerHead(),
    )


def _conditional(attributes: list[set[str]]) -> bool:
    return any(tokens & {"cfg", "cfg_attr"} for tokens in attributes)


def _macro_call(found: Outline, node: Node, outer: "_Around | None") -> None:
    """Adds what a macro call may define: anything outside functions, only impl blocks and exported macros inside."""
    if outer is None or not outer.in_function or {"impl", "macro_rules"} & {plain(n) for n in leaves(node)}:
        _macro(found, node)
    body = node.parent if node.parent is not None and node.parent.type == "declaration_list" else None
    if body is not None and body.parent is not None and body.parent.type == "impl_item":
        found.filled |= owners(body.parent)
    elif body is not None and body.parent is not None and body.parent.type == "trait_item":
        found.filled.add(plain(body.parent.child_by_field_name("name")))


def _macro(found: Outline, node: Node) -> None:
    tokens = [plain(n) for n in leaves(node)]
    found.in_macros.update(tokens)
    for before, token in pairwise(tokens):
        if before in ("fn", "impl"):
            found.made_by_macros.add("$" if token.startswith("$") else token)
        elif before in ("struct", "enum", "union", "type"):
            found.types_of_macros.add(token if token.isidentifier() else "$")
    given = node.type == "macro_invocation" and tokens[0] not in STANDARD_MACROS
    found.given.update(tokens if given else ())
    hands_on = any(b == "!" and a.isidentifier() for a, b in pairwise(tokens[2:])) and bool(
        _ITEMS & {*tokens}
    )
    items = _ITEMS | ({"::", "{", ","} if "use" in tokens else set())
    found.defined_by_macros |= (
        set(tokens) if given or hands_on else {b for a, b in pairwise(tokens) if a in items}
    )


def _item(found: Outline, node: Node, outer: _Around | None, attributes: list[set[str]]) -> None:
    kind, name = _KINDS[node.type], plain(node.child_by_field_name("name"))
    if kind == "macro":
        _macro(found, node)
    elif kind == "fn":
        found.functions.append(function_of(node, name, outer.head if outer else OwnerHead()))
    elif kind == "alias" and not (outer and outer.owner is not None and outer.owner.type == "impl_item"):
        found.aliases.setdefault(name, set()).update(names_in(node.child_by_field_name("type")))
    if kind in _OF_TYPES:
        found.own.add(name)
        _field(found, name, "", bounds(node, generics(node)))
        found.derives.setdefault(name, set()).update(*(t for t in attributes if "derive" in t))
    if kind == "enum":
        variants = {plain(n.child_by_field_name("name")): n for n in walk(node) if n.type == "enum_variant"}
        found.variants.setdefault(name, set()).update(variants)
        found.common[name] = variants.keys() & found.common.get(name, variants.keys())
        for variant, part in variants.items():
            _field(found, name, variant, names_in(part.child_by_field_name("body")))
    elif kind in ("const", "static"):
        _field(found, "", name, names_in(node.child_by_field_name("type")))
    elif kind == "struct":
        _fields(found, node, name)
    if not (outer and outer.hidden) and not _conditional(attributes):
        found.kinds.setdefault(name, set()).add(kind)
        if outer is None:
            found.top.add(name)


def _field(found: Outline, owner: str, name: str, names: set[str]) -> None:
    found.fields[owner, name] = found.fields.get((owner, name), frozenset()) | names


def _fields(found: Outline, node: Node, name: str) -> None:
    body = node.child_by_field_name("body")
    number = 0
    for part in body.named_children if body is not None else ():
        if part.type == "field_declaration":
            inside = names_in(part.child_by_field_name("type"))
            _field(found, name, plain(part.child_by_field_name("name")), inside)
        elif part.type != "visibility_modifier" and "comment" not in part.type:
            _field(found, name, str(number), names_in(part))
            number += 1
    if body is None or not any(_holds_data(part) for part in body.named_children):
        found.empty.add(name)


def _holds_data(node: Node) -> bool:
    """Whether a field's type holds data, ignoring PhantomData and empty arrays."""
    end = 0
    for part in walk(node):
        if part.start_byte < end:
            continue
        name = plain(part.child_by_field_name("type")) if part.type == "generic_type" else ""
        length = part.child_by_field_name("length") if part.type == "array_type" else None
        if name.endswith("PhantomData") or (length is not None and not text_of(length).strip("0_usize")):
            end = part.end_byte
        elif part.type in ("type_identifier", "primitive_type") and plain(part) not in _NO_DATA:
            return True
    return False


def _imports(found: Outline, node: Node) -> None:
    tokens = [plain(n) for n in leaves(node)]
    start = tokens.index("use") + 1
    head = next((t for t in tokens[start:] if t != "::"), "")
    if head not in STANDARD:
        found.glob = found.glob or "*" in tokens
        after = [*tokens[start + 1 :], ";"]
        pairs = zip(tokens[start:], after, strict=False)
        found.imports |= {t for t, behind in pairs if behind not in ("::", "as") and t.isidentifier()}
    else:
        found.standard |= {t for t in tokens[start:] if t.isidentifier()}
    for number, token in enumerate(tokens[:-1]):
        if token == "as" and number:
            found.imports.add(tokens[number + 1])
            found.renamed.add(tokens[number + 1])
            found.aliases.setdefault(tokens[number + 1], set()).add(tokens[number - 1])
