"""What a Rust text defines: kinds, variants, fields, heads of functions, impl blocks. Read from its parse tree."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from strop.code.trees import Node, parse, text_of, walk
from strop.verification.rust.equality import STANDARD_MACROS, plain
from strop.verification.rust.heads import FunctionHead, associated, function_of, generics, names_in, trait_of
from strop.verification.rust.names import leaves

_KINDS = {
    "struct_item": "struct", "enum_item": "enum", "union_item": "union", "type_item": "alias", "trait_item": "trait",
    "function_item": "fn", "function_signature_item": "fn", "const_item": "const", "static_item": "static",
    "mod_item": "mod", "macro_definition": "macro",
}  # fmt: skip
_ITEMS = {"const", "static", "struct", "enum", "union", "type", "trait", "fn", "mod", "as"}
"""Words before a name that tokens define or import."""
_OF_TYPES = {"struct", "enum", "union", "trait"}
_STANDARD = ("std", "core", "alloc")
_NO_DATA = {"PhantomData", "PhantomPinned", "Infallible", "Option"}


@dataclass
class Impl:
    """An impl block of a trait."""

    trait: str
    targets: frozenset[str]
    opaque: bool
    """Whether the type's name is hidden by a projection or a macro."""
    types: dict[str, frozenset[str]] = field(default_factory=dict)
    """Names in its associated types."""


@dataclass
class Outline:
    """What a text defines. Names have no `r#`."""

    kinds: dict[str, set[str]] = field(default_factory=dict)
    """Kinds of the items of each name, in whatever module."""
    top: set[str] = field(default_factory=set)
    """Names that stand at the top without a condition."""
    own: set[str] = field(default_factory=set)
    """Types and traits that it makes."""
    aliases: dict[str, set[str]] = field(default_factory=dict)
    variants: dict[str, set[str]] = field(default_factory=dict)
    """By enum."""
    fields: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """Names in the type of a struct's field, of a variant (by its enum) and of a constant (by an empty name)."""
    empty: set[str] = field(default_factory=set)
    """Structs without data."""
    functions: list[FunctionHead] = field(default_factory=list)
    impls: list[Impl] = field(default_factory=list)
    renamed: set[str] = field(default_factory=set)
    """New names that it gives to what it imports."""
    imports: set[str] = field(default_factory=set)
    """Names taken from elsewhere than the standard library, and new names of what is imported."""
    glob: bool = False
    """It imports all of a place that is not the standard library."""
    in_macros: set[str] = field(default_factory=set)
    """Tokens of its macros and of calls of macros outside of functions."""
    made_by_macros: set[str] = field(default_factory=set)
    """What stands behind `fn` and `impl` there; `$` for what the macro is given."""
    defined_by_macros: set[str] = field(default_factory=set)
    """Names that macros may define: those behind an item's word, and all that a macro is given or may hand on."""
    standard: set[str] = field(default_factory=set)
    """Names in imports from the standard library."""
    derives: dict[str, set[str]] = field(default_factory=dict)

    def spelled_out(self, names: Iterable[str]) -> set[str]:
        """Names with the text's aliases replaced by what they stand for."""
        found, waiting = set(), list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.aliases.get(name, ())
        return found

    def holds_data(self, name: str) -> bool:
        """Whether values of a type may differ otherwise than by their variant."""
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
    for node in walk(parse(text)):
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
            _impl(found, node)
            around.append(
                _Around(node.end_byte, node, hidden=True, in_function=outer is not None and outer.in_function)
            )
        elif node.type in _KINDS:
            _item(found, node, outer, attributes)
            around.append(_within(node, outer, attributes))
        elif node.type == "macro_invocation" and not (outer and outer.in_function):
            _macro(found, node)
    return found


@dataclass
class _Around:
    """An item around the current node."""

    end: int
    owner: Node | None
    """The nearest impl block, trait or function."""
    hidden: bool
    """Whether what stands in it is no item of a module, or under a condition."""
    in_function: bool


def _within(node: Node, outer: _Around | None, attributes: list[set[str]]) -> _Around:
    owns = _KINDS[node.type] in ("fn", "trait")
    return _Around(
        node.end_byte,
        node if owns else outer.owner if outer else None,
        hidden=owns or _conditional(attributes) or (outer is not None and outer.hidden),
        in_function=_KINDS[node.type] == "fn" or (outer is not None and outer.in_function),
    )


def _conditional(attributes: list[set[str]]) -> bool:
    return any(tokens & {"cfg", "cfg_attr"} for tokens in attributes)


def _macro(found: Outline, node: Node) -> None:
    tokens = [plain(n) for n in leaves(node)]
    found.in_macros.update(tokens)
    for before, token in pairwise(tokens):
        if before in ("fn", "impl"):
            found.made_by_macros.add("$" if token.startswith("$") else token)
    given = node.type == "macro_invocation" and tokens[0] not in STANDARD_MACROS
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
        found.functions.append(function_of(node, name, outer.owner if outer else None))
    elif kind == "alias" and not (outer and outer.owner is not None and outer.owner.type == "impl_item"):
        found.aliases.setdefault(name, set()).update(names_in(node.child_by_field_name("type")))
    if kind in _OF_TYPES:
        found.own.add(name)
        found.derives.setdefault(name, set()).update(*(t for t in attributes if "derive" in t))
    if kind == "enum":
        variants = {plain(n.child_by_field_name("name")): n for n in walk(node) if n.type == "enum_variant"}
        found.variants.setdefault(name, set()).update(variants)
        for variant, part in variants.items():
            found.fields[name, variant] = frozenset(names_in(part.child_by_field_name("body")))
    elif kind in ("const", "static"):
        found.fields["", name] = frozenset(names_in(node.child_by_field_name("type")))
    elif kind == "struct":
        _fields(found, node, name)
    if not (outer and outer.hidden) and not _conditional(attributes):
        found.kinds.setdefault(name, set()).add(kind)
        if outer is None:
            found.top.add(name)


def _fields(found: Outline, node: Node, name: str) -> None:
    body = node.child_by_field_name("body")
    number = 0
    for part in body.named_children if body is not None else ():
        if part.type == "field_declaration":
            inside = frozenset(names_in(part.child_by_field_name("type")))
            found.fields[name, plain(part.child_by_field_name("name"))] = inside
        elif part.type != "visibility_modifier" and "comment" not in part.type:
            found.fields[name, str(number)] = frozenset(names_in(part))
            number += 1
    if body is None or not any(_holds_data(part) for part in body.named_children):
        found.empty.add(name)


def _holds_data(node: Node) -> bool:
    """Whether a value of the types in a field, without what stands in PhantomData and arrays of no items, has data."""
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


def _impl(found: Outline, node: Node) -> None:
    target = node.child_by_field_name("type")
    opaque = target is not None and any(
        n.type in ("qualified_type", "macro_invocation") for n in walk(target)
    )
    targets = frozenset(names_in(target) - generics(node))
    made = Impl(trait_of(node), targets, opaque)
    made.types.update(associated(node))
    if made.trait:
        found.impls.append(made)


def _imports(found: Outline, node: Node) -> None:
    tokens = [plain(n) for n in leaves(node)]
    start = tokens.index("use") + 1
    head = next((t for t in tokens[start:] if t != "::"), "")
    if head not in _STANDARD:
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
