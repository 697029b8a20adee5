"""Assert code judged by Strop and run by plain Python: no right answer fails, no wrong one passes."""

import random

import pytest
from tests import scale
from tests.verification.assert_grammar import Snippet, plain, snippet

from strop_verify.core.checks import AssertsCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.verifier import OpenVerifier


def task_of(one: Snippet) -> Task:
    check = AssertsCheck(entry_point="f", code=one.code)
    return Task(statement="s", reference=one.reference, check=check)


def disagreements(snippets: list[Snippet], verifier: OpenVerifier) -> list[tuple[Snippet, bool, Verdict]]:
    """Snippets, whether they come to their end in plain Python, and the verdicts that say something else."""
    found = []
    verdicts = [verifier.submit(task_of(one), one.answer) for one in snippets]
    for one, right, future in zip(snippets, plain(snippets), verdicts, strict=True):
        verdict = future.result()
        outcome = Outcome.PASSED if right else Outcome.FAILED
        if task_of(one).check.never_fails():
            outcome = Outcome.ERROR
        if verdict.outcome is not outcome:
            found.append((one, right, verdict))
    return found


@pytest.mark.parametrize("part", range(10))
def test_drawn_snippets(verifier: OpenVerifier, part: int) -> None:
    """300 in a full run; few of them need a process of their own."""
    r = random.Random(f"{scale.seed()} asserts {part}")
    assert disagreements([snippet(r) for _ in range(30)], verifier) == []


def test_values_never_need_the_same_process(verifier: OpenVerifier) -> None:
    r = random.Random(f"{scale.seed()} values")
    snippets = [snippet(r, others=0) for _ in range(scale.most(500, 100))]
    trust = {verifier.verify(task_of(one), one.answer).trust for one in snippets}
    assert trust == {"value", None}


RIGHT, WRONG = "def f(x):\n    if x < 0: raise ValueError(x)\n    return x + 1", "def f(x): return x and 2"


@pytest.mark.parametrize(
    ("code", "tests"),
    [
        ("assert f(1) == 2\ntry:\n    f(-1)\nexcept ValueError: pass\nelse: raise AssertionError", 2),
        ("assert f(1) == 2\nif f(2) != 3: raise AssertionError('two')", 2),
        ("def same(a, b):\n    if f(a) != b: raise AssertionError(a)\nassert f(1) == 2\nsame(2, 3)", 2),
        ("assert f(1) == 2\nr = f(2)\n{3: 0}[r]", 1),
        ("assert f(1) == 2\nx = {3: 0}[f(2)]\nprint('done')", 1),
        ("assert f(1) == 2\nn = 0\nwhile f(n) != 3:\n    n += 1\n    if n > 5: raise RuntimeError", 2),
        ("assert f(1) == 2\nimport sys\nif f(2) != 3: sys.exit(1)", 1),
        ("if __name__ == '__main__':\n    assert f(2) == 3", 1),
        ("from __future__ import annotations\ndef check(g: Unknown):\n    assert g(2) == 3\ncheck(f)", 1),
        ("r = f(2)\nd = {3: 0}\nd[r]", 1),
        ("assert Solution().f(2) == 3", 1),
        ("print('x' * 300_000)\nassert f(2) == 3\nimport sys\nprint('x' * 300_000, file=sys.stderr)", 1),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(2), 3)\n"
            "unittest.main()",
            1,
        ),
    ],
)
def test_every_statement_counts(verifier: OpenVerifier, code: str, tests: int) -> None:
    task = Task(statement="s", check=AssertsCheck(entry_point="f", code=code))
    right = verifier.verify(task, RIGHT)
    assert right.passed and right.trust == "value" and len(right.tests) == tests, right
    assert verifier.verify(task, WRONG).outcome is Outcome.FAILED


def test_what_goes_on_for_ever_below_the_last_test_does_not_pass(verifier: OpenVerifier) -> None:
    code = "assert f(1) == 2\nfor _ in range(f(5)):\n    pass"
    task = Task(statement="s", check=AssertsCheck(entry_point="f", code=code))
    assert verifier.verify(task, "def f(x): return x + 1 if x < 5 else 10**12").outcome is Outcome.TIMED_OUT
    dead = verifier.verify(task, "import os\ndef f(x): return 2 if x == 1 else os._exit(0)")
    assert dead.outcome is Outcome.FAILED and dead.tests[0].outcome is Outcome.PASSED


IDLE = [
    "x = 1",
    "assert True",
    "assert f",
    "f(1) == 2",
    "assert (f(1) == 2, 'two')",
    "assert f(1) == 2 or True",
    "x = f(1)\nassert (x == 2, 'two')",
    "def check(candidate):\n    assert candidate(1) == 2",
    "def test_f():\n    assert f(1) == 2",
    "class TestF:\n    def test_f(self):\n        assert f(1) == 2",
    "try:\n    assert f(1) == 2\nexcept Exception as error:\n    print(error)",
    "try:\n    f(-1)\n    assert False\nexcept:\n    pass",
    "try:\n    assert f(1) == 2\nexcept AssertionError:\n    print('no')",
    "if False:\n    assert f(1) == 2",
    "for a in [1, 2]:\n    f(a) == a + 1",
]
JUDGING = [
    "f(1)",
    "exec('assert f(1) == 2')",
    "x = f(1)\nassert x == 2",
    "def check(candidate):\n    assert candidate(1) == 2\ncheck(f)",
    "def main():\n    assert f(1) == 2\nif __name__ == '__main__':\n    main()",
    "import unittest\nclass T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(1), 2)\nunittest.main()",
    "class T:\n    def run(self):\n        assert f(1) == 2\nT().run()",
    "try:\n    f(-1)\nexcept Exception:\n    pass\nelse:\n    raise AssertionError",
    "ok = False\ntry:\n    f(-1)\nexcept Exception:\n    ok = True\nassert ok",
    "try:\n    assert f(1) == 2\nexcept AssertionError:\n    raise SystemExit(1)",
    "if f(1) != 2:\n    import sys\n    sys.exit(1)",
    "assert f(1) == 2\nf(2) == 3",
    "assert [f(1)] == [2], f'{f(1)}'",
]


@pytest.mark.parametrize("code", IDLE)
def test_what_no_answer_can_fail_is_an_error(verifier: OpenVerifier, code: str) -> None:
    task = Task(statement="s", reference=RIGHT, check=AssertsCheck(entry_point="f", code=code))
    verdict = verifier.verify(task, RIGHT)
    assert verdict.outcome is Outcome.ERROR and "no answer can fail" in verdict.detail, verdict


@pytest.mark.parametrize("code", JUDGING)
def test_what_an_answer_can_fail_is_judged(code: str) -> None:
    assert AssertsCheck(entry_point="f", code=code).never_fails() == ""
