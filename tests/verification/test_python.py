# ruff: noqa: E501
import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, PytestCheck, StdioCase, StdioCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_configured, open_verifier
from strop_verify.verification.config import SandboxConfig
from strop_verify.verification.pool.pool import VerifierPool


def cases(*pairs: tuple[list[Any], Any], tolerance: float = 0.0) -> Task:
    listed = [Case(args=args, expected=expected) for args, expected in pairs]
    return Task(statement="s", check=CasesCheck(entry_point="f", cases=listed, tolerance=tolerance))


def asserts(code: str) -> Task:
    return Task(statement="s", check=AssertsCheck(entry_point="f", code=code))


def stdio(*pairs: tuple[str, str]) -> Task:
    return Task(statement="s", check=StdioCheck(cases=[StdioCase(stdin=i, stdout=o) for i, o in pairs]))


DOUBLE = cases(([1], 2), ([2], 4), ([3], 6))


def test_cases_pass_with_output_kept(verifier: VerifierPool) -> None:
    verdict = verifier.verify(DOUBLE, "print('top')\ndef f(x):\n    print(x)\n    return 2 * x")
    assert verdict.passed and verdict.output == "top\n1\n2\n3\n"
    assert [t.id for t in verdict.tests] == ["case 0", "case 1", "case 2"]
    assert verdict.cpu_seconds > 0 and verdict.peak_bytes > 0


def test_failed_case_does_not_show_expected_value(verifier: VerifierPool) -> None:
    verdict = verifier.verify(cases(([1], 987654)), "def f(x): return x")
    assert verdict.outcome is Outcome.FAILED
    assert "987654" not in verdict.model_dump_json()
    assert "returned 1" in verdict.detail


@pytest.mark.parametrize(
    ("answer", "outcome", "detail"),
    [
        ("", Outcome.NO_ANSWER, "empty"),
        (" \n\t", Outcome.NO_ANSWER, "empty"),
        ("def f(x) return", Outcome.FAILED, "SyntaxError"),
        ("def g(x): return 2*x", Outcome.FAILED, "no function named f"),
        ("import nothing_like_it", Outcome.FAILED, "ModuleNotFoundError"),
        ("def f(x): return bytearray(10**9)", Outcome.OUT_OF_MEMORY, "MemoryError"),
        ("def f(x): return f(x)", Outcome.FAILED, "RecursionError"),
        ("def f(x): raise ValueError('no')", Outcome.FAILED, "ValueError: no"),
        ("import sys\ndef f(x): sys.exit(0)", Outcome.FAILED, "SystemExit"),
        ("import os\nos._exit(0)", Outcome.FAILED, "status 0"),
        ("import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGSEGV)", Outcome.FAILED, "SIGSEGV"),
        ("def f(x):\n  while True: print('x' * 10000)", Outcome.FAILED, "printed more"),
        ("def f(x): return lambda: x", Outcome.FAILED, "unencodable"),
        ("def f(x): return 'x' * 10_000_000", Outcome.FAILED, "allowed|too many"),
    ],
)
def test_cases_outcomes(verifier: VerifierPool, answer: str, outcome: Outcome, detail: str) -> None:
    verdict = verifier.verify(DOUBLE, answer)
    assert verdict.outcome is outcome, verdict
    assert any(part in verdict.detail for part in detail.split("|")), verdict.detail
    assert verifier.verify(DOUBLE, "def f(x): return x + x").passed


def test_cpu_seconds_end_what_does_not_sleep() -> None:
    with open_verifier(workers=1, limits=Limits(cpu_seconds=0.5, wall_seconds=120)) as verifier:
        for answer in ("def f(x):\n  while True: pass", "while True: pass"):
            verdict = verifier.verify(DOUBLE, answer)
            assert verdict.outcome is Outcome.TIMED_OUT and "CPU seconds" in verdict.detail, verdict
        assert verifier.verify(DOUBLE, "def f(x): return x + x").passed


def test_sleep_is_timed_out_by_wall(verifier: VerifierPool) -> None:
    verdict = verifier.verify(DOUBLE, "import time\ndef f(x): time.sleep(100)")
    assert verdict.outcome is Outcome.TIMED_OUT and verdict.cpu_seconds < 0.5


def test_death_in_a_case_leaves_the_rest_not_run(verifier: VerifierPool) -> None:
    verdict = verifier.verify(DOUBLE, "import os\ndef f(x):\n    if x == 2: os._exit(3)\n    return 2 * x")
    assert [t.outcome for t in verdict.tests] == [Outcome.PASSED, Outcome.FAILED, Outcome.FAILED]
    assert verdict.tests[2].message == "not run"


def test_stages(verifier: VerifierPool) -> None:
    broken = verifier.verify(DOUBLE, "def f(:")
    assert (stage := broken.stage("build")) is not None and not stage.passed and "SyntaxError" in stage.output
    assert broken.stage("test") is None and len(broken.tests) == 3
    good = verifier.verify(DOUBLE, "def f(x): return x*2")
    assert [s.passed for s in good.stages] == [True, True]


SUITE = PytestCheck(
    files={"test_f.py": "from solution import f\ndef test_f(): assert f(2) == 4\n"},
    tests=["test_f.py::test_f"],
)


def test_a_pass_says_how_far_the_tests_were_apart(verifier: VerifierPool) -> None:
    for check, trust in ((DOUBLE.check, "value"), (SUITE, "typed")):
        task = Task(statement="s", check=check)
        assert verifier.verify(task, "def f(x): return x*2").trust == trust
        assert verifier.verify(task, "def f(x): return x*3").trust is None


def test_a_pass_with_less_than_the_least_trust_is_failed_in_all_its_tests() -> None:
    box = SandboxConfig(trust="value", workers=1)
    with open_configured(box) as strict:
        assert strict.verify(DOUBLE, "def f(x): return x*2").passed
        verdict = strict.verify(Task(statement="s", check=SUITE), "def f(x): return x*2")
    assert verdict.outcome is Outcome.FAILED and verdict.trust is None
    assert verdict.detail == "passed with trust typed; value is required"
    assert [stage.passed for stage in verdict.stages] == [True, False]
    assert [test.outcome for test in verdict.tests] == [Outcome.FAILED]


def test_other_language_and_closed_are_errors() -> None:
    verifier = open_verifier(workers=1)
    rust = Task(statement="s", language="rust", check=DOUBLE.check)
    assert verifier.verify(rust, "fn f() {}").outcome is Outcome.ERROR
    verifier.close()
    verifier.close()
    assert verifier.verify(DOUBLE, "def f(x): return x").outcome is Outcome.ERROR


def test_a_dead_worker_is_replaced_and_the_answer_still_judged(
    verifier: VerifierPool, family: Callable[..., list[int]]
) -> None:
    assert verifier.verify(DOUBLE, "def f(x): return 2*x").passed
    for pid in family("zygote"):
        os.kill(pid, 9)
    assert verifier.verify(DOUBLE, "def f(x): return 2*x").passed


def test_close_in_the_middle_gives_errors_and_returns_soon() -> None:
    verifier = open_verifier(workers=1, limits=Limits(cpu_seconds=30, wall_seconds=60))
    futures = [verifier.submit(DOUBLE, "while True: pass") for _ in range(5)]
    while not verifier.stats()["running"]:
        time.sleep(0.01)
    began = time.monotonic()
    verifier.close()
    assert time.monotonic() - began < 25  # each of the answers would go on for 30
    assert {f.result(120).outcome for f in futures} == {Outcome.ERROR}


def test_same_answer_same_verdict(verifier: VerifierPool) -> None:
    answer = "def f(x):\n    print(list({'a', 'b', 'c', 'd', str(x)}), hash('abc'))\n    return 2 * x"
    seen = {
        verifier.verify(DOUBLE, answer)
        .model_copy(update={"seconds": 0, "cpu_seconds": 0, "peak_bytes": 0})
        .output
        for _ in range(5)
    }
    assert len(seen) == 1


def test_asserts_one_result_a_statement(verifier: VerifierPool) -> None:
    code = "X = 3\ndef check(g):\n    assert g(1) == 2\nassert f(X) == 6\nassert f(2) == 5\ncheck(f)\nfor i in range(3):\n    assert f(i) == 2*i"
    verdict = verifier.verify(asserts(code), "def f(x): return 2*x")
    assert [t.outcome.value for t in verdict.tests] == ["passed", "failed", "passed", "passed"]
    assert verdict.outcome is Outcome.FAILED


def test_asserts_exceptions_cross_as_builtin_classes(verifier: VerifierPool) -> None:
    code = "try:\n    f(0)\n    assert False\nexcept ZeroDivisionError as e:\n    assert 'zero' in str(e)"
    assert verifier.verify(asserts(code), "def f(x): return 1/x").passed
    own = "class Bad(ValueError): pass\ndef f(x): raise Bad('zero')"
    assert verifier.verify(asserts(code.replace("ZeroDivisionError", "ValueError")), own).passed
    assert not verifier.verify(asserts(code), "def f(x): return 0").passed


def test_asserts_changes_in_place_are_seen(verifier: VerifierPool) -> None:
    code = "a = [3, 1, 2]\nf(a)\nassert a == [1, 2, 3]"
    assert verifier.verify(asserts(code), "def f(a): a.sort()").passed
    assert not verifier.verify(asserts(code), "def f(a): return sorted(a)").passed


@pytest.mark.parametrize(
    ("leaves", "sees"),
    [
        ("import math\nmath.sqrt = lambda x: 1", "import math\nassert f(2) == math.sqrt(4)"),
        ("import decimal\ndecimal.getcontext().prec = 2", "import decimal\nassert f(1) * 3 == 3 * decimal.Decimal(1)"),
        ("import os\nos.environ['SEEN'] = 'yes'", "import os\nassert 'SEEN' not in os.environ and f(1) == 1"),
        ("import sys, os\nif f(1) == 1: os._exit(0)", "assert f(1) == 1"),
    ],
)  # fmt: skip
def test_asserts_of_one_task_leave_nothing_to_the_next(
    verifier: VerifierPool, leaves: str, sees: str
) -> None:
    verifier.verify(asserts(f"{leaves}\nassert f(1) == 1"), "def f(x): return x")
    verdict = verifier.verify(asserts(sees), "def f(x): return x")
    assert verdict.passed and verdict.trust == "value"


@pytest.mark.parametrize(
    "code", ["assert f(1) ==", "x = 1", "import nothing_like_it\nassert f(1)", "y = zzz\nassert f(1)"]
)
def test_broken_test_code_is_our_error(verifier: VerifierPool, code: str) -> None:
    assert verifier.verify(asserts(code), "def f(x): return 1").outcome is Outcome.ERROR


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("def f(x):\n  while True: pass", Outcome.TIMED_OUT),
        ("def f(x): return bytearray(10**9)", Outcome.OUT_OF_MEMORY),
        ("import sys\ndef f(x): sys.exit(0)", Outcome.FAILED),
        ("import os\ndef f(x): os._exit(0)", Outcome.FAILED),
        ("def f(", Outcome.FAILED),
        ("g = 1", Outcome.FAILED),
    ],
)
def test_asserts_outcomes(verifier: VerifierPool, answer: str, outcome: Outcome) -> None:
    task = asserts("assert f(1) == 2\nassert f(2) == 3")
    verdict = verifier.verify(task, answer)
    assert verdict.outcome is outcome, verdict
    assert verifier.verify(task, "def f(x): return x + 1").passed


def test_endless_test_code_ends(verifier: VerifierPool) -> None:
    task = asserts("for i in range(f(1)):\n    assert i >= 0")
    assert verifier.verify(task, "def f(x): return 10**12").outcome is Outcome.TIMED_OUT
    assert verifier.verify(task, "def f(x): return 3").passed


def test_stdio(verifier: VerifierPool) -> None:
    task = stdio(("1 2\n", "3"), ("4 5\n", "9\n"))
    program = "import sys\na, b = map(int, input().split())\nif __name__ == '__main__':\n    print(a + b, ' ')\n    sys.exit(0)"
    assert verifier.verify(task, program).passed
    assert verifier.verify(task, "print(3)").fraction == 0.5
    assert verifier.verify(task, "print(3); print(9)").fraction == 0
    assert verifier.verify(task, "print(sum(map(int, input().split()))); 1/0").outcome is Outcome.FAILED
    assert verifier.verify(task, "while True: pass").outcome is Outcome.TIMED_OUT
    assert verifier.verify(task, "while True: print('x' * 1000)").outcome is Outcome.FAILED
    assert verifier.verify(task, "def (").stage("test") is None


def test_large_stdin_and_output(verifier: VerifierPool) -> None:
    text = "\n".join(str(i) for i in range(50_000))
    assert verifier.verify(stdio((text, text)), "import sys\nprint(sys.stdin.read())").passed
    assert verifier.verify(stdio((text, "0")), "print(0)").passed


def test_large_arguments_and_results(verifier: VerifierPool) -> None:
    big = list(range(100_000))
    assert verifier.verify(cases(([big], big[::-1])), "def f(x): return x[::-1]").passed


@pytest.mark.parametrize(
    "program",
    [
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n  x: int\ndef f(x): return A(x).x*2",
        "import random, statistics, datetime, decimal, json\ndef f(x): return x*2",
        "from typing import List\ndef f(x: int) -> List[int]: return x*2",
    ],
)
def test_standard_library_imports(verifier: VerifierPool, program: str) -> None:
    verdict = verifier.verify(DOUBLE, program)
    assert verdict.passed, verdict
