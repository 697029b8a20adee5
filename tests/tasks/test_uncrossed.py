"""What test code visibly needs that does not cross to the answer's process."""

import pytest

from strop.cli.tasks_import import ImportTable
from strop_verify.core.checks import AssertsCheck, PytestCheck
from strop_verify.core.task import Task

CLASS = "class Node:\n    pass\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (CLASS + "assert f(Node()) == 1", "the tests' class Node is an argument"),
        (CLASS + "def check(candidate):\n    assert candidate([Node()]) == 1\ncheck(f)", "class Node is an"),
        (CLASS + "assert f(1, key=Node()) == 1", "class Node is an argument"),
        ("import asyncio\nassert asyncio.run(f(1)) == 1", "coroutines"),
        (CLASS + "assert f(1) == 1 and Node()", ""),
        ("class E(ValueError): pass\nassert f(E()) == 1", ""),
        ("assert f(lambda x: x, range(3), iter([1])) == 1", ""),
        ("assert f(", ""),
        ("assert f.__doc__ == 'd'", "the tests use __doc__"),
        ("import inspect\nassert inspect.signature(f)", "the tests use inspect"),
        ("l = [1]\nassert f(l) is l", "whether two objects are the same one"),
        ("assert f(1) is None and f(2) is not True", ""),
    ],
)
def test_asserts(code: str, found: str) -> None:
    words = AssertsCheck(entry_point="f", code=code).uncrossed()
    assert (found in words[0] and len(words) == 1) if found else words == []


@pytest.mark.parametrize(
    ("head", "body", "found"),
    [
        (CLASS, "f(Node())", "class Node is an argument"),
        ("class Mine(Base):\n    pass\n", "Mine()", "the tests' class Mine extends a class of the answer"),
        ("class Mine(Other):\n    pass\n", "Mine()", ""),
        (CLASS, "print(Node())", ""),
        ("", "a = Base()\n    a.items.append(3)", "change what an object holds"),
        ("import sys\n", "sys.path.append('x')\n    f(1)", ""),
    ],
)
def test_suites(head: str, body: str, found: str) -> None:
    text = f"from pack.solution import Base, f\n{head}def test_it():\n    {body}\n"
    words = PytestCheck(
        path="pack/solution.py", files={"t.py": text, "a.txt": "class"}, tests=["t.py::test_it"]
    )
    assert (found in words.uncrossed()[0]) if found else words.uncrossed() == []


def test_the_import_says_it() -> None:
    check = AssertsCheck(
        entry_point="f", code=CLASS + "\n".join(f"assert f(Node()) != {n}" for n in range(5))
    )
    table = ImportTable()
    table.came_in(Task(id="one", statement="s", reference="def f(n): return 9", check=check))
    assert any("class Node is an argument (first: one)" in line for line in table.lines())
