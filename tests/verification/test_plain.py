"""Python tests that need the answer's process: who is judged there, and what that lets through."""

import pytest

from strop_verify.core.checks import AssertsCheck, EditCheck, PytestCheck
from strop_verify.core.checks.base import CheckBase
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification import open_verifier
from strop_verify.verification.plain import PythonVerifier
from strop_verify.verification.settings import Settings
from strop_verify.verification.verifier import held_to

LOGS = "import logging\nfrom solution import f\ndef test_it(caplog):\n    f(3)\n    assert caplog.messages == ['3']\n"
LOGGING = "import logging\ndef f(x):\n    logging.getLogger('a').warning('%d', x)\n"


def suite(text: str) -> PytestCheck:
    return PytestCheck(files={"test_it.py": text}, tests=["test_it.py::test_it"])


def judged(check: CheckBase, answer: str, reference: str = "") -> Verdict:
    verifier = PythonVerifier(Settings())
    try:
        task = Task(id="t", statement="s", check=check, reference=reference)  # type: ignore[arg-type]
        return verifier.judge([(task, answer)])[0]
    finally:
        verifier.close()


def test_tests_that_need_it_share_the_answers_process_and_the_pass_says_so() -> None:
    verdict = judged(suite(LOGS), LOGGING.replace("'a'", "'b'"), LOGGING)
    assert verdict.passed and verdict.trust == "same-process"
    assert held_to(verdict, "typed").outcome is Outcome.FAILED
    assert judged(suite(LOGS), "def f(x): pass", LOGGING).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    "answer",
    [
        "import os\ndef f(x): os._exit(0)",
        "raise SystemExit(0)",
        "import sys\ndef f(x): sys.exit(0)",
        "class All(list):\n    def __eq__(self, other): return True\n"
        "import _pytest.logging as l\nl.LogCaptureFixture.messages = All()\ndef f(x): pass",
        "import _pytest.runner as r\ndef f(x): pass\n"
        "import _pytest.python as p\np.Function.runtest = lambda self: None",
        "import unittest, pytest, sys\ndef f(x):\n    pytest.skip('x')",
    ],
)
def test_there_too_a_forged_pass_is_none(answer: str) -> None:
    assert not judged(suite(LOGS), answer, LOGGING).passed


def test_a_task_whose_reference_passes_apart_is_never_judged_otherwise() -> None:
    forged = "class X:\n    def __eq__(self, other): return True\ndef f(x): return X()\n"
    check = suite("from solution import f\ndef test_it():\n    assert f(1) == 2 and f.__name__ == 'f'\n")
    assert not judged(check, forged, "def f(x): return x + 1").passed
    good = judged(check, "def f(y): return y + 1", "def f(x): return x + 1")
    assert good.passed and good.trust is None  # the pool says the check's own


def test_without_a_reference_what_is_seen_in_the_tests_decides() -> None:
    check = AssertsCheck(entry_point="f", code="assert f.__doc__ == 'd'")
    assert judged(check, "def f():\n    'd'").trust == "same-process"
    assert judged(check, "def f():\n    'e'").outcome is Outcome.FAILED
    mine = suite(
        "from solution import Base\nclass Mine(Base): pass\ndef test_it(): assert Mine().two() == 2\n"
    )
    assert judged(mine, "class Base:\n    def two(self): return 2").trust == "same-process"
    assert judged(mine, "class Base:\n    def two(self): return 3").outcome is Outcome.FAILED
    unseen = AssertsCheck(entry_point="f", code="assert f(1) == 1")
    assert judged(unseen, "def f(x): return 2").outcome is Outcome.FAILED


FORGED = """class E:
    def __init__(self, *args): pass
    def __eq__(self, other): return isinstance(other, int | str | list)
    def __ne__(self, other): return not self == other
    def __call__(self, *args): return E()
    def __getattr__(self, name): return E()
def f(*args): return E()
f.__doc__ = 'd'
"""


@pytest.mark.parametrize("reference", ["def f(n):\n    'd'\n    return [n]", ""])
@pytest.mark.parametrize(
    "code",
    [
        "assert f(3) == [3]",
        "def check(c):\n    assert c(3) == [3]\n    assert c(2) == [2]\ncheck(f)",
        "if f(3) != [3]: raise ValueError",
        "if not f(3) == [3]:\n    raise ValueError",
        "def same(a, b):\n    if a != b: raise AssertionError\nsame(f(3), [3])",
        "try:\n    assert f(3) == [3]\nexcept ValueError: pass",
    ],
)
def test_objects_that_equal_everything_pass_no_test_there(code: str, reference: str) -> None:
    both = "assert f.__doc__ == 'd'\n" + code
    indented = "from solution import f\ndef test_it():\n    " + both.replace("\n", "\n    ")
    for check in (AssertsCheck(entry_point="f", code=both), suite(indented)):
        honest = judged(check, "def f(x):\n    'd'\n    return [x]", reference)
        assert honest.trust == "same-process", honest
        assert not judged(check, FORGED, reference).passed


def test_a_reference_that_passes_in_no_way_leaves_the_failure() -> None:
    assert judged(suite(LOGS), "def f(x): pass", "def f(x): return 1").outcome is Outcome.FAILED


def test_a_preamble_stands_above_answer_and_reference() -> None:
    check = AssertsCheck(entry_point="f", code="assert f.__doc__ == str(N)", preamble="N = 4")
    right = "def f(): pass\nf.__doc__ = str(N)"
    assert judged(check, right.replace("pass", "return 1"), right).passed


def test_a_method_of_a_class_goes_by_its_bare_name() -> None:
    check = AssertsCheck(entry_point="Solution().two", code="assert two.__doc__ == 'd' and two(1) == 2")
    right = "class Solution:\n    def two(self, x):\n        'd'\n        return x + 1"
    assert judged(check, right.replace("x", "y"), right).passed


def test_an_edit_of_such_a_module_is_judged_there() -> None:
    check = EditCheck(
        format="search-replace",
        files={"solution.py": LOGGING.replace("%d", "%s!")},
        path="solution.py",
        judge=suite(LOGS),
        oracle={"solution.py": LOGGING},
    )
    line = "    logging.getLogger('a').warning('%s', x)\n"
    blocks = ["<<<<<<< SEARCH\n", line.replace("%s", "%s!"), "=======\n", line, ">>>>>>> REPLACE\n"]
    verifier = open_verifier()
    try:
        task = Task(id="e", statement="s", check=check)
        verdict = verifier.submit(task, "solution.py\n" + "".join(blocks)).result()
    finally:
        verifier.close()
    assert verdict.passed and verdict.trust == "same-process", verdict
