"""Containers of an answer's objects that a suite changes: each side finds the other's changes."""

from collections.abc import Iterator

import pytest
from tests.scale import some
from tests.verification.test_suite import judge, suite
from tests.verification.test_values import sends

from strop.core.verdict import Outcome
from strop.sandbox.limits import Limits
from strop.verification.python.codec import encode
from strop.verification.python.toolchain import PythonToolchain
from strop.verification.settings import Settings

ANSWER = """
from collections import namedtuple, OrderedDict, deque
Point = namedtuple("Point", "x y")
REGISTRY = {}
def registered(key): return REGISTRY[key]
class Grid:
    def __init__(self): self.cells = [[0] * 3 for _ in range(3)]
    def __getitem__(self, row): return self.cells[row]
    def get(self, row, column): return self.cells[row][column]
class Box:
    shared = []
    def __init__(self):
        self.d, self.items, self.rows, self.tags, self.line = OrderedDict(), [], [], set(), deque()
        self.big = list(range(100_000, 110_000))
        self.same = self.items
    def total(self): return sum(self.d.values())
    def size(self): return len(self.items)
    def sizes(self): return len(self.tags), len(self.line), len(self.shared), len(self.big)
    def add(self, item): self.items.append(item)
    def drop(self): self.items = []
    def sum_rows(self): return sum(map(sum, self.rows))
    def grow(self):
        self.first = self.rows[0]
        self.first.append(100)
    def aliased(self): return self.first is self.rows[-1] and self.same is self.items
    def turned(self, point): return Point(point.y, point.x) if isinstance(point, Point) else None
    def run(self, call):
        found = call()
        self.items.append(len(self.items))
        return found
    def made(self, items):
        assert items == []
        self.items.append(Box())
        return self.items[-1]
    def breaks(self, into):
        self.items.append(Box())
        into.append(self.items[-1])
        raise KeyError(self.items[-1])
    def made_in(self, into):
        into.append(self.made([]))
        return into[0]
    @property
    def copy(self): return list(self.items)
"""
SUITE = suite("""
import pytest
from solution import REGISTRY, Box, Grid, Point, registered
def test_dict():
    a = Box()
    a.d["x"] = 1
    assert a.total() == 1
    a.d["y"] = 2
    a.d["x"] += 3
    assert a.total() == 6
    del a.d["x"]
    assert a.total() == 2 and list(a.d) == ["y"]
def test_list():
    a = Box()
    a.items.append(3)
    a.items.extend([4, 5])
    assert a.size() == 3
    assert a.items.pop(0) == 3
    assert a.items == [4, 5] and a.size() == 2
def test_held():
    a = Box()
    items = a.items
    a.add(7)
    assert items == [7]
    items.append(8)
    assert a.size() == 2 and a.items is items
    a.drop()
    items.append(9)
    assert a.size() == 0 and items == [7, 8, 9]
def test_nested():
    a = Box()
    a.rows.append([1])
    a.rows[0].append(2)
    assert a.sum_rows() == 3
    row = a.rows[0]
    a.size()
    row.append(5)
    assert a.sum_rows() == 8
    a.grow()
    assert row == [1, 2, 5, 100]
    a.rows.insert(0, [7])
    assert a.sum_rows() == 115 and a.aliased()
    a.rows.sort(reverse=True)
    assert a.rows == [[7], [1, 2, 5, 100]]
def test_others():
    a = Box()
    a.tags.add("r")
    a.tags |= {"q"}
    a.line.appendleft(1)
    Box.shared.append(1)
    assert a.sizes()[:3] == (2, 1, 1)
    Box.shared.clear()
    items = a.items
    a.items += [1]
    items.append(2)
    assert a.items is items and a.size() == 2 and a.same == [1, 2]
def test_module():
    REGISTRY["k"] = 4
    assert registered("k") == 4
def test_items_of_an_item():
    g = Grid()
    g[0][1] = 9
    assert g.get(0, 1) == 9
def test_named_tuples():
    p = Point(1, 2)
    assert p == (1, 2) and isinstance(p, Point) and not isinstance((1, 2), Point) and p.x == 1
    assert Box().turned(p) == p._replace(x=2, y=1) == Point(2, 1)
def test_copies_stay_copies():
    a = Box()
    a.copy.append(1)
    assert a.size() == 0
    a.big.append(1)
    assert a.sizes()[3] == 10_000
def test_inside_a_call():
    a = Box()
    items = a.items
    def call():
        items.append(5)
        return a.size()
    assert a.run(call) == 1
    assert items == [5, 1]
def test_objects_in_containers():
    a, b = Box(), Box()
    a.items.append(b)
    a.items[0].d["x"] = 3
    assert b.total() == 3 and a.items == [b]
def test_what_is_new():
    a = Box()
    items = a.items
    new, args = a.made(items), [1]
    assert items == [new] and items[0] is new and new.size() == 0
    with pytest.raises(KeyError) as info:
        a.breaks(args)
    assert items == [new, info.value.args[0]] and args == [1]
    assert a.made_in([]) is a.items[-1]
def test_many():
    boxes = [Box() for _ in range(80)]
    held = [box.items for box in boxes]
    assert [box.size() for box in boxes] == [0] * 80
""")
WRONG = {
    "gives copies": ("self.d, self.items", "self.d, self._items", "test_list"),
    "counts wrong": ("return len(self.items)", "return len(self.items) + 1", "test_list"),
    "forgets": ("return sum(self.d.values())", "return 0 * len(self.d)", "test_dict"),
}


@pytest.fixture(scope="module")
def python() -> Iterator[PythonToolchain]:
    limits = Limits(cpu_seconds=2, wall_seconds=20, memory_bytes=256 * 2**20)
    toolchain = PythonToolchain(Settings(limits=limits))
    yield toolchain
    toolchain.close()


def test_both_sides_find_the_others_changes(python: PythonToolchain) -> None:
    verdict = judge(python, SUITE, ANSWER)
    assert verdict.passed, [(test.id, test.message) for test in verdict.tests if test.message]


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_wrong_class_fails(python: PythonToolchain, name: str) -> None:
    old, new, test = WRONG[name]
    answer = ANSWER.replace(old, new)
    if name == "gives copies":
        answer = answer.replace("self.same = self.items", "self.same = []")
        answer += "    items = property(lambda self: list(self._items))\n"
    verdict = judge(python, SUITE, answer)
    assert test in {one.id.partition("::")[2] for one in verdict.tests if one.outcome is Outcome.FAILED}


def test_what_cannot_be_put_into_a_container(python: PythonToolchain) -> None:
    check = suite(
        "from solution import Box\ndef test_it():\n    a = Box()\n    a.items.append(object())\n    a.size()"
    )
    verdict = judge(python, check, ANSWER)
    assert verdict.outcome is Outcome.FAILED and "does not cross" in verdict.detail


LOOK = suite(
    """
from solution import Box
def test_it():
    a = Box()
    items = a.items
    assert a.size() == len(items) == 2
    assert items == [SECRET, 1] and type(items) is list
""".replace("SECRET", "6543")
)
LENT = [{"v": encode([1]), "n": 7}]
FORGED = {
    "no container": ([{"v": encode(5), "n": 7}], []),
    "no number": ([{"v": encode([1]), "n": "7"}], []),
    "another container": (LENT, [{"v": encode(2), "c": [[7], [encode({6543, 1})]]}]),
    "another number": (LENT, [{"v": encode(2), "c": [[8], [encode([6543, 1])]]}]),
    "a number too few": (LENT, [{"v": encode(2), "c": [[], [encode([6543, 1])]]}]),
    "changes of no form": (LENT, [{"v": encode(2), "c": {"a": 1}}]),
    "a value that is none": (LENT, [{"v": encode(2), "c": [[7], [b"\\xff"]]}]),
    "no bytes": (LENT, [{"v": encode(2), "c": [[7], [[6543, 1]]]}]),
}


@pytest.mark.parametrize("name", some(sorted(FORGED), 8))
def test_no_lie_about_containers_passes(python: PythonToolchain, name: str) -> None:
    first, second = FORGED[name]
    acts = sends(*first).replace("    os._exit(0)\n", "") if second else sends(*first)
    answer = acts + sends(*second).replace("def f(", "def g(") if second else acts
    answer += "class Box:\n    items = property(f)\n    size = lambda self: g(0)\n"
    verdict = judge(python, LOOK, answer)
    assert verdict.outcome is not Outcome.PASSED and "malformed" in verdict.detail, verdict.detail
