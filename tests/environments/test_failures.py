"""What is said of a failed answer, by real verdicts on every kind of check."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.environments.feedback import clipped, failures
from strop_verify.core.checks import (
    AssertsCheck,
    Case,
    CasesCheck,
    Check,
    EditCheck,
    PytestCheck,
    RustCheck,
    StdioCase,
    StdioCheck,
)  # fmt: skip
from strop_verify.core.task import Task
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier

if TYPE_CHECKING:
    from strop_verify.verification.verifier import OpenVerifier

CASES = CasesCheck(entry_point="f", cases=[Case(args=[3], expected=9), Case(args=[4], expected=16)])
ASSERTS = AssertsCheck(entry_point="f", code="assert f(3) == 9\nassert f(4) > 9 and f(5) == 25\n")
STDIO = StdioCheck(cases=[StdioCase(stdin="3\n", stdout="9\n")])
LINES = StdioCheck(cases=[StdioCase(stdin="3\n4\n", stdout="9\n16\n")])
SHELL = StdioCheck(cases=[StdioCase(stdin="3\n", stdout="9\n")])
PYTEST = PytestCheck(
    files={"test_f.py": "from solution import f\n\ndef test_three():\n    assert f(3) == 9\n"},
    tests=["test_f.py::test_three"],
)
FILES = {"a.py": "def f(x):\n    return x\n"}
EDIT = EditCheck(format="search-replace", files=FILES, judge=CASES, path="a.py")
ORACLE = EditCheck(format="search-replace", files=FILES, oracle={"a.py": "def f(x):\n    return x * x\n"})


def edit(search: str, replace: str) -> str:
    return f"a.py\n<<<<<<< SEARCH\n    {search}\n=======\n    {replace}\n>>>>>>> REPLACE\n"


SAID = [
    (CASES, "def f(x):\n    return x + 4\n", "f(3) gave 7; expected 9.\nf(4) gave 8; expected 16."),
    (CASES, "def f(x):\n    y = x\n    return y % 0\n",
     "f(3): ZeroDivisionError: integer modulo by zero, line 3; expected 9.\n"
     "f(4): ZeroDivisionError: integer modulo by zero, line 3; expected 16."),
    (CASES, "def f(x:\n", "SyntaxError: '(' was never closed, line 1."),
    (CASES, "def g(x):\n    return 9\n", "f(3): NameError: no function named f; expected 9."),
    (CASES, "", "No code found."),
    (ASSERTS, "def f(x):\n    return x + 7\n",
     "f(3) gave 10; expected 9.\n"
     "assert f(4) > 9 and f(5) == 25: assertion failed: the last call returned 12."),
    (ASSERTS, "def f(x):\n    return [][x]\n",
     "f(3): IndexError: list index out of range, line 2; expected 9.\n"
        "assert f(4) > 9 and f(5) == 25: IndexError: list index out of range, line 2."),
    (STDIO, "print(7)", "Input 3: printed 7; expected 9."),
    (STDIO, "x = 0\nx.y", "Input 3: AttributeError: 'int' object has no attribute 'y', line 2; expected 9."),
    (LINES, "print(1)\nprint(2)", "Input:\n3\n4\nPrinted:\n1\n2\nExpected:\n9\n16"),
    (PYTEST, "def f(x):\n    return 1\n",
     "test_f.py::test_three: assertion failed.\ndef test_three():\n    assert f(3) == 9"),
    (EDIT, edit("return x", "return 7"), "f(3) gave 7; expected 9.\nf(4) gave 7; expected 16."),
    (EDIT, edit("return z", "return 7"),
     "The edit does not apply: What the change at line 2 of the edit searches for is not in 'a.py'."),
    (EDIT, "hm", "There is no search/replace block."),
    (ORACLE, edit("return x", "return 7"), "oracle: 'a.py' differs from the result of the known edit."),
]  # fmt: skip


@pytest.mark.jail
@pytest.mark.parametrize(("check", "answer", "said"), SAID)
def test_it_says_what_a_person_wants_to_know(
    verifier: "OpenVerifier", check: Check, answer: str, said: str
) -> None:
    task = Task(statement="f.", check=check)
    assert failures(task, verifier.submit(task, answer).result()) == said


@pytest.mark.jail
def test_time_that_is_up_is_said() -> None:
    task = Task(statement="f.", check=CASES)
    with open_verifier(workers=1, limits=Limits(cpu_seconds=1, wall_seconds=20)) as verifier:
        verdict = verifier.submit(task, "def f(x):\n    while True:\n        pass\n").result()
    assert failures(task, verdict) == "f(3): no answer within 1 s of CPU time; expected 9."


@pytest.mark.jail
def test_nothing_is_said_of_a_pass(verifier: "OpenVerifier") -> None:
    task = Task(statement="f.", check=CASES)
    assert failures(task, verifier.submit(task, "def f(x):\n    return x * x\n").result()) == ""


@pytest.mark.rust
def test_rust_says_the_compilers_message_the_assertion_and_the_panic(verifier: "OpenVerifier") -> None:
    body = "    use super::*;\n    #[test]\n    fn three() {\n        assert_eq!(f(3), 9);\n    }\n"
    tests = f"#[cfg(test)]\nmod tests {{\n{body}}}\n"
    task = Task(statement="f.", check=RustCheck(tests=tests), language="rust")

    def said(body: str) -> str:
        answer = f"pub fn f(x: i64) -> i64 {{\n    {body}\n}}\n"
        return failures(task, verifier.submit(task, answer).result())

    assert said("x * x") == ""
    assert said("x + 4") == "tests::three failed:\nassert_eq!(f(3), 9);"
    assert "error[E0308]: mismatched types" in said("String::new() + x") or "error[E" in said(
        "String::new() + x"
    )
    assert "index out of bounds: the len is 1 but the index is 3" in said("[x][x as usize]")


@given(st.text(max_size=60), st.integers(0, 40))
def test_a_clipped_text_keeps_its_ends(text: str, most: int) -> None:
    short = clipped(text, most)
    assert len(short) <= most or short == text
    if len(text) > most >= 9:
        gap = short.partition(" ... ")[1]
        assert gap and len(short) == most and text.startswith(short[: (most - 5) // 2])
        assert text.endswith(short[-((most - 5) // 2) :])
