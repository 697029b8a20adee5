"""Sites for faults in Rust that nearly always still compile.

Values of Rust types that need no context, and changed literals.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from strop_verify.code.functions import Function
from strop_verify.code.mutate.sites import Change, Finder, reachable
from strop_verify.code.rust.items import RustItems
from strop_verify.code.tokens import split
from strop_verify.code.trees import Node, Regions, Source, span

_INTEGERS = ("i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize")
_PLAIN = dict.fromkeys(_INTEGERS, ("0", "1")) | {
    "f32": ("0.0", "1.0"), "f64": ("0.0", "1.0"), "bool": ("false", "true"), "char": ("'x'",),
    "String": ("String::new()",), "()": ("()",),
}  # fmt: skip
_EMPTY = frozenset({"Vec", "String", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "VecDeque", "BinaryHeap"})
_DEEPEST = 4
_MESSAGES = frozenset({"expect", "expect_err", "Err", "ok_or", "map_err", "ok_or_else", "bail", "context"})


def default_value(tokens: list[str], depth: int = 0) -> tuple[str, ...]:
    """Values of the type with these tokens, the plainest first; empty if none is known."""
    tokens = [t for t in tokens if t not in ("'", "static")]
    if not tokens or depth > _DEEPEST:
        return ()
    if len(tokens) == 1:
        return _PLAIN.get(tokens[0], ())
    if tokens[0] == "&" and tokens[-1] == "str":
        return ('""', '"x"')
    if tokens[0] == "(" and tokens[-1] == ")":
        parts = [default_value(part, depth + 1) for part in split(tokens[1:-1], (",",)) if part]
        return ("(" + ", ".join(part[0] for part in parts) + ",)",) if parts and all(parts) else ()
    if tokens[-1] != ">" or "<" not in tokens:
        return ()
    opening = tokens.index("<")
    head, inner = tokens[opening - 1], tokens[opening + 1 : -1]
    if head == "Option":
        return ("None",)
    if head == "Result":
        good = default_value(_first(inner), depth + 1)
        return (f"Ok({good[0]})",) if good else ()
    return ("Default::default()",) if head in _EMPTY else ()


def _first(tokens: list[str]) -> list[str]:
    """The tokens up to the first comma outside brackets of any kind."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token in "(<[") - (token in ")>]")
        if token == "," and depth == 0:
            return tokens[:place]
    return tokens


def other_constant(source: Source, node: Node, parent: Node) -> str | None:
    """Another literal of the same type, or None if there is none."""
    text = source.string(node)
    if node.type == "boolean_literal":
        return "false" if text == "true" else "true"
    if node.type == "string_literal":
        call = source.parent(parent) if parent.type == "arguments" else parent
        said = (
            source.tokens(call.child_by_field_name("function"))
            if call and call.type == "call_expression"
            else []
        )
        quiet = not text.startswith('"') or bool(_MESSAGES & set(said)) or _under_message(source, node)
        return None if quiet else ('"x"' if text == '""' else '""')
    if parent.type == "binary_expression" and any(c.type in ("<<", ">>") for c in parent.children):
        return None
    digits = text.rstrip("iusze0123456789_") == "" and text.split("i")[0].split("u")[0]
    if node.type == "float_literal":
        number = text.replace("_", "")
        plain = number.replace(".", "", 1).isdigit() and "." in number
        return repr(float(number) + 1.0) if plain and len(number) < 12 else None
    if not digits or not digits.isdigit() or len(digits) > 6:
        return None
    value = int(digits)
    return str(value + 1 if value < 100 else value - 1) + text[len(digits) :]


def _under_message(source: Source, node: Node) -> bool:
    around = source.within(node, frozenset({"call_expression"}))
    while around is not None and around.type == "call_expression":
        if _MESSAGES & set(source.tokens(around.child_by_field_name("function"))[-1:]):
            return True
        around = source.within(around, frozenset({"call_expression"}))
    return False


_BINARY: dict[str, tuple[str, str]] = {
    "<": ("boundary", "<="), "<=": ("boundary", "<"), ">": ("boundary", ">="), ">=": ("boundary", ">"),
    "==": ("comparison", "!="), "!=": ("comparison", "=="),
    "&&": ("boolean", "||"), "||": ("boolean", "&&"),
    "+": ("arithmetic", "-"), "-": ("arithmetic", "+"), "*": ("arithmetic", "+"), "/": ("arithmetic", "*"),
    "%": ("arithmetic", "/"),
    "+=": ("arithmetic", "-="), "-=": ("arithmetic", "+="), "*=": ("arithmetic", "+="),
    "/=": ("arithmetic", "*="), "%=": ("arithmetic", "/="),
}  # fmt: skip
_UNTOUCHED = (
    "macro_definition", "attribute_item", "inner_attribute_item", "const_item", "static_item", "match_pattern",
    "type_arguments", "array_type", "type_parameters", "range_pattern", "token_tree", "extern_crate_declaration",
    "unsafe_block", "const_block",
)  # fmt: skip
_SHOWN = frozenset({"to_string", "format", "println", "print", "write", "assert_eq", "assert_ne"})
_NO_NUMBERS = frozenset({"to_string", "format", "String", '"', "&", "to_owned", "as_str", "Duration", "Instant",
                         "collect"})  # fmt: skip
_LEFT_BY_RETURN = frozenset({"closure_expression", "function_item", "async_block"})
_FORMATTERS = frozenset({"Display", "Debug"})
_QUIET_CALLS = frozenset(
    {"println", "eprintln", "print", "eprint", "dbg", "log", "debug", "info", "warn", "trace"}
)


def sites(source: Source) -> Iterator[Change]:
    """Every change that could be made to code that the tests reach."""
    items = RustItems(source)
    kept_out = Regions([*items.regions.spans, *(span(n) for n in source.all(*_UNTOUCHED))])
    wanted = {source.string(n) for n in source.all("identifier", "type_identifier") if items.regions.hold(n)}
    wanted |= source.names(*source.all("macro_definition"))  # may make tests
    inside = frozenset({"function_item"})
    wanted |= source.names(*(n for n in source.all("macro_invocation") if source.within(n, inside) is None))
    left = (f for f in items.functions if not (f.in_tests or f.nested or f.removed))
    for function in reachable(source, left, wanted, partial(_leads_to, source)):
        yield from _RustFinder(source, function, kept_out).all()


def _leads_to(source: Source, function: Function, wanted: set[str]) -> bool:
    """Whether a wanted name leads to a function: its own, or the type's for methods of traits.

    `fmt` of Display and Debug counts as reached only if something is formatted or compared.
    """
    around = source.within(function.node, frozenset({"impl_item", "trait_item"}))
    kind = None if around is None else around.child_by_field_name("type")
    trait = None if around is None else around.child_by_field_name("trait")
    if trait is not None and kind is not None:
        formats = bool(_FORMATTERS & source.names(trait)) and function.name == "fmt"
        return not source.names(kind).isdisjoint(wanted) and (not formats or bool(_SHOWN & wanted))
    return function.name in wanted


class _RustFinder(Finder):
    """The changes that could be made to one function."""

    loops = frozenset({"while_expression", "loop_expression", "function_item"})

    def __init__(self, source: Source, function: Function, kept_out: Regions) -> None:
        super().__init__(source, function, kept_out)
        around = source.within(function.node, frozenset({"impl_item", "trait_item"}))
        parameters = [n.child_by_field_name("type_parameters") for n in (function.node, around) if n]
        self.generic = any("type_parameter" in {c.type for c in p.named_children} for p in parameters if p)

    def finders(self) -> Sequence[Callable[[], Iterator[Change]]]:
        """In order of preference."""
        return (self._returns, self._conditions, self._binary, self._ranges, self._constants, self._deletions)

    def _returns(self) -> Iterator[Change]:
        kind = self.node.child_by_field_name("return_type")
        values = default_value(self.source.tokens(kind)) if kind is not None else ()
        if "impl" in self.source.tokens(kind):
            return
        inner = self.source.string(self.body)[1:-1].strip()
        for value in values:
            if inner != value:
                yield self._site("return value", self.body, f"{{ {value} }}")
        for node in self._nodes("return_expression"):
            given = node.named_children[0] if node.named_children else None
            if given is None or self.source.within(node, _LEFT_BY_RETURN) != self.node:
                continue
            for value in values:
                if self.source.string(given) != value:
                    yield self._site("return value", given, value)

    def _conditions(self) -> Iterator[Change]:
        for node in self._nodes("if_expression"):
            condition = node.child_by_field_name("condition")
            if condition is None or condition.type in ("let_condition", "let_chain"):
                continue
            if self._steers_loop(node) or self.source.tokens(condition)[:1] == ["!"]:
                continue
            yield self._site("negated condition", condition, f"!({self.source.string(condition)})")

    def _binary(self) -> Iterator[Change]:
        for node in self._nodes("binary_expression", "compound_assignment_expr"):
            operator = node.child_by_field_name("operator")
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if operator is None or left is None or right is None or operator.type not in _BINARY:
                continue
            name, after = _BINARY[operator.type]
            if name == "arithmetic" and not self._numeric(node, left, right):
                continue
            if name != "boundary" and self._ends_loop(node):
                continue
            if name == "boolean" and self.source.names(left) and "let" in self.source.tokens(node):
                continue
            if after.startswith("<") and "as" in self.source.tokens(left)[-3:]:
                continue
            yield self._site(name, operator, after)

    def _numeric(self, node: Node, left: Node, right: Node) -> bool:
        """Whether the operands look like numbers, and changing them does not prolong a loop."""
        if self.generic or (node.type == "compound_assignment_expr" and self._steers_loop(node)):
            return False
        assigned = self.source.within(node, frozenset({"assignment_expression", "block"}))
        if assigned is not None and assigned.type == "assignment_expression" and self._steers_loop(node):
            return False
        tokens = {*self.source.tokens(left), *self.source.tokens(right)}
        return tokens.isdisjoint(_NO_NUMBERS)

    def _ranges(self) -> Iterator[Change]:
        for node in self._nodes("range_expression"):
            if len(node.named_children) != 2:
                continue
            for child in node.children:
                if child.type in ("..", "..="):
                    yield self._site("range", child, "..=" if child.type == ".." else "..")

    def _constants(self) -> Iterator[Change]:
        for node in self._nodes("integer_literal", "float_literal", "boolean_literal", "string_literal"):
            parent = self.source.parent(node)
            if parent is None or parent.type in ("field_expression", "index_expression", "array_expression"):
                continue
            around = parent.type in ("compound_assignment_expr", "loop_expression")
            if (around and self._steers_loop(node)) or self._ends_loop(node):
                continue
            after = other_constant(self.source, node, parent)
            if after is not None:
                yield self._site("constant", node, after)

    def _deletions(self) -> Iterator[Change]:
        unset = {
            name
            for n in self.source.inner(self.body, "let_declaration")
            if n.child_by_field_name("value") is None
            for name in self.source.names(n.child_by_field_name("pattern"))
        }
        for node in self._nodes("expression_statement"):
            if not self.source.string(node).endswith(";") or not node.named_children:
                continue
            inner = node.named_children[0]
            if self._deletable(node, inner, unset):
                yield self._site("deletion", node, "")

    def _deletable(self, node: Node, inner: Node, unset: set[str]) -> bool:
        if self._steers_loop(node):
            return False
        if inner.type in ("assignment_expression", "compound_assignment_expr"):
            return self.source.names(inner.child_by_field_name("left")).isdisjoint(unset)
        if inner.type == "call_expression":
            return _QUIET_CALLS.isdisjoint(self.source.tokens(inner)[:1])
        if inner.type != "return_expression":
            return inner.type == "continue_expression"
        block = self.source.parent(node)
        branch = None if block is None else self.source.parent(block)
        if branch is None or branch.type != "if_expression":
            return False
        return branch.child_by_field_name("alternative") is None
