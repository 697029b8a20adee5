"""Operators whose faults are about names and types, what a function gives back, and what a match covers."""

import re
from collections.abc import Iterator
from itertools import pairwise

from strop.code.trees import Source, having
from strop_curation.faults.operators import RUST, Edit, cut, line_span, replace, swapped
from strop_curation.faults.rust.nodes import calls, methods, other_method, tail_of, tails, without_call

_FOREIGN = {
    "len": "length", "to_uppercase": "upper", "to_lowercase": "lower", "is_empty": "empty", "trim": "strip",
    "starts_with": "startswith", "ends_with": "endswith", "push": "add", "contains": "includes", "pow": "power",
    "iter": "items", "abs": "absolute", "chars": "characters", "filter": "where_", "push_str": "concat_str",
    "to_string": "to_str", "collect": "to_list", "unwrap_or": "or_default", "map": "apply", "sum": "total",
    "count": "size", "get": "at", "contains_key": "has_key", "insert": "put", "split_whitespace": "split_words",
}  # fmt: skip
"""Methods by the names that other languages, or guessing, would give them."""
_SHORTEST = 3
_NOT_A_USE = frozenset({"let_declaration", "parameter", "match_pattern", "macro_invocation"})


RUST.each("drop-use", "names", at="use_declaration", edit=lambda source, node: (*line_span(source, node), ""))


@RUST.add("drop-let", "names")
def _drop_let(source: Source) -> Iterator[Edit]:
    """`let mut x = 0;` as `x = 0;`."""
    for node, name, value in having(source.all("let_declaration"), "pattern", "value"):
        if name.type == "identifier":
            yield node.start_byte, value.start_byte, f"{source.string(name)} = "


@RUST.add("misspelt-name", "names")
def _misspelt_name(source: Source) -> Iterator[Edit]:
    """A variable with two letters the wrong way round."""
    for _, body in having(source.all("function_item"), "body"):
        for node in source.inner(body, "identifier"):
            text, parent = source.string(node), source.parent(node)
            bound = parent is not None and parent.type in _NOT_A_USE
            if len(text) >= _SHORTEST and text[0].islower() and not bound:
                yield replace(node, text[:-2] + text[-1] + text[-2])


other_method("foreign-method", "names", _FOREIGN)


@RUST.add("drop-path", "names")
def _drop_path(source: Source) -> Iterator[Edit]:
    """`i32::MAX` as `MAX`, `Shape::Square` as `Square`."""
    for node, name in having(source.all("scoped_identifier", "scoped_type_identifier"), "name"):
        parent = source.parent(node)
        if parent is None or parent.type not in ("scoped_identifier", "use_declaration", "use_list"):
            yield replace(node, source.string(name))


@RUST.add("drop-item", "names")
def _drop_item(source: Source) -> Iterator[Edit]:
    """A helper function or a constant left out."""
    for node in source.all("const_item", "function_item"):
        private = not any(child.type == "visibility_modifier" for child in node.children)
        parent = source.parent(node)
        if private and parent is not None and parent.type == "source_file":
            yield (*line_span(source, node), "")


@RUST.add("tail-semicolon", "returns")
def _tail_semicolon(source: Source) -> Iterator[Edit]:
    """A semicolon after the tail value of a function or branch."""
    for _, tail in tails(source):
        if tail.type not in ("if_expression", "match_expression", "return_expression"):
            yield tail.end_byte, tail.end_byte, ";"
    for block in source.all("block"):
        parent, last = source.parent(block), tail_of(block)
        if parent is not None and parent.type in ("if_expression", "else_clause") and last is not None:
            yield last.end_byte, last.end_byte, ";"


@RUST.add("drop-wrapper", "returns")
def _drop_wrapper(source: Source) -> Iterator[Edit]:
    """`Some(x)` and `Ok(x)` as `x`."""
    for node, arguments in calls(source, "Some", "Ok", "Err"):
        if len(arguments) == 1:
            yield replace(node, source.string(arguments[0]))


@RUST.add("add-wrapper", "returns")
def _add_wrapper(source: Source) -> Iterator[Edit]:
    """`x` as `Some(x)` at the end of a function that does not return an Option."""
    for function, tail in tails(source):
        kind = source.string(function.child_by_field_name("return_type"))
        if not kind.startswith("Option") and tail.type not in ("if_expression", "match_expression"):
            yield replace(tail, f"Some({source.string(tail)})")


# `if a { b } else { c }` as `if a { b }`, `return x;` as `return;`
RUST.each("drop-else", "returns", at="else_clause", edit=cut)
RUST.each("bare-return", "returns", at="return_expression", edit=lambda _, node: replace(node, "return"))


@RUST.add("drop-arm", "matches")
def _drop_arm(source: Source) -> Iterator[Edit]:
    """A match with one arm less."""
    for block in source.all("match_block"):
        arms = [child for child in block.named_children if child.type == "match_arm"]
        for arm in arms if len(arms) > 1 else ():
            yield (*line_span(source, arm), "")


@RUST.add("drop-field", "matches", "names")
def _drop_field(source: Source) -> Iterator[Edit]:
    """A struct made or taken apart with one field less."""
    for node in source.all("field_initializer_list", "struct_pattern", "tuple_struct_pattern"):
        fields = [c for c in node.named_children if c != node.child_by_field_name("type")]
        if len(fields) > 1:
            yield fields[-2].end_byte, fields[-1].end_byte, ""


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
