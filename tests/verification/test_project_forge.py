# ruff: noqa: E501
"""Edits of a project that do not mend it and try to have its tests reported as passed."""

from collections.abc import Callable, Iterator

import pytest

from strop.core.checks import ProjectCheck
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.sandbox.limits import Limits
from strop.verification.project import ProjectToolchain, pack
from strop.verification.settings import Settings

GOOD = "def double(x):\n    return x + x\n\n\ndef name():\n    return 'twice'\n"
BAD = GOOD.replace("x + x", "x + 1")
FILES = {
    "twice.py": GOOD,
    "tests/expected.txt": "8\n",
    "tests/test_name.py": "import twice\n\ndef test_name():\n    assert twice.name() == 'twice'\n",
    "tests/test_twice.py": """
import pathlib
import unittest
import pytest
from twice import double

EXPECTED = [2, 4, 6]

@pytest.mark.parametrize("x", [2, 3])
def test_double(x):
    result = double(x)
    assert result == 2 * x

def test_list():
    assert [double(x) for x in (1, 2, 3)] == EXPECTED

def test_file():
    assert str(double(4)) == pathlib.Path(__file__).with_name("expected.txt").read_text().strip()

class TestOld(unittest.TestCase):
    def test_old(self):
        self.assertEqual(double(5), 10)
""",
}
FAILING = [
    f"tests/test_twice.py::{name}"
    for name in ("test_double[2]", "test_double[3]", "test_list", "test_file", "TestOld::test_old")
]
PASSING = ["tests/test_name.py::test_name"]
NAMED = repr([*FAILING, *PASSING])
OBJECTS = """
import gc, sys, threading, time, types
def find(*names):
    for thing in gc.get_objects():
        try:
            if not isinstance(thing, type) and all(name in vars(thing) or hasattr(type(thing), name) for name in names):
                return thing
        except Exception:
            pass
recorder, guard = find('failures', 'phases', 'pytest_runtest_logreport'), find('changed', '_members', '_codes')
"""
PLUGIN = """
import pytest
class Plugin:
    @pytest.hookimpl(tryfirst=True)
    def %s
manager = next(o for o in gc.get_objects() if type(o).__name__ == 'PytestPluginManager')
manager.register(Plugin(), 'helper')
"""
SWAP = """
def nothing(*a, **k): pass
def swap():
    while True:
        for module in list(sys.modules.values()):
            if 'test' in getattr(module, '__name__', ''):
                for holder in [module, *[k for k in list(vars(module).values()) if isinstance(k, type)]]:
                    for key, f in list(vars(holder).items()):
                        if isinstance(f, types.FunctionType) and key.startswith('test_') and %s:
                            f.__code__ = nothing.__code__.replace(co_freevars=f.__code__.co_freevars)
        time.sleep(0.0002)
sys.setswitchinterval(0.0001)
threading.Thread(target=swap, daemon=True).start()
time.sleep(0.01)
"""
FORGED = {
    "plugin that calls no test": OBJECTS + PLUGIN % "pytest_runtest_call(self, item): item.runtest = lambda: None",
    "plugin in place of the protocol": OBJECTS + PLUGIN % "pytest_pyfunc_call(self, pyfuncitem): return True",
    "plugin that clears failures": OBJECTS + PLUGIN % "pytest_runtest_makereport(self, item, call): call.excinfo = None",
    "thread that swaps the tests": OBJECTS + SWAP % "True",
    "thread that swaps some": OBJECTS + SWAP % "key in ('test_double', 'test_list', 'test_file', 'test_old')",
    "guard off and runtest patched": OBJECTS + "guard._members.clear(); guard._codes.clear(); guard._spaces.clear()\nimport _pytest.python, _pytest.unittest\n_pytest.python.Function.runtest = lambda self: None\n_pytest.unittest.TestCaseFunction.runtest = lambda self: None\n",
    "guard's answer": OBJECTS + "type(guard).changed = lambda self: ''\nimport _pytest.runner\n_pytest.runner.pytest_runtest_call.__code__ = (lambda item: None).__code__\n",
    "notes": OBJECTS + "class F(dict):\n    def get(self, *a): return ('', '')\nclass P(dict):\n    def get(self, *a): return {'setup', 'call', 'teardown'}\nrecorder.failures, recorder.phases = F(), P()\n",
    "signed ok": OBJECTS + "send = recorder.send\nrecorder.send = lambda m: send({**m, 'ok': True, 'x': ''} if 'ok' in m else m)\n",
    "all wanted reported": OBJECTS + "import os\nfor name in recorder.wanted: recorder.send({'test': name, 'ok': True, 'x': '', 's': 0.0})\nrecorder.send({'done': 0})\nos._exit(0)\n",
    "known names reported": OBJECTS + f"import os\nfor name in {NAMED}: recorder.send({{'test': name, 'ok': True, 'x': '', 's': 0.0}})\nrecorder.send({{'done': 0}})\nos._exit(0)\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("twice")
    for name, text in FILES.items():
        path = folder / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    out = folder / "twice.project.tar.gz"
    return str(out), pack(folder / "tree", out)


@pytest.fixture(scope="module")
def judge(snapshot: tuple[str, str]) -> Iterator[Callable[..., Verdict]]:
    made = ProjectToolchain(Settings(limits=Limits(cpu_seconds=2, wall_seconds=20)))

    def act(source: str, failing: list[str] = FAILING) -> Verdict:
        check = ProjectCheck(
            project=snapshot[0],
            digest=snapshot[1],
            files={"twice.py": source},
            failing=failing,
            passing=PASSING,
        )
        (verdict,) = made.judge([(Task(statement="s", check=check), "")])
        return verdict

    yield act
    made.close()


def test_the_honest_edit_passes_and_says_how_far_that_goes(judge: Callable[..., Verdict]) -> None:
    verdict = judge(GOOD + "\n# said twice\n")
    assert verdict.passed and verdict.trust == "same-process" and '"trust"' in verdict.model_dump_json()
    failed = judge(BAD)
    assert failed.outcome is Outcome.FAILED and '"trust"' not in failed.model_dump_json()


@pytest.mark.parametrize("name", FORGED)
def test_forged_results_do_not_pass(judge: Callable[..., Verdict], name: str) -> None:
    verdict = judge(BAD + FORGED[name])
    assert not verdict.passed and verdict.outcome is not Outcome.ERROR, verdict
