"""The tests of a Rust file, their claims, and which claims are real.

A claim is a place that can fail a test: assert macros (std's, and any whose name begins with assert_, debug_assert or
prop_assert), conditional panics, `.unwrap()`, `.expect()`, `.unwrap_err()` and `.expect_err()` on a call, `?` in a test
that returns a result, `#[should_panic]` once, and calls of helper functions and macros that make claims. Not counted:
anything in comments, strings, macro definitions, `if false`, after a `return`, in a loop over nothing, in a thread
never joined.

A claim is real if it can fail because of the code under test: it names that code, or a variable that a value of that
code flowed into. Flow is followed by name within a function and ignores order, so it errs towards "real". `measure`
measures whether the tests notice a fault.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from strop_verify.code.functions import Function
from strop_verify.code.rust.flow import dead_spans, flows
from strop_verify.code.rust.items import RustItems, differs
from strop_verify.code.tokens import always_true, split
from strop_verify.code.trees import Node, Regions, Source, Span, span

_PANICS = frozenset({"panic", "unreachable", "todo", "unimplemented"})
_UNWRAPS = frozenset({"unwrap", "expect", "unwrap_err", "expect_err"})
_DEFINITIONS = (
    "struct_item", "enum_item", "union_item", "trait_item", "type_item", "const_item", "static_item",
    "enum_variant", "macro_definition",
)  # fmt: skip
_STD_ROOTS = frozenset({"std", "core", "alloc", "super", "crate", "self"})
_PRELUDE = frozenset({"Some", "Ok", "Err", "Box", "Vec", "String", "Default", "format", "vec", "drop"})
_ROUNDS = 12
"""Maximum passes of the flow analysis; longer chains of variables are cut off."""


@dataclass(slots=True)
class Claim:
    """A place in a function that can fail a test. Positions in bytes."""

    span: Span
    names: set[str]
    """The identifiers that it depends on."""
    key: str
    """Its text without white space and comments; equal claims of one test count once."""
    constant: bool = False
    """Whether it always holds, whatever its names are bound to."""
    helper: str = ""
    """The helper that it calls; `names` are then those of the arguments."""


@dataclass(slots=True)
class Scope:
    """A test, or a helper of tests."""

    name: str
    test: str = ""
    """A test's name as the test runner prints it, such as "tests::works"."""
    idle: bool = False
    """Whether a test run skips it: `#[ignore]`, or a `cfg` that may remove it."""
    removed: bool = False
    """Whether a `cfg` may remove it."""
    names: set[str] = field(default_factory=set)
    """Every identifier in it."""
    parameters: set[str] = field(default_factory=set)
    claims: list[Claim] = field(default_factory=list)
    flows: list[tuple[set[str], set[str]]] = field(default_factory=list)
    """(targets, sources): a value of any source may reach every target."""

    def reached(self, base: set[str]) -> set[str]:
        """`base` plus the names that its values flow into."""
        found = set(base)
        for _ in range(_ROUNDS):
            before = len(found)
            for targets, sources in self.flows:
                if not sources.isdisjoint(found):
                    found |= targets
            if len(found) == before:
                break
        return found


@dataclass(slots=True)
class Suite:
    """The tests of one text."""

    scopes: list[Scope] = field(default_factory=list)
    code_names: set[str] = field(default_factory=set)
    """Names of the code under test: defined outside the tests, or imported from elsewhere."""
    faults: list[str] = field(default_factory=list)
    """Reasons why these tests do not count, whatever they claim."""
    generated: bool = False
    """Whether macros generate more tests, which `scopes` does not hold."""

    def tests(self) -> list[Scope]:
        """The tests, run or not."""
        return [scope for scope in self.scopes if scope.test]

    def live(self) -> list[Scope]:
        """The tests that run."""
        return [scope for scope in self.tests() if not scope.idle]

    def touched(self) -> set[str]:
        """Names of the code under test and of helpers that use it."""
        base = set(self.code_names)
        helpers = [scope for scope in self.scopes if not scope.test]
        for _ in range(_ROUNDS):
            more = {scope.name for scope in helpers if not scope.names.isdisjoint(base)} - base
            if not more:
                break
            base |= more
        return base

    def real_claims(self) -> dict[str, int]:
        """How many real claims each live test makes, by name."""
        base = self.touched()
        always: set[str] = set()
        given: set[str] = set()
        helpers = [scope for scope in self.scopes if not scope.test]
        for _ in range(_ROUNDS):
            before = len(always) + len(given)
            for scope in helpers:
                inner = scope.reached(base)
                if _real(scope.claims, inner, always, given):
                    always.add(scope.name)
                if _real(scope.claims, inner | scope.reached(base | scope.parameters), always, given):
                    given.add(scope.name)
            if len(always) + len(given) == before:
                break
        return {
            scope.test: len(_real(scope.claims, scope.reached(base), always, given)) for scope in self.live()
        }


def _real(claims: Iterable[Claim], reached: set[str], always: set[str], given: set[str]) -> set[str]:
    """The keys of the real claims, given the names that values of the code under test reach."""
    found = set()
    for claim in claims:
        if claim.constant:
            continue
        if claim.helper:
            real = claim.helper in always or (claim.helper in given and not claim.names.isdisjoint(reached))
        else:
            real = not claim.names.isdisjoint(reached)
        if real:
            found.add(claim.key)
    return found


def rust_suite(source: Source) -> Suite:
    """Tests, helpers and claims of one Rust text."""
    items = RustItems(source)
    suite = Suite(code_names=code_names(items))
    macros = _macros(items, suite)
    helpers = {f.name for f in items.functions if f.in_tests and not f.is_test}
    helpers |= {scope.name for scope in macros}
    reader = _ScopeReader(source, helpers)
    suite.scopes = [reader.scope(function) for function in items.functions if function.in_tests] + macros
    if not suite.code_names:
        suite.code_names = _called(source) - helpers - {scope.name for scope in suite.tests()}
    suite.faults = _faults(items)
    return suite


def code_names(items: RustItems) -> set[str]:
    """Names of the code under test: its items, trait methods, and imports from other crates.

    Other methods are left out: a test reaches them through their type, and `new` is too common.
    """
    source = items.source
    found = set()
    for node in source.all(*_DEFINITIONS):
        if not items.regions.hold(node):
            found.add(source.string(node.child_by_field_name("name")))
    for function in items.functions:
        if function.in_tests or function.nested:
            continue
        around = source.within(function.node, frozenset({"impl_item", "trait_item"}))
        if around is None or around.type == "trait_item":
            found.add(function.name)
    for node in source.all("function_signature_item"):
        found.add(source.string(node.child_by_field_name("name")))
    for node in source.all("use_declaration"):
        argument = node.child_by_field_name("argument")
        tokens = source.tokens(argument)
        if tokens and tokens[0] not in _STD_ROOTS:
            found |= source.names(argument)
    return found - {""}


def _called(source: Source) -> set[str]:
    """Functions called by name, for a text that only has tests."""
    found = set()
    for node in source.all("call_expression"):
        found |= source.names(node.child_by_field_name("function"))
    for node in source.all("token_tree"):
        before = node.prev_sibling
        if before is not None and before.type == "identifier":
            found.add(source.string(before))
    return {name for name in found if name not in _PRELUDE and not _asserts(name)}


def _asserts(name: str) -> bool:
    return name == "assert" or name.startswith(("assert_", "debug_assert", "prop_assert"))


def _macros(items: RustItems, suite: Suite) -> list[Scope]:
    """Local macros that assert, as helpers; sets `suite.generated` if one makes test functions."""
    scopes, source = [], items.source
    invoked = set()
    for node in source.all("macro_invocation"):
        outer = source.parent(node)
        outer = source.parent(outer) if outer is not None and outer.type == "expression_statement" else outer
        if outer is not None and outer.type in ("source_file", "declaration_list"):
            invoked.add(source.string(node.child_by_field_name("macro")))
    for node in source.all("macro_definition"):
        tokens = source.tokens(node)
        if "#" in tokens and any(tokens[i : i + 3] == ["#", "[", "test"] for i in range(len(tokens))):
            suite.generated = suite.generated or source.string(node.child_by_field_name("name")) in invoked
        if _asserts_something(source, node):
            name = source.string(node.child_by_field_name("name"))
            names = source.names(node) - {name}
            claim = Claim(span(node), names | {"$"}, name)
            scopes.append(Scope(name, names=names, parameters={"$"}, claims=[claim]))
    return scopes


def _asserts_something(source: Source, definition: Node) -> bool:
    """Whether a macro definition has an assertion that depends on anything."""
    for tree in source.inner(definition, "token_tree"):
        mark = tree.prev_sibling
        name = None if mark is None or mark.type != "!" else mark.prev_sibling
        if name is not None and _asserts(source.string(name)):
            parts = split(source.tokens(tree)[1:-1], (",",))
            looks = any(leaf.type in ("metavariable", "identifier") for leaf in source.leaves(tree))
            if looks and not always_true(parts[0]) and parts[0] not in parts[1:2]:
                return True
    return False


def _faults(items: RustItems) -> list[str]:
    source, faults = items.source, []
    for attribute in items.attributes:
        text = "".join(attribute)
        if attribute[:1] == ["cfg_attr"] and not {"ignore", "cfg", "path", "test", "no_main"}.isdisjoint(
            attribute[3:]
        ):
            faults.append(f"`#[{text[:60]}]` changes what a test build contains")
        if attribute[:1] == ["cfg"] and differs(attribute[2:-1]):
            faults.append(f"`#[{text[:60]}]`: the code under test differs from the code that is built")
    for name, mark in pairwise(source.leaves(source.root)):  # also inside other macros
        macro = source.string(name) if mark.type == "!" and name.type == "identifier" else ""
        if macro in ("include_str", "include_bytes", "include"):
            faults.append(f"`{macro}!`: code that reads its own source would notice any change")
        if macro == "cfg" and "test" in source.tokens(mark.next_sibling):
            faults.append("`cfg!(test)`: the code under test differs from the code that is built")
    names = {source.string(leaf) for leaf in source.all("identifier") if items.regions.hold(leaf)}
    if "catch_unwind" in names:
        faults.append("the tests catch panics (`catch_unwind`)")
    if "set_hook" in names:
        faults.append("the tests replace the panic hook")
    if "process" in names and {"exit", "abort"} & names:
        faults.append("the tests end their process")
    return list(dict.fromkeys(faults))


_DECIDES = {
    "if_expression": "condition",
    "match_expression": "value",
    "let_declaration": "value",
    "call_expression": "function",  # unwrap_or_else(|e| panic!())
}
"""Maps a node type to the field that decides whether control continues inside the node."""


class _ScopeReader:
    """Makes scopes of functions in test code."""

    def __init__(self, source: Source, helpers: set[str]) -> None:
        self.source, self.helpers = source, helpers

    def scope(self, function: Function) -> Scope:
        """The scope of a function of test code."""
        source, names = self.source, self.source.names(function.body)
        parameters = source.names(*function.node.children_by_field_name("parameters"))
        test = "::".join([*function.path, function.name]) if function.is_test else ""
        scope = Scope(
            function.name, test, function.ignored or function.removed, function.removed, names, parameters
        )
        scope.flows = flows(source, function.body)
        nested = [span(node) for node in source.inner(function.body, "function_item")]
        dead = Regions([*dead_spans(source, function.body), *nested])
        scope.claims = [claim for claim in self._claims(function) if not dead.cover(claim.span)]
        if function.should_panic:
            scope.claims.append(Claim(span(function.body), names, "#[should_panic]"))
        return scope

    def _claims(self, function: Function) -> list[Claim]:
        claims: list[Claim] = []
        returns = function.node.child_by_field_name("return_type") is not None and function.is_test
        for node in self.source.inner(function.body, "macro_invocation"):
            claims += self._macro(node)
        for node in self.source.inner(function.body, "call_expression"):
            claims += self._call(node)
        for node in self.source.inner(function.body, "try_expression") if returns else ():
            claims.append(self._claim(node, self.source.names(node)))
        return claims

    def _macro(self, node: Node) -> list[Claim]:
        source = self.source
        name = source.tokens(node.child_by_field_name("macro"))[-1:]
        tree = next((c for c in node.named_children if c.type == "token_tree"), None)
        if not name or tree is None:
            return []
        if name[0] in self.helpers:
            return [self._claim(node, source.names(tree), helper=name[0])]
        if _asserts(name[0]):
            arguments = split(source.tokens(tree)[1:-1], (",",))
            two = name[0].endswith(("_eq", "_ne"))
            looked = [token for part in arguments[: 2 if two else 1] for token in part]
            constant = (two and len(arguments) > 1 and arguments[0] == arguments[1]) or (
                not two and always_true(looked)
            )
            if name[0] not in ("assert", "debug_assert") and not two:
                looked = source.tokens(tree)
            return [self._claim(node, set(looked) & source.names(tree), constant)]
        if name[0] in _PANICS:
            return [self._claim(node, self._condition(node))]
        return []

    def _call(self, node: Node) -> list[Claim]:
        source, function = self.source, node.child_by_field_name("function")
        if function is None:
            return []
        if function.type == "field_expression":
            if source.string(function.child_by_field_name("field")) in _UNWRAPS:
                return [self._claim(node, source.names(function.child_by_field_name("value")))]
            return []
        name = source.tokens(function)[-1:]
        if name and name[0] in self.helpers:
            return [self._claim(node, source.names(node.child_by_field_name("arguments")), helper=name[0])]
        return []

    def _claim(self, node: Node, names: set[str], constant: bool = False, helper: str = "") -> Claim:
        return Claim(span(node), names, " ".join(self.source.tokens(node)), constant, helper)

    def _condition(self, node: Node) -> set[str]:
        """The names that decide whether control reaches the node."""
        found: set[str] = set()
        for outer in self.source.ancestors(node):
            if outer.type == "function_item":
                break
            if outer.type in _DECIDES:
                found |= self.source.names(outer.child_by_field_name(_DECIDES[outer.type]))
        return found
