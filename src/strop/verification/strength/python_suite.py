"""The tests of a Python file, as pytest collects them, and their claims.

Counted as claims: `assert`, unittest's and other `assert…` calls, `with raises(…)` or `warns(…)` around the code under
test, `fail()` and `raise AssertionError` behind a condition, calls of helper functions that make claims. Not counted:
what is in comments, strings, `if False`, after a `return` or `skip()`, in a `try` whose handler hides a failure;
asserts of a tuple, a literal or a bare function; asserts at module level.
"""

from collections.abc import Mapping
from typing import ClassVar

from strop.code.functions import Function
from strop.code.python.flow import dead_spans, flows
from strop.code.python.items import PythonItems
from strop.code.tokens import always_true
from strop.code.trees import Node, Source
from strop.verification.strength.suite import Claim, Scope, Suite, SuiteReader, living

_RAISES = frozenset(
    {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "deprecated_call"}
)
_PAIRS = frozenset(
    {"assertEqual", "assertListEqual", "assertDictEqual", "assertAlmostEqual", "assertIs", "assertEquals"}
)
_SELF = frozenset({"self", "cls"})
_LITERALS = frozenset(
    {"tuple", "string", "integer", "float", "true", "list", "dictionary", "lambda", "concatenated_string"}
)
_BUILTIN = frozenset(
    {"range", "len", "list", "dict", "set", "tuple", "int", "str", "float", "print", "sorted", "pytest"}
)


def python_suite(source: Source) -> Suite:
    """Tests, helpers and claims of one Python text."""
    items = PythonItems(source)
    suite = Suite(code_names=items.code_names())
    helpers = {f.name for f in items.functions if f.in_tests and not f.is_test}
    _PythonSuiteReader(source, suite, helpers).read(items)
    suite.tests = [scope.test for scope in suite.scopes if scope.test is not None]
    if not suite.code_names:
        called = source.names(*(n.child_by_field_name("function") for n in source.all("call")))
        tools = {n for n in called if n.startswith("assert")} | _SELF | _BUILTIN | helpers
        suite.code_names = called - tools
    for scope in suite.scopes:  # what a fixture keeps on self reaches every test
        if scope.name.lower().startswith("setup") and not scope.names.isdisjoint(suite.code_names):
            for target, sources in scope.flows:
                if not sources.isdisjoint(suite.code_names):
                    suite.code_names = suite.code_names | target
    suite.faults = _faults(source, items)
    return suite


_OWN_SOURCE = frozenset({"__code__", "getsource", "getsourcelines", "__file__", "__loader__", "co_code"})


def _faults(source: Source, items: PythonItems) -> list[str]:
    if reads := sorted(_OWN_SOURCE & source.names(source.root)):
        return [f"`{reads[0]}`: code that reads its own source would notice any change"]
    for node in source.all("call"):
        if items.regions.hold(node) and source.tokens(node.child_by_field_name("function"))[-1:] == ["_exit"]:
            return ["the tests end their process"]
    return []


class _PythonSuiteReader(SuiteReader):
    definition = "function_definition"
    decides: ClassVar[Mapping[str, str]] = {
        "if_statement": "condition",
        "elif_clause": "condition",
        "match_statement": "subject",
        "try_statement": "body",
    }

    def _scope(self, function: Function) -> Scope:
        source = self.source
        parameters = source.names(function.node.child_by_field_name("parameters")) - _SELF
        names = source.names(function.node) - {function.name}
        scope = Scope(function.name, function.node, self._test(function), names, parameters)
        scope.flows = flows(source, function.body)
        scope.claims = living(self._claims(function.body), dead_spans(source, function.body))
        return scope

    def _claims(self, body: Node) -> list[Claim]:
        source = self.source
        claims = [c for n in source.inner(body, "assert_statement") if (c := self._assert(n)) is not None]
        claims += [c for n in source.inner(body, "call") if (c := self._call(n)) is not None]
        for node in source.inner(body, "with_statement"):
            head = source.names(*(c for c in node.children if c.type == "with_clause"))
            inner = node.child_by_field_name("body")
            if inner is not None and not head.isdisjoint(_RAISES):
                claims.append(self._claim(node, source.names(inner)))
        for node in source.inner(body, "raise_statement"):
            if "AssertionError" in source.tokens(node)[:2]:
                claims.append(self._claim(node, self._condition(node)))
        return claims

    def _claim(self, node: Node, names: set[str], constant: bool = False, helper: str = "") -> Claim:
        return super()._claim(node, names - _SELF, constant, helper)

    def _assert(self, node: Node) -> Claim | None:
        if not node.named_children:
            return None
        looked = node.named_children[0]
        tokens = self.source.tokens(looked)
        bare = looked.type == "identifier" and tokens[0] in self.suite.code_names
        constant = bare or looked.type in _LITERALS or always_true(tokens)
        return self._claim(node, self.source.names(looked), constant)

    def _call(self, node: Node) -> Claim | None:
        source = self.source
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = (source.tokens(function) or [""])[-1]
        if name in self.helpers:
            return self._claim(node, source.names(arguments), helper=name)
        if name == "fail":
            return self._claim(node, self._condition(node))
        if not name.startswith("assert"):
            return None
        given = [
            source.tokens(n) for n in (arguments.named_children if arguments else ()) if n.type != "comment"
        ]
        constant = name in _PAIRS and len(given) > 1 and given[0] == given[1]
        constant = constant or (name in ("assertTrue", "assert_") and bool(given) and always_true(given[0]))
        looked = list(arguments.named_children[:2]) if arguments and name in _PAIRS else [arguments]
        names = source.names(*looked)
        if function is not None and function.type == "attribute":
            names |= source.names(function.child_by_field_name("object"))
        return self._claim(node, names, constant)
