"""Operators whose faults are wrong types: references, casts, conversions, literals, wrappers."""

import re
from collections.abc import Iterator
from itertools import pairwise

from strop.code.mutate.operators import RUST, Edit, replace, swapped
from strop.code.mutate.rust.nodes import calls, methods, without_call
from strop.code.trees import Source, having

_OTHER_TYPE = {
    "i32": "i64", "i64": "i32", "u32": "i32", "u64": "u32", "usize": "i32", "u8": "char", "f64": "f32",
    "f32": "f64", "i128": "i64", "u128": "u64", "isize": "i32", "i16": "i32", "u16": "u32", "i8": "i32",
    "char": "u8", "bool": "i32",
}  # fmt: skip


# `f(&x)` as `f(x)`
RUST.each(
    "drop-reference", "types", "moves", at="reference_expression", of=("value",),
    edit=lambda source, node, value: replace(node, source.string(value)),
)  # fmt: skip


@RUST.add("add-reference", "types")
def _add_reference(source: Source) -> Iterator[Edit]:
    """`f(x)` as `f(&x)`."""
    for node in source.all("arguments"):
        for argument in node.named_children:
            if argument.type in ("identifier", "call_expression", "field_expression", "index_expression"):
                yield argument.start_byte, argument.start_byte, "&"


@RUST.add("shared-argument", "types", "mutability")
def _shared_argument(source: Source) -> Iterator[Edit]:
    """`f(&mut x)` as `f(&x)`."""
    for node, value in having(source.all("reference_expression"), "value"):
        if any(c.type == "mutable_specifier" for c in node.children):
            yield replace(node, f"&{source.string(value)}")


@RUST.add("drop-dereference", "types")
def _drop_dereference(source: Source) -> Iterator[Edit]:
    """`*x` as `x`."""
    for node in source.all("unary_expression"):
        if node.children[0].type == "*":
            yield node.start_byte, node.start_byte + 1, ""


# `x as usize` as `x`
RUST.each(
    "drop-cast", "types", at="type_cast_expression", of=("value",),
    edit=lambda _, node, value: (value.end_byte, node.end_byte, ""),
)  # fmt: skip


@RUST.add("other-cast", "types")
def _other_cast(source: Source) -> Iterator[Edit]:
    """`x as usize` as `x as i32`."""
    for _, kind in having(source.all("type_cast_expression"), "type"):
        if source.string(kind) in _OTHER_TYPE:
            yield replace(kind, _OTHER_TYPE[source.string(kind)])


@RUST.add("other-annotation", "types")
def _other_annotation(source: Source) -> Iterator[Edit]:
    """`let x: Vec<i64>` as `let x: Vec<i32>`, `let x: String` as `let x: &str`."""
    for _, kind in having(source.all("let_declaration"), "type"):
        for inner in [kind, *source.inner(kind, "primitive_type", "type_identifier")]:
            text = source.string(inner)
            if text == "String" or (inner.type == "primitive_type" and text in _OTHER_TYPE):
                yield replace(inner, _OTHER_TYPE.get(text, "&str"))


@RUST.add("drop-conversion", "types", "names")
def _drop_conversion(source: Source) -> Iterator[Edit]:
    """`x.to_string()` and `String::from(x)` as `x`."""
    for method in methods(source, "to_string", "to_owned", "into", "as_str", "as_bytes", "chars", "abs_diff"):
        if not method.arguments:
            yield replace(method.node, source.string(method.receiver))
    for node, arguments in calls(source, "String::from", "Box::new", "i64::from", "u64::from", "f64::from"):
        if len(arguments) == 1:
            yield replace(node, source.string(arguments[0]))


@RUST.add("other-literal", "types")
def _other_literal(source: Source) -> Iterator[Edit]:
    """`2.0` as `2`, `'x'` as `"x"`, `"x"` as `'x'`."""
    for node in source.all("float_literal"):
        text = source.string(node)
        if re.fullmatch(r"\d+\.0", text):
            yield replace(node, text.removesuffix(".0"))
    for node in source.all("char_literal"):
        text = source.string(node)[1:-1]
        if text not in ('"', "\\'"):
            yield replace(node, f'"{text}"')
    for node in source.all("string_literal"):
        text = source.string(node)
        if re.fullmatch(r'"[\w \-+*/.,:]"', text):
            yield replace(node, f"'{text[1:-1]}'")


@RUST.add("assignment-as-condition", "types")
def _assignment_as_condition(source: Source) -> Iterator[Edit]:
    """`if a == b` as `if a = b`."""
    for node in source.all("if_expression"):
        condition = node.child_by_field_name("condition")
        equals = condition.child_by_field_name("operator") if condition is not None else None
        if equals is not None and equals.type == "==":
            yield replace(equals, "=")


# `x?` as `x`
RUST.each(
    "drop-question-mark",
    "types",
    at="try_expression",
    edit=lambda _, node: (node.end_byte - 1, node.end_byte, ""),
)


without_call("drop-unwrap", "types", "names",
             of=("unwrap", "unwrap_or", "expect", "unwrap_or_default", "unwrap_or_else", "ok", "ok_or"))  # fmt: skip
without_call("drop-collect", "types", "returns", of=("collect",))


@RUST.add("swap-arguments", "types")
def _swap_arguments(source: Source) -> Iterator[Edit]:
    """`f(a, b)` as `f(b, a)`."""
    for node in source.all("arguments"):
        for left, right in pairwise(node.named_children):
            yield swapped(source, left, right)


@RUST.add("drop-argument", "types")
def _drop_argument(source: Source) -> Iterator[Edit]:
    """`f(a, b)` as `f(a)`."""
    for node in source.all("arguments"):
        if len(node.named_children) > 1:
            before, last = node.named_children[-2:]
            yield before.end_byte, last.end_byte, ""
