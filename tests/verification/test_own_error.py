# ruff: noqa: E501
"""What an answer does after its code has arrived is never *error*, and what it raises does not end a test early."""

import pytest

from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, PytestCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.pool.pool import VerifierPool
from strop_verify.verification.python import toolchain
from strop_verify.verification.python.codec import COMPLEX, FLOAT, LIST, STR, encode, message, tagged

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
FRAME = "import os\ndef send(body): os.write(3, len(body).to_bytes(4, 'big') + body)\n"


def sends(*bodies: bytes) -> str:
    return FRAME + f"def f(x):\n    for body in {bodies!r}: send(body)\n    return x"


def at_once(body: bytes, then: str = "def f(x): return x") -> str:
    return FRAME + f"send({body!r})\n{then}"


def results(value: object) -> list[bytes]:
    return [message({"i": number, "v": value}) for number in range(9)]


INFINITE = [float("inf"), (float("-inf"), float("nan"))]
DEEP = [bytes([LIST, 1]) * depth + b"\0" for depth in (90, 99, 100, 101, 300, 900, 20_000)]
NAN = bytes([FLOAT]) + b"\x01\0\0\0\0\0\xf8\x7f"
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
    "infinite while loading": at_once(message({"loaded": float("inf")})),
    "infinite result": sends(*results(float("-inf")), *results(encode(float("-inf")))),
    "infinite part": sends(*results(INFINITE), *results(encode(INFINITE))),
    "another nan": sends(*results(NAN), b"\x02\x01i\0\x01v" + NAN),
    "deep result": sends(*(body for deep in DEEP for body in results(deep))),
    "deep message": sends(*(b"\x02\x01i\0\x01v" + deep for deep in DEEP)),
    "deep exception": sends(*(b"\x02\x01i\0\x01x" + deep for deep in DEEP)),
    "deep load": at_once(b"\x01\x04load" + DEEP[-1]),
    "shallow load": at_once(b"\x01\x04load" + DEEP[0]),
    "infinite load": at_once(message({"load": INFINITE})),
    "numbers of calls": sends(message({"i": 1e308, "v": b"\1"}), message({"i": True, "v": b"\1"})),
    "sizes that are lies": sends(
        *results(bytes([STR, 255, 255, 255, 255, 255])), *results(bytes([LIST, 255, 255, 255, 255, 127]))
    ),
    "a float cut": sends(*results(bytes([COMPLEX, 0]))),
    "a set in a field": sends(
        *results({1, 2}), message({"i": 1, "x": {1: 2}}), message({"i": 1, "u": {"a": [1]}})
    ),
    "keys that come twice": sends(*results(b"\x8c\2\1\0\1\0")),
    "jail message": at_once(message({"jail": "broken"}), "os._exit(97)"),
    "not begun": "import os\nos._exit(97)",
    "none": "def f(x): return None",
    "nothing": "def f(x): return []",
    "one too many": "def f(x): return [1, 2, 3]",
    "signals": SIGNALS + "def f(x): return [0, x]",
    "numbers of no container": sends(*results(tagged("argument", 7)), *results(tagged("argument", [1]))),
    "containers that are none": sends(
        *(message({"i": n, "n": kind, "v": b"\1"}) for n in range(3) for kind in (1, [1], [b""]))
    ),
    "a last result that was none": sends(
        *(message({"i": n, "again": True, "v": encode([1])}) for n in range(9))
    ),
    "changes of nothing": sends(*(message({"i": n, "m": [encode([1])], "v": b"\1"}) for n in range(9))),
    "exceptions without more": sends(*(message({"i": n, "x": ["ValueError", "a"]}) for n in range(9))),
    "exceptions with too much": sends(
        *(
            message({"i": n, "x": ["A", "b"], "e": encode(("A", "type", (1,), {"__class__": 1}, "b"))})
            for n in range(9)
        )
    ),
    "broken text": at_once(b"\xff\xfe\xfd\xfc"),
}


@pytest.mark.parametrize("kind", ["cases", "asserts", "pytest"])
@pytest.mark.parametrize("name", BREAKERS)
def test_no_answer_makes_its_own_error(verifier: VerifierPool, kind: str, name: str) -> None:
    task = {"cases": CASES, "asserts": ASSERTS, "pytest": SUITE}[kind]
    verdict = verifier.verify(task, BREAKERS[name])
    assert verdict.outcome not in (Outcome.ERROR, Outcome.PASSED), verdict.detail
    assert verdict.seconds < 15  # a stopped process held the grader up for 21
    assert verifier.verify(task, GOOD).passed


def test_what_answers_return_leaves_no_memory_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "TESTER_MEMORY", 100 * 2**20)
    code = "def kept(v): return v\nfound = kept(f(1))\nassert found == [73314, 1]"
    task = Task(statement="s", check=AssertsCheck(entry_point="f", code=code))
    with open_verifier(workers=1, limits=Limits(memory_bytes=256 * 2**20)) as verifier:
        for number in range(4):  # 24 MB each
            heavy = f"def f(x): return [{{}} for _ in range(330_000)] # {number}\n"
            assert verifier.verify(task, heavy).outcome is Outcome.FAILED
        verdict = verifier.verify(task, GOOD)
        assert verdict.passed and verifier.stats()["retries"] == 0, verdict


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
