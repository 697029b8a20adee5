"""The functions of a Python file with decorators and classes, as test code or code under test."""

import sys

from strop_verify.code.functions import Function, Items
from strop_verify.code.trees import Node, Source, Span, span

_SKIPS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"})
_FIXTURES = frozenset({"setUp", "tearDown", "setUpClass", "tearDownClass", "setup_method", "setup", "setup_class",
                       "setup_module"})  # fmt: skip
_HELPER_PREFIXES = ("check", "assert", "verify", "expect")
_TOOLS = frozenset({"pytest", "hypothesis", "unittest", "numpy", "mock"})


class PythonItems(Items):
    """Functions and test regions of one file. Tests are what pytest collects."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.test_classes = {n.id for n in source.all("class_definition") if self._is_test_class(n)}
        skip_all = any(
            source.names(n.child_by_field_name("left")) == {"pytestmark"}
            and not source.names(n.child_by_field_name("right")).isdisjoint(_SKIPS)
            for n in source.all("assignment")
        )
        self.functions = [f for f in map(self._function, source.all("function_definition")) if f is not None]
        for function in self.functions:
            function.ignored = function.ignored or skip_all
        regions: list[Span] = [span(n) for n in source.all("class_definition") if n.id in self.test_classes]
        regions += [span(f.node) for f in self.functions if f.is_test or self._serves_tests(f)]
        for node in source.all("if_statement"):
            if "__name__" in source.tokens(node.child_by_field_name("condition")):
                regions.append(span(node))
        self._mark(regions)

    def _is_test_class(self, node: Node) -> bool:
        bases = self.source.names(node.child_by_field_name("superclasses"))
        name = self.source.string(node.child_by_field_name("name"))
        return name.startswith("Test") or any(base.endswith("TestCase") for base in bases)

    def _serves_tests(self, function: Function) -> bool:
        """Whether it is a fixture, or a helper: a function with a helper's name that asserts something."""
        if "fixture" in self._decorators(function.node) or function.name in _FIXTURES:
            return True
        named = function.name.lstrip("_").startswith(_HELPER_PREFIXES)
        return named and bool(self.source.inner(function.body, "assert_statement"))

    def _function(self, node: Node) -> Function | None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return None
        classes, nested, inner_most = [], False, True
        ignored = "async" in {child.type for child in node.children[:1]}
        ignored = ignored or not self._decorators(node).isdisjoint(_SKIPS)
        found = all_tests = True
        for outer in self.source.ancestors(node):
            if outer.type == "function_definition":
                nested = True
            elif outer.type == "class_definition":
                classes.append(self.source.string(outer.child_by_field_name("name")))
                ignored = ignored or not self._decorators(outer).isdisjoint(_SKIPS)
                all_tests = all_tests and outer.id in self.test_classes
                ignored = ignored or (inner_most and self._says_no_tests(outer))
                inner_most = False
            elif outer.type in ("if_statement", "try_statement", "with_statement", "while_statement"):
                found = found and outer.type != "while_statement"
        called = self.source.string(name)
        is_test = called.startswith("test") and not nested and all_tests and found
        return Function(called, node, body, classes[::-1], nested, is_test, ignored)

    def _decorators(self, node: Node) -> set[str]:
        around = self.source.parent(node)
        if around is None or around.type != "decorated_definition":
            return set()
        return self.source.names(*(child for child in around.children if child.type == "decorator"))

    def _says_no_tests(self, node: Node) -> bool:
        body = node.child_by_field_name("body")
        return any("__test__" in self.source.tokens(n)[:1] for n in (body.named_children if body else ()))

    def code_names(self) -> set[str]:
        """Functions and classes outside the tests, what module-level names are made of them, foreign imports."""
        source, found = self.source, self._imported()
        for node in source.all("function_definition", "class_definition"):
            outer = source.parent(node)
            if outer is not None and outer.type == "decorated_definition":
                outer = source.parent(outer)
            nested = source.within(node, frozenset({"function_definition", "class_definition"})) is not None
            if not nested and not self.regions.hold(node):
                found.add(source.string(node.child_by_field_name("name")))
        for node in source.all("assignment"):
            right = node.child_by_field_name("right")
            inside = source.within(node, frozenset({"function_definition", "class_definition"}))
            if inside is None and right is not None:
                made = right.type == "lambda" or not source.names(right).isdisjoint(found)
                found |= source.names(node.child_by_field_name("left")) if made else set()
        return found - {""}

    def _imported(self) -> set[str]:
        found: set[str] = set()
        for node in self.source.all("import_from_statement", "import_statement"):
            module = node.child_by_field_name("module_name") or node.child_by_field_name("name")
            root = (self.source.tokens(module) or [""])[0]
            if root not in sys.stdlib_module_names and root not in _TOOLS:
                found |= self.source.names(*node.children_by_field_name("name"))
        return found
