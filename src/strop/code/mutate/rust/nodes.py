"""What operators ask of a parse tree: method calls, tails of bodies, types of parameters."""

from collections.abc import Iterator
from typing import NamedTuple

from strop.code.trees import Node, Source

_BLOCKS = frozenset({"if_expression", "match_expression", "block", "loop_expression", "unsafe_block"})


class Method(NamedTuple):
    """A call `receiver.name(arguments)`."""

    node: Node
    receiver: Node
    name: Node
    arguments: list[Node]


def methods(source: Source, *names: str) -> Iterator[Method]:
    """Calls of methods with one of these names; of all methods without names."""
    for node in source.all("call_expression"):
        function = node.child_by_field_name("function")
        if function is not None and function.type == "generic_function":
            function = function.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None or function.type != "field_expression":
            continue
        receiver, name = function.child_by_field_name("value"), function.child_by_field_name("field")
        if receiver is None or name is None or (names and source.string(name) not in names):
            continue
        yield Method(node, receiver, name, arguments.named_children)


def calls(source: Source, *names: str) -> Iterator[tuple[Node, list[Node]]]:
    """Calls of functions, `Some` and `Ok` among them, by their last name: (node, arguments)."""
    for node in source.all("call_expression"):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or function.type == "field_expression":
            continue
        if not names or source.string(function) in names:
            yield node, arguments.named_children


def tails(source: Source) -> Iterator[tuple[Node, Node]]:
    """(function, the expression that its body ends in) of every function that returns something."""
    for function in source.all("function_item"):
        body = function.child_by_field_name("body")
        if body is None or function.child_by_field_name("return_type") is None:
            continue
        tail = tail_of(body)
        if tail is not None:
            yield function, tail


def tail_of(block: Node) -> Node | None:
    """The expression that a block ends in; None where it ends in a statement."""
    last = block.named_children[-1] if block.named_children else None
    if last is not None and last.type == "expression_statement":
        inner = last.named_children[0] if last.named_children else None
        closed = last.children[-1].type == ";"
        return None if closed or inner is None or inner.type not in _BLOCKS else inner
    if last is None or last.type.endswith(("_declaration", "_item", "_comment")):
        return None
    return last


def parameters(source: Source) -> Iterator[tuple[Node, Node, str, str]]:
    """(function, parameter, name, type) of every plain parameter of a function with a body."""
    for function in source.all("function_item"):
        listed = function.child_by_field_name("parameters")
        for parameter in listed.named_children if listed is not None else ():
            if parameter.type != "parameter":
                continue
            name, kind = parameter.child_by_field_name("pattern"), parameter.child_by_field_name("type")
            if name is not None and kind is not None and name.type == "identifier":
                yield function, parameter, source.string(name), source.string(kind)


def statements_with(source: Source, block: Node, name: str) -> list[Node]:
    """The statements of a block, the tail among them, that mention a name."""
    return [node for node in block.named_children if name in source.names(node)]
