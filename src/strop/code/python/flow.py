"""How values flow through a Python function, by name, and which parts of it never run or are never heard."""

from strop.code.tokens import always_true
from strop.code.trees import Node, Source, Span, span

Flow = tuple[set[str], set[str]]

_BINDINGS = {
    "assignment": ("left", "right"),
    "augmented_assignment": ("left", "right"),
    "named_expression": ("name", "value"),
    "for_statement": ("left", "right"),
    "for_in_clause": ("left", "right"),
}
_LEAVING = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_BROAD = frozenset({"Exception", "BaseException", "AssertionError"})
_LOUD = frozenset({"raise", "assert", "fail"})
_UNSURE = frozenset({"or", "==", "is", "("})
"""Tokens with which a condition that holds `False` may be true."""
_SELF = frozenset({"self", "cls"})


def flows(source: Source, body: Node) -> list[Flow]:
    """(targets, sources) of bindings, `with … as`, and calls that may change a variable they are given."""
    found: list[Flow] = []
    for kind, (target, origin) in _BINDINGS.items():
        for node in source.inner(body, kind):
            targets = source.names(node.child_by_field_name(target)) - _SELF
            found.append((targets, source.names(node.child_by_field_name(origin)) - _SELF))
    for node in source.inner(body, "assignment"):
        right = node.child_by_field_name("right")
        if right is not None and right.type == "call":  # what is made of a list may fill it later
            filled = source.names(node.child_by_field_name("left")) - _SELF
            found.append((_plain_arguments(source, right), filled))
    for node in source.inner(body, "as_pattern"):
        alias = node.child_by_field_name("alias")
        around = source.within(node, frozenset({"with_statement", "except_clause"}))
        made = [node] if around is None else [node, around.child_by_field_name("body")]
        found.append((source.names(alias), source.names(*made)))
    for node in source.inner(body, "call"):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        found.append((_plain_arguments(source, node), source.names(function) - _SELF))
        if function is not None and function.type == "attribute":
            receiver = source.names(function.child_by_field_name("object")) - _SELF
            found.append((receiver, source.names(arguments)))
    return found


def _plain_arguments(source: Source, call: Node) -> set[str]:
    arguments = call.child_by_field_name("arguments")
    given = arguments.named_children if arguments else ()
    return source.names(*(child for child in given if child.type == "identifier"))


def dead_spans(source: Source, body: Node) -> list[Span]:
    """Parts of a function that plainly never run, or whose failures are swallowed."""
    found: list[Span] = []
    for node in source.inner(body, "if_statement", "while_statement"):
        condition = source.tokens(node.child_by_field_name("condition"))
        part = node.child_by_field_name("consequence") or node.child_by_field_name("body")
        never = condition in (["0"], ["None"], ["not", "True"]) or "False" in condition
        if part is not None and never:
            if _UNSURE.isdisjoint(condition):
                found.append(span(part))
        elif always_true(condition) and node.type == "if_statement":
            found += [span(n) for n in node.children_by_field_name("alternative")]
    for node in source.inner(body, "for_statement"):
        inner = node.child_by_field_name("body")
        over = source.tokens(node.child_by_field_name("right"))
        if inner is not None and over in (["[", "]"], ["(", ")"], ["range", "(", "0", ")"]):
            found.append(span(inner))
    for node in (body, *source.inner(body, "block")):
        found += _after_leaving(source, node)
    found += _swallowed(source, body)
    found += [span(node) for node in source.inner(body, "function_definition", "class_definition")]
    return found


def _after_leaving(source: Source, block: Node) -> list[Span]:
    for child in block.named_children:
        tokens = source.tokens(child)[:4] if child.type == "expression_statement" else []
        skips = "skip" in tokens or "skipTest" in tokens or tokens[:3] == ["sys", ".", "exit"]
        if child.type in _LEAVING or skips:
            return [(child.end_byte, block.end_byte)]
    return []


def _swallowed(source: Source, body: Node) -> list[Span]:
    """Bodies of a `try` that swallows failed assertions, and of `with suppress(AssertionError)`."""
    found = []
    for node in source.inner(body, "try_statement"):
        inner = node.child_by_field_name("body")
        for clause in node.children:
            if clause.type != "except_clause" or inner is None:
                continue
            handler = clause.named_children[-1] if clause.named_children else None
            caught = source.names(*clause.named_children[:-1])
            broad = len(clause.named_children) < 2 or not caught.isdisjoint(_BROAD)
            if broad and _LOUD.isdisjoint(source.tokens(handler)):
                found.append(span(inner))
    for node in source.inner(body, "with_statement"):
        inner = node.child_by_field_name("body")
        head = source.names(*(c for c in node.children if c.type == "with_clause"))
        if inner is not None and "suppress" in head and not head.isdisjoint(_BROAD):
            found.append(span(inner))
    return found
