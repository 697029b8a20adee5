"""Where a Python text can be changed. Kept away from changes that only crash: `+` on what may be text, indices."""

from collections.abc import Callable, Iterator, Sequence

from strop.code.mutate.sites import Finder, Operator, Site
from strop.code.python.items import Function, PythonItems
from strop.code.trees import Node, Regions, Source, span

_DEEPEST_CALL = 50
"""Calls between a test and the code that is changed."""

_COMPARISONS: dict[str, tuple[Operator, str]] = {
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
_QUIET_CALLS = frozenset({"print", "logging", "logger", "log", "warnings"})
_LOOPS = frozenset({"while_statement", "function_definition"})
_SIMPLE = frozenset({"comparison_operator", "boolean_operator", "not_operator", "true", "false"})


def sites(source: Source) -> Iterator[Site]:
    """Every change that could be made to code that the tests reach."""
    items = PythonItems(source)
    kept_out = Regions([*items.regions.spans, *(span(n) for n in source.all(*_UNTOUCHED))])
    for function in reachable(items):
        yield from _Finder(source, function, kept_out).all()


def reachable(items: PythonItems) -> list[Function]:
    """Functions outside the tests whose name the tests lead to; special methods through their class."""
    source = items.source
    wanted: set[str] = set()
    for function in items.functions:
        if function.in_tests:
            wanted |= source.names(function.node)
    left = [f for f in items.functions if not (f.in_tests or f.nested)]
    reached: list[Function] = []
    for _ in range(_DEEPEST_CALL):
        now = [
            f
            for f in left
            if f.name in wanted or (f.name.startswith("__") and not wanted.isdisjoint(f.classes))
        ]
        if not now:
            break
        taken = {f.node.id for f in now}
        left = [f for f in left if f.node.id not in taken]
        reached += now
        for function in now:
            wanted |= source.names(function.node)
    return sorted(reached, key=lambda f: f.node.start_byte)


class _Finder(Finder):
    """The changes that could be made to one function."""

    def __init__(self, source: Source, function: Function, kept_out: Regions) -> None:
        super().__init__(source, function.node, function.body, kept_out)
        self.function = function

    def finders(self) -> Sequence[Callable[[], Iterator[Site]]]:
        """In the order of their worth."""
        return (
            self._returns,
            self._conditions,
            self._comparisons,
            self._binary,
            self._ranges,
            self._constants,
            self._deletions,
        )

    def _steers_loop(self, node: Node) -> bool:
        """Whether the node is inside a `while`, whose end it may decide."""
        around = self.source.within(node, _LOOPS)
        return around is not None and around.type == "while_statement"

    def _ends_loop(self, node: Node) -> bool:
        """Whether the node is part of the condition of a `while`."""
        around = self.source.within(node, _LOOPS)
        condition = None if around is None else around.child_by_field_name("condition")
        return condition is not None and Regions([span(condition)]).hold(node)

    def _returns(self) -> Iterator[Site]:
        for node in self._nodes("return_statement"):
            value = node.named_children[0] if node.named_children else None
            if value is None or value.type in ("none", "comment"):
                continue
            text = self.source.string(value)
            after = f"not ({text})" if value.type in _SIMPLE else "None"
            yield self._site("return value", value, after)

    def _conditions(self) -> Iterator[Site]:
        for node in self._nodes("if_statement", "elif_clause"):
            condition = node.child_by_field_name("condition")
            if condition is not None and condition.type != "not_operator" and not self._steers_loop(node):
                yield self._site("negated condition", condition, f"not ({self.source.string(condition)})")

    def _comparisons(self) -> Iterator[Site]:
        for node in self._nodes("comparison_operator"):
            operators = node.children_by_field_name("operators")
            if len(node.named_children) == 2 and len(operators) == 1 and operators[0].type in _COMPARISONS:
                name, after = _COMPARISONS[operators[0].type]
                if name == "boundary" or not self._ends_loop(node):
                    yield self._site(name, operators[0], after)

    def _binary(self) -> Iterator[Site]:
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

    def _ranges(self) -> Iterator[Site]:
        for node in self._nodes("call"):
            arguments = node.child_by_field_name("arguments")
            if self.source.string(node.child_by_field_name("function")) != "range" or arguments is None:
                continue
            given = [n for n in arguments.named_children if n.type != "comment"]
            if 0 < len(given) < 3:
                yield self._site("range", given[-1], f"({self.source.string(given[-1])}) - 1")

    def _constants(self) -> Iterator[Site]:
        for node in self._nodes("integer", "true", "false", "string"):
            parent = self.source.parent(node)
            if parent is None or parent.type in (
                "subscript",
                "expression_statement",
                "concatenated_string",
                "pair",
            ):
                continue
            text = self.source.string(node)
            if self._steers_loop(node):
                continue
            if node.type == "string" and (text[:1] in "'\"" and not self._is_message(node)):
                yield self._site("constant", node, "'x'" if len(text) == 2 else "''")
            elif node.type in ("true", "false"):
                yield self._site("constant", node, "False" if text == "True" else "True")
            elif text.isdigit() and len(text) < 12:
                value = int(text)
                yield self._site("constant", node, str(value + 1 if value < 100 else value - 1))

    def _is_message(self, node: Node) -> bool:
        call = self.source.within(node, frozenset({"call"}))
        return call is not None and bool(
            _QUIET_CALLS & self.source.names(call.child_by_field_name("function"))
        )

    def _deletions(self) -> Iterator[Site]:
        for node in self._nodes("expression_statement", "continue_statement"):
            inner = node.named_children[0] if node.named_children else node
            quiet = bool(_QUIET_CALLS & set(self.source.tokens(inner)[:1]))
            deletable = inner.type in ("call", "augmented_assignment", "continue_statement")
            if deletable and not quiet and not self._steers_loop(node):
                yield self._site("deletion", node, "pass")
