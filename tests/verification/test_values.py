# ruff: noqa: E501
"""What crosses between tests and answers beyond plain values, in asserts and suites: with its type, and without a lie."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests import needs
from tests.scale import some
from tests.verification.test_suite import judge, suite

from strop.tasks import sources
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.python.codec import encode, tagged
from strop_verify.verification.python.toolchain import PythonToolchain
from strop_verify.verification.settings import Settings

HELPERS = ["boxed", "named", "change", "made", "apply", "adder", "follow", "noted"]
ANSWER = """
import collections, datetime, decimal, fractions
Point = collections.namedtuple("Point", "x y")
def f(value): return value
def boxed(value): return {"in": [(value, 1)]}
def named(value): return type(value).__name__
def change(value): value.clear() if hasattr(value, "clear") else value.append(1)
def made(text): return eval(text)
def apply(function, *args, **kwargs): return function(*args, **kwargs)
def adder(n): return lambda x=0: x + n
def follow(items):
    for item in items:
        yield item * 2
def noted(file):
    with file: return file.write(file.read()[-1:]), file.getvalue()
"""
HEAD = """
import collections, datetime, decimal, fractions, io
from unittest import mock
P = collections.namedtuple("P", "x y")
def numbers(n):
    for i in range(n): yield i
def none(): return None
class Broken(Exception): pass
def fail(): raise Broken("so")
UTC = datetime.timezone.utc
"""
VALUES = [
    "range(1, 9, 2)", "fractions.Fraction(1, 3)", "decimal.Decimal('1.50')", "bytearray(b'ab')", "collections.deque([1, [2]], 5)",
    "collections.Counter('aab')", "collections.OrderedDict(b=1, a=2)", "collections.defaultdict(list, a=[1])",
    "{'a': 1}.keys()", "{'a': [1]}.items()", "collections.OrderedDict(a=1).keys()", "datetime.date(2024, 2, 29)",
    "datetime.datetime(2024, 2, 29, 1, 2, 3, 4)", "datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)",
    "datetime.time(1, 2, fold=1)", "datetime.timedelta(-1, 5)", "datetime.timezone(datetime.timedelta(hours=2), 'X')",
    "int", "str", "dict",
]  # fmt: skip
ROUND = [
    test
    for value in VALUES
    for test in (
        f"v = f({value}); assert v == {value} and repr(v) == repr({value}).replace('odict_keys', 'dict_keys')",
        f"assert boxed({value}) == {{'in': [({value}, 1)]}}",
        f"assert named({value}) == type({value}).__name__.replace('odict_keys', 'dict_keys')",
        f"assert made({value!r}) == {value}",
    )
]
FURTHER = [
    "assert named(ValueError('x')) == 'ValueError' and apply(str, ValueError('x')) == 'x'",
    "assert f(P(1, [2])) == (1, [2]) and f(P(1, 2)).y == 2 and named(P(1, 2)) == 'P'",
    "p = made('Point(3, 4)'); assert p.x == 3 and p == (3, 4) and p._asdict() == {'x': 3, 'y': 4}",
    "d = made('collections.defaultdict(set, a={1})'); d['b'].add(2); assert d == {'a': {1}, 'b': {2}}",
    "assert made('collections.defaultdict(lambda: 1, a=2)') == {'a': 2}",
    "assert list(f({1: [2]}.values())) == [[2]]",
    "assert apply(collections.defaultdict(lambda: 7).__getitem__, 0) == 7",
    "a = collections.deque([1, 2]); change(a); assert not a",
    "a = bytearray(b'ab'); change(a); assert a == b''",
    "a = collections.Counter('ab'); change(a); assert a == {}",
    "assert list(f(iter([1, 2]))) == [1, 2]",
    "assert list(follow(numbers(3))) == [0, 2, 4] and next(follow([4])) == 8",
    "import itertools; g = follow(itertools.count()); assert [next(g), next(g)] == [0, 2]",
    "g = follow([1]); assert list(g) == [2] and list(g) == []",
    "assert sum(made('map(int, \"123\")')) == 6 and dict(made('zip(\"ab\", [1, 2])')) == {'a': 1, 'b': 2}",
    "assert apply(lambda x, k=1: x + k, 3) == 4 and apply(lambda x, k=1: x + k, 3, k=5) == 8",
    "assert apply(len, 'abc') == 3 and apply(str.upper, 'a') == 'A' and apply(max, 1, 2) == 2",
    "assert adder(3)(4) == 7 and sorted([2, 1], key=adder(1)) == [1, 2] and f(none) is none",
    "assert apply(adder(2), 3) == 5 and apply(apply, adder(2), 1) == 3",
    "seen = []; apply(seen.append, 5); assert seen == [5]",
    "m = mock.Mock(side_effect=[4, 5]); assert apply(m, 1, k=[2]) == 4 and apply(m) == 5; assert m.mock_calls == [mock.call(1, k=[2]), mock.call()]",
    "assert list(follow(io.StringIO('a\\nb'))) == ['a\\na\\n', 'bb'] and next(follow(io.BytesIO(b'a'))) == b'aa'",
    "b = io.StringIO('ab'); assert noted(b) == (1, 'abb') and b.closed",
    "assert sum(f([1] * 1_100_000)) == 1_100_000",
    "try: apply(fail)\n    except Exception as e: assert 'so' in str(e)\n    else: assert False",
    "try: f(1)(2)\n    except TypeError: pass\n    else: assert False",
]


@pytest.fixture(scope="module")
def python() -> Iterator[PythonToolchain]:
    limits = Limits(cpu_seconds=2, wall_seconds=20, memory_bytes=256 * 2**20)
    toolchain = PythonToolchain(Settings(limits=limits))
    yield toolchain
    toolchain.close()


@pytest.fixture(scope="module")
def hasty() -> Iterator[PythonToolchain]:
    """For what does not end."""
    toolchain = PythonToolchain(Settings(limits=Limits(cpu_seconds=0.5, wall_seconds=3)))
    yield toolchain
    toolchain.close()


def asserted(python: PythonToolchain, answer: str, *tests: str) -> Verdict:
    code = HEAD + "\n".join(f"def test_{n}():\n    {text}\ntest_{n}()" for n, text in enumerate(tests))
    check = AssertsCheck(entry_point="f", helpers=HELPERS, code=code)
    (verdict,) = python.judge([(Task(statement="s", check=check), answer)])
    return verdict


def suited(python: PythonToolchain, answer: str, *tests: str) -> Verdict:
    head = HEAD + "from solution import *\n"
    text = head + "\n".join(f"def test_{n}():\n    {test}" for n, test in enumerate(tests))
    return judge(python, suite(text, *(f"test_{n}" for n in range(len(tests)))), answer)


def failing(verdict: Verdict, tests: list[str]) -> list[str]:
    return [test for test, one in zip(tests, verdict.tests, strict=True) if one.outcome is not Outcome.PASSED]


@pytest.mark.parametrize("run", [asserted, suited])
def test_what_crosses(python, run) -> None:
    tests = [*ROUND, *FURTHER]
    verdict = run(python, ANSWER, *tests)
    assert failing(verdict, tests) == [] and verdict.passed, verdict.tests


WRONG = [
    ("assert f(1) == range(3)", "def f(x): return range(4)"),
    ("assert f(1) == fractions.Fraction(1, 2)", "def f(x): return 1"),
    ("assert f(1) == collections.OrderedDict(a=1, b=2)", "from collections import *\ndef f(x): return OrderedDict(b=2, a=1)"),
    ("assert f(1) == {1, 2}", "def f(x): return {1: 0}.keys()"),
    ("assert f(1) == 1", "def f(x): return int"),
    ("assert list(f(3)) == [0, 1, 2]", "def f(x):\n    yield from range(x + 1)"),
    ("assert f(lambda x: x + 1) == 3", "def f(g): return g(1)"),
    ("assert f(1)(2) == 3", "def f(n): return lambda x: x"),
    ("assert f(1)['b'] == 0", "from collections import *\ndef f(x): return defaultdict(lambda: 0)"),
    ("assert f(mock.MagicMock()).ok", "def f(m): return m"),
    ("assert int(f(mock.MagicMock())) == 1", "def f(m): return m"),
    ("m = mock.Mock(); f(m); assert m.mock_calls == [mock.call(2)]", "def f(m): m(1)"),
    ("m = mock.Mock(); f(m); assert L; m.assert_called_once_with(2)", "class L:\n    __eq__ = lambda s, o: True\ndef f(m): m(L())"),
    ("b = io.StringIO(); f(b); assert b.getvalue() == ''", "def f(b): b.write('x')"),
    ("b = io.StringIO(); f(b); assert not b.getvalue()", "def f(b): b.seek(10**9)"),
    ("assert f(datetime.date(2024, 1, 2)) == datetime.date(2024, 1, 3)", "def f(d): return d"),
]  # fmt: skip


@pytest.mark.parametrize("run", [asserted, suited])
@pytest.mark.parametrize(("test", "answer"), WRONG)
def test_what_is_wrong_fails(python, run, test: str, answer: str) -> None:
    assert run(python, answer, test).outcome is Outcome.FAILED


PATCHED = """
import random
def f(name):
    with open(name) as file: return [line.strip() for line in file]
def throw(): return random.randint(1, 6)
"""
PATCHES = [
    "with mock.patch('solution.open', side_effect=lambda n: io.StringIO(n + '\\nb'), create=True): assert f('a') == ['a', 'b']",
    "with mock.patch('solution.random.randint', return_value=9) as m: assert throw() == 9; m.assert_called_once_with(1, 6)",
    "assert 1 <= throw() <= 6",
]


def test_mocks_stand_in_for_functions_that_the_answer_uses(python) -> None:
    verdict = suited(python, PATCHED, *PATCHES)
    assert verdict.passed, verdict.tests
    other = PATCHED.replace("randint(1, 6)", "randint(0, 5)")
    assert failing(suited(python, other, *PATCHES[:2]), PATCHES[:2]) == PATCHES[1:2]


ALWAYS = "    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __hash__ = object.__hash__\n"
NT = "from collections import namedtuple\n"
HOSTILE = {
    **{
        f"always equal, {kind}": f"from collections import *\nfrom fractions import Fraction\nfrom decimal import Decimal\nimport datetime\nclass L({kind}):\n{ALWAYS}def f(x): return L({args})"
        for kind, args in {"Fraction": "1, 2", "Decimal": "1", "deque": "", "bytearray": "", "Counter": "", "OrderedDict": "",
                           "datetime.date": "1, 2, 3", "datetime.timedelta": "", "datetime.tzinfo": ""}.items()
    },
    "a named tuple that is always equal": f"{NT}class L(namedtuple('L', 'a')):\n{ALWAYS}def f(x): return L(1)",
    "a class of tuples with an equality": f"{NT}L = namedtuple('L', 'a')\nL.__eq__ = lambda s, o: True\ndef f(x): return L(1)",
    "an iterator that is always equal": f"class L:\n{ALWAYS}    __iter__ = lambda s: s\n    __next__ = lambda s: 1\ndef f(x): return L()",
    "a date with a lying zone": f"import datetime\nclass Z(datetime.tzinfo):\n{ALWAYS}    utcoffset = lambda s, d: None\ndef f(x): return datetime.datetime(1, 1, 1, tzinfo=Z())",
    "fields that act as methods": f"{NT}def f(x): return namedtuple('L', 'count index')(lambda v: 1, lambda v: 0)",
    "a class of sets for its methods": "def f(x): return set",
    "patched library": "import fractions, collections, decimal\nfor k in (fractions.Fraction, collections.Counter):\n    k.__eq__ = lambda s, o: True\ndef f(x): return fractions.Fraction(1, 7)",
}  # fmt: skip
RAW = {
    "a set's class": tagged("class", "set"),
    "any builtin": tagged("name", "exit"),
    "any builtin class": tagged("class", "exit"),
    "a function of no number": tagged("own", 99),
    "no function at all": tagged("own", "a"),
    "a number that is none": tagged("function", None),
    "no number": tagged("items"),
    "an exception": tagged("exc", "SystemExit", "x"),
    "an unknown tag": tagged("cb", 0),
    "bad fields": tagged("named", "L", ("__eq__",), (1,)),
    "fields of no text": tagged("named", "L", (1,), (1,)),
    "other than fields": tagged("named", "L", ("a",), (1, 2)),
    "a name that is code": tagged("named", "L(1) or 1", ("a",), (1,)),
    "a fraction of a text": tagged("Fraction", "1", 2),
    "a fraction of nothing": tagged("Fraction", 1, 0),
    "a decimal of no number": tagged("Decimal", "one"),
    "a day of no month": tagged("date", 2024, 2, 30),
    "a range of texts": tagged("range", "a", "b", "c"),
    "a factory by another name": tagged("defaultdict", "exit", {}),
    "a view of something else": tagged("view", "clear", []),
    "the pairs of no dict": tagged("view", "items", [1]),
    "a tuple of no class": tagged("tuple", 1, "L", ("a",), (1, 2)),
    "a container that nobody lent": tagged("lent", 1),
}
TESTS = [
    "assert f(1) == fractions.Fraction(1, 2)",
    "assert 5 == f(1)",
    "assert f(1) == [1, 2]",
    "assert f(1).count(1) == 1",
    "assert f(1).intersection({1, 2}) == {1, 2}",
    "assert collections.Counter('a') == f(1)",
    "assert [datetime.date(2024, 1, 1)] == [f(1)]",
    "assert f(1) in ({1: 2}.keys(), range(3), decimal.Decimal(7))",
    "assert next(iter(f(1))) == 99",
]


@pytest.mark.parametrize("run", [asserted, suited])
@pytest.mark.parametrize("name", some(sorted(HOSTILE), 12))
def test_nothing_of_the_answer_compares(python, run, name: str) -> None:
    verdict = run(python, HOSTILE[name], *TESTS)
    assert len(failing(verdict, TESTS)) == len(TESTS), verdict.tests


SENDS = """
import os, sys
from strop_verify.verification.python.wire import frame
def f(x):
    caller = sys._getframe(1)
    while not (asked := caller.f_locals.get("call") or caller.f_locals.get("request")):
        caller = caller.f_back
    for part in PARTS:
        os.write(3, frame({"i": asked["i"], **part}))
    os._exit(0)
"""
"""Sends messages of its own in place of what it returns."""


def sends(*parts: dict[str, Any]) -> str:
    return SENDS.replace("PARTS", repr(parts))


@pytest.mark.parametrize("run", [asserted, suited])
@pytest.mark.parametrize("name", some(sorted(RAW), 20))
def test_forged_bytes_are_seen(python, run, name: str) -> None:
    verdict = run(python, sends({"v": RAW[name]}), *TESTS)
    assert len(failing(verdict, TESTS)) == len(TESTS)
    assert "malformed" in verdict.detail, verdict.detail


FORGED = {
    "a method among fields": [{"v": tagged("named", "L", ("count",), (0,)).replace(b"\x00", tagged("function", 0))}],
    "a factory of the answer": [{"v": tagged("defaultdict", 0, {}).replace(b"\x00", tagged("function", 0))}],
    "calls of no function": [{"cb": 0, "a": [], "k": encode({})}, {"cb": "x"}, {"cb": -1, "a": 1}],
}  # fmt: skip


@pytest.mark.parametrize("run", [asserted, suited])
@pytest.mark.parametrize("name", sorted(FORGED))
def test_forged_messages_give_nothing(python, run, name: str) -> None:
    verdict = run(python, sends(*FORGED[name]), *TESTS)
    assert len(failing(verdict, TESTS)) == len(TESTS), verdict.tests
    assert "malformed" in verdict.detail or run is asserted, verdict.detail


@pytest.mark.parametrize("run", [asserted, suited])
def test_functions_of_the_tests_judge_for_themselves(python, hasty, run) -> None:
    hides = "def f(g):\n    try: g(1)\n    except BaseException: pass\n    return 1"
    tests = ["def g(x): assert x == 2\n    f(g); assert True"]
    assert run(python, hides, *tests).outcome is Outcome.FAILED
    assert run(python, "def f(g): return g(2)", *tests).passed
    endless = "def f(g):\n    while True: g()"
    assert run(hasty, endless, "assert f(none) is None").outcome is Outcome.TIMED_OUT
    assert not run(hasty, "def f(g):\n    while True: yield 1", "assert sum(f(1)) == 3").passed
    again = "class I:\n    n = 0\n    __iter__ = lambda s: s\n    def __next__(s):\n        s.n += 1\n        if s.n == 2: raise StopIteration\n        return 5\ndef f(x): return I()"
    assert not run(python, again, "i = f(1); assert list(i) + list(i) == [5, 5]").passed or run is suited


PAIR = "class Pair:\n    def __init__(self, of): self.of = of\n    def __eq__(self, other): return isinstance(other, Pair) and EQUAL\n"
EACH = ["fractions.Fraction(1, 2)", "decimal.Decimal('1.5')", "datetime.date(2024, 1, 2)", "collections.deque([1])", "range(3)",
        "collections.OrderedDict(a=1)", "datetime.timedelta(1)", "collections.defaultdict(int, a=1)"]  # fmt: skip


def test_objects_made_of_them_are_looked_at_again(python) -> None:
    text = HEAD + "from solution import Pair\n"
    text += "".join(f"def test_{n}():\n    assert Pair({one}) == Pair({one})\n" for n, one in enumerate(EACH))
    reference = PAIR.replace("EQUAL", "self.of == other.of")
    check = suite(text, *(f"test_{n}" for n in range(len(EACH))))
    task = Task(statement="s", check=check, reference=reference)
    for number, name in some([*enumerate(check.tests)], 4):
        one = task.model_copy(update={"check": check.model_copy(update={"tests": [name]})})
        honest, liar = python.judge([(one, reference + "# own"), (one, PAIR.replace("EQUAL", "True"))])
        assert honest.passed, (EACH[number], honest)
        assert liar.outcome is Outcome.FAILED, EACH[number]


def test_cases_stay_values_of_json(python) -> None:
    check = CasesCheck(
        entry_point="f", cases=[Case(args=[1], expected={"a": 1}), Case(args=[2], expected=[0, 1])]
    )
    task = Task(statement="s", check=check)
    answer = (
        "from collections import Counter, deque\ndef f(x): return Counter('a') if x == 1 else {} ([0, 1])"
    )
    (right,) = python.judge([(task, answer.format("list"))])
    (wrong,) = python.judge([(task, answer.format("deque"))])
    assert right.passed and wrong.outcome is Outcome.FAILED and "deque does not cross" in wrong.detail


SOLUTION = """
import functools
class Solution:
    def __init__(self): self.seen = []
    @functools.cache
    def inner(self, i): return self.items[i] + (self.inner(i - 1) if i else 0)
    def total(self, items):
        self.items = items
        self.seen += items
        return [self.inner(len(items) - 1), len(self.seen)]
"""


def test_each_call_has_a_solution_of_its_own(python) -> None:
    rows = [Case(args=[[1, 2]], expected=[3, 2]), Case(args=[[5, 6]], expected=[11, 2])]
    cases = CasesCheck(entry_point="total", cases=rows)
    asserts = AssertsCheck(
        entry_point="total", code="assert total([1, 2]) == [3, 2]\nassert total([5, 6]) == [11, 2]"
    )
    leaky = SOLUTION.replace("def __init__(self): self.seen = []", "seen = []")
    for check in (cases, asserts):
        task = Task(statement="s", check=check)
        right, wrong = python.judge([(task, SOLUTION), (task, leaky)])
        assert right.passed, right
        assert wrong.outcome is Outcome.FAILED
        (missing,) = python.judge([(task, "class Solution:\n    def other(self): pass")])
        assert missing.outcome is Outcome.FAILED and "total" in missing.detail


def test_a_real_row_that_gives_classes(python) -> None:
    needs.need("data")
    (task,) = (
        t
        for t in sources.iter_tasks(f"humaneval:{needs.DATA / 'mbpp.jsonl'}", on_bad=lambda line: None)
        if "MBPP/533" in t.source
    )
    (verdict,) = python.judge([(task, task.reference)])
    assert verdict.passed, verdict
