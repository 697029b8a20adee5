"""Queries of a parse tree for operators: method calls, tails of bodies, types of parameters."""

from collections.abc import Iterator
from typing import NamedTuple

from strop_tasks.curation.faults.operators import RUST, Edit, Kind
from strop_verify.code.trees import Node, Source, having

_BLOCKS = frozenset({"if_expression", "match_expression", "block", "loop_expression", "unsafe_block"})
METHOD = """(call_expression function: [(field_expression field: (_) @at)
            (generic_function function: (field_expression field: (_) @at))])"""
"""A query for the name of a method that is called."""


class Method(NamedTuple):
    """A call `receiver.name(arguments)`."""

    node: Node
    receiver: Node
    name: Node
    arguments: list[Node]


def methods(source: Source, *names: str) -> Iterator[Method]:
    """Calls of methods with one of these names; without names, of all methods."""
    for node, function, arguments in having(source.all("call_expression"), "function", "arguments"):
        inner = function.child_by_field_name("function") if function.type == "generic_function" else function
        called = [inner] if inner is not None and inner.type == "field_expression" else []
        for _, receiver, name in having(called, "value", "field"):
            if not names or source.string(name) in names:
                yield Method(node, receiver, name, arguments.named_children)


def without_call(operator: str, *kinds: Kind, of: tuple[str, ...]) -> None:
    """Registers an operator that leaves out calls of these methods: `x.clone()` becomes `x`."""

    @RUST.add(operator, *kinds)
    def _find(source: Source) -> Iterator[Edit]:
        return ((m.receiver.end_byte, m.node.end_byte, "") for m in methods(source, *of))


def tails(source: Source) -> Iterator[tuple[Node, Node]]:
    """(function, the expression that its body ends in) of every function that returns something."""
    for function, body, _ in having(source.all("function_item"), "body", "return_type"):
        tail = tail_of(body)
        if tail is not None:
            yield function, tail


def tail_of(block: Node) -> Node | None:
    """The expression at the end of a block; None if it ends in a statement."""
    last = block.named_children[-1] if block.named_children else None
    if last is not None and last.type == "expression_statement":
        inner = last.named_children[0] if last.named_children else None
        closed = last.children[-1].type == ";"
        return None if closed or inner is None or inner.type not in _BLOCKS else inner
    if last is None or last.type.endswith(("_declaration", "_item", "_comment")):
        return None
    return last


def parameters(source: Source) -> Iterator[tuple[Node, str, str]]:
    """(body of the function, name, type) of every plain parameter of a function with a body."""
    for _, body, listed in having(source.all("function_item"), "body", "parameters"):
        plain = (child for child in listed.named_children if child.type == "parameter")
        for _, name, kind in having(plain, "pattern", "type"):
            if name.type == "identifier":
                yield body, source.string(name), source.string(kind)


def statements_with(source: Source, block: Node, name: str) -> list[Node]:
    """The statements of a block, its tail included, that mention a name."""
    return [node for node in block.named_children if name in source.names(node)]
