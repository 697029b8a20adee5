"""Rewrites a test function as a control test; the helpers that it calls make it a true or a false one.

Assertions with several parts are split, so that each part can be changed in a false control.
"""

import ast
import copy
from collections.abc import Callable, Mapping

from strop_verify.core.syntax import syntax_tree
from strop_verify.verification.project.control_helpers import ControlHelpers, assigned, call_of, statement_of
from strop_verify.verification.project.syntax_of_tests import called, compared_only, is_literal, pair_of


def asserts(statement: ast.stmt) -> bool:
    """Whether the statement is an assertion: `assert`, or a call of something named assert..."""
    return isinstance(statement, ast.Assert) or called(getattr(statement, "value", None)).startswith("assert")


def split(statement: ast.stmt, new_name: Callable[[], str]) -> list[ast.stmt]:
    """One assertion for each part of `a and b` or `a == b == c`, whose calls are evaluated once, before them.

    Empty if there is only one part.
    """
    test = _claim(statement)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [_claiming(statement, value) for value in test.values]
    if not isinstance(test, ast.Compare) or len(test.ops) < 2:
        return []
    made: list[ast.stmt] = []
    sides: list[ast.expr] = []
    for value in (test.left, *test.comparators):
        if any(isinstance(node, ast.Call) for node in ast.walk(value)):
            kept = new_name()
            made.append(assigned(kept, value))
            value = ast.Name(id=kept, ctx=ast.Load())
        sides.append(value)
    pairs = zip(sides, test.ops, sides[1:], strict=False)
    for a, op, b in pairs:
        claim = ast.Compare(left=copy.deepcopy(a), ops=[op], comparators=[copy.deepcopy(b)])
        made.append(_claiming(statement, claim))
    return made


def ordered(statement: ast.stmt, helpers: ControlHelpers) -> ast.stmt | None:
    """`a < b` or `a > b` as a call of a helper that swaps the two in a false control; None for other statements.

    An object that says yes to every comparison passes the swapped one too.
    """
    test = _claim(statement)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    name = {ast.Lt: helpers.less, ast.Gt: helpers.greater}.get(type(test.ops[0]))
    return _claiming(statement, call_of(name, test.left, test.comparators[0])) if name else None


def _claim(statement: ast.stmt) -> ast.expr | None:
    """The expression that an assertion requires to be true."""
    if isinstance(statement, ast.Assert):
        return statement.test
    call = getattr(statement, "value", None)
    return call.args[0] if isinstance(call, ast.Call) and called(call) == "assertTrue" and call.args else None


def _claiming(statement: ast.stmt, claim: ast.expr) -> ast.stmt:
    """A copy of an assertion that makes this claim instead."""
    made = copy.copy(statement)
    if isinstance(made, ast.Assert):
        made.test = claim
    elif isinstance(made, ast.Expr) and isinstance(made.value, ast.Call):
        call = made.value
        made.value = ast.Call(func=call.func, args=[claim, *call.args[1:]], keywords=call.keywords)
    return made


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
_TURNED = (
    ("True", "False"), ("In", "NotIn"), ("Is", "IsNot"), ("IsNone", "IsNotNone"), ("IsInstance", "NotIsInstance"),
)  # fmt: skip


class ControlRewriter:
    """Turns a test into its control test. `helper`: a function that tests call, which ends them by an exception."""

    def __init__(
        self,
        function: ast.FunctionDef,
        helpers: ControlHelpers,
        literals: Mapping[str, ast.expr],
        *,
        helper: bool = False,
    ) -> None:
        self._function, self._helpers, self._helper = function, helpers, helper
        own = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Name | ast.arg | ast.Global | ast.Nonlocal)
        ]
        stored = [n.id for n in own if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
        arguments = {node.arg for node in own if isinstance(node, ast.arg)}
        outer = {name for node in own if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        self._literals = {n: value for n, value in literals.items() if n not in arguments and n not in stored}
        pairs = [pair for node in ast.walk(function) if (pair := self._pair(node))]
        compared = compared_only(function) - outer
        self._looped = compared & set(stored)
        """Local names that are read only in comparisons."""
        self._given = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        begin = {name for name in compared & self._given if name not in stored}
        begin |= {
            name for name in self._looped - arguments if stored.count(name) == 1 and self._binding(name)
        }
        for left, right in pairs:
            both = {one.id for one in (left, right) if isinstance(one, ast.Name)}
            if len(both & begin) > 1 or is_literal(left) or is_literal(right):
                begin -= both
        self._begin = begin
        """Names that get another value in the false control before anything is called."""

    def act(self) -> None:
        """Rewrites the body."""
        begin = self._begin & self._given
        for name in sorted(self._begin - begin):
            assign = self._binding(name)
            assert assign is not None
            assign.value = self._helpers.literal(assign.value)
        first = [statement_of(f"{name} = {self._helpers.moved}({name})") for name in sorted(begin)]
        body = self._block(self._function.body)
        if self._helper:
            self._function.body[:] = [*first, *body]
            return
        ended = syntax_tree(f"try:\n    pass\nexcept {self._helpers.holds}:\n    return\n").body[0]
        assert isinstance(ended, ast.Try)
        ended.body = [*body, self._helpers.tail()]
        self._function.body[:] = [*first, ended]

    def _binding(self, name: str) -> ast.Assign | None:
        """The statement of the body that binds a name to a literal."""
        for one in self._function.body:
            if isinstance(one, ast.Assign) and [getattr(target, "id", "") for target in one.targets] == [
                name
            ]:
                return one if is_literal(one.value) else None
        return None

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [new for statement in body for new in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, ast.Return):
            return [statement] if self._helper else [self._helpers.tail(), statement]
        if isinstance(statement, ast.FunctionDef):
            ControlRewriter(statement, self._helpers, self._literals, helper=True).act()
        if isinstance(statement, ast.With):
            calls = {called(item.context_expr) for item in statement.items}
            if calls & _RAISES:
                return self._raising(statement)
            if not calls & _CATCHING:
                statement.body = self._block(statement.body)
        elif isinstance(statement, ast.Try):
            for body in (statement.body, statement.orelse, statement.finalbody):
                body[:] = self._block(body)
        elif isinstance(statement, ast.If) and (sides := _refused(statement)):
            return self._refusing(statement, *sides)
        elif isinstance(statement, ast.If | ast.For | ast.While):
            if isinstance(statement, ast.For) and isinstance(statement.iter, ast.Name):
                statement.iter = copy.deepcopy(self._literals.get(statement.iter.id, statement.iter))
            statement.body, statement.orelse = self._block(statement.body), self._block(statement.orelse)
        elif asserts(statement) or self._supported(getattr(statement, "value", None)):
            return self._asserting(statement)
        return [statement]

    def _refusing(self, statement: ast.If, left: ast.expr, right: ast.expr) -> list[ast.stmt]:
        """`if a != b: raise E`, followed by the equivalent assertion; each side is evaluated once."""
        made: list[ast.stmt] = []
        sides: list[ast.expr] = []
        for side in (left, right):
            if is_literal(side):
                sides.append(side)
                continue
            kept = self._helpers.new()
            made.append(assigned(kept, side))
            sides.append(ast.Name(id=kept, ctx=ast.Load()))
        statement.test = ast.Compare(left=sides[0], ops=[ast.NotEq()], comparators=[sides[1]])
        alike = ast.Compare(left=sides[0], ops=[ast.Eq()], comparators=[sides[1]])
        return [*made, statement, *self._asserting(ast.Assert(test=copy.deepcopy(alike)))]

    def _supported(self, node: object) -> tuple[ast.expr, ast.expr] | None:
        """The first two arguments of a call of a function that fails a test if they differ."""
        if not isinstance(node, ast.Call) or called(node) not in self._helpers.support or len(node.args) < 2:
            return None
        first, second = node.args[:2]
        return None if any(isinstance(one, ast.Starred) for one in (first, second)) else (first, second)

    def _pair(self, node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
        return pair_of(node) or self._supported(node)

    def _raising(self, statement: ast.With) -> list[ast.stmt]:
        item = statement.items[0]
        call = item.context_expr
        if len(statement.items) > 1 or item.optional_vars is not None or not isinstance(call, ast.Call):
            return [statement]
        if not call.args or any(word in ast.unparse(call.args[0]) for word in _ANY_ERROR):
            return [statement]
        call.args[0] = call_of(self._helpers.raised, call.args[0])
        return [self._tried(statement)]

    def _asserting(self, statement: ast.stmt) -> list[ast.stmt]:
        helpers = self._helpers
        if parts := split(statement, helpers.new):
            return [new for one in parts for new in (self._asserting(one) if asserts(one) else [one])]
        if (order := ordered(statement, helpers)) is not None:
            return [self._tried(order)]
        compared = next((node for node in _roots(statement) if self._pair(node)), None)
        if compared is None:
            return [self._tried(statement)] if self._turn(statement) else [statement]
        given = self._pair(compared) or ()
        left, right = (self._literals.get(one.id, one) if isinstance(one, ast.Name) else one for one in given)
        names = {one.id for one in given if isinstance(one, ast.Name)}
        if names & self._begin:
            return [self._tried(statement)]
        if is_literal(left) != is_literal(right):
            number = int(is_literal(right))
            name = getattr(given[number], "id", "")
            literal = (left, right)[number]
            other = helpers.named.get(name) or helpers.literal(copy.deepcopy(literal))
            others = [other, *helpers.each(literal)]
            if name in helpers.compared:
                helpers.named[name] = other
            return self._each(statement, (left, right)[1 - number], others, number)
        calls = [any(isinstance(node, ast.Call) for node in ast.walk(side)) for side in (left, right)]
        if not any(calls):  # either may come from the code under test
            return [
                self._tried(_with(statement, pair))
                for pair in (
                    (left, call_of(helpers.moved, right)),
                    (call_of(helpers.moved, left), right),
                )
            ]
        number = int(not (calls[1] and not calls[0]))
        side = (left, right)[number]
        if isinstance(side, ast.Name) and side.id in self._looped:
            kept = helpers.new()
            before = statement_of(f"{kept}, {side.id} = {side.id}, {helpers.moved}({side.id})")
            return [before, self._tried(statement), statement_of(f"{side.id} = {kept}")]
        moved = call_of(helpers.moved, side)
        return [self._tried(_with(statement, (moved, right) if number == 0 else (left, moved)))]

    def _each(
        self, statement: ast.stmt, side: ast.expr, others: list[ast.expr], place: int
    ) -> list[ast.stmt]:
        """Compares `side`, evaluated once, with each of `others` (`place` 0: they stand on the left)."""
        if len(others) == 1:
            return [self._tried(_with(statement, (others[0], side) if place == 0 else (side, others[0])))]
        kept = self._helpers.new()
        made: list[ast.stmt] = []
        for number, other in enumerate(others):
            again = ast.Name(id=kept, ctx=ast.Load())
            one = _with(statement, (other, again) if place == 0 else (again, other))
            first = [assigned(kept, side)] if number == 0 else []
            made.append(self._tried(*first, one))
        return made

    def _turn(self, statement: ast.stmt) -> bool:
        """Inverts an assertion without a comparison, in place. False if it has no opposite."""
        helpers = self._helpers
        if isinstance(statement, ast.Assert):
            statement.test = call_of(helpers.turned, statement.test)
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

    def _tried(self, *statements: ast.stmt) -> ast.stmt:
        helpers = self._helpers
        end = f"raise {helpers.holds}" if self._helper else "return"
        tried = syntax_tree(
            f"try:\n    pass\nexcept Exception:\n    {helpers.fell}()\n"
            f"else:\n    if {helpers.held}():\n        {end}\n"
        ).body[0]
        assert isinstance(tried, ast.Try)
        tried.body = [*statements]
        return tried


def _refused(statement: ast.If) -> tuple[ast.expr, ast.expr] | None:
    """Both sides of `if a != b: raise E`."""
    test, body = statement.test, statement.body
    wanted: type[ast.cmpop] = ast.NotEq
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, wanted = test.operand, ast.Eq
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], wanted):
        return None
    refuses = isinstance(body[-1], ast.Raise) or called(getattr(body[-1], "value", None)) == "fail"
    return (test.left, test.comparators[0]) if refuses and not statement.orelse else None


def _roots(statement: ast.stmt) -> list[ast.AST]:
    """What an assertion asserts: its test, or its call."""
    if isinstance(statement, ast.Assert):
        return [statement.test]
    return [statement.value] if isinstance(statement, ast.Expr) else []


def _with(statement: ast.stmt, sides: tuple[ast.expr, ast.expr]) -> ast.stmt:
    """A copy of an assertion that compares these sides instead."""
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
