"""Finds in an answer's text the types whose equality is hand-written.

Every equality that is not derived needs a function `eq` somewhere in the text, whatever names the trait and the type
have there. So each identifier `eq` is checked: one that defines a trait's function in plain code marks the types of
its impl block; one inside a macro, or unexplained, makes every type of the answer suspect (`*`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, partial
from itertools import pairwise

from strop_verify.code.trees import Node, parse, text_of, walk
from strop_verify.verification.rust.names import STANDARD, leaves, plain

ANY = "*"
STANDARD_MACROS = frozenset(
    """
    assert assert_eq assert_ne dbg debug_assert debug_assert_eq debug_assert_ne eprint eprintln format
    format_args matches panic print println thread_local todo unimplemented unreachable vec write writeln
    """.split()  # noqa: SIM905
)
"""Macros that take expressions; their arguments define nothing unless they contain an item."""
_DEFINITIONS = ("struct_item", "enum_item", "union_item")
_NAMES = ("type_identifier", "metavariable")
_TOKENS = ("macro_definition", "macro_invocation", "attribute_item", "ERROR")
_KEYWORDS = {"struct", "enum", "union", "type", "use"}
_BEFORE_A_PATH = ("pub", "use", "::", "(", "crate", ")")
_OPAQUE = ("macro_invocation", "qualified_type", "bracketed_type")
_DERIVES = {"Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Default"}
_ATTRIBUTES = {"derive", "allow", "expect", "warn", "deny", "doc", "repr", "non_exhaustive", "must_use", "default",
               "cfg", "deprecated", "inline"}  # fmt: skip
_ATTRIBUTE = ("attribute_item", "inner_attribute_item")


def own_equality(root: Node) -> list[str]:
    """Names of the types with hand-written equality, and of types built from them; `*` stands for all."""
    macros = {plain(n.child_by_field_name("name")) for n in walk(root) if n.type == "macro_definition"}
    found: set[str] = set()
    aliases = cache(partial(_aliases, root))
    for node in walk(root):
        if node.type == "function_item" and plain(node.child_by_field_name("name")) == "eq":
            found |= _targets(node, aliases)
        elif node.type in _TOKENS and _hides_equality(node, macros):
            found.add(ANY)
    if found and _renames(root):
        found.add(ANY)
    return sorted(_spread(root, found))


def _targets(function: Node, aliases: Callable[[], set[str]]) -> set[str]:
    """The types of the impl block that contains this function."""
    impl = function.parent.parent if function.parent is not None else None
    if impl is None or impl.type != "impl_item" or impl.child_by_field_name("trait") is None:
        return set()
    header = [impl.child_by_field_name("trait"), impl.child_by_field_name("type")]
    parts = [n for part in header if part is not None for n in walk(part)]
    parameters = impl.child_by_field_name("type_parameters")
    within = walk(parameters) if parameters is not None else ()
    free = {plain(n) for n in within if n.type == "type_identifier"}
    # the trait's own name is the last of its path
    trait = next((n for n in parts if n.type == "type_identifier"), None)
    names = {plain(n) for n in parts if n.type in _NAMES and n != trait} - free - {"Self"}
    if not names or any(n.type in _OPAQUE for n in parts) or any(n.startswith("$") for n in names):
        return {ANY}
    return names | ({ANY} if names & aliases() else set())


def _aliases(root: Node) -> set[str]:
    """Names that may be aliases of types."""
    kinds = ("type_item", "associated_type")
    named = {plain(n.child_by_field_name("name")) for n in walk(root) if n.type in kinds}
    return named | {plain(n.child_by_field_name("alias")) for n in _renaming_uses(root)}


def _renaming_uses(root: Node) -> Iterator[Node]:
    """The `as` clauses of imports from outside the standard library."""
    standard = False
    for node in walk(root):
        if node.type == "use_declaration":
            words = (text_of(n) for n in walk(node) if not n.child_count and "comment" not in n.type)
            standard = next((w for w in words if w not in _BEFORE_A_PATH), "") in STANDARD
        elif node.type == "use_as_clause" and not standard:
            yield node


def _renames(root: Node) -> bool:
    """Whether types may be defined, or used in definitions, under names that the parse tree does not show."""
    if next(_renaming_uses(root), None) is not None:
        return True
    end = 0
    """End of the definitions around the current node."""
    for node in walk(root):
        if node.type in ("macro_definition", "macro_invocation") and _KEYWORDS & {
            text_of(x) for x in leaves(node)
        }:
            return True
        if node.type in _OPAQUE and node.start_byte < end:
            return True
        if node.type in (*_DEFINITIONS, "type_item"):
            end = max(end, node.end_byte)
    return False


def _hides_equality(node: Node, macros: set[str]) -> bool:
    """Whether the tokens below the node may become a function `eq`."""
    tokens = [plain(leaf) for leaf in leaves(node)]
    if "eq" not in tokens:
        return False
    if node.type == "macro_invocation":
        name = text_of(node.child_by_field_name("macro")).rpartition("::")[2].removeprefix("r#")
        if name in STANDARD_MACROS - macros and not macros & set(tokens):
            return any(a == "fn" and b == "eq" for a, b in pairwise(tokens))
    return True


def _spread(root: Node, names: Iterable[str]) -> set[str]:
    """These names and the types whose definitions use them, directly or indirectly."""
    found, waiting = set(names), list(names)
    if not waiting:
        return found
    built_from: dict[str, set[str]] = {}
    for node in walk(root):
        if node.type in (*_DEFINITIONS, "type_item"):
            name = plain(node.child_by_field_name("name"))
            for part in {plain(n) for n in walk(node) if n.type == "type_identifier"}:
                built_from.setdefault(part, set()).add(name)
    while waiting:
        fresh = built_from.get(waiting.pop(), set()) - found
        found |= fresh
        waiting += fresh
    return found


def doubtful_types(text: str, crates: Collection[str]) -> set[str]:
    """Types whose equality a macro of these crates may have generated; `*` stands for all types of the answer."""
    root = parse(text)
    own = {plain(n.child_by_field_name("name")) for n in walk(root) if n.type == "macro_definition"}
    found: set[str] = set()
    standard = not _takes_over_derive(root, crates)
    for node in walk(root):
        if node.type in _DEFINITIONS and _foreign_attributes(node):
            # a type with the plain derive cannot have another equality with itself
            if not (standard and "PartialEq" in _derived(node)):
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
    """The attributes before and inside an item."""
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
    """Names in the item's derive attributes; for a path its last name, prefixed with `::`."""
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


def _takes_over_derive(root: Node, crates: Collection[str]) -> bool:
    """Whether the name PartialEq may mean a derive other than the standard library's."""
    for node in walk(root):
        if node.type == "use_declaration":
            words = [plain(leaf) for leaf in leaves(node)]
            if set(words) & set(crates) and ("*" in words or "PartialEq" in words):
                return True
        if node.type == "extern_crate_declaration":
            return True
    return False
