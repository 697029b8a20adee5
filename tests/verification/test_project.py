# ruff: noqa: E501
"""Projects judged by their own tests: honest and broken edits, hostile ones, snapshots, what is left behind."""

import base64
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strop.tasks import load_tasks
from strop_verify.core.checks import ProjectCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.snapshots import DATA, archive, data_uri, digest_of
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.project import ProjectToolchain, pack, unpack
from strop_verify.verification.project.layout import is_protected, layout_of
from strop_verify.verification.project.snapshot import MAX_FILE_BYTES
from strop_verify.verification.python.codec import message
from strop_verify.verification.settings import Settings

GOOD = '''\
"""Sums and spans."""

BASE = 10


def total(items, start=0):
    for item in items:
        start += item
    return start


def span(low, high):
    if low > high:
        low, high = high, low
    return list(range(low, high + 1))
'''
BAD = GOOD.replace("high + 1", "high")
FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--cov=calc --doctest-modules -n 4"\n',
    "PKG-INFO": "Metadata-Version: 2.1\nName: calc-tool\nVersion: 3.1\n",
    "src/calc/__init__.py": "from calc.sums import span, total\n",
    "src/calc/sums.py": GOOD,
    "src/calc/notes.txt": "seven\n",
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef three():\n    return [1, 2, 3]\n",
    "tests/test_sums.py": """
import importlib.metadata
import pathlib
import unittest
import pytest
import calc

def test_total(three):
    assert calc.total(three) == 6

@pytest.mark.parametrize("pair", [(1, 3), (3, 1)], ids=["up", "down::odd [x]"])
def test_span(pair):
    assert calc.span(*pair) == [1, 2, 3]

class TestOld(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(calc.span(2, 2), [2])

def test_metadata():
    assert importlib.metadata.version("calc-tool") == "3.1"

def test_data_is_fresh():
    path = pathlib.Path(calc.__file__).with_name("notes.txt")
    assert path.read_text() == "seven\\n"
    path.write_text("changed")
    pathlib.Path("left.txt").write_text("x")

def test_nothing_left():
    assert not pathlib.Path("left.txt").exists() or pathlib.Path(calc.__file__).with_name("notes.txt").exists()

@pytest.mark.skip
def test_skipped():
    pass
""",
}
SPANS = [
    "tests/test_sums.py::test_span[up]",
    "tests/test_sums.py::test_span[down::odd [x]]",
    "tests/test_sums.py::TestOld::test_empty",
]
REST = [f"tests/test_sums.py::{name}" for name in ("test_total", "test_metadata", "test_data_is_fresh")]
LIMITS = Limits(cpu_seconds=2, wall_seconds=60)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("calc")
    out = folder / "calc.project.tar.gz"
    return str(out), pack(write(folder / "tree", FILES), out)


@pytest.fixture(scope="module")
def toolchain() -> Iterator[ProjectToolchain]:
    made = ProjectToolchain(Settings(limits=LIMITS))
    yield made
    made.close()


@pytest.fixture
def judge(snapshot: tuple[str, str], toolchain: ProjectToolchain) -> Callable[..., Verdict]:
    def act(
        source: str | None = None,
        *,
        failing: list[str] = SPANS,
        passing: list[str] = REST,
        removed: list[str] | None = None,
        **more: str,
    ) -> Verdict:
        files = {} if source is None else {"src/calc/sums.py": source}
        files |= {name.replace("__", "/") + ".py": text for name, text in more.items()}
        check = ProjectCheck(
            project=snapshot[0],
            digest=snapshot[1],
            files=files,
            removed=removed or [],
            failing=failing,
            passing=passing,
        )
        (verdict,) = toolchain.judge([(Task(statement="s", check=check), "")])
        return verdict

    return act


def test_the_right_edit_passes_and_the_wrong_one_fails_by_its_tests(judge: Callable[..., Verdict]) -> None:
    for _ in range(2):  # the tree is fresh each time, though tests write into it
        right = judge(GOOD + "\n# a comment\n")
        assert right.passed, right.detail
        assert [test.id for test in right.tests] == SPANS + REST and right.cpu_seconds > 0
        wrong = judge(BAD)
        assert wrong.outcome is Outcome.FAILED
        assert [test.outcome is Outcome.PASSED for test in wrong.tests] == [False] * 3 + [True] * 3
        assert all("[1, 2" not in test.message for test in wrong.tests)
    assert judge().passed
    assert judge("def total(:\n").outcome is Outcome.FAILED
    assert judge(removed=["src/calc/sums.py"]).outcome is Outcome.FAILED
    moved = judge(GOOD, src__calc__more="from calc.sums import total\n")
    assert moved.passed


def test_what_is_not_reported_as_passed_has_not_passed(judge: Callable[..., Verdict]) -> None:
    assert judge(GOOD, failing=["tests/test_sums.py::test_nowhere"]).outcome is Outcome.FAILED
    assert judge(GOOD, failing=["tests/test_sums.py::test_skipped"]).outcome is Outcome.FAILED


SAYS = [message({"test": SPANS[0], "ok": True, "x": "", "s": 0}), message({"done": 0})]
FORGE = f"""
import os
for fd in range(3, 256):
    for body in {[*SAYS, *(bytes(16) + said for said in SAYS)]!r}:
        try:
            os.write(fd, len(body).to_bytes(4, "big") + body)
        except OSError:
            pass
"""
BROKEN = bytes(16) + message({"broken": "no memory"})
HOSTILE = {
    "exit": "import os\nos._exit(0)\n",
    "system exit": "import sys\nsys.exit(0)\n",
    "exit at exit": "import atexit, os\natexit.register(lambda: os._exit(0))\n",
    "report": f"print({' PASSED '.join(SPANS)!r}, '6 passed in 0.01s')\nimport os\nos._exit(0)\n",
    "channel": FORGE,
    "no runtest": "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n",
    "code of runtest": "import _pytest.python\n_pytest.python.Function.runtest.__code__ = (lambda self: None).__code__\n",
    "outcome": "import _pytest.reports\n_pytest.reports.TestReport.outcome = property(lambda s: 'passed', lambda s, v: 0)\n",
    "excinfo": "import _pytest.runner\n_pytest.runner.CallInfo.from_call = classmethod(lambda *a, **k: None)\n",
    "unittest": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
    "pytest exit": "import pytest\npytest.exit('done', 0)\n",
    "loop": "while True:\n    pass\n",
    "signal": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    "not begun": "import os\nos._exit(97)\n",
    "broken": f"import os\nbody = {BROKEN!r}\nfor fd in range(3, 256):\n    try: os.write(fd, len(body).to_bytes(4, 'big') + body)\n    except OSError: pass\nos._exit(97)\n",
    "stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n",
    "group": "import os, signal\nfor number in (signal.SIGSTOP, signal.SIGKILL):\n    for act in (lambda: os.killpg(0, number), lambda: os.kill(os.getppid(), number), lambda: os.kill(0, number), lambda: os.kill(-1, number)):\n        try: act()\n        except OSError: pass\n",
    "owner": "import os, signal, fcntl\nfor fd in range(3, 256):\n    try:\n        fcntl.fcntl(fd, fcntl.F_SETOWN, os.getppid())\n        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_ASYNC)\n    except OSError: pass\n",
    "parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n",
    "memory": "x = bytearray(64 << 30)\n",
    "recursion": "def f(): return f()\nf()\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_edits_do_not_pass(judge: Callable[..., Verdict], name: str) -> None:
    for source in (HOSTILE[name] + BAD, BAD + HOSTILE[name]):
        verdict = judge(source)
        assert not verdict.passed and verdict.outcome is not Outcome.ERROR, verdict
        if name == "stopped":
            assert verdict.seconds < 30 and verdict.outcome is Outcome.TAMPERED, verdict
        if name == "loop":
            assert verdict.outcome is Outcome.TIMED_OUT
            break
        if name in ("channel", "no runtest", "code of runtest", "outcome", "excinfo"):
            assert verdict.outcome is Outcome.TAMPERED, verdict


def test_children_are_refused_and_nothing_is_left(
    judge: Callable[..., Verdict], family: Callable[..., list[int]]
) -> None:
    bomb = "import os\nfor _ in range(50):\n    if os.fork() == 0:\n        import time; time.sleep(600)\n"
    assert judge(BAD).outcome is Outcome.FAILED  # starts the toolchain's own process
    before = family("strop_verify.verification.project.runner")
    assert judge(bomb + BAD).outcome is Outcome.FAILED
    assert judge("import subprocess\nsubprocess.Popen(['sleep', '600'])\n" + BAD).outcome is Outcome.FAILED
    assert sorted(family("strop_verify.verification.project.runner")) == sorted(before)
    assert judge(GOOD).passed


@pytest.mark.parametrize(
    "path",
    ["tests/conftest.py", "tests/test_sums.py", "conftest.py", "pyproject.toml", "src/pytest.py", "src/json.py",
     "src/_pytest/runner.py", "sitecustomize.py", "src/calc/__pycache__/sums.cpython-311.pyc"],
)  # fmt: skip
def test_edits_of_tests_are_refused(
    snapshot: tuple[str, str], toolchain: ProjectToolchain, path: str
) -> None:
    check = ProjectCheck(project=snapshot[0], digest=snapshot[1], files={path: "x = 1\n"}, failing=SPANS)
    (verdict,) = toolchain.judge([(Task(statement="s", check=check), "")])
    assert verdict.outcome is Outcome.FAILED and verdict.detail == f"the edit changes tests: {path}"
    same = check.model_copy(update={"files": {"tests/conftest.py": FILES["tests/conftest.py"]}})
    (verdict,) = toolchain.judge([(Task(statement="s", check=same), "")])
    assert verdict.passed


def test_another_or_no_snapshot_is_an_error(
    snapshot: tuple[str, str], toolchain: ProjectToolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = ProjectCheck(project=snapshot[0], digest="0" * 32, failing=SPANS)
    with pytest.raises(VerificationError, match="does not match the task"):
        toolchain.judge([(Task(statement="s", check=check), "")])
    gone = ProjectCheck(project="/nowhere/calc.project.tar.gz", digest=snapshot[1], failing=SPANS)
    with pytest.raises(VerificationError, match="STROP_PROJECTS"):
        toolchain.judge([(Task(statement="s", check=gone), "")])
    monkeypatch.setenv("STROP_PROJECTS", str(Path(snapshot[0]).parent))
    (verdict,) = toolchain.judge([(Task(statement="s", check=gone), "")])
    assert verdict.passed
    broken = tmp_path / "broken.tar.gz"
    broken.write_bytes(b"no archive")
    with pytest.raises(VerificationError, match="cannot be read"):
        unpack(broken)
    with pytest.raises(VerificationError, match="too long"):
        unpack(archive({f"{'x' * 256}.py": b""}))
    named = f"Metadata-Version: 2.1\nName: {'x' * 300}\nVersion: 1\n".encode()
    assert (
        layout_of({"PKG-INFO": named}).extra == {} != layout_of({"PKG-INFO": b"Name: x\nVersion: 1\n"}).extra
    )
    with pytest.raises(VerificationError, match="leaves the project"):
        escape = ProjectCheck(project=snapshot[0], digest=snapshot[1], files={"../x.py": ""}, failing=SPANS)
        toolchain.judge([(Task(statement="s", check=escape), "")])


def test_a_snapshot_may_be_in_the_task(
    snapshot: tuple[str, str], toolchain: ProjectToolchain, judge: Callable[..., Verdict], tmp_path: Path
) -> None:
    files = unpack(Path(snapshot[0]))
    check = ProjectCheck(project=data_uri(files), digest=snapshot[1], failing=SPANS, passing=REST)
    inside = Task(statement="s", check=check)
    jsonl = tmp_path / "tasks.jsonl"
    jsonl.write_text(inside.model_dump_json() + "\n")
    (read,) = load_tasks(f"strop:{jsonl}", held_out_fraction=0)
    assert read.check == check
    for source in (GOOD, BAD):
        edited = check.model_copy(update={"files": {"src/calc/sums.py": source}})
        (verdict,) = toolchain.judge([(read.model_copy(update={"check": edited}), "")])
        assert verdict.passed == (source == GOOD)
        assert [t.outcome for t in verdict.tests] == [t.outcome for t in judge(source).tests]


SPAN = "from sums import span\n\ndef test_span():\n    assert span(1, 3) == [1, 2, 3]\n"


@pytest.mark.parametrize(
    "tests",
    [
        f"{SPAN}\ntest_span()\n",
        f'"""A text."""\nfrom __future__ import annotations\n{SPAN}\ntest_span()\n',
        f"{SPAN}    assert list(filter(lambda given: given == len('ab'), span(1, 3))) == [2]\n",
    ],
    ids=["called at import", "called at import, from the future", "a lambda's argument is compared"],
)
def test_files_of_tests_that_are_rarely_written(toolchain: ProjectToolchain, tests: str) -> None:
    files = {"sums.py": GOOD.encode(), "test_sums.py": tests.encode()}
    for source in (GOOD, BAD):
        check = ProjectCheck(
            project=data_uri(files), digest=digest_of(files), files={"sums.py": source},
            failing=["test_sums.py::test_span"],
        )  # fmt: skip
        (verdict,) = toolchain.judge([(Task(statement="s", check=check), "")])
        assert verdict.outcome is (Outcome.PASSED if source == GOOD else Outcome.FAILED), verdict.detail


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (lambda text: text[:-40], "cannot be read|not base64"),
        (lambda text: "@" + text, "not base64"),
        (lambda text: base64.b64encode(b"nothing").decode(), "cannot be read"),
        (lambda text: data_uri({"a.py": b""}).removeprefix(DATA), "does not match the task"),
        (lambda text: data_uri({"../a.py": b""}).removeprefix(DATA), "cannot be read"),
        (
            lambda text: data_uri({f"{n}.txt": bytes(MAX_FILE_BYTES) for n in range(13)}).removeprefix(DATA),
            "holds more than",
        ),
    ],
    ids=["cut", "no base64", "no archive", "another", "outside", "too much"],
)
def test_a_bad_snapshot_in_the_task_is_an_error(
    snapshot: tuple[str, str], toolchain: ProjectToolchain, body: Callable[[str], str], why: str
) -> None:
    right = data_uri(unpack(Path(snapshot[0]))).removeprefix(DATA)
    check = ProjectCheck(project=DATA + body(right), digest=snapshot[1], failing=SPANS)
    with pytest.raises(VerificationError, match=why) as caught:
        toolchain.judge([(Task(statement="s", check=check), "")])
    assert len(str(caught.value)) < 300


def test_packing_is_deterministic_and_leaves_out_what_is_no_source(tmp_path: Path) -> None:
    tree = write(
        tmp_path / "tree", {**FILES, ".hidden/x": "1", "src/calc/__pycache__/a.pyc": "1", "dist/a.whl": "1"}
    )
    (tree / "link.py").symlink_to("/etc/passwd")
    one, two = tmp_path / "one.tar.gz", tmp_path / "two.tar.gz"
    digest = pack(tree, one)
    os.utime(tree / "PKG-INFO", (1, 1))
    assert pack(tree, two) == digest and one.read_bytes() == two.read_bytes()
    assert unpack(one) == {name: text.encode() for name, text in FILES.items()}
    (tree / "PKG-INFO").write_text("other")
    assert pack(tree, two) != digest
    with pytest.raises(UserError, match="no files"):
        (tmp_path / "empty").mkdir()
        pack(tmp_path / "empty", two)
    assert not list(tmp_path.glob(".*"))


def test_an_sdist_loses_the_folder_around_it(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {f"calc-3.1/{name}": text for name, text in FILES.items()})
    sdist = tmp_path / "calc-3.1.tar.gz"
    pack(tree, sdist)
    assert pack(sdist, tmp_path / "a.tar.gz") == pack(tree / "calc-3.1", tmp_path / "b.tar.gz")


@pytest.mark.parametrize(
    ("path", "protected"),
    [("toolz/tests/util.py", True), ("test_parse.py", True), ("parse.py", False), ("src/x/testing.py", False),
     ("src/latest.py", False), ("setup.cfg", True), ("docs/conf.py", False)],
)  # fmt: skip
def test_what_is_protected(path: str, protected: bool) -> None:
    assert is_protected(path) is protected
