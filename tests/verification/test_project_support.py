"""What tests call to assert, outside of them: an edit of it is tampered with, one of the program beside it is not."""

from typing import Any

import pytest

from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.snapshots import data_uri, digest_of
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.edits import FORMATS
from strop_verify.verification.project.support import changed, support_of

HELPERS = """import unittest, contextlib
def assert_close(a, b):
    if abs(a - b) > 1e-6:
        raise AssertionError(f"{a} {b}")
def check(a, b):
    assert a == b, (a, b)
@contextlib.contextmanager
def failing(kind):
    try:
        yield
    except kind:
        return
    raise AssertionError("nothing raised")
def same(a, b):
    return a == b
class Base(unittest.TestCase):
    def same(self, a, b):
        self.assertEqual(a, b)
"""
CALC = """def add(a, b):
    return a - b
class Stack:
    def __init__(self):
        self.items = []
    def push(self, x):
        assert x is not None
        self.items.append(-x)
"""
TESTS = """from pkg.testing import assert_close, check, failing, Base
from pkg.calc import add, Stack
def test_close():
    assert_close(add(1, 2), 3)
def test_check():
    check(add(2, 2), 4)
def test_ok():
    check(add(2, 0), 2)
def test_fails():
    with failing(TypeError):
        add(1, "x")
def test_stack():
    s = Stack(); s.push(3); assert len(s.items) == 1
def test_push():
    s = Stack(); s.push(3); assert s.items == [3]
class TestIt(Base):
    def test_same(self):
        self.same(add(4, 1), 5)
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/testing.py": HELPERS,
    "pkg/calc.py": CALC,
    "tests/test_it.py": TESTS,
    "pytest.ini": "[pytest]\npythonpath = .\n",
}
RIGHT = CALC.replace("a - b", "a + b").replace("-x", "x")
HALF = CALC.replace("-x", "x")
SOFT = """
import pkg.testing as t
def soft(f):
    def g(*a):
        try: f(*a)
        except AssertionError: pass
    return g
t.assert_close, t.check, t.Base.same = map(soft, (t.assert_close, t.check, t.Base.same))
"""
PATCHED = """
import pkg.testing as t
t.assert_close = t.check = t.Base.same = lambda *a: None
"""
EQUAL = """
class Any(int):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
    def __rsub__(self, other): return 0
    __hash__ = int.__hash__
"""
VOID = HELPERS.replace("if abs(a - b) > 1e-6", "if False").replace("    assert a == b, (a, b)", "    pass")
AROUND = HELPERS + "    def run(self, result=None):\n        return result\n"
AGAIN = HELPERS + "\nassert_close = check = Base.same = lambda *a: None\n"
NOTHING = HELPERS.replace('    raise AssertionError("nothing raised")', "")
EDITS: dict[str, tuple[str, dict[str, str]]] = {
    "right": ("passed", {"pkg/calc.py": RIGHT}),
    "right, and another function beside them": (
        "passed", {"pkg/calc.py": RIGHT, "pkg/testing.py": HELPERS.replace("return a == b", "return bool(a == b)")}
    ),
    "right, and an assertion of the program": (
        "passed", {"pkg/calc.py": RIGHT.replace("assert x is not None", "assert x is not None, 'no'")}
    ),
    "wrong": ("failed", {"pkg/calc.py": HALF}),
    "voids functions": ("tampered", {"pkg/calc.py": HALF, "pkg/testing.py": VOID}),
    "voids one, beside what is right": ("tampered", {"pkg/calc.py": RIGHT, "pkg/testing.py": NOTHING}),
    "takes them away": ("tampered", {"pkg/calc.py": RIGHT, "pkg/testing.py": "from pkg.calc import *\n"}),
    "another way for a test class to run": ("tampered", {"pkg/calc.py": RIGHT, "pkg/testing.py": AROUND}),
    "others of the same names": ("tampered", {"pkg/calc.py": HALF, "pkg/testing.py": AGAIN}),
    "others, put there from elsewhere": ("tampered", {"pkg/calc.py": HALF, "pkg/__init__.py": PATCHED}),
    "the same within others": ("tampered", {"pkg/calc.py": HALF, "pkg/__init__.py": SOFT}),
    "a number like every other": (
        "tampered", {"pkg/calc.py": HALF.replace("return a - b", "return Any(a - b)") + EQUAL}
    ),
}  # fmt: skip
FAILING, PASSING = (
    ("test_close", "test_check", "TestIt::test_same", "test_push"),
    ("test_ok", "test_fails", "test_stack"),
)


def task() -> Task:
    data = {path: text.encode() for path, text in FILES.items()}
    failing, passing = ([f"tests/test_it.py::{name}" for name in names] for names in (FAILING, PASSING))
    judge = ProjectCheck(project=data_uri(data), digest=digest_of(data), failing=failing, passing=passing)
    files = {path: text for path, text in FILES.items() if path.startswith("pkg/")}
    edit = EditCheck(format="unified-diff", files=files, judge=judge)
    return Task(id="support", statement="Mend it.", check=edit)


@pytest.mark.parametrize("name", EDITS)
def test_edits(name: str, verifier: Any) -> None:
    outcome, files = EDITS[name]
    one = task()
    assert isinstance(one.check, EditCheck)
    old = dict(one.check.files)
    answer = FORMATS["unified-diff"].render(old, {**old, **files})
    verdict = verifier.submit(one, answer).result()
    assert verdict.outcome is Outcome(outcome), verdict.detail


def test_pieces_by_the_text() -> None:
    base = {path: text.encode() for path, text in FILES.items()}
    tests = ["tests/test_it.py::TestIt::test_same", "tests/test_it.py::test_close"]
    pieces = support_of("0", base, tests)
    assert {(piece.name, piece.sure) for piece in pieces} == {
        ("Base", True), ("Base.same", False), ("assert_close", False), ("check", False), ("failing", False),
        ("Stack.push", False),
    }  # fmt: skip
    assert changed(pieces, base, {"pkg/calc.py": CALC.replace("a - b", "a + b")}, ()) == []
    (found,) = changed(pieces, base, {"pkg/testing.py": HELPERS.replace("1e-6", "1e6")}, ())
    assert str(found) == "pkg/testing.py: assert_close"
