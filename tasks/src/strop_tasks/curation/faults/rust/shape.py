"""Operators whose faults are about names, types, return values and the arms of a match."""

import re
from collections.abc import Iterator

from strop_tasks.curation.faults.operators import RUST, Edit, replace
from strop_tasks.curation.faults.rust.nodes import METHOD, methods, tail_of, tails, without_call
from strop_verify.code.trees import Source, having

_FOREIGN = {
    "len": "length", "to_uppercase": "upper", "to_lowercase": "lower", "is_empty": "empty", "trim": "strip",
    "starts_with": "startswith", "ends_with": "endswith", "push": "add", "contains": "includes", "pow": "power",
    "iter": "items", "abs": "absolute", "chars": "characters", "filter": "where_", "push_str": "concat_str",
    "to_string": "to_str", "collect": "to_list", "unwrap_or": "or_default", "map": "apply", "sum": "total",
    "count": "size", "get": "at", "contains_key": "has_key", "insert": "put", "split_whitespace": "split_words",
}  # fmt: skip
"""Rust's methods, and their names in other languages or guessed names."""
_SHORTEST = 3
_NOT_A_USE = frozenset({"let_declaration", "parameter", "match_pattern", "macro_invocation"})
_OTHER_TYPE = {
    "i32": "i64", "i64": "i32", "u32": "i32", "u64": "u32", "usize": "i32", "u8": "char", "f64": "f32",
    "f32": "f64", "i128": "i64", "u128": "u64", "isize": "i32", "i16": "i32", "u16": "u32", "i8": "i32",
    "char": "u8", "bool": "i32",
}  # fmt: skip


RUST.rule("drop-use", "names", at="(use_declaration) @at", line=True)
# `let mut x = 0;` becomes `x = 0;`
RUST.rule(
    "drop-let", "names", cut="^at ^b", to="{a} = ",
    at="(let_declaration pattern: (identifier) @a value: (_) @b) @at",
)  # fmt: skip


@RUST.add("misspelt-name", "names")
def _misspelt_name(source: Source) -> Iterator[Edit]:
    """A variable with two letters swapped."""
    for _, body in having(source.all("function_item"), "body"):
        for node in source.inner(body, "identifier"):
            text, parent = source.string(node), source.parent(node)
            bound = parent is not None and parent.type in _NOT_A_USE
            if len(text) >= _SHORTEST and text[0].islower() and not bound:
                yield replace(node, text[:-2] + text[-1] + text[-2])


RUST.words("foreign-method", "names", at=METHOD, others=_FOREIGN)


@RUST.add("drop-path", "names")
def _drop_path(source: Source) -> Iterator[Edit]:
    """`i32::MAX` becomes `MAX`, `Shape::Square` becomes `Square`."""
    for node, name in having(source.all("scoped_identifier", "scoped_type_identifier"), "name"):
        parent = source.parent(node)
        if parent is None or parent.type not in ("scoped_identifier", "use_declaration", "use_list"):
            yield replace(node, source.string(name))


# A helper function or a constant left out
RUST.rule(
    "drop-item", "names", line=True,
    at='(source_file [(const_item . "const") (function_item . ["fn" (function_modifiers)])] @at)',
)  # fmt: skip


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


# `Some(x)` and `Ok(x)` become `x`
RUST.rule(
    "drop-wrapper", "returns", to="{a}",
    at='((call_expression function: (_) @f arguments: (arguments . (_) @a .)) @at (#any-of? @f "Some" "Ok" "Err"))',
)  # fmt: skip


@RUST.add("add-wrapper", "returns")
def _add_wrapper(source: Source) -> Iterator[Edit]:
    """`x` becomes `Some(x)` at the end of a function that does not return an Option."""
    for function, tail in tails(source):
        kind = source.string(function.child_by_field_name("return_type"))
        if not kind.startswith("Option") and tail.type not in ("if_expression", "match_expression"):
            yield replace(tail, f"Some({source.string(tail)})")


# `if a { b } else { c }` becomes `if a { b }`, `return x;` becomes `return;`
RUST.rule("drop-else", "returns", at="(if_expression (_) @a . (else_clause) @at)", cut="a$ at$")
RUST.rule("bare-return", "returns", at="(return_expression) @at", to="return")
# A match with one arm fewer
RUST.rule("drop-arm", "matches", at="(match_block (match_arm) @at (match_arm))", line=True)
RUST.rule("drop-arm", "matches", at="(match_block (match_arm) (match_arm) @at)", line=True)


@RUST.add("drop-field", "matches", "names")
def _drop_field(source: Source) -> Iterator[Edit]:
    """A struct built or destructured with one field fewer."""
    for node in source.all("field_initializer_list", "struct_pattern", "tuple_struct_pattern"):
        fields = [c for c in node.named_children if c != node.child_by_field_name("type")]
        if len(fields) > 1:
            yield fields[-2].end_byte, fields[-1].end_byte, ""


# `f(&x)` becomes `f(x)`, `f(x)` becomes `f(&x)`, `f(&mut x)` becomes `f(&x)`
RUST.rule("drop-reference", "types", "moves", at="(reference_expression value: (_) @a) @at", to="{a}")
RUST.rule(
    "add-reference", "types", cut="^at ^at", to="&",
    at="(arguments [(identifier) (call_expression) (field_expression) (index_expression)] @at)",
)  # fmt: skip
RUST.rule(
    "shared-argument", "types", "mutability", to="&{a}",
    at="(reference_expression (mutable_specifier) value: (_) @a) @at",
)  # fmt: skip
# `*x` becomes `x`, `x as usize` becomes `x` or `x as i32`
RUST.rule("drop-dereference", "types", at='(unary_expression "*" @at)')
RUST.rule("drop-cast", "types", at="(type_cast_expression value: (_) @a) @at", cut="a$ at$")
RUST.words("other-cast", "types", at="(type_cast_expression type: (_) @at)", others=_OTHER_TYPE)


@RUST.add("other-annotation", "types")
def _other_annotation(source: Source) -> Iterator[Edit]:
    """`let x: Vec<i64>` becomes `let x: Vec<i32>`, `let x: String` becomes `let x: &str`."""
    for _, kind in having(source.all("let_declaration"), "type"):
        for inner in [kind, *source.inner(kind, "primitive_type", "type_identifier")]:
            text = source.string(inner)
            if text == "String" or (inner.type == "primitive_type" and text in _OTHER_TYPE):
                yield replace(inner, _OTHER_TYPE.get(text, "&str"))


@RUST.add("drop-conversion", "types", "names")
def _drop_conversion(source: Source) -> Iterator[Edit]:
    """`x.to_string()` and `String::from(x)` become `x`."""
    for method in methods(source, "to_string", "to_owned", "into", "as_str", "as_bytes", "chars", "abs_diff"):
        if not method.arguments:
            yield replace(method.node, source.string(method.receiver))


RUST.rule(
    "drop-conversion", "types", "names", to="{a}",
    at="""((call_expression function: (_) @f arguments: (arguments . (_) @a .)) @at
           (#any-of? @f "String::from" "Box::new" "i64::from" "u64::from" "f64::from"))""",
)  # fmt: skip


@RUST.add("other-literal", "types")
def _other_literal(source: Source) -> Iterator[Edit]:
    """`2.0` becomes `2`, `'x'` becomes `"x"`, `"x"` becomes `'x'`."""
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


# `if a == b` becomes `if a = b`, `x?` becomes `x`
RUST.rule("assignment-as-condition", "types", at='(if_expression condition: (_ operator: "==" @at))', to="=")
RUST.rule("drop-question-mark", "types", at='(try_expression "?" @at)')
without_call("drop-unwrap", "types", "names",
             of=("unwrap", "unwrap_or", "expect", "unwrap_or_default", "unwrap_or_else", "ok", "ok_or"))  # fmt: skip
without_call("drop-collect", "types", "returns", of=("collect",))
# `f(a, b)` becomes `f(b, a)` or `f(a)`
RUST.swap("swap-arguments", "types", at="(arguments (_) @a . (_) @b) @at")
RUST.rule("drop-argument", "types", at="(arguments (_) @a . (_) @b .) @at", cut="a$ b$")
