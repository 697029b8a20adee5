# ruff: noqa: E501
"""pytest suites against an answer in another process: what carries, and what no answer may forge."""

import time
from collections.abc import Iterator

import pytest
from tests.scale import some

from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.suite import Attack, load_suite, trial
from strop_verify.attacks.tasks import build
from strop_verify.core.checks import PytestCheck
from strop_verify.core.errors import VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.python.codec import encode, message, tagged
from strop_verify.verification.python.names import module_names
from strop_verify.verification.python.toolchain import PythonToolchain
from strop_verify.verification.settings import Settings


def opened(wall_seconds: float) -> Iterator[PythonToolchain]:
    limits = Limits(cpu_seconds=1, wall_seconds=wall_seconds, memory_bytes=256 * 2**20)
    toolchain = PythonToolchain(Settings(limits=limits))
    yield toolchain
    toolchain.close()


@pytest.fixture(scope="module")
def python() -> Iterator[PythonToolchain]:
    yield from opened(20)


@pytest.fixture(scope="module")
def hasty() -> Iterator[PythonToolchain]:
    """For what sleeps."""
    yield from opened(1)


def judge(python: PythonToolchain, check: PytestCheck, answer: str) -> Verdict:
    (verdict,) = python.judge([(Task(statement="s", check=check), answer)])
    return verdict


def suite(text: str, *tests: str, path: str = "solution.py", **files: str) -> PytestCheck:
    names = tests or tuple(
        part.partition("(")[0] for part in text.split("def ")[1:] if part.startswith("test")
    )
    more = {name.replace("__", "/") + ".py": content for name, content in files.items()}
    return PytestCheck(
        path=path, files={"test_it.py": text, **more}, tests=[f"test_it.py::{name}" for name in names]
    )


STACK = suite(
    """
import pytest
import solution
from solution import Empty, Stack, apply, double

@pytest.fixture
def stack():
    made = Stack([1, 2])
    yield made
    made.clear()

def test_methods(stack):
    stack.push(3)
    assert len(stack) == 3 and stack.items == [1, 2, 3] and 2 in stack
    assert stack.pop() == 3
    assert [x for x in stack] == [1, 2] and stack[0] == 1 and bool(stack)
    assert isinstance(stack, Stack) and not isinstance(stack, (int, Empty))
    assert str(stack) == "Stack(1, 2)" and repr(stack)
    stack.name = "x"
    assert stack.name == "x" and hasattr(stack, "push") and not hasattr(stack, "shove")

def test_exceptions():
    with pytest.raises(Empty, match="nothing in it") as caught:
        Stack().pop()
    assert caught.value.depth == 0 and isinstance(caught.value, LookupError)
    with pytest.raises(ValueError):
        double("x")

def test_operators():
    assert Stack([1]) + Stack([2]) == Stack([1, 2])
    assert Stack([1]) != Stack([2]) and Stack([1]) != "text" and Stack([1]) is not None
    assert Stack([1]) < Stack([1, 2]) and (Stack([1]) * 2).items == [1, 1]
    assert sorted([Stack([2]), Stack([1])])[0].items == [1] and len({Stack([1]), Stack([1])}) == 1

@pytest.mark.parametrize("x, y", [(1, 2), (3, 6)])
def test_double(x, y):
    assert double(x) == y

def test_functions_and_output(capsys):
    assert apply(lambda x: x + 1, 3) == 4 and apply(len, "abc") == 3
    assert capsys.readouterr().out == "applying\\n" * 2

def test_patching(monkeypatch):
    monkeypatch.setattr(solution, "FACTOR", 10)
    assert double(2) == 20

def test_arguments_changed_in_place(tmp_path):
    values = [3, 1, 2]
    solution.sort(values)
    assert values == [1, 2, 3]
    (tmp_path / "file").write_text("x")

def test_context():
    with Stack([1]) as inside:
        assert inside.items == [1]
    assert inside.items == []
""",
    "test_methods",
    "test_exceptions",
    "test_operators",
    "test_double[1-2]",
    "test_double[3-6]",
    "test_functions_and_output",
    "test_patching",
    "test_arguments_changed_in_place",
    "test_context",
)
RIGHT = """
import functools
FACTOR = 2
class Empty(LookupError):
    def __init__(self, depth): self.depth = depth
    def __str__(self): return "nothing in it"
@functools.total_ordering
class Stack:
    def __init__(self, items=()): self.items = list(items)
    def push(self, x): self.items.append(x)
    def pop(self):
        if not self.items: raise Empty(0)
        return self.items.pop()
    def clear(self): self.items.clear()
    def __len__(self): return len(self.items)
    def __getitem__(self, i): return self.items[i]
    def __contains__(self, x): return x in self.items
    def __iter__(self): return iter(self.items)
    def __add__(self, other): return Stack(self.items + other.items)
    def __mul__(self, n): return Stack(self.items * n)
    def __eq__(self, other): return self.items == other.items if isinstance(other, Stack) else NotImplemented
    def __lt__(self, other): return self.items < other.items
    def __hash__(self): return hash(tuple(self.items))
    def __str__(self): return "Stack(" + ", ".join(map(str, self.items)) + ")"
    def __enter__(self): return self
    def __exit__(self, *error): self.clear()
def double(x):
    if isinstance(x, str): raise ValueError("no text")
    return FACTOR * x
def apply(function, x):
    print("applying")
    return function(x)
def sort(values): values.sort()
"""


def test_a_whole_suite_carries(python: PythonToolchain) -> None:
    verdict = judge(python, STACK, RIGHT)
    assert verdict.passed, verdict
    assert [t.id for t in verdict.tests] == STACK.tests and "applying" in verdict.output


MORE = suite("""
import datetime, functools
from solution import Child, Fussy, Watched, apply, base, later
def test_dates():
    assert later(datetime.date(2024, 2, 28)) == datetime.date(2024, 2, 29)
    assert later(datetime.datetime(2024, 2, 28, 1, 2, 3, 4)) == datetime.datetime(2024, 2, 29, 1, 2, 3, 4)
    assert later(datetime.date(2024, 1, 1), days=datetime.timedelta(days=-1)) == datetime.date(2023, 12, 31)
    assert type(later(datetime.date(2024, 1, 1))) is datetime.date
def test_methods_of_builtins():
    assert apply(str.upper, "a") == "A"
    assert apply(functools.partial(max, 3), 2) == 3
def test_functions_are_found_again():
    watched, seen = Watched(), []
    watched.add(seen.append)
    call = lambda value: seen.append(-value)
    watched.add(call)
    watched.tell(1)
    watched.remove(call)
    watched.tell(2)
    assert seen == [1, -1, 2]
def test_equality_that_raises_on_texts():
    assert Fussy(1) == Fussy(1)
    assert Fussy(1) != Fussy(2)
def test_bases():
    assert Child.__bases__[0] is base()
    assert issubclass(Child, base())
""")
MORE_RIGHT = """
import datetime
class Base: pass
class Child(Base): pass
def base(): return Base
def later(day, days=datetime.timedelta(days=1)): return day + days
def apply(function, value): return function(value)
class Fussy:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return self.x == other.x
class Watched:
    def __init__(self): self.calls = []
    def add(self, call): self.calls.append(call)
    def remove(self, call): self.calls.remove(call)
    def tell(self, value):
        for call in self.calls: call(value)
"""


def test_dates_functions_and_bases_carry(python: PythonToolchain) -> None:
    verdict = judge(python, MORE, MORE_RIGHT)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("end", "outcome"),
    [("while True: pass", Outcome.TIMED_OUT), ("import os; os._exit(0)", Outcome.FAILED)],
)
def test_an_answer_that_ends_early_has_its_cause(python: PythonToolchain, end: str, outcome: Outcome) -> None:
    check = suite(
        "from solution import f\ndef test_a(): assert f(1) == 1\ndef test_b(): assert f(2) == 2\ndef test_c(): assert f(3) == 3\n"
    )
    verdict = judge(python, check, f"def f(x):\n    if x == 2:\n        {end}\n    return x\n")
    assert [t.outcome for t in verdict.tests] == [Outcome.PASSED, outcome, Outcome.FAILED]
    assert (
        verdict.outcome is outcome and verdict.tests[2].message == "not run" and "gone" not in verdict.detail
    )


@pytest.mark.parametrize(
    ("old", "new", "failing"),
    [
        (
            "return day + days",
            "return type('date', (datetime.date,), {'__eq__': lambda a, b: True})(1, 1, 1)",
            ["test_dates"],
        ),
        ("return day + days", "return datetime.datetime(2024, 2, 29)", ["test_dates"]),
        (
            "self.x == other.x",
            "not isinstance(other, str) or other.x",
            ["test_equality_that_raises_on_texts"],
        ),
        ("self.calls.remove(call)", "pass", ["test_functions_are_found_again"]),
        ("return Base", "return Child", ["test_bases"]),
    ],
)
def test_wrong_dates_functions_and_bases_fail(
    python: PythonToolchain, old: str, new: str, failing: list[str]
) -> None:
    assert old in MORE_RIGHT
    verdict = judge(python, MORE, MORE_RIGHT.replace(old, new))
    assert [t.id.rpartition("::")[2] for t in verdict.tests if t.outcome != Outcome.PASSED] == failing, (
        verdict
    )


@pytest.mark.parametrize(
    ("old", "new", "failing"),
    [
        ("return FACTOR * x", "return x ** 2 + 1", ["test_double[3-6]", "test_patching"]),
        ("values.sort()", "return sorted(values)", ["test_arguments_changed_in_place"]),
        ("raise Empty(0)", "return None", ["test_exceptions"]),
        ('"nothing in it"', '"something"', ["test_exceptions"]),
        ("self.items == other.items if", "True if", ["test_operators"]),
        ("def __exit__(self, *error): self.clear()", "def __exit__(self, *error): pass", ["test_context"]),
        ('print("applying")', "pass", ["test_functions_and_output"]),
    ],
)
def test_what_is_wrong_fails_alone(python: PythonToolchain, old: str, new: str, failing: list[str]) -> None:
    assert old in RIGHT
    verdict = judge(python, STACK, RIGHT.replace(old, new))
    assert verdict.outcome is Outcome.FAILED
    assert [t.id for t in verdict.tests if t.outcome is not Outcome.PASSED] == [
        f"test_it.py::{f}" for f in failing
    ]


SECRET = 73313
NUMBERS = suite(
    f"""
import pytest, unittest
from solution import *
from solution import f

expected = {SECRET}

def close(a, b):
    return abs(a - b) < 1e-9

def test_equal():
    assert f(1) == expected
def test_reversed():
    assert expected == f(1)
def test_approx():
    assert f(1) == pytest.approx(expected)
def test_approx_reversed():
    assert pytest.approx(expected) == f(1)
def test_close():
    assert close(f(1), expected)
def test_order():
    assert expected - 1 < f(1) < expected + 1
def test_among():
    assert f(1) in [expected, expected + 1]
def test_contains():
    assert f(2)[0] == expected and expected in f(2)
class TestCase(unittest.TestCase):
    def test_unit(self):
        self.assertEqual(f(1), expected)
        self.assertAlmostEqual(f(1), expected)
    def test_raises(self):
        with self.assertRaises(ValueError):
            f(-1)
""",
    *[
        "test_equal",
        "test_reversed",
        "test_approx",
        "test_approx_reversed",
        "test_close",
        "test_order",
        "test_among",
    ],
    *["test_contains", "TestCase::test_unit", "TestCase::test_raises"],
)
HONEST = f"def f(x):\n    if x < 0: raise ValueError\n    return {SECRET} if x == 1 else [{SECRET}]"
LIAR = """
class Liar:
    def __init__(self, *a): self.a = a
    def yes(self, *a): return True
    def me(self, *a): return self
    def zero(self, *a): return 0
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __bool__ = yes
    __hash__ = zero
    __ne__ = lambda self, other: False
    __sub__ = __rsub__ = __add__ = __radd__ = OPERATOR
    __abs__ = __float__ = __int__ = __round__ = __index__ = __len__ = zero
    __getitem__ = me
"""


def writes(*bodies: bytes, call: bool = False, descriptors: range = range(3, 4)) -> str:
    """An answer that writes frames to its channel, at once or in its first call."""
    data = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    act = f"for fd in {descriptors!r}:\n    try: os.write(fd, {data!r})\n    except OSError: pass\n"
    body = "".join(f"    {line}\n" for line in act.splitlines())
    return "import os\n" + (f"def f(x):\n{body}    return 0" if call else act)


ATTACKS = {
    "always equal": LIAR.replace("OPERATOR", "zero")
    + "def f(x):\n    if x < 0: raise ValueError\n    return Liar()",
    "always equal, through itself": LIAR.replace("OPERATOR", "me")
    + "f = Liar\nf.__call__ = lambda *a: Liar()",
    "a class as function": LIAR.replace("OPERATOR", "zero").replace("class Liar", "class f"),
    "equal number": "class N(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\ndef f(x): return N(0)",
    "star import over builtins": "abs = lambda x: 0\nlen = lambda x: 1\nexpected = 0\nclose = lambda a, b: True\ndef f(x): return 0",
    "star import over pytest": "class pytest:\n    approx = staticmethod(lambda x: 0)\nunittest = pytest\ndef f(x): return 0",
    "star import of tests": "def test_equal(): pass\ndef test_reversed(): pass\ndef test_approx(): pass\npytestmark = []\ndef pytest_runtest_call(item): pass\ndef f(x): return 0",
    "setup hooks": "def setup_module(m): m.expected = 0\ndef setup_function(f): pass\ndef teardown_module(m): pass\ndef f(x): return 0",
    "sys.exit": "import sys\ndef f(x): sys.exit(0)",
    "keyboard interrupt": "def f(x): raise KeyboardInterrupt",
    "skip, through pytest": "class Skipped(BaseException): pass\nSkipped.__module__ = 'builtins'\ndef f(x): raise Skipped('x')",
    "exception group": "def f(x): raise BaseExceptionGroup('x', [SystemExit(0)])",
    "forged reports": writes(
        *(
            message({"test": f"test_it.py::{n}", "ok": True, "x": "", "s": 0})
            for n in ("test_equal", "test_reversed", "test_approx")
        ),
        message({"done": None}),
        descriptors=range(3, 20),
    )
    + "\ndef f(x): return 0",
    "forged output": "print('10 passed in 0.01s')\ndef f(x):\n    print('test_it.py::test_equal PASSED')\n    return 0",
    "loop at import": "while True: pass",
    "loop in a call": "def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "sleeper": "import time\ndef f(x): time.sleep(99)",
    "memory": "def f(x): return [0] * 10**9",
    "giant": "def f(x): return 'x' * 50_000_000",
    "nested": "def f(x):\n    a = []\n    for _ in range(99999): a = [a]\n    return a",
    "calls of no function": writes(message({"cb": 0, "a": [], "k": encode({})}), call=True),
    "handle of nothing": writes(message({"i": 1, "v": tagged("ref", 99)}), call=True),
    "handle with a lie": writes(
        *(
            message({"i": i, "v": tagged("ref", i, about)})
            for i in range(20)
            for about in (None, {"m": {}}, {"m": [], "k": [1]})
        ),
        call=True,
    ),
    "forged exception class": writes(
        *(
            message(
                {"i": i, "x": [[5, "E", ["KeyboardInterrupt", "exit", "int"]], "x", encode([]), encode({})]}
            )
            for i in range(40)
        ),
        call=True,
    ),
    "forged exception parts": writes(
        *(message({"i": i, "x": [None, 1, {}, {1}]}) for i in range(40)), call=True
    ),
    "module full of lies": "def __getattr__(name): return lambda *a, **k: True\ndef f(x): return 0",
}


def test_honest_answer_of_the_attacks(python: PythonToolchain) -> None:
    verdict = judge(python, NUMBERS, HONEST)
    assert verdict.passed, verdict


@pytest.mark.parametrize("name", some(sorted(ATTACKS), 20))
def test_no_attack_passes(python: PythonToolchain, hasty: PythonToolchain, name: str) -> None:
    began = time.monotonic()
    verdict = judge(hasty if name == "sleeper" else python, NUMBERS, ATTACKS[name])
    assert time.monotonic() - began < 120
    assert verdict.outcome not in (Outcome.PASSED, Outcome.ERROR), verdict
    passed = {t.id.rpartition("::")[2] for t in verdict.tests if t.outcome is Outcome.PASSED}
    assert passed <= {"test_raises"}, passed
    assert len(verdict.tests) == len(NUMBERS.tests)
    assert judge(python, NUMBERS, HONEST).passed


@pytest.fixture(scope="module")
def canaries() -> Iterator[Canaries]:
    with Canaries() as opened:
        yield opened


@pytest.mark.parametrize(
    "attack",
    [
        attack
        for attack in load_suite()
        if attack.task in ("pytest", "unittest") and attack.family in ("forge", "read")
    ],
    ids=lambda attack: attack.id,
)
def test_no_attack_of_the_suite_passes(python: PythonToolchain, canaries: Canaries, attack: Attack) -> None:
    made = trial(attack, build(canaries.secret), canaries.facts)
    assert made.hostile is not None and made.honest is not None
    hostile, honest = python.judge([(made.task, made.hostile), (made.task, made.honest)])
    assert hostile.outcome not in (Outcome.PASSED, Outcome.ERROR), hostile
    assert not any(test.outcome is Outcome.PASSED for test in hostile.tests), hostile
    assert not canaries.leaked(hostile.model_dump_json()) and not canaries.touched()
    assert honest.passed, honest


def test_every_expected_test_must_be_reported(python: PythonToolchain) -> None:
    check = suite("def test_a(): pass", "test_a", "test_b")
    verdict = judge(python, check, "x = 1")
    assert [t.outcome for t in verdict.tests] == [Outcome.PASSED, Outcome.FAILED]
    skipped = suite(
        "import pytest\ndef test_a(): pytest.skip('x')\n@pytest.mark.xfail\ndef test_b(): assert 0\n@pytest.mark.xfail\ndef test_c(): pass"
    )
    assert {t.outcome for t in judge(python, skipped, "x = 1").tests} == {Outcome.FAILED}


def test_conftest_of_the_task_works(python: PythonToolchain) -> None:
    conftest = "import pytest\nfrom pkg.solution import f\n@pytest.fixture\ndef two(): return f(1)"
    check = suite(
        "from pkg import solution\nfrom pkg.solution import f\ndef test_a(two): assert two == 2 and solution.f is f",
        path="pkg/solution.py",
        conftest=conftest,
    )
    assert judge(python, check, "def f(x): return 2 * x").passed
    assert judge(python, check, "def f(x): return x").outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("check", "cause"),
    [
        (suite("def test_a(:", "test_a"), "SyntaxError"),
        (suite("def test_a(): pass", "test_a", path="json.py"), "json.py"),
        (suite("def test_a(): pass", "test_a", path="x.txt"), "x.txt"),
        (PytestCheck(files={"test_it.py": ""}, tests=[]), "no tests"),
        (PytestCheck(files={}, tests=["test_it.py::test_a"]), "test_it.py"),
        (PytestCheck(files={"../x.py": "", "test_it.py": ""}, tests=["test_it.py::test_a"]), "leaves"),
    ],
)
def test_fault_of_the_task_is_ours(python: PythonToolchain, check: PytestCheck, cause: str) -> None:
    with pytest.raises(VerificationError) as caught:
        judge(python, check, "x = 1")
    assert cause in str(caught.value)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("solution.py", ["solution"]),
        ("src/pkg/mod.py", ["src.pkg.mod", "pkg.mod", "mod"]),
        ("pkg/__init__.py", ["pkg"]),
        ("pkg/json.py", ["pkg.json"]),
    ],
)
def test_names_of_the_answers_module(path: str, names: list[str]) -> None:
    assert module_names(path) == names


@pytest.mark.soak(15)
def test_runs_in_every_jail() -> None:
    from strop_verify.sandbox import jail_names

    reads = "import os\ndef f(x):\n    for top in ('.', '/box', '/dev/shm', '/tmp'):\n        for d, _, names in os.walk(top):\n            for n in names:\n                if n == 'test_it.py': return int(open(os.path.join(d, n)).read().split('expected = ')[1].split()[0])"
    for jail in jail_names():
        toolchain = PythonToolchain(Settings(limits=Limits(), jail=jail))
        try:
            assert judge(toolchain, STACK, RIGHT).passed, jail
            assert judge(toolchain, NUMBERS, reads).outcome is Outcome.FAILED, jail
        finally:
            toolchain.close()


SIZED = suite(
    """
from pytest import *
from solution import *
def test_length():
    found = give(3)
    assert len(found) == 3 and [item for item in found] == [0, 1, 2]
def test_zip():
    for item, wanted in zip(give(2), [0, 1]): assert item == wanted
def test_index():
    found = give(2)
    assert len(found) == 2
    for n in range(len(found)): assert found[n] == n
def test_approx():
    with raises(ValueError): give(-1)
"""
)
RAISES = "    if n < 0: raise ValueError\n"


@pytest.mark.parametrize(
    "answer",
    [
        "from collections import deque\ndef give(n):\n" + RAISES + "    return deque(range(n))",
        "def give(n):\n" + RAISES + "    return range(n)",
        "class Own(list): pass\ndef give(n):\n" + RAISES + "    return Own(range(n))",
    ],
)
def test_containers_of_the_answer_are_walked(python: PythonToolchain, answer: str) -> None:
    verdict = judge(python, SIZED, answer)
    assert verdict.passed, verdict.detail


@pytest.mark.parametrize(
    "body, cause",
    [
        ("def __iter__(self): return iter(())", "as many items"),
        ("def __iter__(self): return self\n    def __next__(self): raise StopIteration", "as many items"),
        ("def __getitem__(self, n): raise IndexError", "as many items"),
        ("def __getitem__(self, n): return [n][n > 9:][0]", "length changes"),
    ],
)
def test_a_length_is_what_it_says(python: PythonToolchain, body: str, cause: str) -> None:
    size = "self.n" if cause == "as many items" else "(self.n, setattr(self, 'n', 0))[0]"
    lying = f"class Own:\n    def __init__(self, n): self.n = n\n    def __len__(self): return {size}\n    {body}\n"
    verdict = judge(python, SIZED, lying + "def give(n):\n" + RAISES + "    return Own(n)")
    assert verdict.outcome is Outcome.FAILED and any(cause in t.message for t in verdict.tests), verdict.tests


def test_star_imports_of_pytest_are_not_shadowed(python: PythonToolchain) -> None:
    lying = "class Any:\n    def __init__(self, *a): pass\n    def __enter__(self): pass\n    def __exit__(self, *a): pass\n"
    verdict = judge(python, SIZED, lying + "raises = approx = Any\ndef give(n): return range(abs(n))")
    assert [t.outcome is Outcome.PASSED for t in verdict.tests] == [True, True, True, False]
