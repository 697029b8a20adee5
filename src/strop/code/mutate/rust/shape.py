"""Operators whose faults are about names, what a function gives back, and what a match covers."""

from collections.abc import Iterator

from strop.code.mutate.operators import RUST, Edit, cut, line_span, replace
from strop.code.mutate.rust.nodes import calls, other_method, tail_of, tails
from strop.code.trees import Source, having

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
