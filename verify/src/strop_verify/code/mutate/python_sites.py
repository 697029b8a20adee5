"""Sites for faults in Python. Avoids changes that only crash: `+` on possible text, indices."""

from collections.abc import Callable, Iterator, Sequence

from strop_verify.code.functions import Function
from strop_verify.code.mutate.sites import Change, Finder, reachable
from strop_verify.code.python.items import PythonItems
from strop_verify.code.trees import Node, Regions, Source, span

_COMPARISONS: dict[str, tuple[str, str]] = {
    "<": ("boundary", "<="), "<=": ("boundary", "<"), ">": ("boundary", ">="), ">=": ("boundary", ">"),
    "==": ("comparison", "!="), "!=": ("comparison", "=="), "in": ("comparison", "not in"),
    "not in": ("comparison", "in"), "is": ("comparison", "is not"), "is not": ("comparison", "is"),
}  # fmt: skip
_ARITHMETIC = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "//", "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=",
    "//=": "*=", "%=": "//=",
}  # fmt: skip
_NEEDS_NUMBER = frozenset({"+", "*", "+=", "*=", "%"})
_NUMBERS = frozenset({"integer", "float"})
_UNTOUCHED = (
    "decorator", "type", "import_statement", "import_from_statement", "interpolation", "raise_statement",
    "parameters", "case_pattern", "assert_statement",
)  # fmt: skip
_NO_CONSTANTS = frozenset({"subscript", "expression_statement", "concatenated_string", "pair"})
_QUIET_CALLS = frozenset({"print", "logging", "logger", "log", "warnings"})
_SIMPLE = frozenset({"comparison_operator", "boolean_operator", "not_operator", "true", "false"})


def sites(source: Source) -> Iterator[Change]:
    """Every change that could be made to code that the tests reach."""
    items = PythonItems(source)
    kept_out = Regions([*items.regions.spans, *(span(n) for n in source.all(*_UNTOUCHED))])
    wanted: set[str] = source.names(*(f.node for f in items.functions if f.in_tests))
    left = (f for f in items.functions if not (f.in_tests or f.nested))
    for function in reachable(source, left, wanted, _leads_to):
        yield from _PythonFinder(source, function, kept_out).all()


def _leads_to(function: Function, wanted: set[str]) -> bool:
    """Whether a wanted name leads to a function: its own, or its class's for a special method."""
    special = function.name.startswith("__")
    return function.name in wanted or (special and not wanted.isdisjoint(function.path))


class _PythonFinder(Finder):
    """The changes that could be made to one function."""

    loops = frozenset({"while_statement", "function_definition"})

    def finders(self) -> Sequence[Callable[[], Iterator[Change]]]:
        """In order of preference."""
        first = (self._returns, self._conditions, self._comparisons, self._binary)
        return (*first, self._ranges, self._constants, self._deletions)

    def _returns(self) -> Iterator[Change]:
        for node in self._nodes("return_statement"):
            value = node.named_children[0] if node.named_children else None
            if value is None or value.type in ("none", "comment"):
                continue
            text = self.source.string(value)
            after = f"not ({text})" if value.type in _SIMPLE else "None"
            yield self._site("return value", value, after)

    def _conditions(self) -> Iterator[Change]:
        for node in self._nodes("if_statement", "elif_clause"):
            condition = node.child_by_field_name("condition")
            if condition is not None and condition.type != "not_operator" and not self._steers_loop(node):
                yield self._site("negated condition", condition, f"not ({self.source.string(condition)})")

    def _comparisons(self) -> Iterator[Change]:
        for node in self._nodes("comparison_operator"):
            operators = node.children_by_field_name("operators")
            if len(node.named_children) == 2 and len(operators) == 1 and operators[0].type in _COMPARISONS:
                name, after = _COMPARISONS[operators[0].type]
                if name == "boundary" or not self._ends_loop(node):
                    yield self._site(name, operators[0], after)

    def _binary(self) -> Iterator[Change]:
        for node in self._nodes("boolean_operator"):
            operator = node.child_by_field_name("operator")
            if operator is not None and not self._ends_loop(node):
                yield self._site("boolean", operator, "or" if operator.type == "and" else "and")
        for node in self._nodes("binary_operator", "augmented_assignment"):
            operator = node.child_by_field_name("operator")
            sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
            if operator is None or operator.type not in _ARITHMETIC or self._steers_loop(node):
                continue
            kinds = {side.type for side in sides if side is not None}
            if operator.type in _NEEDS_NUMBER and kinds.isdisjoint(_NUMBERS):
                continue
            if not kinds & {"string", "concatenated_string", "list"}:
                yield self._site("arithmetic", operator, _ARITHMETIC[operator.type])

    def _ranges(self) -> Iterator[Change]:
        for node in self._nodes("call"):
            arguments = node.child_by_field_name("arguments")
            if self.source.string(node.child_by_field_name("function")) != "range" or arguments is None:
                continue
            given = [n for n in arguments.named_children if n.type != "comment"]
            if 0 < len(given) < 3:
                yield self._site("range", given[-1], f"({self.source.string(given[-1])}) - 1")

    def _constants(self) -> Iterator[Change]:
        for node in self._nodes("integer", "true", "false", "string"):
            parent = self.source.parent(node)
            if parent is None or parent.type in _NO_CONSTANTS or self._steers_loop(node):
                continue
            text = self.source.string(node)
            if node.type == "string" and (text[:1] in "'\"" and not self._is_message(node)):
                yield self._site("constant", node, "'x'" if len(text) == 2 else "''")
            elif node.type in ("true", "false"):
                yield self._site("constant", node, "False" if text == "True" else "True")
            elif text.isdigit() and len(text) < 12:
                value = int(text)
                yield self._site("constant", node, str(value + 1 if value < 100 else value - 1))

    def _is_message(self, node: Node) -> bool:
        call = self.source.within(node, frozenset({"call"}))
        called = call and self.source.names(call.child_by_field_name("function"))
        return bool(called and _QUIET_CALLS & called)

    def _deletions(self) -> Iterator[Change]:
        for node in self._nodes("expression_statement", "continue_statement"):
            inner = node.named_children[0] if node.named_children else node
            quiet = bool(_QUIET_CALLS & set(self.source.tokens(inner)[:1]))
            deletable = inner.type in ("call", "augmented_assignment", "continue_statement")
            if deletable and not quiet and not self._steers_loop(node):
                yield self._site("deletion", node, "pass")
