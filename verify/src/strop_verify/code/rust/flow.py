"""How values flow through a Rust function, by name, and which parts never run."""

from strop_verify.code.tokens import always_true, split
from strop_verify.code.trees import Node, Source, Span, span

Flow = tuple[set[str], set[str]]

_LEAVING = frozenset({"return_expression", "break_expression", "continue_expression"})
_NEVER = frozenset({"panic", "unreachable", "todo", "unimplemented"})


def flows(source: Source, body: Node) -> list[Flow]:
    """(targets, sources) of bindings, assignments, patterns, closures and calls that take a `&mut`."""
    found: list[Flow] = []
    shared = _mutable(source, body)
    for kind, (target, origin) in _BINDINGS.items():
        for node in source.inner(body, kind):
            targets = source.names(node.child_by_field_name(target))
            kept = [node.child_by_field_name(origin), node.child_by_field_name("type")]
            found.append((targets, source.names(*kept)))
    for node in source.inner(body, "match_arm"):
        around = source.within(node, frozenset({"match_expression"}))
        value = None if around is None else around.child_by_field_name("value")
        found.append((source.names(node.child_by_field_name("pattern")), source.names(value)))
    for node in source.inner(body, "closure_expression"):
        call = source.within(node, frozenset({"call_expression"}))
        found.append((source.names(node.child_by_field_name("parameters")), source.names(call)))
    for node in source.inner(body, "call_expression"):
        found.append((_changed(source, node, shared), source.names(node)))
    return found


_BINDINGS = {
    "let_declaration": ("pattern", "value"),
    "let_condition": ("pattern", "value"),
    "for_expression": ("pattern", "value"),
    "assignment_expression": ("left", "right"),
    "compound_assignment_expr": ("left", "right"),
}


def _mutable(source: Source, body: Node) -> set[str]:
    """Names bound to a `&mut`."""
    found: set[str] = set()
    for node in source.inner(body, "let_declaration"):
        value = node.child_by_field_name("value")
        if value is not None and source.tokens(value)[:2] == ["&", "mut"]:
            found |= source.names(node.child_by_field_name("pattern"))
    return found


def _changed(source: Source, call: Node, shared: set[str]) -> set[str]:
    """The variables that a call may change: its receiver, and `&mut` arguments."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    found: set[str] = set()
    if function is not None and function.type == "field_expression":
        found |= source.names(function.child_by_field_name("value"))
    for argument in [] if arguments is None else arguments.named_children:
        if source.tokens(argument)[:2] == ["&", "mut"]:
            found |= source.names(argument)
        elif argument.type == "identifier":
            found |= source.names(argument) & shared
    return found


def dead_spans(source: Source, body: Node) -> list[Span]:
    """Parts of a function that clearly never run, or whose panics are lost."""
    found: list[Span] = []
    for node in source.inner(body, "if_expression", "while_expression"):
        condition = source.tokens(node.child_by_field_name("condition"))
        if condition in (["false"], ["!", "true"]) or "false" in map(_only, split(condition, ("&&",))):
            part = node.child_by_field_name("consequence") or node.child_by_field_name("body")
        elif always_true(condition):
            part = node.child_by_field_name("alternative")
        else:
            part = None
        found += [] if part is None else [span(part)]
    for node in source.inner(body, "for_expression"):
        inner = node.child_by_field_name("body")
        if inner is not None and _empty(source.tokens(node.child_by_field_name("value"))):
            found.append(span(inner))
    for node in (body, *source.inner(body, "block")):
        found += _after_leaving(source, node)
    found += _unseen_closures(source, body)
    return found


def _only(tokens: list[str]) -> str:
    return tokens[0] if len(tokens) == 1 else ""


def _empty(tokens: list[str]) -> bool:
    """Whether a `for` over this never runs: `0..0`, `[]`, `vec![]`."""
    if tokens in (["[", "]"], ["vec", "!", "[", "]"], ["&", "[", "]"]):
        return True
    return len(tokens) == 3 and tokens[1] == ".." and tokens[0].isdigit() and tokens[0] == tokens[2]


def _after_leaving(source: Source, block: Node) -> list[Span]:
    for child in block.named_children:
        inner = next(iter(child.named_children), child) if child.type == "expression_statement" else child
        never = inner.type == "macro_invocation" and source.tokens(inner)[0] in _NEVER
        if inner.type in _LEAVING or never:
            return [(child.end_byte, block.end_byte)]
    return []


def _unseen_closures(source: Source, body: Node) -> list[Span]:
    """Closures bound to an unused name, and threads of a function that joins none."""
    names = [source.string(leaf) for leaf in source.leaves(body) if leaf.type == "identifier"]
    joins = "join" in source.names(body) or "scope" in names
    found = []
    for node in source.inner(body, "closure_expression"):
        parent = source.parent(node)
        if parent is None:
            continue
        if parent.type == "let_declaration":
            name = source.string(parent.child_by_field_name("pattern"))
            if names.count(name) == 1:
                found.append(span(node))
        call = source.parent(parent)
        if parent.type == "arguments" and call is not None and not joins:
            function = source.tokens(call.child_by_field_name("function"))
            if function[-1:] == ["spawn"]:
                found.append(span(node))
    return found
