"""Made-up rows of QuixBugs's schema: JSON cases, a generator, a suite with a support module, a tolerance."""

from typing import Any

_NODE = """\
class Node:
    def __init__(self, value, successor=None):
        self.value = value
        self.successor = successor
"""
_CHOICE = """\
if pytest.use_correct:
    from correct_python_programs.{0} import {0}
else:
    from python_programs.{0} import {0}
"""
_CASES = """\
import pytest
from load_testdata import load_json_testcases
{choice}
testdata = load_json_testcases({name}.__name__)


@pytest.mark.parametrize("input_data,expected", testdata)
def test_{name}(input_data, expected):
    assert {test}
"""
_LENGTH = """\
def length(node):
    count = 0
    while node:
        count += 1
        node = node.successor{}
    return count
"""
_LENGTH_TESTS = """\
import pytest
from node import Node
{}

def test1():
    assert length(Node(1, Node(2))) == 2


def test2():
    assert not length(None)
"""


def _cases(name: str, test: str) -> str:
    return _CASES.format(choice=_CHOICE.format(name), name=name, test=test)


def rows() -> list[dict[str, Any]]:
    """One row of each form."""
    support = {"node.py": _NODE}
    return [
        {
            "id": "quixbugs/double", "name": "double", "support": support,
            "buggy": 'def double(n):\n    return n + 2\n\n"""\nTwice a number\n"""\n',
            "correct": "def double(n):\n    return n + n\n", "json_cases": [[[2], 4], [[5], 10]],
            "pytest": _cases("double", "double(*input_data) == expected"),
        },
        {
            "id": "quixbugs/upto", "name": "upto", "support": support,
            "buggy": "def upto(n):\n    yield from range(n)\n",
            "correct": "def upto(n):\n    yield from range(n + 1)\n",
            "json_cases": [[[0], [0]], [[2], [0, 1, 2]]],
            "pytest": _cases("upto", "list(upto(*input_data)) == expected"),
        },
        {
            "id": "quixbugs/half", "name": "half", "support": support,
            "buggy": "def half(x, epsilon):\n    return x\n", "correct": "def half(x, epsilon):\n    return x / 2\n",
            "json_cases": [[[1, 0.01], 0.505], [[3, 0.1], 1.45]],
            "pytest": _cases("half", "half(*input_data) == pytest.approx(expected, abs=input_data[-1])"),
        },
        {
            "id": "quixbugs/length", "name": "length", "support": support, "json_cases": None,
            "buggy": _LENGTH.format(".successor"), "correct": _LENGTH.format(""),
            "pytest": _LENGTH_TESTS.format(_CHOICE.format("length")),
        },
    ]  # fmt: skip
