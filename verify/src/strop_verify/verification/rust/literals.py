"""Rewrites trusted tests so that their literals can be altered at run time (second_look.py, alterations.rs)."""

import secrets
from collections.abc import Collection, Iterator

from strop_verify.code.trees import Node, parse, text_of, walk
from strop_verify.verification.rust.names import leaves

SECRET = secrets.token_hex(8)
"""Suffix of names in the harness that an answer must not know; random in each process."""
_LITERALS = ("integer_literal", "float_literal", "boolean_literal", "string_literal", "char_literal")
_HOLDERS = {"array_expression", "tuple_expression", "parenthesized_expression", "reference_expression",
            "let_declaration", "field_initializer", "arguments"}  # fmt: skip
"""Nodes whose children are values that only need the right type."""
_CONSTANT = {"const_item", "static_item", "const_block", "array_type", "type_arguments", "macro_definition"}
_ASSERTIONS = {f"{debug}{name}" for debug in ("", "debug_") for name in ("assert", "assert_eq", "assert_ne")}


def literal_edits(tests: str, theirs: Collection[str]) -> list[tuple[int, int, str]]:
    """Edits that pass each alterable literal to the harness with a number, from 1, and mark comparisons that count.

    `theirs`: names that the answer defines. A comparison with values made of them on both sides counts.
    """
    root = parse(_as_calls(tests))
    if root.has_error:
        return []
    patterns = [n.child_by_field_name("pattern") for n in walk(root) if n.type == "let_declaration"]
    variables = {name for pattern in patterns if pattern is not None for name in _names(pattern)}
    edits, end = [], 0
    for node in walk(root):
        if node.type in _CONSTANT:
            end = max(end, node.end_byte)
        if node.start_byte < end:
            continue
        if node.type == "reference_expression" and _promoted(node):
            edits += _around(node, "::test::lasting(", ")", instead=1)
        elif (value := _literal(node)) is not None and _held(node):
            head = f"::test::literal_{SECRET}({len(edits) + 1}, "
            edits.append((node.start_byte, node.end_byte, f"{head}{value})"))
        elif len(sides := _sides(node)) == 2 and all(_names(side) & {*theirs, *variables} for side in sides):
            edits += _around(sides[1], f"*::test::counts_{SECRET}(&(", "))")
    return edits


def _around(node: Node, before: str, after: str, instead: int = 0) -> list[tuple[int, int, str]]:
    start, end = node.start_byte, node.end_byte
    return [(start, start + instead, before), (end, end, after)]


def _sides(node: Node) -> list[Node]:
    """The sides that an assertion compares."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.type != "call_expression" or arguments is None or text_of(function) not in _ASSERTIONS:
        return []
    given = [n for n in arguments.named_children if "comment" not in n.type]
    if text_of(function).endswith("assert") and given and given[0].type == "binary_expression":
        operator = text_of(given[0].child_by_field_name("operator"))
        return given[0].named_children if operator in ("==", "!=") else []
    return given[:2]


def _names(node: Node) -> set[str]:
    return {text_of(n) for n in walk(node) if n.type in ("identifier", "type_identifier", "field_identifier")}


def _as_calls(tests: str) -> str:
    """The text with assertions as calls and `vec!` as an array; byte positions stay the same."""
    data, tokens = bytearray(tests.encode()), leaves(parse(tests))
    for name, mark, bracket in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if text_of(mark) == "!" and text_of(name) in _ASSERTIONS and text_of(bracket) == "(":
            data[mark.start_byte : mark.end_byte] = b" "
        elif text_of(mark) == "!" and text_of(name) == "vec" and text_of(bracket) == "[":
            data[name.start_byte : mark.end_byte] = b" " * (mark.end_byte - name.start_byte)
    return data.decode()


def _literal(node: Node) -> str | None:
    """The text of a literal with its sign; None for types that the harness does not alter."""
    inner = node.named_children[0] if _negates(node) else node
    if inner.type not in _LITERALS or (node.parent is not None and _negates(node.parent)):
        return None
    text = text_of(node)
    return None if text.startswith(("b'", 'b"', 'c"')) else text


def _negates(node: Node) -> bool:
    return node.type == "unary_expression" and text_of(node.children[0]) == "-"


def _held(node: Node) -> bool:
    """Whether a call may replace a literal here, and it is not a direct argument of an assertion."""
    parent = node.parent
    assert parent is not None
    if parent.type == "field_expression":
        return node.type == "string_literal"
    if parent.type == "arguments":
        function = parent.parent.child_by_field_name("function") if parent.parent is not None else None
        return text_of(function) not in _ASSERTIONS
    return parent.type in _HOLDERS and parent.child_by_field_name("length") != node


def _promoted(reference: Node) -> bool:
    """Whether a reference is to literals only, which the compiler promotes to a constant."""
    parts = list(_parts(reference.child_by_field_name("value")))
    return (
        len(reference.named_children) == 1 and len(parts) > 0 and all(_literal(p) is not None for p in parts)
    )


def _parts(node: Node | None) -> Iterator[Node]:
    """The parts of a value, inside arrays, tuples and references."""
    if node is None:
        return
    if node.type not in ("array_expression", "tuple_expression", "reference_expression"):
        yield node
    elif node.child_by_field_name("length") is None:
        for child in node.named_children:
            yield from _parts(child)
    else:
        yield node
