"""Operators whose faults are about ownership: moves, borrows, mutability."""

import re
from collections.abc import Iterator

from strop.code.mutate.edits import Edit, indent_of, replace
from strop.code.mutate.operators import RUST
from strop.code.mutate.rust.nodes import methods, parameters, statements_with, without_call
from strop.code.trees import Node, Source, having

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


@RUST.add("drop-mut", "mutability")
def _drop_mut(source: Source) -> Iterator[Edit]:
    """`let mut x` as `let x`, and the same for a parameter."""
    for node in source.all("let_declaration", "parameter", "mut_pattern"):
        for child in node.children:
            if child.type == "mutable_specifier":
                end = child.end_byte + (source.data[child.end_byte : child.end_byte + 1] == b" ")
                yield child.start_byte, end, ""


@RUST.add("shared-parameter", "mutability")
def _shared_parameter(source: Source) -> Iterator[Edit]:
    """`&mut self` as `&self`, `x: &mut [T]` as `x: &[T]`."""
    for node in source.all("self_parameter", "reference_type"):
        if node.children[0].type != "&":
            continue
        for child in node.children:
            if child.type == "mutable_specifier":
                yield child.start_byte, child.end_byte + 1, ""


without_call("drop-clone", "moves", "borrows", "types", of=("clone", "to_vec", "cloned", "copied"))


@RUST.add("loop-by-value", "moves", "types")
def _loop_by_value(source: Source) -> Iterator[Edit]:
    """`for x in &v` and `for x in v.iter()` as `for x in v`."""
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
        yield node.start_byte, node.start_byte, f"let kept = {name};\n{indent_of(source, node)}"
    for node, name, end in _changed(source):
        yield end, end, f"\n{indent_of(source, node)}let kept = {name};"


@RUST.add("move-out-of-borrow", "moves")
def _move_out_of_borrow(source: Source) -> Iterator[Edit]:
    """`let kept = *x;` of a reference to what cannot be copied."""
    for body, name, kind in parameters(source):
        if kind.startswith("&") and re.sub(r"^&(mut )?", "", kind).startswith(_OWNED):
            for node in statements_with(source, body, name):
                yield node.start_byte, node.start_byte, f"let kept = *{name};\n{indent_of(source, node)}"


@RUST.add("move-into-function", "moves")
def _move_into_function(source: Source) -> Iterator[Edit]:
    """`drop(x);` in front of a use of `x`."""
    for node, name in _uses(source):
        yield node.start_byte, node.start_byte, f"drop({name});\n{indent_of(source, node)}"


@RUST.add("move-into-closure", "moves")
def _move_into_closure(source: Source) -> Iterator[Edit]:
    """A closure that takes `x`, in front of a use of `x`."""
    for node, name in _uses(source):
        yield (
            node.start_byte,
            node.start_byte,
            f"let _size = move || {name}.len();\n{indent_of(source, node)}",
        )


@RUST.add("change-while-borrowed", "borrows")
def _change_while_borrowed(source: Source) -> Iterator[Edit]:
    """`x.push(1)` while a reference to `x` is kept."""
    for node, name, _ in _changed(source):
        margin, text = indent_of(source, node), source.string(node)
        line = f"let view = &{name};\n{margin}{text}\n{margin}assert!(!view.is_empty());"
        yield node.start_byte, node.end_byte, line


@RUST.add("two-mutable-borrows", "borrows")
def _two_mutable_borrows(source: Source) -> Iterator[Edit]:
    """`x.push(1)` while a mutable reference to `x` is kept."""
    for node, name, _ in _changed(source):
        margin, text = indent_of(source, node), source.string(node)
        changed = text.replace(name, "handle", 1)
        yield node.start_byte, node.end_byte, f"let handle = &mut {name};\n{margin}{text}\n{margin}{changed}"


@RUST.add("assign-while-borrowed", "borrows")
def _assign_while_borrowed(source: Source) -> Iterator[Edit]:
    """`x += 1` while a reference to `x` is kept."""
    for node in source.all("expression_statement"):
        inner = node.named_children[0] if node.named_children else None
        if inner is None or inner.type not in ("compound_assignment_expr", "assignment_expression"):
            continue
        left = inner.child_by_field_name("left")
        if left is None or left.type != "identifier":
            continue
        margin, text, name = indent_of(source, node), source.string(node), source.string(left)
        line = f"let before = &{name};\n{margin}{text}\n{margin}let _changed = *before != {name};"
        yield node.start_byte, node.end_byte, line


@RUST.add("drop-move", "borrows")
def _drop_move(source: Source) -> Iterator[Edit]:
    """`move |x| ...` as `|x| ...`."""
    for node in source.all("closure_expression"):
        if node.children[0].type == "move":
            yield node.start_byte, node.children[1].start_byte, ""


def _uses(source: Source) -> Iterator[tuple[Node, str]]:
    """Statements that use what a function owns and cannot copy: a parameter or a local value. (statement, name)."""
    for body, name, kind in parameters(source):
        if kind.startswith(_OWNED) or kind == "T":
            yield from ((node, name) for node in statements_with(source, body, name))
    for made, pattern, value in having(source.all("let_declaration"), "pattern", "value"):
        block = source.parent(made)
        if block is not None and pattern.type == "identifier" and _MADE.search(source.string(value)):
            name = source.string(pattern)
            later = statements_with(source, block, name)
            yield from ((node, name) for node in later if node.start_byte > made.start_byte)


def _changed(source: Source) -> Iterator[tuple[Node, str, int]]:
    """Statements that change a local collection by a method: (statement, the collection's name, where it ends)."""
    for method in methods(source, *_CHANGING):
        statement = source.parent(method.node)
        if statement is None or statement.type != "expression_statement":
            continue
        if method.receiver.type == "identifier" and source.string(statement).endswith(";"):
            yield statement, source.string(method.receiver), statement.end_byte
