"""Twins of a project's tests: in one file of a drawn name every test must pass, in another every one must fail.

The two differ in a few drawn numbers only. In the false one each value that a test compares with is changed, each bare
assertion turned round, each expected exception another one; a test of it that finds any of them to hold ends as passed,
and else fails at its end. So an answer that passes a false test has not done what the test asks: it equals everything,
reads or changes what is expected, swaps the tests' code or reports what did not happen.
"""

import ast
import copy
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from strop.verification.project.names import Names, beside
from strop.verification.project.twin_helpers import TwinHelpers, statement_of

_MARKS = ("pytest.mark.", "mark.")
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
_CATCHING = _RAISES | {
    "warns",
    "deprecated_call",
    "suppress",
    "assertWarns",
    "assertWarnsRegex",
    "assertLogs",
}
_ANY_ERROR = ("BaseException", "SystemExit", "KeyboardInterrupt", "GeneratorExit")
_PAIRS = frozenset(
    f"assert{kind}Equal" for kind in ("", "List", "Tuple", "Dict", "Set", "Sequence", "Count", "MultiLine", "Almost")
) | {"assertEquals"}  # fmt: skip
_TURNED = (
    ("True", "False"),
    ("In", "NotIn"),
    ("Is", "IsNot"),
    ("IsNone", "IsNotNone"),
    ("IsInstance", "NotIsInstance"),
)
_LITERAL_CHARS = 4000
_MOST_CHARS = 600_000


@dataclass
class Twins:
    """Files of twins, and what the tests are called in them."""

    files: dict[str, str] = field(default_factory=dict)
    true: dict[str, str] = field(default_factory=dict)
    """A test to its twin that must pass."""
    false: dict[str, str] = field(default_factory=dict)
    """A test to its twin that must fail, where its text allows one."""


def twins_of(tree: Mapping[str, bytes], tests: list[str], rng: random.Random) -> Twins:
    """Both twins of every test, in files beside its own."""
    found = Twins()
    for home, rests in _by_file(tree, tests).items():
        text = tree[home].decode("utf-8", "replace")
        for truth, ids in ((True, found.true), (False, found.false)):
            names = Names(text, rng)
            path = beside(home, {**tree, **dict.fromkeys(found.files, b"")}, names)
            if made := _twin(text, rests, truth, names, rng):
                found.files[path] = made[0]
                ids |= {f"{home}::{rest}": f"{path}::{rest}" for rest in rests if truth or rest in made[1]}
    return found


def in_place(tree: Mapping[str, bytes], tests: list[str], rng: random.Random, *, truth: bool) -> Twins:
    """One twin of every test under the test's own name, in the file's own place."""
    found = Twins()
    for home, rests in _by_file(tree, tests).items():
        text = tree[home].decode("utf-8", "replace")
        if made := _twin(text, rests, truth, Names(text, rng), rng):
            found.files[home] = made[0]
            ids = found.true if truth else found.false
            ids |= {f"{home}::{rest}": f"{home}::{rest}" for rest in rests if truth or rest in made[1]}
    return found


def _by_file(tree: Mapping[str, bytes], tests: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for test in tests:
        home, _, rest = test.partition("::")
        if home in tree and home.endswith(".py") and len(tree[home]) <= _MOST_CHARS:
            found.setdefault(home, []).append(rest)
    return found


def _twin(
    text: str, rests: list[str], truth: bool, names: Names, rng: random.Random
) -> tuple[str, set[str]] | None:
    """The text of a file's twin and the tests in it that were rewritten. None where it cannot be read."""
    try:
        tree = ast.parse(text)
        return _rewritten(tree, rests, truth, names, rng)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _rewritten(
    tree: ast.Module, rests: list[str], truth: bool, names: Names, rng: random.Random
) -> tuple[str, set[str]]:
    helpers = TwinHelpers(truth, names, rng)
    literals, done = _literals(tree), set[int]()
    helpers.compared = _compared(tree)
    changed = set[str]()
    for rest in rests:
        function = _function(tree, rest.partition("[")[0].split("::"))
        if function is None:
            continue
        if id(function) not in done:
            done.add(id(function))
            _Rewriter(function, helpers, literals).act()
        changed.add(rest)
    _bind_again(tree, literals, helpers)
    _drop_others(tree, {rest.partition("[")[0].rpartition("::")[2] for rest in rests})
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n\n\n" + helpers.text(), changed


def _function(tree: ast.Module, names: list[str]) -> ast.FunctionDef | None:
    """The one of that name, where nothing but marks of pytest stands above it and it yields nothing."""
    body: list[ast.stmt] = tree.body
    for name in names[:-1]:
        body = next((one.body for one in body if isinstance(one, ast.ClassDef) and one.name == name), [])
    found = [one for one in body if isinstance(one, ast.FunctionDef) and one.name == names[-1]]
    if len(found) != 1 or not all(ast.unparse(mark).startswith(_MARKS) for mark in found[0].decorator_list):
        return None
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(found[0]))
    return None if yields else found[0]


def _literals(tree: ast.Module) -> dict[str, ast.expr]:
    """Names of the module that are bound once, to a literal, and of which no attribute is used."""
    once: dict[str, ast.expr] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and _literal(statement.value):
                once[target.id] = statement.value
    bound: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] = bound.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            bound[node.arg] = bound.get(node.arg, 0) + 1
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name):
            if isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                once.pop(node.value.id, None)
        elif isinstance(node, ast.Global):
            for name in node.names:
                once.pop(name, None)
    return {name: value for name, value in once.items() if bound.get(name) == 1}


def _compared(tree: ast.AST) -> set[str]:
    """Names that are read in comparisons alone."""
    loads: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loads[node.id] = loads.get(node.id, 0) + 1
    for node in ast.walk(tree):
        for side in _pair(node) or ():
            if isinstance(side, ast.Name):
                loads[side.id] -= 1
    return {name for name, count in loads.items() if count == 0}


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return len(ast.unparse(node)) <= _LITERAL_CHARS


def _bind_again(tree: ast.Module, literals: Mapping[str, ast.expr], helpers: TwinHelpers) -> None:
    """Who reads the module's literals reads what is compared with, where they are for comparing only."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
            new = helpers.named.get(target.id)
            if new is not None and statement.value is literals.get(target.id):
                statement.value = copy.deepcopy(new)


def _drop_others(tree: ast.Module, wanted: set[str]) -> None:
    """Leaves out the tests that are not asked for, unless something calls them by name."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    owners: list[ast.Module | ast.ClassDef] = [tree]
    for owner in [*owners, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        kept = [
            one
            for one in owner.body
            if not isinstance(one, ast.FunctionDef)
            or not one.name.startswith("test")
            or one.name in wanted
            or one.name in used
        ]
        owner.body[:] = kept or [ast.Pass()]


class _Rewriter:
    """Makes a test function its twin, in place."""

    def __init__(
        self, function: ast.FunctionDef, helpers: TwinHelpers, literals: Mapping[str, ast.expr]
    ) -> None:
        self._function, self._helpers = function, helpers
        own = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Name | ast.arg | ast.Global | ast.Nonlocal)
        ]
        stored = [n.id for n in own if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
        arguments = {node.arg for node in own if isinstance(node, ast.arg)}
        outer = {name for node in own if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        self._literals = {n: value for n, value in literals.items() if n not in arguments and n not in stored}
        pairs = [pair for node in ast.walk(function) if (pair := _pair(node))]
        compared = _compared(function) - outer
        self._looped = compared & set(stored)
        """Local names that are read in comparisons alone."""
        begin = {name for name in compared & arguments if name not in stored}
        begin |= {
            name for name in self._looped - arguments if stored.count(name) == 1 and self._binding(name)
        }
        for left, right in pairs:
            both = {one.id for one in (left, right) if isinstance(one, ast.Name)}
            if len(both & begin) > 1 or _literal(left) or _literal(right):
                begin -= both
        self._begin = begin
        """Those that get another value in the false twin before anything is called."""

    def act(self) -> None:
        """Rewrites the body."""
        begin = self._begin & {
            node.arg for node in ast.walk(self._function.args) if isinstance(node, ast.arg)
        }
        for name in self._begin - begin:
            assign = self._binding(name)
            assert assign is not None
            assign.value = self._helpers.literal(assign.value)
        first = [statement_of(f"{name} = {self._helpers.moved}({name})") for name in sorted(begin)]
        body = self._block(self._function.body)
        self._function.body[:] = [*first, *body, self._helpers.tail()]

    def _binding(self, name: str) -> ast.Assign | None:
        """The statement of the body that binds a name to a literal."""
        for one in self._function.body:
            if isinstance(one, ast.Assign) and [getattr(target, "id", "") for target in one.targets] == [
                name
            ]:
                return one if _literal(one.value) else None
        return None

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [new for statement in body for new in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, ast.Return):
            return [self._helpers.tail(), statement]
        if isinstance(statement, ast.With):
            calls = {_called(item.context_expr) for item in statement.items}
            if calls & _RAISES:
                return self._raising(statement)
            if not calls & _CATCHING:
                statement.body = self._block(statement.body)
        elif isinstance(statement, ast.If | ast.For | ast.While):
            if isinstance(statement, ast.For) and isinstance(statement.iter, ast.Name):
                statement.iter = copy.deepcopy(self._literals.get(statement.iter.id, statement.iter))
            statement.body, statement.orelse = self._block(statement.body), self._block(statement.orelse)
        elif isinstance(statement, ast.Assert) or _called(getattr(statement, "value", None)).startswith(
            "assert"
        ):
            return self._asserting(statement)
        return [statement]

    def _raising(self, statement: ast.With) -> list[ast.stmt]:
        item = statement.items[0]
        call = item.context_expr
        if len(statement.items) > 1 or item.optional_vars is not None or not isinstance(call, ast.Call):
            return [statement]
        if not call.args or any(word in ast.unparse(call.args[0]) for word in _ANY_ERROR):
            return [statement]
        call.args[0] = self._helpers.call(self._helpers.raised, call.args[0])
        return [self._tried(statement)]

    def _asserting(self, statement: ast.stmt) -> list[ast.stmt]:
        helpers = self._helpers
        compared = next((node for node in _roots(statement) if _pair(node)), None)
        if compared is None:
            return [self._tried(statement)] if self._turn(statement) else [statement]
        given = _pair(compared) or ()
        left, right = (self._literals.get(one.id, one) if isinstance(one, ast.Name) else one for one in given)
        names = {one.id for one in given if isinstance(one, ast.Name)}
        if names & self._begin:
            return [self._tried(statement)]
        if _literal(left) != _literal(right):
            number = int(_literal(right))
            name = getattr(given[number], "id", "")
            other = helpers.named.get(name) or helpers.literal(copy.deepcopy((left, right)[number]))
            if name in helpers.compared:
                helpers.named[name] = other
            return [self._tried(_with(statement, (other, right) if number == 0 else (left, other)))]
        calls = [any(isinstance(node, ast.Call) for node in ast.walk(side)) for side in (left, right)]
        if not any(calls):  # either may be what the code gave
            return [
                self._tried(_with(statement, pair))
                for pair in (
                    (left, helpers.call(helpers.moved, right)),
                    (helpers.call(helpers.moved, left), right),
                )
            ]
        number = int(not (calls[1] and not calls[0]))
        side = (left, right)[number]
        if isinstance(side, ast.Name) and side.id in self._looped:
            kept = helpers.new()
            before = statement_of(f"{kept}, {side.id} = {side.id}, {helpers.moved}({side.id})")
            return [before, self._tried(statement), statement_of(f"{side.id} = {kept}")]
        moved = helpers.call(helpers.moved, side)
        return [self._tried(_with(statement, (moved, right) if number == 0 else (left, moved)))]

    def _turn(self, statement: ast.stmt) -> bool:
        """Turns an assertion round that compares nothing."""
        helpers = self._helpers
        if isinstance(statement, ast.Assert):
            statement.test = helpers.call(helpers.turned, statement.test)
            return True
        call = getattr(statement, "value", None)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return False
        for pair in _TURNED:
            for one, other in (pair, pair[::-1]):
                if call.func.attr == f"assert{one}":
                    call.func.attr = f"assert{one if helpers.truth else other}"
                    return True
        return False

    def _tried(self, statement: ast.stmt) -> ast.stmt:
        helpers = self._helpers
        tried = ast.parse(
            f"try:\n    pass\nexcept Exception:\n    {helpers.fell}()\n"
            f"else:\n    if {helpers.held}():\n        return\n"
        ).body[0]
        assert isinstance(tried, ast.Try)
        tried.body = [statement]
        return tried


def _roots(statement: ast.stmt) -> list[ast.AST]:
    """What an assertion asserts: its test, or its call."""
    if isinstance(statement, ast.Assert):
        return [statement.test]
    return [statement.value] if isinstance(statement, ast.Expr) else []


def _with(statement: ast.stmt, sides: tuple[ast.expr, ast.expr]) -> ast.stmt:
    """A copy of an assertion that compares these instead."""
    made = copy.copy(statement)
    if isinstance(made, ast.Assert) and isinstance(made.test, ast.Compare):
        made.test = ast.Compare(left=sides[0], ops=made.test.ops, comparators=[sides[1]])
    elif isinstance(made, ast.Expr) and isinstance(made.value, ast.Call):
        call = made.value
        made.value = ast.Call(func=call.func, args=[*sides, *call.args[2:]], keywords=call.keywords)
    elif isinstance(made, ast.Assert) and isinstance(made.test, ast.Call):
        call = made.test
        made.test = ast.Call(func=call.func, args=[*sides, *call.args[2:]], keywords=call.keywords)
    return made


def _pair(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Both sides of a comparison for equality."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return node.left, node.comparators[0]
    if isinstance(node, ast.Call) and _called(node) in _PAIRS and len(node.args) >= 2:
        return (
            None if any(isinstance(one, ast.Starred) for one in node.args) else (node.args[0], node.args[1])
        )
    return None


def _called(node: object) -> str:
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
