"""Operators whose faults are about ownership: moves, borrows, mutability, lifetimes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from strop.curation.rust_fix.faults import operator
from strop.curation.rust_fix.nodes import (
    Edit,
    indent_of,
    methods,
    parameters,
    replace,
    statements_with,
    tails,
)
from strop.verification.strength.syntax import Source

if TYPE_CHECKING:
    from tree_sitter import Node

_OWNED = ("String", "Vec<", "Option<String", "Option<Vec", "Box<", "HashMap<", "BTreeMap<", "VecDeque<")
_CHANGING = (
    "push", "push_str", "insert", "extend", "sort", "sort_unstable", "dedup", "reverse", "truncate", "push_back",
    "push_front", "pop", "clear", "remove", "retain", "swap", "append", "pop_front", "entry", "drain",
)  # fmt: skip
_FRESH = ("to_string", "to_lowercase", "to_uppercase", "replace", "to_owned", "repeat", "to_ascii_lowercase",
          "to_ascii_uppercase")  # fmt: skip


@operator("drop-mut", "mutability")
def _drop_mut(source: Source) -> Iterator[Edit]:
    """`let mut x` as `let x`, and the same for a parameter."""
    for node in source.all("let_declaration", "parameter", "mut_pattern"):
        for child in node.children:
            if child.type == "mutable_specifier":
                end = child.end_byte + (source.data[child.end_byte : child.end_byte + 1] == b" ")
                yield child.start_byte, end, ""


@operator("shared-parameter", "mutability")
def _shared_parameter(source: Source) -> Iterator[Edit]:
    """`&mut self` as `&self`, `x: &mut [T]` as `x: &[T]`."""
    for node in source.all("self_parameter", "reference_type"):
        if node.children[0].type != "&":
            continue
        for child in node.children:
            if child.type == "mutable_specifier":
                yield child.start_byte, child.end_byte + 1, ""


@operator("drop-clone", "moves", "borrows", "types")
def _drop_clone(source: Source) -> Iterator[Edit]:
    """`x.clone()` as `x`."""
    for method in methods(source, "clone", "to_vec", "cloned", "copied"):
        yield method.receiver.end_byte, method.node.end_byte, ""


@operator("loop-by-value", "moves", "types")
def _loop_by_value(source: Source) -> Iterator[Edit]:
    """`for x in &v` and `for x in v.iter()` as `for x in v`."""
    for node in source.all("for_expression"):
        value = node.child_by_field_name("value")
        inner = value.child_by_field_name("value") if value is not None else None
        if value is not None and inner is not None and value.type == "reference_expression":
            yield replace(value, source.string(inner))
    for method in methods(source, "iter", "iter_mut"):
        yield method.receiver.end_byte, method.node.end_byte, ".into_iter()"


@operator("use-after-move", "moves")
def _use_after_move(source: Source) -> Iterator[Edit]:
    """`let kept = x;` in front of a use of `x`."""
    for function, _, name, kind in parameters(source):
        body = function.child_by_field_name("body")
        if body is None or not kind.startswith((*_OWNED, "&Vec<", "&String", "T")):
            continue
        star = "*" if kind.startswith("&") else ""
        for node in statements_with(source, body, name):
            line = f"let kept = {star}{name};\n{indent_of(source, node)}"
            yield node.start_byte, node.start_byte, line
    for method, name, end in _changed(source):
        yield end, end, f"\n{indent_of(source, method)}let kept = {name};"


@operator("move-into-function", "moves")
def _move_into_function(source: Source) -> Iterator[Edit]:
    """`drop(x);` in front of a use of `x`."""
    for function, _, name, kind in parameters(source):
        body = function.child_by_field_name("body")
        if body is not None and kind.startswith(_OWNED):
            for node in statements_with(source, body, name):
                yield node.start_byte, node.start_byte, f"drop({name});\n{indent_of(source, node)}"


@operator("change-while-borrowed", "borrows")
def _change_while_borrowed(source: Source) -> Iterator[Edit]:
    """`x.push(1)` while a reference to `x` is kept."""
    for node, name, _ in _changed(source):
        margin, text = indent_of(source, node), source.string(node)
        line = f"let view = &{name};\n{margin}{text}\n{margin}assert!(!view.is_empty());"
        yield node.start_byte, node.end_byte, line


@operator("two-mutable-borrows", "borrows")
def _two_mutable_borrows(source: Source) -> Iterator[Edit]:
    """`x.push(1)` while a mutable reference to `x` is kept."""
    for node, name, _ in _changed(source):
        margin, text = indent_of(source, node), source.string(node)
        changed = text.replace(name, "handle", 1)
        yield node.start_byte, node.end_byte, f"let handle = &mut {name};\n{margin}{text}\n{margin}{changed}"


@operator("assign-while-borrowed", "borrows")
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


@operator("short-lived-temporary", "borrows", "types")
def _short_lived_temporary(source: Source) -> Iterator[Edit]:
    """`let s = x.to_lowercase();` as `let s = x.to_lowercase().as_str();`."""
    for node in source.all("let_declaration"):
        value = node.child_by_field_name("value")
        if value is None or node.child_by_field_name("type") is not None:
            continue
        made = next((m for m in methods(source, *_FRESH) if m.node.id == value.id), None)
        formatted = value.type == "macro_invocation" and source.string(value).startswith("format!")
        if made is not None or formatted:
            yield value.end_byte, value.end_byte, ".as_str()"
        if any(m.node.id == value.id for m in methods(source, "collect")):
            yield value.end_byte, value.end_byte, ".as_slice()"


@operator("borrow-of-inner", "borrows")
def _borrow_of_inner(source: Source) -> Iterator[Edit]:
    """`let v = make();` as `let v = { let inner = make(); &inner };`."""
    for node in source.all("let_declaration"):
        value, name = node.child_by_field_name("value"), node.child_by_field_name("pattern")
        typed, mutable = (
            node.child_by_field_name("type"),
            any(c.type == "mutable_specifier" for c in node.children),
        )
        if value is None or name is None or typed is not None or mutable or name.type != "identifier":
            continue
        if value.type in ("call_expression", "macro_invocation"):
            margin = indent_of(source, node)
            inner = f"let inner = {source.string(value)};"
            yield replace(value, f"{{\n{margin}    {inner}\n{margin}    &inner\n{margin}}}")


@operator("drop-move", "borrows")
def _drop_move(source: Source) -> Iterator[Edit]:
    """`move |x| ...` as `|x| ...`."""
    for node in source.all("closure_expression"):
        if node.children[0].type == "move":
            yield node.start_byte, node.children[1].start_byte, ""


@operator("drop-lifetime", "lifetimes")
def _drop_lifetime(source: Source) -> Iterator[Edit]:
    """`&'a str` as `&str`, `Words<'a>` as `Words`, and `fn f<'a>` as `fn f`."""
    for node in source.all("reference_type"):
        for child in node.children:
            if child.type == "lifetime":
                yield child.start_byte, child.end_byte + 1, ""
    for node in source.all("type_parameters", "type_arguments"):
        if all("'" in source.string(child) for child in node.named_children):
            yield replace(node, "")


@operator("borrowed-result", "lifetimes", "types")
def _borrowed_result(source: Source) -> Iterator[Edit]:
    """`-> String` as `-> &str`, `-> Vec<T>` as `-> &[T]`."""
    for function in source.all("function_item"):
        kind = function.child_by_field_name("return_type")
        text = source.string(kind)
        if kind is not None and text == "String":
            yield replace(kind, "&str")
        elif kind is not None and text.startswith("Vec<"):
            yield replace(kind, f"&[{text[4:-1]}]")


@operator("reference-to-local", "lifetimes")
def _reference_to_local(source: Source) -> Iterator[Edit]:
    """A function that returns a reference returns one to a value of its own."""
    for function, tail in tails(source):
        kind = source.string(function.child_by_field_name("return_type"))
        if not kind.startswith("&"):
            continue
        text = source.string(tail)
        if kind.endswith("str"):
            margin = indent_of(source, tail)
            yield replace(tail, f"let found = {text}.to_string();\n{margin}&found")
        elif kind.endswith("]"):
            margin = indent_of(source, tail)
            yield replace(tail, f"let found = {text}.to_vec();\n{margin}&found")


def _changed(source: Source) -> "Iterator[tuple[Node, str, int]]":
    """Statements that change a local collection by a method: (statement, the collection's name, where it ends)."""
    for method in methods(source, *_CHANGING):
        statement = source.parent(method.node)
        if statement is None or statement.type != "expression_statement":
            continue
        if method.receiver.type == "identifier" and source.string(statement).endswith(";"):
            yield statement, source.string(method.receiver), statement.end_byte
