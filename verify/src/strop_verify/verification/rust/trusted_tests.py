"""Makes trusted tests safe against the names, macros, traits and types of the answer that they are compiled with.

Rust resolves `use super::*` to whatever the answer defines. So an answer could define its own `Some`, `assert_eq!`,
`std` or `to_string`, or return a type that equals everything. In strict mode the tests are therefore rewritten:

- assertion macros, including those imported from a crate (pretty_assertions), become ours, which refuse comparisons
  that the answer itself defines (see harness.rs), including by operators inside `assert!`;
- other macros of the standard library and paths that start with std, core or alloc become absolute;
- names of the prelude and of primitive types are imported by name, which takes precedence over a glob import;
- for a second look (second_look.py), literals pass through the harness, which may alter one.

Not covered: comparisons outside assertions (`if f(1) == 2`), and methods of the answer's own types. A name that the
reference defines itself stays.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from strop_verify.code.trees import Node, parse, text_of, walk
from strop_verify.verification.rust.literals import SECRET, literal_edits
from strop_verify.verification.rust.names import (
    STANDARD,
    defined,
    imported,
    leaves,
    macros_called,
    methods_called,
    tests_of,
    trait_methods,
)
from strop_verify.verification.rust.scan import scan

_ASSERTS = {"assert_eq": "assert_eq", "assert_ne": "assert_ne",
            "debug_assert_eq": "assert_eq", "debug_assert_ne": "assert_ne"}  # fmt: skip
_MACROS = {
    "assert", "debug_assert", "vec", "format", "panic", "println", "print", "eprintln", "eprint", "dbg", "matches",
    "unreachable", "unimplemented", "todo", "write", "writeln", "concat", "stringify", "line", "format_args",
}  # fmt: skip
PRELUDE = {
    "Some": "::std::option::Option::Some", "None": "::std::option::Option::None",
    "Ok": "::std::result::Result::Ok", "Err": "::std::result::Result::Err", "Option": "::std::option::Option",
    "Result": "::std::result::Result", "String": "::std::string::String", "Vec": "::std::vec::Vec",
    "Box": "::std::boxed::Box", "drop": "::std::mem::drop",
    **{p: f"::std::primitive::{p}" for p in ("bool", "char", "str", "f32", "f64", "usize", "isize",
       *(f"{s}{n}" for s in "iu" for n in (8, 16, 32, 64, 128)))},
}  # fmt: skip
STANDARD_METHODS = frozenset(
    """
    abs all any as_bytes as_mut as_ref as_slice as_str borrow bytes chars chunks clone cloned cmp
    collect concat contains copied count ends_with entry enumerate eq expect filter first flat_map flatten fmt
    fold ge get gt hash insert into into_iter is_empty is_err is_none is_ok is_some is_sorted iter join keys last
    le len lines lt map max min ne next nth ok ord parse partial_cmp peek pop position product push
    remove repeat replace rev skip sort sort_by sort_by_key sorted split starts_with sum swap take
    to_ascii_lowercase to_ascii_uppercase to_lowercase to_owned to_string to_uppercase to_vec trim trunc
    try_from try_into unwrap unwrap_err unwrap_or unwrap_or_default values windows zip
    """.split()  # noqa: SIM905
)
"""Methods of the standard library that tests apply to expected values; no trait of the answer may define them."""
_BY_COMPARISON = {"==", "!=", "<", "<=", ">", ">="}
_CATCHES = {"catch_unwind", "thread"}
_PROBES = {"is_some", "is_none", "is_ok", "is_err"}


@dataclass(frozen=True)
class Trusted:
    """Test code of a task, ready for strict mode."""

    source: str
    """Unchanged, as in the task."""
    text: str
    names: frozenset[str]
    """Module paths of tests, except conditional and ignored ones."""
    called: frozenset[str]
    """Methods that the tests call."""
    uses_own_macros: bool
    """Whether the tests call macros that are neither their own nor the standard library's."""
    allowed: frozenset[str]
    """Types of the reference with hand-written equality, and methods of its traits."""
    catches: bool
    """Whether the tests or the reference may catch a panic; also true without a reference."""


@lru_cache(maxsize=512)
def read_trusted(tests: str, reference: str = "") -> Trusted:
    """Analyses and rewrites a task's tests. `reference`: a correct solution; names that it defines stay."""
    source = tests
    text = guarded(tests, reference)
    tests = edited(tests, _assert_imports(tests))
    macros = macros_called(parse(tests)) - _MACROS - _ASSERTS.keys()
    allowed = {*scan(reference).own_equality, *trait_methods(reference)} if reference else set()
    return Trusted(
        source=source,
        text=text,
        names=frozenset(tests_of(parse(tests))),
        called=frozenset(methods_called(parse(tests))),
        uses_own_macros=bool(macros - scan(tests).macros),
        allowed=frozenset(allowed),
        catches=not reference
        or bool(_CATCHES & {text_of(n) for t in (tests, reference) for n in leaves(parse(t))}),
    )


@lru_cache(maxsize=512)
def guarded(tests: str, reference: str, *, literals: bool = False) -> str:
    """The rewritten tests; `literals`: also rewrite literals, as for a second look."""
    theirs = defined(reference)
    tests = edited(tests, _assert_imports(tests))
    kept = (theirs - _imported_asserts(reference)) | defined(tests)
    text = edited(tests, literal_edits(tests, theirs)) if literals else tests
    text = edited(text, _assertion_edits(parse(text)))
    text = edited(text, _name_edits(parse(text), kept))
    return edited(text, _import_edits(parse(text), kept))


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Applies edits (start byte, end byte, new text)."""
    data = text.encode()
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()


def _imported_asserts(text: str) -> set[str]:
    own = {text_of(n.child_by_field_name("name")) for n in walk(parse(text)) if n.type == "macro_definition"}
    return (_ASSERTS.keys() & imported(text)) - own


def _assert_imports(tests: str) -> list[tuple[int, int, str]]:
    """Removes imported assertion macros from use declarations."""
    edits = []
    theirs = _imported_asserts(tests)
    for node in walk(parse(tests)) if theirs else ():
        argument = node.child_by_field_name("argument") if node.type == "use_declaration" else None
        if argument is None:
            continue
        lists = [n for n in walk(argument) if n.type == "use_list"]
        items = lists[0].named_children if lists else [argument.child_by_field_name("name") or argument]
        kept = [text_of(n) for n in items if text_of(n) not in theirs]
        if len(lists) > 1 or len(kept) == len(items):
            continue
        if lists and kept:
            edits.append((lists[0].start_byte, lists[0].end_byte, f"{{{', '.join(kept)}}}"))
        else:
            edits.append((node.start_byte, node.end_byte, "\n" * text_of(node).count("\n")))
    return edits


def _assertion_edits(root: Node) -> list[tuple[int, int, str]]:
    edits = []
    for node in walk(root):
        if node.type == "macro_invocation" and text_of(node.child_by_field_name("macro")) in (
            "assert",
            "debug_assert",
        ):
            tree = node.named_children[-1]
            parts = tree.children[1:-1]
            comma = next((c for c in parts if c.type == ","), None)
            if not parts or tree.type != "token_tree":
                continue
            last = comma if comma is not None else tree.children[-1]
            start, end = parts[0].start_byte, last.start_byte
            source = (root.text or b"")[start - root.start_byte : end - root.start_byte].decode()
            edits.append((start, end, _condition(source)))
    return edits


def _condition(source: str) -> str:
    """The condition of an assert! with its comparisons guarded; unchanged if it is not a plain expression."""
    holder = parse(f"fn z() {{ let z = ({source}); }}")
    inner = next((n for n in walk(holder) if n.type == "parenthesized_expression"), None)
    if holder.has_error or inner is None or not inner.named_children:
        return source
    return _guarded(inner.named_children[0])


def _guarded(node: Node) -> str:
    if node.type == "parenthesized_expression" and node.named_children:
        return f"({_guarded(node.named_children[0])})"
    if node.type == "unary_expression" and node.children[0].type == "!":
        return f"!{_guarded(node.named_children[0])}"
    if node.type == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = text_of(node.child_by_field_name("operator"))
        if left is not None and right is not None and operator in ("&&", "||"):
            return f"{_guarded(left)} {operator} {_guarded(right)}"
        if left is not None and right is not None and operator in _BY_COMPARISON:
            return (
                f"(match (&({text_of(left)}), &({text_of(right)})) "
                f"{{ (l, r) => ::test::noted_{SECRET}(::test::comparable(l, r), *l {operator} *r) }})"
            )
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        if function is not None and function.type == "field_expression":
            method, value = function.child_by_field_name("field"), function.child_by_field_name("value")
            if text_of(method) in _PROBES:
                return f"::test::plain(&({text_of(value)})).{text_of(method)}()"
    if node.type == "let_condition" or any(n.type == "let_condition" for n in walk(node)):
        return text_of(node)
    return f"::test::truth({text_of(node)})"


def _name_edits(root: Node, kept: set[str]) -> list[tuple[int, int, str]]:
    edits, tokens = [], leaves(root)
    for number, leaf in enumerate(tokens):
        before = text_of(tokens[number - 1]) if number else ""
        after = text_of(tokens[number + 1]) if number + 1 < len(tokens) else ""
        name = text_of(leaf)
        defines = before == "!" and number > 1 and text_of(tokens[number - 2]) == "macro_rules"
        if defines or before in ("::", ".", "fn", "mod", "$"):
            continue
        if after == "!" and name not in kept:
            if name in _ASSERTS:
                edits.append((leaf.start_byte, leaf.end_byte, f"::test::{_ASSERTS[name]}_{SECRET}"))
            elif name in _MACROS:
                edits.append((leaf.start_byte, leaf.end_byte, f"::std::{name}"))
        elif after == "::" and name in STANDARD:
            edits.append((leaf.start_byte, leaf.start_byte, "::"))
    return edits


def _import_edits(root: Node, kept: set[str]) -> list[tuple[int, int, str]]:
    used = {text_of(leaf) for leaf in leaves(root)}
    wanted = [path for name, path in PRELUDE.items() if name in used and name not in kept]
    if not wanted:
        return []
    line = f" #[allow(unused_imports)] use {{{', '.join(p.removeprefix('::') for p in wanted)}}};"
    line = line.replace("use {", "use ::{")
    globs = {
        node.parent.start_byte: node.end_byte  # one per module: the same name imported twice is an error
        for node in walk(root)
        if node.type == "use_declaration" and any(n.type == "use_wildcard" for n in walk(node))
        and node.parent is not None and node.parent.type in ("source_file", "declaration_list")
    }  # fmt: skip
    return [(end, end, line) for end in globs.values()]
