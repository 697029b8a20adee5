"""Operators whose faults are about ownership: moves, borrows, mutability, lifetimes."""

import re
from collections.abc import Iterator

from strop_tasks.curation.faults.operators import RUST, Edit, indent_of, replace
from strop_tasks.curation.faults.rust.nodes import methods, parameters, statements_with, tails, without_call
from strop_verify.code.trees import Node, Source, having

_FRESH = ("to_string", "to_lowercase", "to_uppercase", "replace", "to_owned", "repeat", "to_ascii_lowercase",
          "to_ascii_uppercase")  # fmt: skip
_OWNED = (
    "String", "Vec<", "Option<String", "Option<Vec", "BTreeSet<", "HashSet<", "Box<", "HashMap<", "BTreeMap<",
    "VecDeque<",
)  # fmt: skip
_MADE = re.compile(
    r"^(?:vec!|format!|(?:String|Vec|HashMap|BTreeMap|HashSet|BTreeSet|VecDeque|BinaryHeap)::)"
    r"|\.(?:collect(?:::<.*>)?|to_vec|to_string|to_owned|to_uppercase|to_lowercase|repeat|concat|join)\([^()]*\)$",
    re.S,
)
"""Values that are moved, not copied."""
_CHANGING = (
    "push", "push_str", "insert", "extend", "sort", "sort_unstable", "dedup", "reverse", "truncate", "push_back",
    "push_front", "pop", "clear", "remove", "retain", "swap", "append", "pop_front", "entry", "drain",
)  # fmt: skip


@RUST.add("short-lived-temporary", "borrows", "types")
def _short_lived_temporary(source: Source) -> Iterator[Edit]:
    """`let s = x.to_lowercase();` becomes `let s = x.to_lowercase().as_str();`."""
    for node, value in having(source.all("let_declaration"), "value"):
        if node.child_by_field_name("type") is not None:
            continue
        made = next((m for m in methods(source, *_FRESH) if m.node.id == value.id), None)
        formatted = value.type == "macro_invocation" and source.string(value).startswith("format!")
        if made is not None or formatted:
            yield value.end_byte, value.end_byte, ".as_str()"
        if any(m.node.id == value.id for m in methods(source, "collect")):
            yield value.end_byte, value.end_byte, ".as_slice()"


@RUST.add("borrow-of-inner", "borrows")
def _borrow_of_inner(source: Source) -> Iterator[Edit]:
    """`let v = make();` becomes `let v = { let inner = make(); &inner };`."""
    for node, value, name in having(source.all("let_declaration"), "value", "pattern"):
        mutable = any(c.type == "mutable_specifier" for c in node.children)
        if node.child_by_field_name("type") is not None or mutable or name.type != "identifier":
            continue
        if value.type in ("call_expression", "macro_invocation"):
            margin = indent_of(source, node)
            inner = f"let inner = {source.string(value)};"
            yield replace(value, f"{{\n{margin}    {inner}\n{margin}    &inner\n{margin}}}")


@RUST.add("drop-lifetime", "lifetimes")
def _drop_lifetime(source: Source) -> Iterator[Edit]:
    """`&'a str` becomes `&str`, `Words<'a>` becomes `Words`, and `fn f<'a>` becomes `fn f`."""
    for node in source.all("reference_type"):
        for child in node.children:
            if child.type == "lifetime":
                yield child.start_byte, child.end_byte + 1, ""
    for node in source.all("type_parameters", "type_arguments"):
        if all("'" in source.string(child) for child in node.named_children):
            yield replace(node, "")


# `-> String` becomes `-> &str`, `-> Vec<T>` becomes `-> &[T]`
RUST.words(
    "borrowed-result", "lifetimes", "types", at="(function_item return_type: (_) @at)", others={"String": "&str"}
)  # fmt: skip
RUST.rule(
    "borrowed-result", "lifetimes", "types", to="&[{a}]",
    at="""(function_item return_type: (generic_type
          type: (type_identifier) @v type_arguments: (type_arguments . (_) @a .)) @at (#eq? @v "Vec"))""",
)  # fmt: skip


@RUST.add("reference-to-local", "lifetimes")
def _reference_to_local(source: Source) -> Iterator[Edit]:
    """A function that returns a reference returns one to a local value."""
    for function, tail in tails(source):
        kind = source.string(function.child_by_field_name("return_type"))
        if kind.startswith("&") and kind.endswith(("str", "]")):
            own = "to_vec" if kind.endswith("]") else "to_string"
            line = f"let found = {source.string(tail)}.{own}();"
            yield replace(tail, f"{line}\n{indent_of(source, tail)}&found")


# `let mut x` becomes `let x`, also as a parameter; `&mut self` becomes `&self`, `x: &mut [T]` becomes `x: &[T]`
RUST.rule(
    "drop-mut", "mutability", cut="^at ^a",
    at="""[(let_declaration (mutable_specifier) @at . (_) @a) (parameter (mutable_specifier) @at . (_) @a)
           (mut_pattern (mutable_specifier) @at . (_) @a)]""",
)  # fmt: skip
RUST.rule(
    "shared-parameter", "mutability", cut="^at ^a",
    at="""[(self_parameter . "&" (mutable_specifier) @at . (_) @a)
           (reference_type . "&" (mutable_specifier) @at . (_) @a)]""",
)  # fmt: skip
without_call("drop-clone", "moves", "borrows", "types", of=("clone", "to_vec", "cloned", "copied"))


@RUST.add("loop-by-value", "moves", "types")
def _loop_by_value(source: Source) -> Iterator[Edit]:
    """`for x in &v` and `for x in v.iter()` become `for x in v`."""
    for node in source.all("for_expression"):
        value = node.child_by_field_name("value")
        inner = value.child_by_field_name("value") if value is not None else None
        if value is not None and inner is not None and value.type == "reference_expression":
            yield replace(value, source.string(inner))
    owned = {name for _, name in _uses(source)}
    for method in methods(source, "iter", "iter_mut"):
        if source.string(method.receiver) in owned:
            yield method.receiver.end_byte, method.node.end_byte, ".into_iter()"


@RUST.add("use-after-move", "moves")
def _use_after_move(source: Source) -> Iterator[Edit]:
    """`let kept = x;` before a use of `x`, or after a change of it."""
    for node, name in _uses(source):
        yield _preceded(source, node, f"let kept = {name};")
    for node, name in _changed(source):
        yield node.end_byte, node.end_byte, f"\n{indent_of(source, node)}let kept = {name};"


@RUST.add("move-out-of-borrow", "moves")
def _move_out_of_borrow(source: Source) -> Iterator[Edit]:
    """`let kept = *x;` of a reference to a value that cannot be copied."""
    for body, name, kind in parameters(source):
        if kind.startswith("&") and re.sub(r"^&(mut )?", "", kind).startswith(_OWNED):
            for node in statements_with(source, body, name):
                yield _preceded(source, node, f"let kept = *{name};")


def _moved(operator: str, line: str) -> None:
    """Registers an operator that moves `x` in a new line before a use of it."""

    @RUST.add(operator, "moves")
    def _find(source: Source) -> Iterator[Edit]:
        return (_preceded(source, node, line.format(name)) for node, name in _uses(source))


_moved("move-into-function", "drop({});")
_moved("move-into-closure", "let _size = move || {}.len();")


@RUST.add("change-while-borrowed", "borrows")
def _change_while_borrowed(source: Source) -> Iterator[Edit]:
    """`x.push(1)` while a reference to `x` is kept."""
    for node, name in _changed(source):
        yield _between(source, node, f"let view = &{name};", "assert!(!view.is_empty());")


@RUST.add("two-mutable-borrows", "borrows")
def _two_mutable_borrows(source: Source) -> Iterator[Edit]:
    """`x.push(1)` while a mutable reference to `x` is kept."""
    for node, name in _changed(source):
        again = source.string(node).replace(name, "handle", 1)
        yield _between(source, node, f"let handle = &mut {name};", again)


@RUST.add("assign-while-borrowed", "borrows")
def _assign_while_borrowed(source: Source) -> Iterator[Edit]:
    """`x += 1` while a reference to `x` is kept."""
    for inner, left in having(source.all("compound_assignment_expr", "assignment_expression"), "left"):
        node, name = source.parent(inner), source.string(left)
        if left.type == "identifier" and node is not None and node.type == "expression_statement":
            yield _between(source, node, f"let before = &{name};", f"let _changed = *before != {name};")


# `move |x| ...` becomes `|x| ...`
RUST.rule("drop-move", "borrows", at='(closure_expression "move" @at parameters: (_) @a)', cut="^at ^a")


def _preceded(source: Source, node: Node, line: str) -> Edit:
    """The statement with a line before it."""
    return node.start_byte, node.start_byte, f"{line}\n{indent_of(source, node)}"


def _between(source: Source, node: Node, first: str, last: str) -> Edit:
    """The statement with a line before it and one after it."""
    margin = indent_of(source, node)
    return replace(node, f"{first}\n{margin}{source.string(node)}\n{margin}{last}")


def _uses(source: Source) -> Iterator[tuple[Node, str]]:
    """(statement, name): uses of a parameter or local value that the function owns and cannot copy."""
    for body, name, kind in parameters(source):
        if kind.startswith(_OWNED) or kind == "T":
            yield from ((node, name) for node in statements_with(source, body, name))
    for made, pattern, value in having(source.all("let_declaration"), "pattern", "value"):
        block = source.parent(made)
        if block is not None and pattern.type == "identifier" and _MADE.search(source.string(value)):
            name = source.string(pattern)
            later = statements_with(source, block, name)
            yield from ((node, name) for node in later if node.start_byte > made.start_byte)


def _changed(source: Source) -> Iterator[tuple[Node, str]]:
    """(statement, name): calls of a method that changes a local collection."""
    for method in methods(source, *_CHANGING):
        statement = source.parent(method.node)
        if statement is None or statement.type != "expression_statement":
            continue
        if method.receiver.type == "identifier" and source.string(statement).endswith(";"):
            yield statement, source.string(method.receiver)
