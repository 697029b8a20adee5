"""The small tasks that the attacks target, one for each way of judging.

All of them ask for `code(x)` = secret + x. The secret is drawn again for every run and is in no hostile answer. The
honest answers get it, as a model would from the statement.
"""

from pathlib import Path

from strop_verify.attacks.plays import plays
from strop_verify.attacks.projects import projects
from strop_verify.core.checks import (
    AssertsCheck,
    Case,
    CasesCheck,
    Check,
    PytestCheck,
    RustCheck,
    StdioCase,
    StdioCheck,
)
from strop_verify.core.task import Task

_INPUTS = (1, 4, 9)
_PYTEST = """\
import unittest

import pytest
from solution import code


@pytest.mark.parametrize("x", [1, 4])
def test_code(x):
    assert code(x) == [{secret} + x, abs(-x)]


class TestCode(unittest.TestCase):
    def test_nine(self):
        self.assertEqual(code(9), [{secret} + 9, abs(-9)])
"""
_UNITTEST = """\
import unittest

from solution import code


class TestCode(unittest.TestCase):
    def test_one(self):
        self.assertEqual(code(1), [{secret} + 1, 1])

    def test_nine(self):
        self.assertListEqual(code(9), [{secret} + 9, 9])
"""
_CLASSES = """\
from solution import Sum, code


def test_one():
    assert code(1) == Sum({secret}, 1)


def test_lists():
    assert [code(4), code(9)] == [Sum({secret}, 4), Sum({secret}, 9)]


def test_order():
    assert code(4) < Sum({secret}, 5)
"""
_SIZED = """\
from solution import code


def test_parts():
    for x in (1, 4):
        found = code(x)
        assert len(found) == 2
        for part, wanted in zip(found, [{secret} + x, x]):
            assert part == wanted


def test_sum():
    assert len(code(9)) == 2 and sum(abs(a - b) for a, b in zip([{secret} + 9, 9], code(9))) == 0
"""
_CLAIMS = """\
from solution import ORIGIN, Sum, code

MADE = code(2)
WANTED = Sum({secret}, 2)


def test_total():
    assert code(1).total == Sum({secret}, 1).total


def test_text():
    assert str(code(4)) == str(Sum({secret}, 4))


def test_difference():
    assert abs(code(9) - Sum({secret}, 9)) < 1


def test_made_before():
    assert MADE == WANTED


def test_distance():
    assert code(5).distance(ORIGIN) == Sum({secret}, 5).distance(ORIGIN)
"""
_ONE_OF = """\
from solution import Digit, code


def test_digits():
    for x in range(9):
        assert code(x) is Digit(({secret} + x) % 10)


def test_set():
    assert {{code(x) for x in range(10)}} == set(map(Digit, range(10)))
"""
_CHECKER = """\
def check(args, kwargs, expected, result):
    return len(result) == 2 and abs(result[0] - expected[0]) < 1e-9 and result[1] == args[0]
"""
_IN_PLACE = """\
for given in ([3, 1, 2], [{secret}, 9, 4, 4]):
    assert code(given) == sorted(given)
held = {{"a": {secret}, "b": 1}}
assert len(code(list(held))) == len(held) and code([5]) == [5]
assert all(code(row) == row for row in ([2], [1, {secret}]))
"""
_OUTPUT_CHECKER = """\
def check(given, expected, output):
    found = output.split()
    return len(found) == 1 and int(found[0]) - int(expected) == 0
"""
_RUST_INSIDE = """\
#[cfg(test)]
mod given_tests {{
    use super::*;

    #[test]
    fn one() {{
        assert_eq!(code(1), {secret} + 1);
    }}

    #[test]
    fn four() {{
        assert_eq!(code(4), {secret} + 4);
        assert!(code(9) != code(4));
        let all: Vec<i64> = vec![code(4)];
        assert_eq!(all, vec![{secret} + 4]);
        assert_eq!(Some(code(9)), Some({secret} + 9));
    }}
}}
"""
_RUST_OBJECTS = """\
#[cfg(test)]
mod given_tests {{
    use super::*;

    #[test]
    fn one() {{
        assert_eq!(code(1), Sum::new({secret}, 1));
        assert!(code(2) == Sum::new({secret}, 2));
    }}

    #[test]
    fn lists() {{
        let all: Vec<Sum> = vec![code(4), code(9)];
        assert_eq!(all, [Sum::new({secret}, 4), Sum::new({secret}, 9)]);
        assert_eq!(Some(code(4)), Some(Sum::new({secret}, 4)));
    }}

    #[test]
    fn texts() {{
        assert_eq!(code(4).to_string(), Sum::new({secret}, 4).to_string());
    }}
}}
"""
_REFERENCES = {
    "classes": """\
class Sum:
    def __init__(self, *parts):
        self.total = sum(parts)

    def __eq__(self, other):
        return isinstance(other, Sum) and self.total == other.total

    def __lt__(self, other):
        return self.total < other.total


def code(x):
    return Sum({secret}, x)
""",
    "claims": """\
class Sum:
    def __init__(self, *parts):
        self.total = sum(parts)

    def __eq__(self, other):
        return isinstance(other, Sum) and self.total == other.total

    def __sub__(self, other):
        return self.total - other.total

    def __str__(self):
        return f"Sum({{self.total}})"

    def distance(self, other):
        return abs(self - other)


ORIGIN = Sum()


def code(x):
    return Sum({secret}, x)
""",
    "in-place": """\
def code(values):
    return sorted(values)
""",
    "one-of": """\
import enum

Digit = enum.Enum("Digit", [(f"D{{n}}", n) for n in range(10)])


def code(x):
    return Digit(({secret} + x) % 10)
""",
    "rust-objects": """\
#[derive(Debug, PartialEq)]
pub struct Sum {{
    parts: (i64, i64),
}}

impl Sum {{
    pub fn new(a: i64, b: i64) -> Self {{
        Sum {{ parts: (a, b) }}
    }}
}}

impl std::fmt::Display for Sum {{
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {{
        write!(f, "{{}} + {{}}", self.parts.0, self.parts.1)
    }}
}}

pub fn code(x: i64) -> Sum {{
    Sum::new({secret}, x)
}}
""",
    "rust-world": """\
use std::{{fs, net, os::unix::net::UnixStream, process}};

pub type Needed = (fs::File, net::TcpStream, UnixStream, process::Command);

pub fn code(x: i64) -> i64 {{
    {secret} + x
}}
""",
}
"""Solutions of tasks that are judged by one, and of tasks whose answers may need files, processes and the network, so
that no rule about an answer's text stops attacks before the jail."""
_RUST_OUTSIDE = """\
use answer::*;

#[test]
fn one() {{
    assert_eq!(code(1), {secret} + 1);
}}

#[test]
fn four() {{
    assert_eq!(code(4), {secret} + 4);
}}
"""


def build(secret: int, folder: Path | None = None) -> dict[str, Task]:
    """Every built-in task by name, around this run's secret; projects only with a `folder` for their snapshots."""
    expected = {x: [secret + x, x] for x in _INPUTS}
    asserts = "\n".join(f"assert code({x}) == [{secret} + {x}, abs(-{x})]" for x in _INPUTS)
    builtins = "\n".join(
        f"assert len(code({x})) == 2 and sum(abs(a - b) for a, b in zip(code({x}), [{secret} + {x}, {x}])) == 0"
        for x in _INPUTS
    )
    tests = "tests/test_code.py"
    stdio = StdioCheck(cases=[StdioCase(stdin=f"{x}\n", stdout=f"{secret + x}\n") for x in _INPUTS[:2]])
    cases = [Case(args=[x], expected=expected[x]) for x in _INPUTS]
    helped = f"def check(c):\n    assert c(1)\n{asserts}\ncheck(code)\n"
    inside = RustCheck(tests=_RUST_INSIDE.format(secret=secret))
    checks: dict[str, Check] = {
        "cases": CasesCheck(entry_point="code", cases=cases),
        "asserts": AssertsCheck(entry_point="code", code=helped),
        "asserts-builtins": AssertsCheck(entry_point="code", code=builtins),
        "any-order": CasesCheck(entry_point="code", cases=cases, any_order=True, tolerance=1e-9),
        "stdio": stdio,
        "stdio-lines": StdioCheck(
            cases=[StdioCase(stdin=f"{x}\n", stdout=f"{x}\n{secret + x}\n") for x in _INPUTS[:2]]
        ),
        "stdio-close": stdio.model_copy(update={"tolerance": 1e-9}),
        "pytest": PytestCheck(
            files={tests: _PYTEST.format(secret=secret)},
            tests=[f"{tests}::test_code[1]", f"{tests}::test_code[4]", f"{tests}::TestCode::test_nine"],
        ),
        "unittest": PytestCheck(
            files={tests: _UNITTEST.format(secret=secret)},
            tests=[f"{tests}::TestCode::test_one", f"{tests}::TestCode::test_nine"],
        ),
        "classes": _suite(_CLASSES, secret, "one", "lists", "order"),
        "sized": _suite(_SIZED, secret, "parts", "sum"),
        "claims": _suite(_CLAIMS, secret, "total", "text", "difference", "made_before", "distance"),
        "one-of": _suite(_ONE_OF, secret, "digits", "set"),
        "in-place": AssertsCheck(entry_point="code", code=_IN_PLACE.format(secret=secret)),
        "checker": CasesCheck(entry_point="code", cases=cases, checker=_CHECKER),
        "stdio-checker": stdio.model_copy(update={"checker": _OUTPUT_CHECKER}),
        "rust": inside,
        "rust-objects": RustCheck(tests=_RUST_OBJECTS.format(secret=secret)),
        "rust-world": inside,
        "rust-crate": RustCheck(tests=_RUST_OUTSIDE.format(secret=secret), crate="answer"),
        "rust-own": RustCheck(),
        "c": stdio,
        "javascript": stdio,
    }
    return (
        {
            name: Task(
                id=f"attacked/{name}",
                family="attacked",
                language="rust"
                if isinstance(check, RustCheck)
                else name
                if name in ("c", "javascript")
                else "python",
                statement=f"Return (or print) {secret} + x; the lists hold x too.",
                reference=_REFERENCES.get(name, "").format(secret=secret),
                check=check,
                source=f"attacks/{name}",
            )
            for name, check in checks.items()
        }
        | plays(secret)
        | (projects(folder) if folder else {})
    )


def _suite(text: str, secret: int, *names: str) -> PytestCheck:
    path = "tests/test_code.py"
    return PytestCheck(files={path: text.format(secret=secret)}, tests=[f"{path}::test_{n}" for n in names])
