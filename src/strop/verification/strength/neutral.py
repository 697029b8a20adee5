"""The same text with assertions that never fail: a test that still fails has crashed, and noticed nothing.

Assertions still evaluate their operands, so code that panics or raises inside one still does. `.unwrap()`, `?` and
`panic!` of the tests stay and count as crashing.
"""

from hashlib import sha256
from itertools import pairwise

from strop.code.python.items import PythonItems
from strop.code.rust.items import RustItems
from strop.code.trees import Node, Regions, Source, Span, span

_LOOKS = {
    "assert": "looks",
    "assert_eq": "looks_eq",
    "assert_ne": "looks_ne",
    "debug_assert": "looks",
    "debug_assert_eq": "looks_eq",
    "debug_assert_ne": "looks_ne",
}
_PATTERNS = {
    "looks": ("$a:expr", "$a"),
    "looks_eq": ("$a:expr, $b:expr", "$a == $b"),
    "looks_ne": ("$a:expr, $b:expr", "$a != $b"),
}
_EQUAL = frozenset({"assertEqual", "assertListEqual", "assertDictEqual", "assertEquals"})
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})


def neutral(code: str, language: str) -> str:
    """`code` with assertions that never fail; `code` itself when it is too long. Raises UserError for a language."""
    source = Source(code, language)
    if source.too_long:
        return code
    edits = _rust(source) if language == "rust" else _python(source)
    data = source.data
    for (start, end), text in sorted(edits, reverse=True):
        data = data[:start] + text.encode() + data[end:]
    return data.decode("utf-8", "surrogatepass")


def _rust(source: Source) -> list[tuple[Span, str]]:
    items = RustItems(source)
    places = Regions([*items.regions.spans, *(span(n) for n in source.all("macro_definition"))])
    edits: list[tuple[Span, str]] = []
    mark_of_text = sha256(source.data).hexdigest()[:12]  # no name that an answer could have taken
    leaves = source.leaves(source.root)
    for name, mark in pairwise(leaves):
        if mark.type == "!" and name.type == "identifier" and places.hold(name):
            after = _LOOKS.get(source.string(name))
            edits += [(span(name), f"{after}_{mark_of_text}")] if after else []
    for function in items.functions:
        if function.should_panic:
            edits += [(span(a), "#[allow(dead_code)]") for a in _attributes_before(function.node)]
    first = next((n for n in source.root.named_children if n.type not in _AT_THE_TOP), source.root)
    macros = "".join(
        f"#[allow(unused_macros)] macro_rules! {name}_{mark_of_text} "
        f"{{ ({taken} $(, $($r:tt)*)?) => {{{{ let _ = {looked}; }}}}; }} "
        for name, (taken, looked) in _PATTERNS.items()
    )
    return [*edits, ((first.start_byte, first.start_byte), macros)]


_AT_THE_TOP = frozenset({"inner_attribute_item", "line_comment", "block_comment", "shebang"})


def _attributes_before(node: Node) -> list[Node]:
    found, before = [], node.prev_named_sibling
    while before is not None and before.type == "attribute_item":
        found.append(before)
        before = before.prev_named_sibling
    return found


def _python(source: Source) -> list[tuple[Span, str]]:
    regions = PythonItems(source).regions
    edits: list[tuple[Span, str]] = []
    for node in source.all("assert_statement"):
        if regions.hold(node) and node.named_children:
            looked = node.named_children[0]
            edits.append(((node.start_byte, looked.start_byte), "bool("))
            edits.append(((looked.end_byte, node.end_byte), ")"))
    for node in source.all("call"):
        function = node.child_by_field_name("function")
        name = (source.tokens(function) or [""])[-1]
        outer = source.parent(node)
        plain = outer is not None and outer.type == "expression_statement" and regions.hold(node)
        if plain and function is not None and function.type == "attribute" and name.startswith("assert"):
            looks = "a[0] == a[1]" if name in _EQUAL else "None"
            edits.append((span(function), f"(lambda *a, **k: {looks})"))
    for node in source.all("with_statement"):
        clause = next((c for c in node.children if c.type == "with_clause"), None)
        if clause is None or "as" in source.tokens(clause):
            continue
        if regions.hold(node) and not _RAISES.isdisjoint(source.names(clause)):
            edits.append((span(clause), "__import__('contextlib').suppress(BaseException)"))
    return edits
