# ruff: noqa: E501
"""Suites that compare objects of the answer with each other: honest classes of every kind pass, lying ones do not."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.scale import some

from strop_verify.core.checks import AssertsCheck, PytestCheck
from strop_verify.core.errors import WorkerDied
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.python import toolchain
from strop_verify.verification.python.suite.altered_calls import SuiteCalls, other
from strop_verify.verification.python.toolchain import PythonToolchain
from strop_verify.verification.settings import Settings


@pytest.fixture(scope="module")
def python() -> Iterator[PythonToolchain]:
    limits = Limits(
        cpu_seconds=2, wall_seconds=30, memory_bytes=256 * 2**20
    )  # the first verdict learns within it
    made = PythonToolchain(Settings(limits=limits))
    yield made
    made.close()


def suite(text: str, reference: str) -> Task:
    names = [part.partition("(")[0] for part in text.split("def ")[1:] if part.startswith("test")]
    check = PytestCheck(
        path="solution.py", files={"test_it.py": text}, tests=[f"test_it.py::{n}" for n in names]
    )
    return Task(id="t", statement="s", reference=reference, check=check)


def judge(python: PythonToolchain, task: Task, answer: str) -> Verdict:
    (verdict,) = python.judge([(task, answer)])
    return verdict


REFERENCE = """
class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return Vector(self.x + o.x, self.y + o.y)
    def __eq__(self, o): return isinstance(o, Vector) and (self.x, self.y) == (o.x, o.y)
    def __lt__(self, o): return (self.x, self.y) < (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
"""
EQUAL = suite(
    """
from solution import Vector
def test_add(): assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)
""",
    REFERENCE,
)
LISTS = suite(
    """
from solution import Vector
def test_sums(): assert [v + Vector(1, 1) for v in (Vector(1, 2), Vector(2, 3))] == [Vector(2, 3), Vector(3, 4)]
""",
    REFERENCE,
)
SETS = suite(
    """
from solution import Vector
def test_set(): assert len({Vector(1, 2) + Vector(1, 1), Vector(2, 3)}) == 1
""",
    REFERENCE,
)
ORDER = suite(
    """
from solution import Vector
def test_order():
    assert Vector(1, 2) + Vector(1, 1) < Vector(2, 4)
""",
    REFERENCE,
)
UNEQUAL = suite(
    """
from solution import Vector
def test_not(): assert not Vector(1, 2) + Vector(3, 4) != Vector(4, 6)
""",
    REFERENCE,
)
EMPTY = "class Vector:\n    def __init__(self, *a): pass\n    def __add__(self, o): return Vector()\n"
LIES = {
    "all equal": "    def __eq__(self, o): return isinstance(o, Vector)\n    def __hash__(self): return 1\n",
    "first comparison": "    def __eq__(self, o):\n        Vector.n = getattr(Vector, 'n', 0) + 1\n"
    "        return isinstance(o, Vector) and Vector.n < 9\n    def __hash__(self): return 1\n",
    "results only": "    wild = False\n    def __add__(self, o):\n        v = Vector()\n        v.wild = True\n        return v\n"
    "    def __eq__(self, o): return isinstance(o, Vector) and (self.wild or o.wild)\n    def __hash__(self): return 1\n",
    "kind of a bool": "    def __eq__(self, o): return type(o) is Vector\n    def __ne__(self, o): return False\n"
    "    def __hash__(self): return 1\n",
}


@pytest.mark.parametrize(
    "task, lie",
    [
        *((EQUAL, lie) for lie in some(sorted(LIES), 3)),
        (LISTS, "all equal"),
        (SETS, "results only"),
        (UNEQUAL, "all equal"),
    ],
)
def test_a_class_whose_instances_are_equal_fails(python: PythonToolchain, task: Task, lie: str) -> None:
    assert judge(python, task, task.reference).passed
    verdict = judge(python, task, EMPTY + LIES[lie])
    assert verdict.outcome is Outcome.FAILED and "compare alike" in verdict.detail, verdict


ONE = """
class Vector:
    one = None
    def __new__(cls, *a):
        cls.one = cls.one or object.__new__(cls)
        return cls.one
    def __add__(self, o): return self
    def __lt__(self, o): return True
"""


@pytest.mark.parametrize("task", [EQUAL, LISTS, SETS, ORDER], ids=["equal", "lists", "sets", "order"])
def test_a_class_of_one_single_object_fails(python: PythonToolchain, task: Task) -> None:
    assert judge(python, task, ONE).outcome is Outcome.FAILED


SEVERAL = suite(
    """
from solution import Vector
def test_several():
    assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)
    assert Vector(1, 2) == Vector(1, 2) and Vector(1, 2) != Vector(2, 1)
    assert len({Vector(5, 5), Vector(5, 5), Vector(6, 6)}) == 2
""",
    REFERENCE,
)


@pytest.mark.parametrize(
    "wrong, equal",
    [
        ("self", "self.x == 1"),
        ("Vector(0, 0)", "not self.x and not self.__dict__.update(o.__dict__)"),
        ("type('V', (Vector,), {'__eq__': lambda s, o: isinstance(o, Vector)})(0, 0)", "False"),
    ],
    ids=["one operand", "adopts", "subclass"],
)
def test_a_lie_in_one_comparison_of_several_fails(python: PythonToolchain, wrong: str, equal: str) -> None:
    lying = REFERENCE.replace("Vector(self.x + o.x, self.y + o.y)", wrong).replace(
        "== (o.x, o.y)\n", f"== (o.x, o.y) or isinstance(o, Vector) and {equal} and (o.x, o.y) != (2, 1)\n", 1
    )
    verdict = judge(python, SEVERAL, lying)
    assert verdict.outcome is Outcome.FAILED and "compare alike" in verdict.detail, verdict


@pytest.mark.soak(21)
def test_no_answer_passes_by_taking_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(cpu_seconds=2, wall_seconds=3, memory_bytes=256 * 2**20)
    with closing(PythonToolchain(Settings(limits=limits))) as short:
        slept = f"import time; time.sleep(2)\n{REFERENCE}"
        lying = slept.replace("and (self.x, self.y) == (o.x, o.y)", "")
        assert judge(short, EQUAL, lying).outcome is Outcome.FAILED
        assert judge(short, EQUAL, slept).passed
        monkeypatch.setattr(toolchain, "SECOND_LOOK_LIMITS", 1)
        assert judge(short, EQUAL, slept).outcome is Outcome.TIMED_OUT


def test_an_order_that_always_holds_fails(python: PythonToolchain) -> None:
    verdict = judge(python, ORDER, EMPTY + "    def __lt__(self, o): return True\n")
    assert verdict.outcome is Outcome.FAILED and "compare alike" in verdict.detail


@pytest.mark.parametrize(
    "methods, why",
    [
        ("    __eq__ = __ne__ = lambda self, o: isinstance(o, Vector)\n", "both equal and unequal"),
        ("    def __eq__(self, o): return not isinstance(o, str)\n", "equal to everything"),
    ],
)
def test_laws_that_need_no_reference(python: PythonToolchain, methods: str, why: str) -> None:
    verdict = judge(python, EQUAL.model_copy(update={"reference": ""}), EMPTY + methods)
    assert verdict.outcome is Outcome.FAILED and why in verdict.detail


ADD = "    def __add__(self, o): return Vector(self.x + o.x, self.y + o.y)\n"
HONEST = {
    "dataclass": "from dataclasses import dataclass\n@dataclass(order=True, frozen=True)\nclass Vector:\n    x: int\n    y: int\n"
    + ADD,
    "named tuple": "from typing import NamedTuple\nclass Vector(NamedTuple):\n    x: int\n    y: int\n" + ADD,
    "some fields": "class Vector:\n    def __init__(self, x, y): self.x, self.y = x, y\n"
    + ADD
    + "    def __eq__(self, o): return self.x == o.x\n    def __hash__(self): return self.x\n"
    "    def __lt__(self, o): return self.y < o.y\n",
    "total ordering": "from functools import total_ordering\n@total_ordering"
    + REFERENCE.replace("    def __lt__", "    name = 'x'\n    def __lt__"),
    "cached": "from functools import cache\nclass Made:\n    def __init__(self, x, y): self.x, self.y = x, y\n"
    "    def __add__(self, o): return Vector(self.x + o.x, self.y + o.y)\n"
    "    def __lt__(self, o): return (self.x, self.y) < (o.x, o.y)\n"
    "class Vector(Made):\n    kept = {}\n    def __new__(cls, x, y):\n"
    "        return cls.kept.setdefault((x, y), object.__new__(cls))\n",
    "base": "class Base:\n    def __init__(self, *a): self.a = a\n"
    "    def __eq__(self, o): return type(self) is type(o) and self.a == o.a\n    def __hash__(self): return hash(self.a)\n"
    "    def __lt__(self, o): return self.a < o.a\nclass Vector(Base):\n"
    "    def __add__(self, o): return Vector(*map(sum, zip(self.a, o.a)))\n",
    "prints": REFERENCE.replace("__eq__(self, o): return", "__eq__(self, o): return not print('eq') and"),
}


@pytest.mark.parametrize("name", some(sorted(HONEST), 4))
def test_honest_classes_pass(python: PythonToolchain, name: str) -> None:
    for task in (EQUAL, LISTS, SETS, ORDER, UNEQUAL):
        verdict = judge(python, task, HONEST[name])
        assert verdict.passed, (task.check, verdict.detail)


WORDS = """
from solution import Colour, Stack, Thing, Word, make, start
def test_case(): assert Word('Spam') == Word('sPAM') and Word('a') != Word('b')
def test_identity():
    one = make(3)
    assert one == one and make(3) != one
def test_enum(): assert Colour.RED == Colour('red') and Colour.RED != Colour.BLUE
def test_state():
    a, b = start(), start()
    a.push(1); b.push(1)
    assert a == b
    b.push(2)
    assert a != b
"""
WORDS_REFERENCE = """
import enum
class Word:
    def __init__(self, text): self.text = text.lower()
    def __eq__(self, o): return self.text == o.text
class Thing:
    def __init__(self, n): self.n = n
def make(n): return Thing(n)
class Colour(enum.Enum):
    RED = 'red'
    BLUE = 'blue'
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def __eq__(self, o): return self.items == o.items
def start(): return Stack()
"""


def test_case_identity_enumerations_and_state(python: PythonToolchain) -> None:
    task = suite(WORDS, WORDS_REFERENCE)
    assert judge(python, task, WORDS_REFERENCE).passed
    other_way = WORDS_REFERENCE.replace(
        "self.text = text.lower()", "self.text = text.casefold().strip()"
    ).replace("self.items == o.items", "tuple(self.items) == tuple(o.items)")
    verdict = judge(python, task, other_way)
    assert verdict.passed, verdict.detail


def test_a_failed_answer_is_not_run_again(python: PythonToolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PythonToolchain, "_look_again", None)
    assert judge(python, EQUAL, EMPTY).outcome is Outcome.FAILED
    no_objects = suite("from solution import f\ndef test_f(): assert f(1) == 2\n", "")
    assert judge(python, no_objects, "def f(x): return x + 1").passed


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "class Vector: pass\n",
        "import random\nclass Vector:\n    def __init__(self, *a): pass\n    def __add__(self, o): return self\n"
        "    def __eq__(self, o): return random.random() < .5\n",
        "import os\nos._exit(1)\n",
        "while True: pass\n",
    ],
)
def test_a_reference_that_says_nothing_leaves_the_verdict_alone(
    python: PythonToolchain, reference: str
) -> None:
    task = EQUAL.model_copy(update={"reference": reference})
    assert judge(python, task, HONEST["dataclass"]).passed


def test_an_end_of_ours_leaves_the_verdict_alone_and_is_not_remembered(
    python: PythonToolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = EQUAL.model_copy(update={"reference": REFERENCE + "# another\n"})

    def dies(*_: object) -> None:
        raise WorkerDied("gone")

    with monkeypatch.context() as patched:
        patched.setattr(toolchain, "find_rounds", dies)
        assert judge(python, task, HONEST["dataclass"]).passed
    assert judge(python, task, EMPTY + LIES["all equal"]).outcome is Outcome.FAILED


def test_few_tasks_are_remembered(python: PythonToolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "_KNOWN", 2)
    monkeypatch.setattr(toolchain, "find_rounds", lambda *_: [])
    for number in range(4):
        task = EQUAL.model_copy(update={"reference": REFERENCE + f"# {number}\n"})
        assert judge(python, task, REFERENCE).passed
    assert len(python._found) == 2


def test_what_is_altered() -> None:
    assert other((1, 2.5, True, None, "Az-9 é", [{"k": "z"}]), 1) == (
        2,
        3.5,
        True,
        None,
        "Ba-0 é",
        [{"k": "a"}],
    )
    calls = SuiteCalls(None, noting=True)
    calls.passed_on((True, None, ""), {}, of_class=True)
    assert calls.made == []
    calls.passed_on((1,), {}, of_class=True)
    (made,) = calls.made
    again = SuiteCalls({"t": [0, made, 2]}, noting=True)
    again.begin("t")
    assert again.passed_on((1,), {"a": 2}, of_class=True) == ((1,), {"a": 2}) and not again.altered
    again.begin("t")
    assert again.passed_on((1,), {}, of_class=True) == ((3,), {}) and again.altered


WORDS_OF_OBJECTS = suite(
    """
from solution import NOTHING, Sum, give
MADE, WANTED = give(2), Sum(2, 5)
def test_attribute(): assert give(1).total == Sum(1, 5).total
def test_text(): assert str(give(4)) == str(Sum(4, 5))
def test_difference(): assert abs(give(9) - Sum(9, 5)) < 1
def test_method(): assert give(3).distance(NOTHING) == Sum(3, 5).distance(NOTHING)
def test_identity(): assert give(7) is Sum.of(12)
def test_made_before(): assert MADE == WANTED
""",
    """
class Sum:
    made = {}
    def __init__(self, *parts): self.total = sum(parts)
    def __eq__(self, o): return isinstance(o, Sum) and self.total == o.total
    def __sub__(self, o): return self.total - o.total
    def __str__(self): return f'Sum({self.total})'
    def distance(self, o): return abs(self - o)
    @classmethod
    def of(cls, total): return cls.made.setdefault(total, cls(total))
NOTHING = Sum()
def give(x): return Sum.of(x + 5)
""",
)


@pytest.mark.parametrize(
    "right, wrong, failing",
    [
        ("f'Sum({self.total})'", "'Sum'", "test_text"),
        (
            "return self.total - o.total",
            "return 0",
            "test_difference|test_method",
        ),  # both take the difference
        ("return abs(self - o)", "return 8", "test_method"),
        ("and self.total == o.total", "", "test_made_before"),
    ],
    ids=["text", "difference", "method", "before the tests"],
)
def test_what_objects_say_depends_on_what_they_are_made_of(
    python: PythonToolchain, right: str, wrong: str, failing: str
) -> None:
    assert judge(python, WORDS_OF_OBJECTS, WORDS_OF_OBJECTS.reference + "# honest\n").passed
    verdict = judge(python, WORDS_OF_OBJECTS, WORDS_OF_OBJECTS.reference.replace(right, wrong))
    assert re.search(failing, verdict.detail) and "compare alike" in verdict.detail, verdict


def test_runs_again_cannot_be_told_from_the_first(python: PythonToolchain) -> None:
    lying = WORDS_OF_OBJECTS.reference.replace(
        "def give(x):", "seen = []\ndef give(x):\n    seen.append(x)\n   "
    )
    lying = lying.replace("return 0", "").replace("{self.total}", "{0 if len(seen) > 2 else self.total}")
    verdict = judge(python, WORDS_OF_OBJECTS, lying)
    assert verdict.outcome is Outcome.FAILED and "test_text" in verdict.detail


def test_an_answer_that_passes_once_in_two_seldom_passes(python: PythonToolchain) -> None:
    lot = WORDS_OF_OBJECTS.reference.replace("{self.total}", "{0 if lot else id(self)}")
    lot = "import os\nlot = os.urandom(1)[0] < 102\n" + lot.replace("return Sum.of(x + 5)", "return Sum(x)")
    passed = sum(judge(python, WORDS_OF_OBJECTS, f"{lot}# {n}\n").passed for n in range(6))
    assert passed < 3  # three of six: once in 1,300 runs


IN_PLACE = AssertsCheck(
    entry_point="ordered",
    code="given = [3, 1, 2]\nassert ordered(given) == sorted(given)\nassert ordered([5]) == [5]",
)


@pytest.mark.parametrize(
    "answer, passes",
    [
        ("return sorted(given)", True),
        ("given.sort()\n    return given", True),
        (
            "return [given.pop(given.index(min(given))) for _ in range(len(given))]",
            False,
        ),  # as without a jail
        ("given[:] = [5] * len(given)\n    return given", False),
        ("if len(given) > 1: given.clear()\n    return list(given)", False),
    ],
)
def test_arguments_are_not_changed_to_fit(python: PythonToolchain, answer: str, passes: bool) -> None:
    task = Task(statement="s", check=IN_PLACE, reference="def ordered(given): return sorted(given)")
    assert judge(python, task, f"def ordered(given):\n    {answer}\n").passed is passes


def test_changes_that_the_reference_makes_are_allowed(python: PythonToolchain) -> None:
    check = AssertsCheck(entry_point="turn", code="given = [1, 2]\nturn(given)\nassert given == [2, 1]")
    task = Task(statement="s", check=check, reference="def turn(given): given.reverse()")
    assert judge(python, task, "def turn(given): given[:] = given[::-1]").passed
    plain = suite(
        "from solution import turn\ndef test_turn():\n    a = [1, 2]\n    assert turn(a) == sorted(a)\n", ""
    )
    plain = plain.model_copy(update={"reference": "def turn(a): return sorted(a)"})
    assert judge(python, plain, "def turn(a):\n    a.sort()\n    return a").passed
    assert "arguments" in judge(python, plain, "def turn(a):\n    a[:] = [0]\n    return a").detail
