"""Tiny projects whose tests assert by helpers outside of them, drawn: what fails, in which shape, named how."""

import textwrap
from dataclasses import dataclass, field

from hypothesis import strategies as st

FAILS = {
    "assert": "assert a == b, (a, b)",
    "raise": "if a != b:\n    raise AssertionError(f'{a} {b}')",
    "own kind": "if not a == b:\n    raise Mismatch(a)",
    "pytest.fail": "if a != b:\n    pytest.fail(f'{a} is not {b}')",
    "unittest": "unittest.TestCase().assertEqual(a, b)",
    "failureException": "if a != b:\n    raise unittest.TestCase.failureException(a)",
}
OF_A_CASE = FAILS | {
    "self.assertEqual": "self.assertEqual(a, b)",
    "self.fail": "if a != b:\n    self.fail(a)",
}
FUNCTIONS = {
    "function": "def N(a, b):\n    BODY",
    "keywords": "def N(a, *, b):\n    BODY",
    "function of a function": "def _N(a, b):\n    BODY\ndef N(a, b):\n    _N(a, b)",
    "function in its stead": "def _N(a, b):\n    BODY\ndef N(a, b):\n    return _N(a, b)",
    "two functions deep": "def _N(a, b):\n    BODY\ndef __N(a, b):\n    _N(a, b)\ndef N(a, b):\n    __N(a, b)",
    "alias": "def _N(a, b):\n    BODY\nN = _N",
    "partial": "def _N(a, b):\n    BODY\nN = functools.partial(_N)",
    "decorated": "@unchanged\ndef N(a, b):\n    BODY",
    "method of an object": "class _N:\n    def equal(self, a, b):\n        BODY\nN = _N().equal",
    "static method": "class _N:\n    @staticmethod\n    def equal(a, b):\n        BODY\nN = _N.equal",
    "object that is called": "class _N:\n    def __call__(self, a, b):\n        BODY\nN = _N()",
    "class that is called": "class N:\n    def __init__(self, a, b):\n        BODY",
    "in a branch": "if True:\n    def N(a, b):\n        BODY\nelse:\n    N = None",
}
CALLS = {
    "statement": "NAME(E, V)",
    "loop": "for one in [(E, V)]:\n    NAME(*one)",
    "comprehension": "[NAME(*one) for one in [(E, V)]]",
    "map": "list(map(NAME, [E], [V]))",
    "value": "assert NAME(E, V) is not False",
    "local name": "same = NAME\nsame(E, V)",
}
MANAGERS = {
    "generator": "@contextlib.contextmanager\ndef N(b):\n    box = []\n    yield box\n    a = box[0]\n    BODY",
    "class": "class N:\n    def __init__(self, b):\n        self.b, self.box = b, []\n    def __enter__(self):\n"
    "        return self.box\n    def __exit__(self, *error):\n        a, b = self.box[0], self.b\n        BODY",
}
FACTORY = "    def same(a, b):\n        BODY\n    return same"
FIXTURES = {
    "factory": (f"@pytest.fixture\ndef N():\n{FACTORY}", "def test_N(N):\n    N(E, V)"),
    "factory of another": (
        f"@pytest.fixture\ndef _N():\n{FACTORY}\n@pytest.fixture\ndef N(_N):\n    return _N",
        "def test_N(N):\n    N(E, V)",
    ),
    "of a function": (
        "def _N(a, b):\n    BODY\n@pytest.fixture\ndef N():\n    return _N",
        "def test_N(N):\n    N(E, V)",
    ),
    "of a base": (
        "def _N(a, b):\n    BODY\nclass N:\n    def same(self, a, b):\n        _N(a, b)",
        "class TestN(pkg.testing.N):\n    def test_it(self):\n        self.same(E, V)",
    ),
    "named": (f"@pytest.fixture(name='N')\ndef made_N():\n{FACTORY}", "def test_N(N):\n    N(E, V)"),
    "after the test": (
        "@pytest.fixture\ndef N():\n    box = []\n    yield box\n    a, b = box\n    BODY",
        "def test_N(N):\n    N.extend([E, V])",
    ),
    "usefixtures": (
        "SEEN_N = []\n@pytest.fixture\ndef N():\n    yield\n    a, b = SEEN_N.pop()\n    BODY",
        "@pytest.mark.usefixtures('N')\ndef test_N():\n    pkg.testing.SEEN_N.append((E, V))",
    ),
    "autouse": (
        "SEEN_N = []\n@pytest.fixture(autouse=True)\ndef N():\n    yield\n"
        "    a, b = SEEN_N.pop() if SEEN_N else (0, 0)\n    BODY",
        "def test_N():\n    pkg.testing.SEEN_N.append((E, V))",
    ),
}  # fmt: skip
METHOD = "    def same(self, a, b):\n        BODY"
SAME = "    def test_it(self):\n        self.same(E, V)"
CASES = {
    "base": (f"class N(unittest.TestCase):\n{METHOD}", f"class TestN(pkg.testing.N):\n{SAME}"),
    "mixin": (f"class N:\n{METHOD}", f"class TestN(pkg.testing.N, unittest.TestCase):\n{SAME}"),
    "base of a base": (
        f"class _N(unittest.TestCase):\n{METHOD}\nclass N(_N):\n    pass",
        f"from pkg.testing import N\nclass TestN(N):\n{SAME}",
    ),
    "another name": (
        f"class N(unittest.TestCase):\n{METHOD}", f"from pkg.testing import N as Case\nclass TestN(Case):\n{SAME}"
    ),
    "base by another name": (
        f"class _N(unittest.TestCase):\n{METHOD}\nN = _N", f"class TestN(pkg.testing.N):\n{SAME}"
    ),
    "test of the base": (
        "class N(unittest.TestCase):\n    pair = (0, 0)\n    def test_it(self):\n"
        "        a, b = self.pair\n        BODY",
        "class TestN(pkg.testing.N):\n    @property\n    def pair(self):\n        return E, V",
    ),
    "tearDown": (
        "class N(unittest.TestCase):\n    def tearDown(self):\n        a, b = self.pair\n        BODY",
        "class TestN(pkg.testing.N):\n    def test_it(self):\n        self.pair = E, V",
    ),
    "helper of a helper": (
        f"class N(unittest.TestCase):\n{METHOD}\n    def all(self, *pairs):\n        for a, b in pairs:\n"
        "            self.same(a, b)",
        "class TestN(pkg.testing.N):\n    def test_it(self):\n        self.all((E, V))",
    ),
}  # fmt: skip
NAMING = {
    "from": ("from pkg.testing import N", "N"),
    "as": ("from pkg.testing import N as other_N", "other_N"),
    "module": ("import pkg.testing", "pkg.testing.N"),
    "module as": ("import pkg.testing as t", "t.N"),
    "of the package": ("from pkg import N", "N"),
}
HEAD = """import contextlib, functools, unittest
import pytest
class Mismatch(AssertionError):
    pass
def unchanged(function):
    @functools.wraps(function)
    def same(*given, **named):
        return function(*given, **named)
    return same
def describe(value):
    return f"<{value}>"
"""
CALC = """class Ledger:
    def __init__(self):
        self.items = []
    def put(self, item):
        assert item is not None
        self.items.append(item)
def _whole(value):
    assert isinstance(value, int)
def add(a, b):
    _whole(a)
    return a - b
def half(a):
    if a % 2:
        raise ValueError(a)
    return a // 2
"""
TESTS = """import unittest
import pytest
import pkg.testing
from pkg.calc import Ledger, add, half
def test_ledger():
    ledger = Ledger()
    ledger.put(3)
    assert ledger.items == [3]
def test_half():
    half(4)
    with pytest.raises(ValueError):
        half(3)
"""
RIGHT = CALC.replace("a - b", "a + b")
RIGHT_TOO = (
    RIGHT.replace("is not None", "is not None, 'nothing'").replace("(value, int)", "(value, (int, float))")
    + "\nadd.__doc__ = 'The sum.'\n"
)
WRONG = CALC.replace("a - b", "a * b - 100")


@dataclass(frozen=True)
class DrawnHelper:
    """A helper with its test: what the project holds, and the same with nothing in it."""

    what: tuple[str, ...]
    source: str
    test: str
    fails: str
    zero: bool
    """Whether its test passes before the edit: the function under test is right there."""
    name: str = field(default="")

    def text(self, empty: bool) -> str:
        lines = []
        for line in self.source.replace("N", self.name).splitlines():
            body = line.strip() == "BODY"
            depth = line[: len(line) - len(line.lstrip())]
            lines.append(textwrap.indent("pass" if empty else self.fails, depth) if body else line)
        return "\n".join(lines) + "\n"

    @property
    def tests(self) -> str:
        expression, value = ("add(4, 0)", "4") if self.zero else ("add(2, 3)", "5")
        given = self.test.replace("N", self.name)
        return (
            given.replace("E,", f"{expression},").replace("E]", f"{expression}]").replace("V", value) + "\n"
        )

    @property
    def test_id(self) -> str:
        name = f"Test{self.name}::test_it" if "\nclass Test" in f"\n{self.test}" else f"test_{self.name}"
        return f"tests/test_it.py::{name}"


def _of_a_function(shape: str, fails: str, naming: str, call: str, zero: bool) -> DrawnHelper:
    imported, name = NAMING[naming]
    body = CALLS[call].replace("NAME", name)
    if shape == "keywords":
        body = f"{name}(E, b=V)"
    test = f"{imported}\ndef test_N():\n{textwrap.indent(body, '    ')}"
    return DrawnHelper((shape, fails, naming, call), FUNCTIONS[shape], test, FAILS[fails], zero)


def _of_a_manager(shape: str, fails: str, naming: str, zero: bool) -> DrawnHelper:
    imported, name = NAMING[naming]
    test = f"{imported}\ndef test_N():\n    with {name}(V) as box:\n        box.extend([E, 0])"
    return DrawnHelper((shape, fails, naming), MANAGERS[shape], test, FAILS[fails], zero)


def _of_a_fixture(shape: str, fails: str, zero: bool) -> DrawnHelper:
    return DrawnHelper((shape, fails), *FIXTURES[shape], FAILS[fails], zero)


def _of_a_case(shape: str, fails: str, zero: bool) -> DrawnHelper:
    return DrawnHelper((shape, fails), *CASES[shape], OF_A_CASE[fails], zero)


_fails, _zero, _naming = st.sampled_from([*FAILS]), st.booleans(), st.sampled_from([*NAMING])
HELPERS = st.one_of(
    st.builds(
        _of_a_function, st.sampled_from([*FUNCTIONS]), _fails, _naming, st.sampled_from([*CALLS]), _zero
    ),
    st.builds(_of_a_manager, st.sampled_from([*MANAGERS]), _fails, _naming, _zero),
    st.builds(_of_a_fixture, st.sampled_from([*FIXTURES]), _fails, _zero),
    st.builds(_of_a_case, st.sampled_from([*CASES]), st.sampled_from([*OF_A_CASE]), _zero),
)


@dataclass(frozen=True)
class DrawnProject:
    """Some helpers in one module, and the program that their tests look at."""

    helpers: tuple[DrawnHelper, ...]

    def files(self, calc: str = CALC, emptied: DrawnHelper | None = None) -> dict[str, str]:
        names = [one.name for one in self.helpers if "from pkg import" in one.test]
        return {
            "pkg/__init__.py": "".join(f"from pkg.testing import {name}\n" for name in names),
            "pkg/testing.py": HEAD + "".join(one.text(one is emptied) for one in self.helpers),
            "pkg/calc.py": calc,
            "conftest.py": 'pytest_plugins = ["pkg.testing"]\n',
            "tests/test_it.py": TESTS + "".join(one.tests for one in self.helpers),
            "pytest.ini": "[pytest]\npythonpath = .\n",
        }

    @property
    def failing(self) -> list[str]:
        return [one.test_id for one in self.helpers if not one.zero]

    @property
    def passing(self) -> list[str]:
        own = ["tests/test_it.py::test_ledger", "tests/test_it.py::test_half"]
        return own + [one.test_id for one in self.helpers if one.zero]


@st.composite
def projects(draw: st.DrawFn) -> DrawnProject:
    """Two or three helpers, of which one's test at least fails before the edit."""
    some = draw(st.lists(HELPERS, min_size=1, max_size=2))
    some.append(draw(HELPERS.filter(lambda one: not one.zero)))
    return DrawnProject(
        tuple(DrawnHelper(**{**vars(one), "name": f"Same{at}"}) for at, one in enumerate(some))
    )
