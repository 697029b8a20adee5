# ruff: noqa: E501
"""What tests compute without the project's code: recorded in the unedited project, and not to be changed by an edit."""

from collections.abc import Callable, Iterator

import pytest
from tests.scale import some

from strop_verify.core.checks import ProjectCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.project import ProjectToolchain, pack
from strop_verify.verification.settings import Settings

GOOD = """
def double(x):
    return x + x


def sort(items):
    items.sort()


def read(path):
    with open(path) as file:
        return file.read()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
"""
BAD = GOOD.replace("x + x", "x + 1 if isinstance(x, int) else x").replace("items.sort()", "pass")
TESTS = """
import io, json, math, pathlib, textwrap, time, unittest
from pathlib import Path
from unittest import mock
import pytest
import twice
from twice import double

HERE = Path(__file__).parent
CASES = json.loads((HERE / "data" / "cases.json").read_text())
INPUTS = json.loads("[2, 3]")
EXPECTED = [4, 6]

def load(name):
    with open(HERE / "data" / name) as file:
        return [int(word) for word in file.read().split()]

@pytest.fixture
def expected():
    return (HERE / "expected.txt").read_text().strip()

@pytest.mark.parametrize("name", ["one", "two"])
def test_named(name):
    assert double(load(name + ".txt")[0]) == load(name + ".out")[0]

@pytest.mark.parametrize(("key", "case"), sorted(CASES.items()))
def test_cases(key, case):
    assert double(case["in"]) == case["out"]

def test_loop():
    for case in CASES.values():
        assert double(case["in"]) == case["out"]

def test_json():
    assert double(json.loads("3")) == json.loads("6")

def test_constant():
    assert [double(x) for x in INPUTS] == EXPECTED

def test_opened():
    with open(HERE / "data" / "two.txt") as file:
        want = json.load(file)
    assert double(4) == want + 4

def test_fixture(expected):
    assert str(double(4)) == expected

def test_here():
    assert double(4) == int(open("tests/expected.txt").read())

def test_math():
    assert double(2) == math.sqrt(16)

def test_sorted():
    data = [3, 1, 2]
    twice.sort(data)
    assert data == sorted([1, 2, 3])

def test_nested():
    data = json.loads('{"x": [3, 1], "y": [1, 3]}')
    other = data["x"]
    twice.sort(other)
    assert data["x"] == data["y"]

def test_written(tmp_path):
    twice.write(tmp_path / "x", "4")
    assert (tmp_path / "x").read_text() == "4" and double(2) == 4

def test_written_beside():
    path = HERE / "data" / "one.txt"
    before = path.read_text()
    twice.write(path, "7")
    assert path.read_text() == "7" and double(2) == 4
    twice.write(path, before)

def test_buffer():
    out = io.StringIO()
    print(double(2), file=out)
    assert out.getvalue() == textwrap.dedent("4\\n")

def test_time():
    start = time.time()
    assert double(2) == 4 and time.time() - start < 600

def test_patched():
    with mock.patch("json.loads", lambda text: 5):
        assert json.loads("4") == 5 and double(2) == 4

class Base(unittest.TestCase):
    def setUp(self):
        self.want = int((HERE / "expected.txt").read_text())

    def test_inherited(self):
        self.assertEqual(double(4), self.want)

class TestChild(Base):
    @mock.patch("twice.write", None)
    def test_decorated(self):
        self.assertEqual(double(4), 8)
"""
FILES = {
    "twice.py": GOOD,
    "tests/expected.txt": "8\n",
    "tests/data/cases.json": '{"a": {"in": 2, "out": 4}, "b": {"in": 3, "out": 6}}',
    "tests/data/one.txt": "3",
    "tests/data/one.out": "6",
    "tests/data/two.txt": "4",
    "tests/data/two.out": "8",
    "tests/test_twice.py": TESTS,
}
IDS = {
    "test_named": ["test_named[one]", "test_named[two]"],
    "test_cases": ["test_cases[a-case0]", "test_cases[b-case1]"],
    "test_inherited": ["TestChild::test_inherited"],
    "test_decorated": ["TestChild::test_decorated"],
}
HONEST = [
    line.split("(")[0].removeprefix("def ") for line in TESTS.splitlines() if line.startswith("def test_")
]
HONEST += ["test_inherited", "test_decorated"]
FRAMES = """
import gc, io, json, math, os, pathlib, sys, builtins
TOP = pathlib.Path(__file__).parent
def spaces():
    return [o for o in gc.get_objects() if type(o) is dict and 'EXPECTED' in o and 'HERE' in o]
"""
DOUBLE = FRAMES + "def double(x):\n    %s\n    return x + 1\n"
FORGED = {
    "test_named: output files": FRAMES + "for n, t in (('one', '4'), ('two', '5')): (TOP / 'tests/data' / (n + '.out')).write_text(t)\n",
    "test_named: input files": FRAMES + "for n in ('one', 'two'): (TOP / 'tests/data' / (n + '.txt')).write_text('1'); (TOP / 'tests/data' / (n + '.out')).write_text('2')\n",
    "test_named: the helper": DOUBLE % "[s.__setitem__('load', lambda name: [x + 1]) for s in spaces()]",
    "test_cases: the file": FRAMES + "(TOP / 'tests/data/cases.json').write_text('{\"a\": {\"in\": 2, \"out\": 3}, \"b\": {\"in\": 3, \"out\": 4}}')\n",
    "test_cases: every case in memory": DOUBLE % "[o.update(out=o['in'] + 1) for o in gc.get_objects() if type(o) is dict and o.keys() == {'in', 'out'}]",
    "test_loop: every case in memory": DOUBLE % "[o.update(out=o['in'] + 1) for o in gc.get_objects() if type(o) is dict and o.keys() == {'in', 'out'}]",
    "test_loop: json.loads at import": FRAMES + "real = json.loads\njson.loads = lambda t, **k: {'a': {'in': 1, 'out': 2}} if 'out' in str(t) else real(t, **k)\n",
    "test_json: json.loads": FRAMES + "real = json.loads\njson.loads = lambda t, **k: {'3': 1, '6': 2}.get(t) or real(t, **k)\n",
    "test_constant: the module's constants": DOUBLE % "[s.__setitem__('EXPECTED', [3, 4]) for s in spaces()]",
    "test_constant: every list like it": DOUBLE
    % "[o.__setitem__(slice(None), [3, 4]) for o in gc.get_objects() if type(o) is list and o == [4, 6]]",
    "test_opened: open of the test's module": DOUBLE % "[s.__setitem__('open', lambda p: io.StringIO('1')) for s in spaces()]",
    "test_opened: json.load": FRAMES + "json.load = lambda file: 1\n",
    "test_fixture: the file": FRAMES + "(TOP / 'tests/expected.txt').write_text('5')\n",
    "test_here: the working directory": FRAMES + "(TOP / 'else/tests').mkdir(parents=True, exist_ok=True)\n(TOP / 'else/tests/expected.txt').write_text('5')\n" + "def double(x):\n    os.chdir(TOP / 'else')\n    return x + 1\n",
    "test_math: math.sqrt": FRAMES + "math.sqrt = lambda x: 3\n",
    "test_inherited: the file": FRAMES + "(TOP / 'tests/expected.txt').write_text('5')\n",
    "test_decorated: equal to all": "\nclass A(int):\n    def __eq__(self, o): return True\n    __hash__ = None\ndef double(x): return A(1)\n",
    "test_inherited: equal to all": "\nclass A(int):\n    def __eq__(self, o): return True\n    __hash__ = None\ndef double(x): return A(1)\n",
}  # fmt: skip


def ids(name: str) -> list[str]:
    return [f"tests/test_twice.py::{one}" for one in IDS.get(name, [name])]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Verdict]]:
    folder = tmp_path_factory.mktemp("pins")
    for name, text in FILES.items():
        path = folder / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    out = folder / "pins.project.tar.gz"
    digest = pack(folder / "tree", out)
    made = ProjectToolchain(Settings(limits=Limits(cpu_seconds=2, wall_seconds=20)))

    def act(source: str, failing: list[str]) -> Verdict:
        check = ProjectCheck(project=str(out), digest=digest, files={"twice.py": source}, failing=failing)
        (verdict,) = made.judge([(Task(statement="s", check=check), "")])
        return verdict

    yield act
    made.close()


def test_honest_edits_pass(judge: Callable[..., Verdict]) -> None:
    other = GOOD.replace("x + x", "2 * x").replace("items.sort()", "items[:] = sorted(items)")
    every = [test for name in HONEST for test in ids(name)]
    for source in (GOOD + "\n# said twice\n", other):
        verdict = judge(source, every)
        assert verdict.passed, verdict


@pytest.mark.parametrize("name", some(sorted(FORGED), 8))
def test_what_tests_compute_cannot_be_changed(judge: Callable[..., Verdict], name: str) -> None:
    failing = ids(name.partition(":")[0])
    assert judge(BAD, failing).outcome is Outcome.FAILED
    verdict = judge(BAD + FORGED[name], failing)
    assert not verdict.passed and verdict.outcome is not Outcome.ERROR, verdict
