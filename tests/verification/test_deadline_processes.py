# ruff: noqa: E501
"""Every Python verdict comes within the wall limit and a second, whatever the answer does with the time.

Second looks at a pass have limits of their own, and what is found of a reference takes its runs.
"""

import time
from contextlib import closing

import pytest
from tests.scale import some

from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, Check, PytestCheck, StdioCase, StdioCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.controls import SECOND_LOOK_LIMITS
from strop_verify.verification.pool.pool import VerifierPool
from strop_verify.verification.python.codec import DICT, LIST, LONG, Encoder, encode, message
from strop_verify.verification.python.compare import same_output
from strop_verify.verification.python.decoder import DecodeTimeout, decode, fields, tree
from strop_verify.verification.python.toolchain import PythonToolchain
from strop_verify.verification.python.unordered_equality import matches_in_any_order
from strop_verify.verification.settings import Settings

LIMITS = Limits(cpu_seconds=2, wall_seconds=3, memory_bytes=256 * 2**20)
MANY = bytes((LIST, LONG)) + (300_000).to_bytes(4, "little") + bytes((DICT, 0)) * 300_000
"""A value of half a MiB that takes most of a second to read."""


def judged(check: Check, reference: str, *answers: str, most: int = 1) -> list[Verdict]:
    """The verdicts on the answers, one after another, each within so many wall limits and a second. If one is late, all is
    done anew in fresh processes, twice at most: a busy machine is late now and then, a fault every time.
    """
    task = Task(statement="s", check=check, reference=reference)
    took: list[float] = []
    for _ in range(3):
        with closing(PythonToolchain(Settings(limits=LIMITS))) as python:
            python.judge(
                [(task.model_copy(update={"reference": ""}), "pass")]
            )  # the processes are there then
            verdicts, took = [], []
            for answer in answers:
                began = time.monotonic()
                verdicts += python.judge([(task, answer)])
                took.append(time.monotonic() - began)
        if max(took) < most * LIMITS.wall_seconds + 1:
            return verdicts
    raise AssertionError(f"late three times; at last {took} s: {verdicts}")


def test_reading_ends_when_its_time_does() -> None:
    named = message({str(n): b"" for n in range(6)})
    frame = b"".join((named[:1], *(bytes((1, 48 + n)) + MANY for n in range(6))))
    began = time.process_time()
    with pytest.raises(DecodeTimeout):
        fields(frame, time.monotonic() + 0.1)
    with pytest.raises(DecodeTimeout):
        tree(MANY, time.monotonic())
    ended = time.process_time()
    assert len(fields(frame)) == 6
    assert ended - began < (time.process_time() - ended) / 2


class Growing(Encoder):
    """Encodes values while their list gets longer by every one of them, as by another thread."""

    def __init__(self, values: list[object]) -> None:
        super().__init__()
        self.values = values

    def beyond(self, value: object, why: str, depth: int) -> None:
        self.values.append(object())
        self.out += encode(None)


def test_a_value_that_grows_while_it_is_written_has_the_size_that_it_had() -> None:
    values: list[object] = [object(), object()]
    assert decode(Growing(values).whole([values, 1])) == [[None, None], 1]
    named: dict[object, object] = {1: object()}

    class Adding(Encoder):
        def beyond(self, value: object, why: str, depth: int) -> None:
            named[len(named) + 1] = 1
            self.out += encode(None)

    assert decode(Adding().whole(named)) == {1: None}


@pytest.mark.parametrize(
    "word", ["9" * 10**6 + "x", "." + "9" * 10**6 + "x", "9" * 10**6 + ".e", "1e" + "9" * 10**6]
)
def test_a_word_of_a_million_digits_is_read_once(word: str) -> None:
    began = time.monotonic()
    assert not same_output("1.5", word, 0.1)
    assert time.monotonic() - began < 60  # it took hours


def test_numbers_are_read_as_before() -> None:
    for word in ("1", "1.", "1.0", "+1.0e0", "1e+00", ".1e1", "10.E-1"):
        assert same_output("1.0", word, 0.01), word
    for word in ("1e00000", "1_0", ".", "e1", "1.0.0", "0x1", "nan", "inf", "1e", "+-1", ""):
        assert not same_output("1.0", word, 0.01), word


@pytest.mark.parametrize("tolerance", [0, 0.1])
def test_large_values_are_told_by_counting(tolerance: float) -> None:
    began = time.process_time()
    hostile = tree(bytes((LIST, 2)) + MANY + b"\0")
    read = time.process_time()
    assert not matches_in_any_order([1, 2], hostile, tolerance)
    assert time.process_time() - read < read - began
    assert matches_in_any_order([[1, {"a": 2}], None], [None, [1, tree(encode({"a": 2}))]], tolerance)
    assert not matches_in_any_order([[1, 2], 3], [[1, 2, 3], 3], tolerance)


SENDS = f"""import os, threading, time
began = time.monotonic()
body = bytes({list(MANY[:6])}) + bytes(({DICT}, 0)) * 300_000
frame = bytes((7, 1, 105, 0)) + b''.join(bytes((1, 48 + n)) + body for n in range(6))
def f(x):
    time.sleep(max(0, began + 2.6 - time.monotonic()))
    os.write(3, len(frame).to_bytes(4, 'big'))
    data = frame
    while data: data = data[os.write(3, data):]
    return x
"""
"""Six values in a frame that arrives just before the end."""
GROWS = """import sys, threading
sys.setswitchinterval(1e-6)
def more(x):
    while True:
        try: x.extend(x) if isinstance(x, list) else x.update({len(x): {}})
        except Exception: pass
def f(x):
    for _ in range(3): threading.Thread(target=more, args=(x,), daemon=True).start()
    return x
"""
CASES = CasesCheck(entry_point="f", cases=[Case(args=[[n]], expected=[n]) for n in range(9)])
ASSERTS = AssertsCheck(entry_point="f", code="assert f([1]) == [1]\nassert f({1: {}}) == {1: {}}")
SUITE = PytestCheck(
    path="solution.py",
    files={
        "test_it.py": "from solution import f\ndef test_f(): assert f([1]) == [1]\ndef test_g(): assert f({}) == {}\n"
    },
    tests=["test_it.py::test_f", "test_it.py::test_g"],
)


@pytest.mark.parametrize("check", [CASES, ASSERTS, SUITE], ids=["cases", "asserts", "pytest"])
@pytest.mark.parametrize(
    "answer", some([SENDS, GROWS], 1), ids=lambda text: "sends at the end" if text == SENDS else "grows"
)
def test_no_verdict_waits_for_reading(check: Check, answer: str) -> None:
    (verdict,) = judged(check, "def f(x): return x", answer)
    assert not verdict.passed and verdict.scored, verdict


def test_a_test_that_sleeps_as_told_is_not_waited_for() -> None:
    code = "import time\ntime.sleep(f(1))\nassert f(2) == 2"
    (verdict,) = judged(AssertsCheck(entry_point="f", code=code), "", "def f(x): return 99")
    assert verdict.outcome is Outcome.TIMED_OUT


def test_words_of_many_digits_hold_up_no_grader(verifier: VerifierPool) -> None:
    check = StdioCheck(cases=[StdioCase(stdin="", stdout="1.5\n")], tolerance=0.1)
    task = Task(statement="s", check=check)
    verdict = verifier.submit(task, "print('9' * 900_000 + 'x')").result(timeout=300)
    assert verdict.outcome is Outcome.FAILED and verifier.verify(task, "print('1.45')").passed


VECTOR = """import time
class V:
    def __init__(self, x):
        time.sleep({seconds})
        self.x = x
    def __eq__(self, o): return {equal}
"""
OBJECTS = PytestCheck(
    path="solution.py",
    files={
        "test_it.py": "from solution import V\ndef test_v(): assert V(3) == V(3)\ndef test_w(): assert V(4) != V(5) or V(1)\n"
    },
    tests=["test_it.py::test_v"],
)
TRUE, LIE = "self.x == o.x", "isinstance(o, V)"


def test_a_slow_reference_shows_every_lie() -> None:
    slow = VECTOR.format(seconds=0.3, equal=TRUE)
    honest, lying = (VECTOR.format(seconds=0.1, equal=equal) for equal in (TRUE, LIE))
    first, second = judged(OBJECTS, slow, lying, honest, most=12)
    assert first.outcome is Outcome.FAILED and "compare alike" in first.detail, first
    assert second.passed, second


IN_PLACE = AssertsCheck(entry_point="f", code="a = [3, 1]\nassert f(a) == sorted(a)")


@pytest.mark.parametrize("part", some([0.0, 0.5, 0.9], 1))
def test_an_answer_that_changes_its_arguments_is_not_late(part: float) -> None:
    answer = (
        f"import time\ndef f(a):\n    time.sleep({part * LIMITS.wall_seconds})\n    a[:] = [0]\n    return a"
    )
    reference = "import time\ndef f(a):\n    time.sleep(1)\n    return sorted(a)"
    (verdict,) = judged(IN_PLACE, reference, answer, most=2 + SECOND_LOOK_LIMITS)
    assert verdict.outcome in (Outcome.FAILED, Outcome.TIMED_OUT), verdict
