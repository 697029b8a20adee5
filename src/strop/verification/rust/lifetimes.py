"""The shapes of known holes of the compiler, by which safe code gets references that dangle (rust-lang#25860) or values
of another type (rust-lang#57893).

It needs a function one of whose parameters, or whose result, has a type that names two lifetimes, which implies that
one outlives the other, and a use of that function as a value, where the compiler forgets it; or a bound for all
lifetimes on a trait of the text's own, with two lifetimes, which its supertrait forgets (rust-lang#84591). The other
needs a trait that is implemented for all types, and a trait object of it that binds an associated type to another.
"""

from itertools import pairwise, takewhile

from strop.code.trees import Node, parse, walk
from strop.verification.rust.equality import plain
from strop.verification.rust.names import leaves

_FUNCTIONS = ("function_item", "function_signature_item")
_LONGEST_HEAD = 60
"""Tokens behind `impl` or `dyn` that are looked at."""
_TYPES = ("struct_item", "enum_item", "union_item", "type_item", "trait_item", "associated_type")


def forgets_lifetimes(text: str) -> str:
    """A function of that shape that is used as a value, or a trait so bound; empty when there is none."""
    if text.count("'") < 3:
        return ""
    root = parse(text)
    if name := _bound_for_all(root):
        return name
    carrying: set[str] = set()
    """Types that hold two lifetimes themselves."""
    shaped: set[str] = set()
    end = 0
    for node in walk(root):
        if node.type in _TYPES and len(_lifetimes(node)) > 1:
            carrying.add(plain(node.child_by_field_name("name")))
        elif node.type in ("macro_definition", "macro_invocation") and node.start_byte >= end:
            tokens = [plain(n) for n in leaves(node)]
            end = node.end_byte
            named = _lifetimes(node) | {b for a, b in pairwise(tokens) if a == "'"}
            if "fn" in tokens and (len(named) > 1 or "lifetime" in tokens):
                return "a macro that makes functions with lifetimes"
    for node in walk(root):
        if node.type in _FUNCTIONS:
            parameters = node.child_by_field_name("parameters")
            given = parameters.named_children if parameters is not None else []
            types = [parameter.child_by_field_name("type") for parameter in given]
            for type_ in (*types, node.child_by_field_name("return_type")):
                if type_ is not None and (len(_lifetimes(type_)) > 1 or carrying & _types(type_)):
                    shaped.add(plain(node.child_by_field_name("name")))
    if not shaped:
        return ""
    tokens = [*(plain(n) for n in leaves(root)), ";"]
    for number, token in enumerate(tokens[:-1]):
        before = tokens[number - 1] if number else ""
        if token in shaped and before not in ("fn", ".") and tokens[number + 1] != "(":
            return token
    return ""


def _bound_for_all(root: Node) -> str:
    """A trait of the text's own that `for<..>` binds with two lifetimes in its arguments."""
    tokens = [plain(n) for n in leaves(root)]
    own = {b for a, b in pairwise(tokens) if a == "trait"}
    if not own:
        return ""
    for number, token in enumerate(tokens):
        if token == "for" and tokens[number + 1 : number + 2] == ["<"]:
            bound = list(
                takewhile(lambda t: t not in ("{", ";"), tokens[number + 1 : number + _LONGEST_HEAD])
            )
            bound = bound[bound.index(">") + 1 :] if ">" in bound else []
            lifetimes = {b for a, b in pairwise(["", *bound]) if a == "'" or b.startswith("$")}
            if len(lifetimes) > 1 and (names := own & {*bound}):
                return min(names)
    return ""


def swaps_types(text: str) -> str:
    """A trait for all types whose trait objects bind an associated type; empty when there is none."""
    if "dyn" not in text:
        return ""
    tokens = [plain(n) for n in leaves(parse(text))]
    blanket: set[str] = set()
    bound: list[str] = []
    for number, token in enumerate(tokens):
        head = tokens[number + 1 : number + _LONGEST_HEAD]
        if token == "impl" and head[:1] == ["<"] and "for" in head[:-1]:
            place = head.index("for")
            if head[place + 1] in head[1:place] and head[place + 2 : place + 3] in (["{"], ["where"]):
                blanket.update(head[1:place])
        elif token == "dyn" and "=" in head:
            bound += [a for a, b in pairwise(head[: head.index("=")]) if b == "<"]
    return next((name for name in bound if name in blanket), "")


def _lifetimes(node: Node) -> set[str]:
    found = {plain(leaf) for n in walk(node) if n.type == "lifetime" for leaf in n.named_children}
    return found - {"_"}


def _types(node: Node) -> set[str]:
    return {plain(n) for n in walk(node) if n.type == "type_identifier"}
