# ruff: noqa: E501
"""Special judges: any order, tolerance, checkers, and the names of an answer that tests may see."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.errors import VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Pump
from strop_verify.verification.python import checker as checker_module
from strop_verify.verification.python.codec import encode
from strop_verify.verification.python.compare import matches, same_output
from strop_verify.verification.python.decoder import tree
from strop_verify.verification.python.toolchain import PythonToolchain
from strop_verify.verification.python.unordered_equality import matches_in_any_order
from strop_verify.verification.python.wire import frame
from strop_verify.verification.settings import Settings


@pytest.fixture(scope="module")
def python() -> Iterator[PythonToolchain]:
    toolchain = PythonToolchain(
        Settings(limits=Limits(cpu_seconds=0.5, wall_seconds=5, memory_bytes=256 * 2**20))
    )
    yield toolchain
    toolchain.close()


def judge(python: PythonToolchain, check: Any, answer: str) -> Verdict:
    (verdict,) = python.judge([(Task(statement="s", check=check), answer)])
    return verdict


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, -2.0])
    | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["n", "k"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(st.lists(JSON, max_size=6), st.randoms())
def test_any_order_takes_every_permutation(items: list[Any], random: Any) -> None:
    shuffled = random.sample(items, len(items))
    for tolerance in (0.0, 1e-6):
        assert matches_in_any_order(items, tree(encode(shuffled)), tolerance)
        assert matches_in_any_order(items, tree(encode(tuple(shuffled))), tolerance)


@given(st.lists(JSON, max_size=4), st.lists(JSON, max_size=4))
def test_any_order_agrees_with_trying_every_order(expected: list[Any], got: list[Any]) -> None:
    from itertools import permutations

    truth = any(matches(expected, tree(encode(list(order)))) for order in permutations(got))
    assert matches_in_any_order(expected, tree(encode(got))) is truth
    assert matches_in_any_order(expected, tree(encode(got)), 1e-9) is truth


@pytest.mark.parametrize(
    ("expected", "got", "tolerance", "same"),
    [
        ([1, 1, 2], [1, 2, 2], 0.0, False),
        ([1, True], [True, 1], 0.0, True),
        ([1, 1], [True, 1], 0.0, True),
        ([1, 2], [True, 1], 0.0, False),
        ([1, 2], [2.0, 1.0], 0.0, True),
        ([1.0, 1.1], [1.0, 0.91], 0.1, True),  # 1.0 must go to 0.91, although it is given exactly
        ([1.0, 1.1], [1.3, 0.91], 0.1, False),
        ([[1, 2]], [[2, 1]], 0.0, False),
        ([{"n": 1.0}, {"n": 2.0}], [{"n": 2.00001}, {"n": 0.99999}], 1e-3, True),
        ([1, 2], {1, 2}, 0.0, False),
        ([1, 2], [{1}, {2}], 0.0, False),
        ([1], [b"1"], 0.0, False),
        ({"a": 1}, {"a": 1}, 0.0, True),
        ([float("inf"), 10**30], [10**30, float("inf")], 0.0, True),
        ([float(n) for n in range(1000)], [n + 1e-9 for n in reversed(range(1000))], 1e-6, True),
        ([float(n) for n in range(1000)], [n + 1e-2 for n in reversed(range(1000))], 1e-6, False),
    ],
)
def test_any_order(expected: Any, got: Any, tolerance: float, same: bool) -> None:
    assert matches_in_any_order(expected, tree(encode(got)), tolerance) is same


def test_any_order_in_the_jail(python: PythonToolchain) -> None:
    check = CasesCheck(entry_point="f", any_order=True, cases=[Case(args=[3], expected=[1, 2, 3])])
    assert judge(python, check, "def f(x): return [3, 1, 2]").passed
    for wrong in ("[3, 1]", "[3, 1, 2, 2]", "[1, 2, 4]", "{1, 2, 3}", "3", "None"):
        assert judge(python, check, f"def f(x): return {wrong}").outcome is Outcome.FAILED
    liar = "class A(list):\n  def __eq__(s, o): return True\n  __hash__ = None\ndef f(x): return A([1])"
    assert judge(python, check, liar).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "same"),
    [
        ("1.0 x\n", "1.0000001 x", 1e-6, True),
        ("1.0 x\n", "1.0000001 x", 0.0, False),
        ("1.0", "1.1", 1e-6, False),
        ("1 2", "1\n2", 1e-6, False),
        ("1 2", "1  2", 1e-6, True),
        ("1 2", "1 2 3", 1e-6, False),
        ("nan", "nan", 1e-6, True),
        ("nan", "1", 1e-6, False),
        ("1", "nan", 9.0, False),
        ("1e308", "inf", 9.0, False),
        ("1", "1e999", 9.0, False),
        ("10", "1_0", 1e-6, False),
        ("a 1", "b 1", 9.0, False),
        ("1", "\u0661", 1e-6, False),
        ("1", "0x1", 1e-6, False),
        ("1e3", "1000.0", 1e-9, True),
    ],
)
def test_output_with_tolerance(expected: str, actual: str, tolerance: float, same: bool) -> None:
    assert same_output(expected, actual, tolerance) is same


PRIMES = """
def check(args, kwargs, expected, result):
    args[0] == 12 or 1 / 0
    product = 1
    for factor in result:
        product *= factor
    return type(result) is list and product == args[0] and len(result) == expected
"""


def factors(checker: str = PRIMES, expected: Any = 3) -> CasesCheck:
    return CasesCheck(entry_point="f", checker=checker, cases=[Case(args=[12], expected=expected)] * 2)


def test_checker_decides(python: PythonToolchain) -> None:
    for right in ("[2, 2, 3]", "[3, 2, 2]"):
        verdict = judge(python, factors(), f"def f(n): return {right}")
        assert verdict.passed and [t.id for t in verdict.tests] == ["case 0", "case 1"]
    for wrong in ("[2, 6]", "(2, 2, 3)", "[2, 2, 3.0, 1]", "True", "None", "['x', 'y']"):
        assert judge(python, factors(), f"def f(n): return {wrong}").outcome is Outcome.FAILED, wrong


@pytest.mark.parametrize(
    "answer",
    [
        "def f(n): return None",
        "def f(n): return ['x', 'y']",
        "def f(n): raise ValueError",
        "def f(n): return object()",
        "class A(list):\n  def __eq__(s, o): return True\n  __hash__ = None\ndef f(n): return A()",
        "def f(n): return f",
        "import os\ndef f(n): os._exit(0)",
        "def check(*a): return True\ndef f(n): return 0",
        f"import os\nos.write(3, {frame({'row': 0, 'ok': True})!r})\ndef f(n): return 0",
    ],
)
def test_no_result_forges_a_checker(python: PythonToolchain, answer: str) -> None:
    check = factors()
    assert judge(python, check, "def f(n): return [3, 2, 2]").passed
    assert judge(python, check, answer).outcome in (Outcome.FAILED, Outcome.TAMPERED)


def test_checker_gets_the_arguments_of_the_task(python: PythonToolchain) -> None:
    checker = "def check(args, kwargs, expected, result):\n    return args == [[1, 2]] and kwargs == {'k': 5} and result == expected"
    check = CasesCheck(
        entry_point="f", checker=checker, cases=[Case(args=[[1, 2]], kwargs={"k": 5}, expected=3)]
    )
    assert judge(python, check, "def f(x, k):\n    x.clear()\n    return 3").passed


@pytest.mark.parametrize(
    ("checker", "cause"),
    [
        (
            "def check(args, kwargs, expected, result):\n    raise ValueError('secret')",
            "raised ValueError (line 2)",
        ),
        ("def check(args, kwargs, expected, result): return undefined", "NameError"),
        ("def check(args, kwargs, expected, result):\n    import nothing_like_it", "ModuleNotFoundError"),
        ("def check(args, kwargs, expected, result):\n    while True: pass", "does not finish"),
        ("def check(args): return True", "TypeError"),
        ("def verify(): pass", "no function check"),
        ("def check(:", "SyntaxError"),
        ("import sys; sys.exit(0)", "SystemExit"),
    ],
)
def test_fault_of_the_checker_is_ours(python: PythonToolchain, checker: str, cause: str) -> None:
    with pytest.raises(VerificationError) as caught:
        judge(python, factors(checker), "def f(n): return [2, 2, 3]")
    assert cause in str(caught.value) and "secret" not in str(caught.value)
    assert judge(python, factors(), "def f(n): return [2, 2, 3]").passed


def test_result_that_a_checker_cannot_bear_fails(python: PythonToolchain) -> None:
    slow = "def check(args, kwargs, expected, result):\n    while result != expected: pass\n    return True"
    verdict = judge(python, factors(slow), "def f(n): return 4")
    assert verdict.outcome is Outcome.TIMED_OUT and "checker" in verdict.detail
    choosy = "def check(args, kwargs, expected, result):\n    return result + 1 == expected + 1"
    assert judge(python, factors(choosy), "def f(n): return 3").passed
    verdict = judge(python, factors(choosy), "def f(n): return 'x'")
    assert verdict.outcome is Outcome.FAILED and "TypeError" in verdict.detail
    truthy = "def check(args, kwargs, expected, result): return result"
    assert judge(python, factors(truthy), "def f(n): return 'x'").outcome is Outcome.FAILED
    assert judge(python, factors(truthy), "def f(n): return True").passed


def test_a_checker_that_sleeps_on_a_result_ends_within_the_limit(python: PythonToolchain) -> None:
    sleepy = "import time\ndef check(args, kwargs, expected, result):\n    if result != expected: time.sleep(99)\n    return True"
    toolchain = PythonToolchain(
        replace(python.settings, limits=replace(python.settings.limits, wall_seconds=3))
    )
    bounds: list[float] = []

    def watched(limits: Limits, **others: Any) -> Pump:
        bounds.append(limits.wall_seconds)
        return Pump(limits, **others)

    with closing(toolchain), pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker_module, "Pump", watched)
        verdict = judge(toolchain, factors(sleepy), "def f(n): return 4")
        always = sleepy.replace("result != expected", "True")
        with pytest.raises(VerificationError, match="does not finish"):
            judge(toolchain, factors(always), "def f(n): return 4")
    assert verdict.outcome is Outcome.TIMED_OUT and "checker" in verdict.detail
    assert bounds == [1.5] * 4


def test_checker_of_a_program(python: PythonToolchain) -> None:
    checker = "def check(stdin, expected, output):\n    return sorted(output.split()) == sorted(stdin.split()) and output != stdin"
    check = StdioCheck(
        checker=checker,
        cases=[StdioCase(stdin="a b c", stdout="c b a"), StdioCase(stdin="x y", stdout="y x")],
    )
    assert judge(python, check, "print(*reversed(input().split()))").passed
    verdict = judge(python, check, "print('c b a')")
    assert [t.outcome for t in verdict.tests] == [Outcome.PASSED, Outcome.FAILED]
    assert judge(python, check, "print('b c a'); raise SystemExit(1)").outcome is Outcome.FAILED
    with pytest.raises(VerificationError):
        judge(python, check.model_copy(update={"checker": "def check(*a): 1 / 0"}), "print(1)")


def test_tolerance_of_a_program(python: PythonToolchain) -> None:
    check = StdioCheck(tolerance=1e-6, cases=[StdioCase(stdin="2\n", stdout="sqrt 1.41421356\n")])
    assert judge(python, check, "print('sqrt', float(input()) ** .5)").passed
    assert judge(python, check, "print('sqrt 1.4142')").outcome is Outcome.FAILED
    assert judge(python, check, "print('sqrt nan')").outcome is Outcome.FAILED


HELPED = AssertsCheck(
    entry_point="f",
    helpers=["g", "check"],
    code="def check(x):\n    assert x == 3\ncheck(f(1))\nassert g(f(1)) == 4",
)


@pytest.mark.parametrize(
    "check",
    [
        CasesCheck(entry_point="\u00b5s", cases=[Case(args=[2], expected=2_000_000)]),
        CasesCheck(entry_point="Solution().\u00b5s", cases=[Case(args=[2], expected=2_000_000)]),
        AssertsCheck(entry_point="\u00b5s", code="assert \u00b5s(2) == 2_000_000"),
        AssertsCheck(
            entry_point="s", helpers=["\u00b5s"], code="assert s(2_000_000) == \u00b5s(2) // 1_000_000"
        ),
    ],
)
def test_names_are_found_as_python_normalises_them(python: PythonToolchain, check: Any) -> None:
    answer = "def \u00b5s(n):\n    return n * 1_000_000\n\ndef s(n):\n    return n // 1_000_000\n"
    verdict = judge(python, check, answer)
    assert verdict.passed, verdict


def test_helpers_are_called_and_nothing_else_is_seen(python: PythonToolchain) -> None:
    honest = "def g(x): return x + 1\ndef f(x): return x + 2\ndef check(x): raise ValueError"
    assert judge(python, HELPED, honest).passed
    with pytest.raises(VerificationError, match="NameError"):
        judge(python, HELPED.model_copy(update={"helpers": []}), honest)
    absent = judge(python, HELPED, "def f(x): return x + 2")
    assert [t.outcome for t in absent.tests] == [Outcome.PASSED, Outcome.FAILED]


EQUAL = [
    ("from enum import IntEnum\nclass C(IntEnum): A = 3\ndef f(): return C.A", 3, True),
    ("from enum import Enum\nclass C(str, Enum): A = 'a'\ndef f(): return [C.A]", ["a"], True),
    ("from enum import Enum\nclass C(Enum): A = 3\ndef f(): return C.A", 3, False),
    (
        "from typing import NamedTuple\nclass P(NamedTuple):\n  a: int\ndef f(): return {'p': [P(1)]}",
        {"p": [[1]]},
        True,
    ),
    ("class L(list): pass\ndef f(): return L([L()])", [[]], True),
    ("class L(list):\n  def __eq__(self, o): return True\ndef f(): return L()", [1], False),
    ("class I(int):\n  def __eq__(self, o): return True\ndef f(): return I()", 5, False),
    ("class D(dict):\n  def __getitem__(self, k): return 1\ndef f(): return D(a=2)", {"a": 1}, False),
    ("from decimal import Decimal\ndef f(): return [Decimal('2.50'), Decimal(7)]", [2.5, 7], True),
    ("from decimal import Decimal\ndef f(): return Decimal('0.1')", 0.1, False),
    ("from fractions import Fraction\ndef f(): return Fraction(1, 4)", 0.25, True),
    ("from decimal import Decimal\ndef f(): return Decimal('nan')", 1, False),
    ("def f(): return [True, 1.0, 1 + 0j]", [1, True, 1], True),
]


@pytest.mark.parametrize(("answer", "expected", "same"), EQUAL)
def test_cases_compare_as_python(python: PythonToolchain, answer: str, expected: Any, same: bool) -> None:
    names: dict[str, Any] = {"__name__": "answer"}
    exec(answer, names)
    forged = "def __eq__" in answer
    assert forged or "NamedTuple" in answer or (names["f"]() == expected) is same
    check = CasesCheck(entry_point="f", cases=[Case(expected=expected)])
    for one in (check, check.model_copy(update={"any_order": True})):
        assert judge(python, one, answer).passed is same


@pytest.mark.parametrize(
    "answer",
    [
        "def check(x): pass\ndef g(x): return 4\ndef f(x): return 0",
        "def g(x):\n  class A:\n    def __eq__(s, o): return True\n  return A()\ndef f(x): return 3",
        "g = 4\ndef f(x): return 3",
        "def f(x): return 3\ndef g(x): return lambda: 4",
        "def f(x): return 3\nfrom builtins import abs as g",
    ],
)
def test_helpers_cannot_fool_the_tests(python: PythonToolchain, answer: str) -> None:
    assert judge(python, HELPED, answer).outcome is Outcome.FAILED


@pytest.mark.parametrize("name", ["abs", "isinstance", "__name__", "__builtins__", "a b", "AssertionError"])
def test_helper_named_like_a_builtin_is_refused(python: PythonToolchain, name: str) -> None:
    with pytest.raises(VerificationError, match="helper"):
        judge(python, HELPED.model_copy(update={"helpers": [name]}), "def f(x): return 3")
