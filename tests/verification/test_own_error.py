# ruff: noqa: E501
"""What an answer does after its code has arrived is never *error*, and what it raises does not end a test early."""

import pytest

from strop.core.checks import AssertsCheck, Case, CasesCheck, PytestCheck
from strop.core.task import Task
from strop.core.verdict import Outcome
from strop.verification.pool.pool import VerifierPool

GOOD = "def f(x):\n    return [73313 + x, x]\n"
CASES = Task(
    statement="s",
    reference=GOOD,
    check=CasesCheck(entry_point="f", cases=[Case(args=[i], expected=[73313 + i, i]) for i in range(2)]),
)
ASSERTS = Task(
    statement="s",
    reference=GOOD,
    check=AssertsCheck(
        entry_point="f", code="assert f(1) == [73314, 1]\na, b = f(2)\nassert a == 73315 and b == 2"
    ),
)
SUITE_CODE = "from solution import f\n\ndef test_f():\n    assert f(1) == [73314, 1]\n"
SUITE = Task(
    statement="s",
    reference=GOOD,
    check=PytestCheck(path="solution.py", files={"test_it.py": SUITE_CODE}, tests=["test_it.py::test_f"]),
)
FRAME = "import os\ndef send(body):\n    body = body.encode()\n    os.write(3, len(body).to_bytes(4, 'big') + body)\n"
SIGNALS = """
import ctypes, fcntl, os, signal, struct
libc = ctypes.CDLL(None)
for target in (os.getppid(), -os.getpgrp(), -os.getppid()):
    for number in (9, 15, 19):
        for fd in (0, 1, 2, 3):
            for command, value in ((8, target), (10, number), (4, 0x2800), (1026, 0x8000001F)):
                try: fcntl.fcntl(fd, command, value)
                except OSError: pass
            for command in (0x8901, 0x8902, 0x5452):
                try: fcntl.ioctl(fd, command, struct.pack('i', target))
                except OSError: pass
        try: os.write(3, b'')
        except OSError: pass
"""
BREAKERS = {
    "infinite while loading": FRAME + "send('{\"loaded\": 1e999}')\ndef f(x): return x",
    "infinite result": FRAME
    + 'def f(x):\n    for i in range(1, 9): send(\'{"i": %d, "v": -1e999}\' % i)\n    return x',
    "infinite part": FRAME
    + 'def f(x):\n    for i in range(1, 9): send(\'{"i": %d, "v": [1e999, {"t": "tuple", "v": [1e999]}]}\' % i)\n    return x',
    "deep result": FRAME
    + "def f(x):\n    for d in (90, 300, 390, 450, 900, 990, 20000):\n        for i in range(3): send('{\"i\": %d, \"v\": %s}' % (i, '[' * d + ']' * d))\n    return x",
    "deep exception": FRAME
    + "def f(x):\n    for i in range(1, 3): send('{\"i\": %d, \"x\": %s}' % (i, '[' * 800 + ']' * 800))\n    return x",
    "deep load": FRAME + "send('{\"load\": %s}' % ('[' * 850 + ']' * 850))\ndef f(x): return x",
    "infinite load": FRAME + "send('{\"load\": [1e999, 1e999]}')\ndef f(x): return x",
    "numbers of calls": FRAME
    + 'def f(x):\n    send(\'{"i": 1e308, "v": 1}\')\n    send(\'{"i": true, "v": 1}\')\n    return x',
    "jail message": FRAME + 'send(\'{"jail": "broken"}\')\nos._exit(97)',
    "not begun": "import os\nos._exit(97)",
    "none": "def f(x): return None",
    "nothing": "def f(x): return []",
    "one too many": "def f(x): return [1, 2, 3]",
    "signals": SIGNALS + "def f(x): return [0, x]",
    "broken text": FRAME + "os.write(3, b'\\x00\\x00\\x00\\x04\\xff\\xfe\\xfd\\xfc')\ndef f(x): return x",
}


@pytest.mark.parametrize("kind", ["cases", "asserts", "pytest"])
@pytest.mark.parametrize("name", BREAKERS)
def test_no_answer_makes_its_own_error(verifier: VerifierPool, kind: str, name: str) -> None:
    task = {"cases": CASES, "asserts": ASSERTS, "pytest": SUITE}[kind]
    verdict = verifier.verify(task, BREAKERS[name])
    assert verdict.outcome not in (Outcome.ERROR, Outcome.PASSED), verdict.detail
    assert verdict.seconds < 4
    assert verifier.verify(task, GOOD).passed


def test_a_task_at_fault_is_still_an_error(verifier: VerifierPool) -> None:
    before = AssertsCheck(entry_point="f", code="nowhere\nassert f(1)")
    after = AssertsCheck(entry_point="f", code="f(1)\nnowhere\nassert f(1)")
    for check in (before, after):
        task = Task(statement="s", reference=GOOD, check=check)
        for answer in (GOOD, "def f(x): return 1"):
            assert verifier.verify(task, answer).outcome is Outcome.ERROR


@pytest.mark.parametrize(
    "answer", ["def f(x): return None", "def f(x): return []", "def f(x): x.clear(); return x"]
)
def test_a_value_that_the_test_cannot_take_apart_is_a_failure(verifier: VerifierPool, answer: str) -> None:
    code = "given = [3, 4]\nfound = f(given)\nfirst, second = found\nassert first == 3\nlast = given[1]\nassert last == 4\n"
    task = Task(
        statement="s", reference="def f(x): return list(x)", check=AssertsCheck(entry_point="f", code=code)
    )
    assert verifier.verify(task, answer).outcome is Outcome.FAILED
    assert verifier.verify(task, task.reference).passed


STOPS = {
    "StopIteration": "def f(x): raise StopIteration",
    "its own": "class Stop(StopIteration): pass\ndef f(x): raise Stop(x)",
    "async": "def f(x): raise StopAsyncIteration",
    "generator exit": "def f(x): raise GeneratorExit",
    "interrupt": "def f(x): raise KeyboardInterrupt",
    "exit": "def f(x): raise SystemExit(0)",
}
LOOPS = [
    "assert all(a == b for a, b in zip(map(f, range(3)), [[73313, 0], [73314, 1], [73315, 2]]))",
    "assert not [1 for v in map(f, range(3)) if v[0] < 73313]",
    "assert list(filter(f, range(3))) == []",
    "for value in map(f, range(3)):\n    assert value[0] >= 73313",
]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", STOPS)
def test_what_it_raises_does_not_end_a_loop(verifier: VerifierPool, name: str, loop: str) -> None:
    answer = STOPS[name]
    task = Task(statement="s", reference=GOOD, check=AssertsCheck(entry_point="f", code=loop))
    assert verifier.verify(task, answer).outcome is Outcome.FAILED
    body = loop.replace("\n", "\n    ")
    files = {"test_it.py": f"from solution import f\n\ndef test_f():\n    {body}\n"}
    suite = Task(
        statement="s", check=PytestCheck(path="solution.py", files=files, tests=["test_it.py::test_f"])
    )
    assert verifier.verify(suite, answer).outcome in (Outcome.FAILED, Outcome.TAMPERED)


def suite(verifier: VerifierPool, tests: str, answer: str) -> Outcome:
    check = PytestCheck(path="solution.py", files={"test_it.py": tests}, tests=["test_it.py::test_f"])
    return verifier.verify(Task(statement="s", check=check), answer).outcome


def test_iterators_of_an_answer_still_end(verifier: VerifierPool) -> None:
    tests = "from solution import Up\n\ndef test_f():\n    assert list(Up(3)) == [0, 1, 2]\n    assert [x for x in Up(2)] == [0, 1]\n"
    answer = "class Up:\n    def __init__(self, n): self.n, self.i = n, -1\n    def __iter__(self): return self\n    def __next__(self):\n        self.i += 1\n        if self.i >= self.n: raise StopIteration\n        return self.i\n"
    assert suite(verifier, tests, answer) is Outcome.PASSED


MANAGER = "class M:\n    def __enter__(self): return self\n    def __exit__(self, kind, error, trace): return {}\n    def value(self): return dict()\n"


@pytest.mark.parametrize(
    "body",
    [
        "assert m.value() == {'a': 1}",
        "assert m.value()['a'] == 1",
        "m.nothing()\n        assert m.value() == 1",
    ],
)
def test_a_context_manager_swallows_no_failure(verifier: VerifierPool, body: str) -> None:
    tests = f"from solution import M\n\ndef test_f():\n    with M() as m:\n        {body}\n"
    assert suite(verifier, tests, MANAGER.format("True")) is not Outcome.PASSED


def test_a_context_manager_may_swallow_what_the_test_raises(verifier: VerifierPool) -> None:
    tests = "from solution import M\n\ndef test_f():\n    with M():\n        raise ValueError('on purpose')\n    with M() as m:\n        assert m.value() == {}\n"
    assert suite(verifier, tests, MANAGER.format("kind is ValueError")) is Outcome.PASSED
    assert suite(verifier, tests, MANAGER.format("False")) is not Outcome.PASSED


def test_star_imports_do_not_shadow_one_another(verifier: VerifierPool) -> None:
    tests = "from math import *\nfrom solution import *\n\ndef test_f():\n    assert isclose(f(1), 2.0)\n"
    forged = "def isclose(a, b): return True\ndef f(x): return 0.0\n"
    assert suite(verifier, tests, forged) is not Outcome.PASSED
    assert suite(verifier, tests, "def f(x): return x + 1.0\n") is Outcome.PASSED
