"""Answers that give objects of classes of their own, or of others that do not cross: verdicts are plain Python's."""

import random

from tests import scale

from strop_verify.core.checks import AssertsCheck, PytestCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.verifier import OpenVerifier

LISTS = {
    "UserList": "from collections import UserList as L",
    "a list": "class L(list): pass",
    "an array": "from array import array\ndef L(items): return array('i', items)",
    "bytes": "L = bytes",
    "ints of its own": "class I(int): pass\ndef L(items): return [I(i) for i in items]",
    "an enum": "import enum\nE = enum.IntEnum('E', {f'n{i}': i for i in range(9)})\n"
    "def L(items): return [E(i) for i in items]",
    "equal to lists": "class L:\n    def __init__(self, items): self.items = list(items)\n"
    "    def __eq__(self, other): return self.items == list(other)\n    def __iter__(self): return iter(self.items)\n"
    "    def __len__(self): return len(self.items)\n    def __getitem__(self, at): return self.items[at]",
    "by index": "class L:\n    def __init__(self, items): self.items = list(items)\n"
    "    def __getitem__(self, at): return self.items[at]",
    "iterable": "class L:\n    def __init__(self, items): self.items = list(items)\n"
    "    def __iter__(self): return iter(self.items)",
}
OF_LISTS = [
    "assert f(3) == [0, 1, 2]",
    "assert list(f(3)) == [0, 1, 2] and list(f(0)) == []",
    "assert sum(f(3)) == 3\nassert sorted(f(2)) == [0, 1]",
    "assert len(f(3)) == 3 and f(3)[-1] == 2 and 2 in f(3)",
    "assert isinstance(f(3), list)",
    "assert [*map(str, f(3))] == ['0', '1', '2']",
    "a, *b = f(3)\nassert (a, b) == (0, [1, 2])",
    "for at, one in enumerate(f(4)):\n    assert one == at\nassert at == 3",
]
DICTS = {
    "UserDict": "from collections import UserDict as D",
    "ChainMap": "from collections import ChainMap\ndef D(**pairs): return ChainMap(pairs)",
    "read only": "from types import MappingProxyType\ndef D(**pairs): return MappingProxyType(pairs)",
    "a dict": "class D(dict):\n    def __missing__(self, key): return 1",
    "texts of its own": "class S(str): pass\ndef D(a, b): return {'a': a, 'b': S(b)}",
    "texts of an enum": "from enum import StrEnum\nclass S(StrEnum):\n    THREE = '3'\n"
    "def D(a, b): return {'a': a, 'b': S('3')}",
    "a mapping": "from collections.abc import Mapping\nclass D(Mapping):\n"
    "    def __init__(self, **pairs): self.pairs = pairs\n"
    "    def __iter__(self): return iter(self.pairs)\n    def __len__(self): return len(self.pairs)\n"
    "    def __getitem__(self, key): return self.pairs[key]",
}
OF_DICTS = [
    "assert f(3) == {'a': 3, 'b': '3'}",
    "assert set(f(3).keys()) == {'a', 'b'} and f(3)['b'] == '3'",
    "assert dict(f(3)) == {'a': 3, 'b': '3'}",
    "assert f(3).get('c') is None and 'a' in f(3) and len(f(3)) == 2",
    "assert sorted(f(3).items()) == [('a', 3), ('b', '3')]",
    "assert f(3)['a'] + 1 == 4 and f(3)['b'] * 2 == '33'",
    "assert {**f(3), 'c': 0} == {'a': 3, 'b': '3', 'c': 0}",
]
ROWS = [
    (made, f"return {call}({given})", code, reference)
    for makers, codes, call, right, wrong, reference in (
        (LISTS, OF_LISTS, "L", "range(n)", "range(1, n)", "def f(n): return list(range(n))"),
        (DICTS, OF_DICTS, "D", "a=n, b='3'", "a=n + 1, b='3'", "def f(n): return dict(a=n, b=str(n))"),
    )
    for made in makers.values()
    for code in codes
    for given in (right, wrong)
]
"""What makes the object, what the function gives, the tests, a reference."""


def passes(program: str) -> bool:
    try:
        exec(compile(program, "<program>", "exec"), {"__name__": "program"})
    except Exception:
        return False
    return True


def test_objects_of_answers(verifier: OpenVerifier) -> None:
    r = random.Random(f"{scale.seed()} own classes")
    rows = r.sample(ROWS, scale.most(len(ROWS), 24))
    jobs = []
    for number, (made, gives, code, reference) in enumerate(rows):
        suite = "from solution import f\ndef test_it():\n    " + code.replace("\n", "\n    ")
        check: PytestCheck | AssertsCheck = AssertsCheck(entry_point="f", code=code)
        if r.random() < 0.5:
            check = PytestCheck(files={"test_it.py": suite}, tests=["test_it.py::test_it"])
        given = reference if r.random() < 0.7 else ""
        task = Task(id=f"t{number}", statement="s", check=check, reference=given)
        answer = f"{made}\ndef f(n): {gives}"
        jobs.append((task, f"{answer}\n{code}", verifier.submit(task, answer)))
    wrong = []
    for task, program, future in jobs:
        verdict = future.result()
        if verdict.outcome is not (Outcome.PASSED if passes(program) else Outcome.FAILED):
            wrong.append((program, task.reference, task.check.kind, str(verdict.outcome), verdict.detail))
    assert wrong == []
