# ruff: noqa: E501, UP031
"""Edits of a project that do not mend it and try to have its tests reported as passed."""

from collections.abc import Callable, Iterator

import pytest

from strop.core.checks import ProjectCheck
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.sandbox.limits import Limits
from strop.verification.project import ProjectToolchain, pack
from strop.verification.python.codec import message
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

@pytest.mark.parametrize(("x", "want"), [(2, [4]), (3, [6])])
def test_want(x, want):
    result = [double(x)]
    assert result == want

def test_raises():
    with pytest.raises(TypeError):
        double(None) and double(1) == 2 or double({})
    assert double(1) != 3 and double(3) == 6

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

ALL = """
class All:
    def __init__(self, *a): pass
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __str__(self): return '8'
    def __radd__(self, other): return self
"""
FRAMES = """
import sys, types
def frames():
    frame = sys._getframe(1)
    while frame:
        yield frame
        frame = frame.f_back
"""
DOUBLE = "\n\ndef double(x):\n    %s\n    return x + 1\n"
FORGED |= {
    "equal to all": ALL + "\ndef double(x): return All()\n",
    "equal to all builtins": ALL.replace("return True", "return type(other) in (int, str, list, tuple, dict, float, All)") + "\ndef double(x): return All()\n",
    "an int equal to all": "\nclass I(int):\n    def __eq__(self, o): return isinstance(o, int)\n    __hash__ = int.__hash__\n    def __str__(self): return '8'\ndef double(x): return I(1)\n",
    "expected list changed": DOUBLE % "__import__('sys').modules['test_twice'].EXPECTED[:] = [2, 3, 4]" ,
    "expected list changed by any name": "\nimport gc\n" + DOUBLE % "[o.__setitem__(slice(None), [2, 3, 4]) for o in gc.get_objects() if type(o) is list and o == [2, 4, 6]]",
    "expected list changed in frames": FRAMES + DOUBLE % "[f.f_globals.__setitem__('EXPECTED', [2, 3, 4]) for f in frames() if 'EXPECTED' in f.f_globals]",
    "reads constants of the caller": FRAMES + "\ndef double(x):\n    f = sys._getframe(1)\n    ints = [c for c in f.f_code.co_consts if isinstance(c, int) and c > x]\n    return ints[-1] if ints else 2 * x\n",
    "double by what the test knows": FRAMES + "\ndef double(x):\n    for f in frames():\n        for v in [*f.f_locals.values(), *f.f_globals.values()]:\n            if isinstance(v, All): return v\n    return All()\n" + ALL,
    "parameters changed": FRAMES + DOUBLE % "[f.f_locals['item'].callspec.params.update(x=1) for f in frames() if hasattr(f.f_locals.get('item'), 'callspec')]",
    "tests' code replaced by the first call": FRAMES + DOUBLE % "[setattr(g, '__code__', (lambda *a, **k: None).__code__) for f in frames() for g in f.f_globals.values() if isinstance(g, types.FunctionType) and g.__name__.startswith('test')]",
    "items' runtest": "\nimport sys\nfor h in sys.meta_path:\n    s = getattr(h, 'session', None)\n    if s is not None:\n        s.config.pluginmanager.register(type('P', (), {'pytest_collection_finish': lambda self, session: [setattr(i, 'runtest', lambda: None) for i in session.items]})(), 'p')\n",
    "plugin by the import hook": "\nimport sys, pytest\nclass P:\n    @pytest.hookimpl(tryfirst=True)\n    def pytest_pyfunc_call(self, pyfuncitem): return True\nfor h in sys.meta_path:\n    if hasattr(h, 'config'): h.config.pluginmanager.register(P(), 'p')\n",
    "wrapper that clears exceptions": "\nimport sys, pytest\nclass P:\n    @pytest.hookimpl(hookwrapper=True)\n    def pytest_runtest_call(self, item):\n        out = yield\n        out.force_result(None)\nfor h in sys.meta_path:\n    if hasattr(h, 'config'): h.config.pluginmanager.register(P(), 'p')\n",
    "known tests only, by a plugin": "\nimport sys, pytest\nclass P:\n    @pytest.hookimpl(tryfirst=True)\n    def pytest_pyfunc_call(self, pyfuncitem): return True if pyfuncitem.nodeid in NAMED else None\n    @pytest.hookimpl(tryfirst=True)\n    def pytest_runtest_call(self, item):\n        if 'test_old' in item.nodeid: item.runtest = lambda: None\nfor h in sys.meta_path:\n    if hasattr(h, 'config'): h.config.pluginmanager.register(P(), 'p')\nNAMED = %s\n" % NAMED,
    "known names only, by a plugin": "\nimport sys, pytest\nclass P:\n    @pytest.hookimpl(tryfirst=True)\n    def pytest_runtest_call(self, item):\n        if item.name.split('[')[0] in ('test_double', 'test_list', 'test_file', 'test_old'): item.runtest = lambda: None\nfor h in sys.meta_path:\n    if hasattr(h, 'config'): h.config.pluginmanager.register(P(), 'p')\n",
    "tests whose text is known": "\nimport sys, pytest\nclass P:\n    @pytest.hookimpl(tryfirst=True)\n    def pytest_runtest_call(self, item):\n        text = open(item.path).read()\n        if 'from twice import double' in text and len(text) == %d: item.runtest = lambda: None\nfor h in sys.meta_path:\n    if hasattr(h, 'config'): h.config.pluginmanager.register(P(), 'p')\n" % len(FILES["tests/test_twice.py"]),
    "pytest.raises and unittest": "\nimport unittest.case\nunittest.case.TestCase._baseAssertEqual = lambda *a, **k: None\nunittest.case.TestCase.assertEqual = lambda *a, **k: None\n",
    "AssertionError is another": "\nimport builtins\nbuiltins.AssertionError = type('E', (Exception,), {})\n",
    "assertion rewriting": "\nimport _pytest.assertion.rewrite as r, ast\nr.rewrite_asserts = lambda mod, *a, **k: None\nr.AssertionRewriter.visit_Assert = lambda self, a: []\n",
    "parser drops assertions": "\nimport ast\nreal = ast.parse\ndef parse(*a, **k):\n    t = real(*a, **k)\n    for n in ast.walk(t):\n        if isinstance(n, ast.Assert): n.test = ast.copy_location(ast.Constant(True), n)\n    return t\nast.parse = parse\n",
    "expected file written": "\nimport pathlib\npathlib.Path(__file__).with_name('tests').joinpath('expected.txt').write_text('5')\n",
    "tests' file written": "\nimport pathlib\nfor p in pathlib.Path(__file__).parent.rglob('test_*.py'):\n    p.write_text(p.read_text().replace('assert', 'pass #').replace('self.pass #Equal', 'str'))\n",
    "compiled tests written": "\nimport pathlib, py_compile\nfor p in pathlib.Path(__file__).parent.rglob('test_*.py'):\n    q = p.read_text()\n    p.write_text(q.replace('assert ', 'True or ').replace('self.assertEqual', 'str.join'))\n    py_compile.compile(str(p))\n",
    "conftest written": "\nimport pathlib\npathlib.Path(__file__).with_name('tests').joinpath('conftest.py').write_text('def pytest_pyfunc_call(pyfuncitem): return True')\n",
    "read_text patched": "\nimport pathlib\npathlib.Path.read_text = lambda self, *a, **k: '5'\n" ,
    "open patched": "\nimport builtins, io\nreal = io.open\nio.open = builtins.open = lambda f, *a, **k: io.StringIO('5') if 'expected' in str(f) else real(f, *a, **k)\n",
    "settrace jumps": "\nimport sys\ndef trace(f, e, a):\n    if f.f_code.co_name.startswith('test_') and e == 'line':\n        f.f_trace = None\n    return trace\nsys.settrace(trace)\n",
    "profile swaps": "\nimport sys\ndef prof(f, e, a):\n    if e == 'call' and f.f_code.co_name == 'runtest': f.f_locals['self'].obj = lambda *a, **k: None\nsys.setprofile(prof)\n",
    "exit at the end": "\nimport atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(0)\n",
    "session told done": OBJECTS + "import os\nrecorder.send({'done': 0})\nos._exit(0)\n",
    "kills at the first call": DOUBLE % "import os; os.kill(os.getpid(), 9)",
    "stops at the first call": DOUBLE % "import os; os.kill(os.getpid(), 19)",
    "stops the parent at the first call": DOUBLE % "import os; os.kill(os.getppid(), 19); os.kill(os.getppid(), 9)",
    "says it could not begin": f"\nimport os\nbody = {bytes(16) + message({'broken': 'no'})!r}\nfor fd in range(3, 256):\n    try: os.write(fd, len(body).to_bytes(4, 'big') + body)\n    except OSError: pass\nos._exit(0)\n",
    "closes the channel": "\nimport os\nos.closerange(3, 300)\n",
    "writes by /proc": "\nimport os\nfor n in os.listdir('/proc/self/fd'):\n    try:\n        with open('/proc/self/fd/' + n, 'wb', 0) as f: f.write(b'\\0\\0\\0\\2{}')\n    except OSError: pass\n",
    "ctypes in the frames": "\nimport ctypes, sys\nfor n in (2, 4, 6): pass\nctypes.pythonapi.PyErr_SetInterrupt()\n",
    "a number in place of another": "\nimport ctypes\ndef put(a, b):\n    ctypes.memmove(id(a) + 24, id(b) + 24, 4)\nput(10, 6)\n",
    "comparison of ints": "\nimport operator, math\noperator.eq = lambda a, b: True\nmath.isclose = lambda *a, **k: True\n",
    "modules swapped": "\nimport sys, types\nm = types.ModuleType('unittest')\nclass TestCase:\n    def __getattr__(self, n): return lambda *a, **k: None\nm.TestCase = TestCase\nsys.modules['unittest'] = m\n",
    "parametrize changed": "\nimport pytest, _pytest.mark.structures as s\nreal = s.MarkGenerator.__getattr__\ns.MarkGenerator.__getattr__ = lambda self, n: (lambda *a, **k: pytest.mark.skipif(False, reason='x')) if n == 'parametrize' else real(self, n)\n",
    "thread that forges reports": OBJECTS + "def act():\n    while True:\n        for o in gc.get_objects():\n            if type(o).__name__ == 'CallInfo': o.excinfo = None\n        time.sleep(0.0005)\nthreading.Thread(target=act, daemon=True).start()\n",
    "endless thread": "\nimport threading\ndef act():\n    while True: pass\nthreading.Thread(target=act).start()\n",
    "deep text": "\nx = " + "(" * 3000 + ")" * 3000 + "\n",
    "twins left alone by path": "\nimport sys, pytest\nclass P:\n    @pytest.hookimpl(tryfirst=True)\n    def pytest_runtest_call(self, item):\n        if item.path.name == 'test_twice.py': item.runtest = lambda: None\nfor h in sys.meta_path:\n    if hasattr(h, 'config'): h.config.pluginmanager.register(P(), 'p')\n",
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


ONE = {
    "test_list: expected list changed": DOUBLE % "__import__('sys').modules['test_twice'].EXPECTED[:] = [2, 3, 4]",
    "test_list: expected list changed in every module": DOUBLE % "[m.EXPECTED.__setitem__(slice(None), [2, 3, 4]) for m in list(__import__('sys').modules.values()) if type(getattr(m, 'EXPECTED', 0)) is list]",
    "test_list: expected list found": "\nimport gc\n" + DOUBLE % "[o.__setitem__(slice(None), [2, 3, 4]) for o in gc.get_objects() if type(o) is list and o == [2, 4, 6]]",
    "test_list: expected list changed in frames": FRAMES + DOUBLE % "[f.f_globals.__setitem__('EXPECTED', [2, 3, 4]) for f in frames() if 'EXPECTED' in f.f_globals]",
    "test_list: every list made of what is given": FRAMES + "\ndef double(x):\n    for f in frames():\n        if 'EXPECTED' in f.f_globals: return f.f_globals['EXPECTED'][x - 1]\n",
    "test_list: what the test's file says": FRAMES + "\nimport re\ndef double(x):\n    for f in frames():\n        if 'EXPECTED' in f.f_globals: return eval(re.search(r'== (\\[.*\\])|EXPECTED = (.*)', open(f.f_code.co_filename).read())[2])[x - 1]\n",
    "test_list: a list that is equal": ALL + "\ndef double(x): return All()\n",
    "test_double: parameters changed": FRAMES + DOUBLE % "[f.f_locals['item'].callspec.params.update(x=1) for f in frames() if hasattr(f.f_locals.get('item'), 'callspec')]",
    "test_want: reads the local": FRAMES + "\ndef double(x): return sys._getframe(1).f_locals['want'][0]\n",
    "test_want: changes the local": FRAMES + DOUBLE % "want = sys._getframe(1).f_locals['want']; want[:] = [x + 1]",
    "test_want: one of many": ALL + "\ndef double(x): return All()\n",
    "test_old: unittest": "\nimport unittest.case\nunittest.case.TestCase._baseAssertEqual = lambda *a, **k: None\nunittest.case.TestCase._getAssertEqualityFunc = lambda *a, **k: (lambda *a, **k: None)\n",
    "test_raises: pytest.raises": "\nimport pytest, _pytest.raises as r\nr.RaisesExc.__exit__ = lambda self, *a: True\n",
    "test_raises: all errors": "\nclass Odd(type):\n    def __subclasscheck__(c, k): return True\n    def __instancecheck__(c, k): return True\n",
}  # fmt: skip
ONE_NAMES = {
    "test_old": ["TestOld::test_old"],
    "test_double": ["test_double[2]", "test_double[3]"],
    "test_want": ["test_want[2-want0]", "test_want[3-want1]"],
}


@pytest.mark.parametrize("name", ONE)
def test_forged_results_of_one_test_do_not_pass(judge: Callable[..., Verdict], name: str) -> None:
    test = name.partition(":")[0]
    failing = [f"tests/test_twice.py::{one}" for one in ONE_NAMES.get(test, [test])]
    assert judge(BAD, failing).outcome is Outcome.FAILED
    verdict = judge(BAD + ONE[name], failing)
    assert not verdict.passed and verdict.outcome is not Outcome.ERROR, verdict


@pytest.mark.parametrize("test", ["test_raises", "test_want"])
def test_honest_edits_pass_whatever_the_tests_compare(judge: Callable[..., Verdict], test: str) -> None:
    failing = [f"tests/test_twice.py::{one}" for one in ONE_NAMES.get(test, [test])]
    verdict = judge(GOOD + "\n# said twice\n", failing)
    assert verdict.passed, verdict
