"""`strop build env` and `strop build commits` on histories that the tests make."""

import datetime
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests import warm
from tests.curation.test_retrieval import Files, Made

from strop.environments.task_tree import tree_of
from strop.tasks import load_tasks
from strop_tasks.curation.engine.tally import LeftOut
from strop_tasks.curation.histories.commits import new_lines, touched_tests
from strop_tasks.curation.histories.installation import installation_of
from strop_tasks.curation.histories.statement import cleaned, holds, patch_lines, told_of
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.edits import FORMATS
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.project import backend
from strop_verify.verification.settings import Settings

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from environments import agents

PYPROJECT = '[project]\nname = "sums"\nversion = "1.2"\n'
CORE = "def add(a, b):\n    return a - b\n\n\ndef double(x):\n    return x + x\n"
RIGHT = CORE.replace("a - b", "a + b")
TESTS = "from sums import add, double\n\n\ndef test_double():\n    assert double(2) == 4\n"
ADDS = TESTS + "\n\ndef test_add():\n    assert add(2, 3) == 5\n    assert add(1, 1) == 2\n"
ODD = """import os


def odd(x):
    return x % 2 == 1


def state():
    return os.environ.get("SUMS", "")


"""
ODD_TESTS = """import datetime
import os

from sums import odd, state


def test_odd():
    assert odd(3) and not odd(2)


def test_first():
    assert state() == ""


def test_then():
    os.environ["SUMS"] = "set"
    assert odd(1)


def test_this_year():
    assert odd(1) and datetime.date.today() < datetime.date(YEAR, 1, 1)
"""


TABLE = """import json
from pathlib import Path

import sums


def test_table():
    for name, given, wanted in json.loads((Path(__file__).parent / "table.json").read_text()):
        assert getattr(sums, name)(given) == wanted
"""


def source(**files: str) -> dict[str, bytes]:
    return {path.replace("__", "/"): text.encode() for path, text in files.items()}


def test_an_installation_is_read_from_each_kind_of_file() -> None:
    modern = """[project]
name = "Sums"
dynamic = ["version"]
dependencies = ["attrs>=20; python_version > '3'", "colorama; sys_platform == 'win32'", "sums[extra]"]
optional-dependencies = {tests = ["freezegun", "pytest-cov"], docs = ["docutils2"]}
[dependency-groups]
dev = ["ruff", {include-group = "more"}]
more = ["hypothesis"]
[tool.hatch.build.hooks.vcs]
version-file = "src/sums/_version.py"
"""
    found = installation_of(
        {"pyproject.toml": modern.encode(), "tox.ini": b"[testenv]\ndeps =\n  pytest\n  mock>3\n"}
    )
    assert found.requirements == ("attrs>=20", "freezegun", "hypothesis", "mock>3") and not found.refused
    assert (
        found.written.keys() == {"src/sums/_version.py", "PKG-INFO"}
        and "Name: Sums" in found.written["PKG-INFO"]
    )
    poetry = '[tool.poetry]\nname="a"\nversion="0.3"\n[tool.poetry.dependencies]\npython="^3.9"\n'
    poetry += 'rich="^1.2"\nx={version="~2.1",'
    poetry += 'optional=true}\n[tool.poetry.group.dev.dependencies]\nPyYAML="~6.0.1"\nflask="^0.2"\n'
    assert installation_of({"pyproject.toml": poetry.encode()}).requirements == (
        "flask<0.3,>=0.2", "pyyaml<6.1,>=6.0.1", "rich<2,>=1.2"
    )  # fmt: skip
    setup = "import os\nos.abort()\nNEEDS = ['six']\nsetup(name='b', install_requires=NEEDS, tests_require=lost(), "
    old = installation_of(
        source(**{"setup.py": setup + "extras_require={'test': ['mock']}, python_requires='>=2')"})
    )
    assert old.requirements == ("mock", "six") and old.found == ("setup.py",)
    assert (
        "it needs Python <3" in installation_of({"setup.cfg": b"[options]\npython_requires = <3\n"}).refused
    )
    crate = b'[package]\nname = "a"\n[dependencies]\nserde = "1"\nown = {path = "own"}\n'
    assert "(serde)" in installation_of({"Cargo.toml": crate}).refused
    assert not installation_of({"Cargo.toml": b'[package]\nname = "a"\n'}).refused


BIG = "9" * 5000
HOSTILE = {
    "a number without end": f'[project]\nname = "a"\nx = {BIG}\n',
    "nesting without end": f"x = {'[' * 20_000}\n",
    "a version without end": f'[project]\nname="a"\nversion="1.{BIG}"\n[tool.setuptools_scm]\nversion_file="v.py"\n',
    "a Python without end": f'[project]\nrequires-python = ">={BIG}"\n',
    "bounds without end": f'[tool.poetry]\nname="a"\n[tool.poetry.dependencies]\nsix="^{BIG}"\n',
    "a requirement without end": f'[project]\ndependencies = ["six>={BIG}"]\n',
    "markers that mean nothing": "[project]\ndependencies = [\"six; python_version ~= 'abc'\", \"six; x == '1'\"]\n",
    "groups without end": "[dependency-groups]\n"
    + "\n".join(f"g{n} = [{{include-group = 'g{n + 1}'}}]" for n in range(3000))
    + "\ntest = [{include-group = 'g0'}]\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_of_an_installation_ends_the_reading(name: str) -> None:
    found = installation_of({"pyproject.toml": HOSTILE[name].encode()})
    assert (found.requirements, found.refused) == ((), "")


def test_a_version_file_is_one_line_of_a_containerfile() -> None:
    text = '[project]\nname = "a"\n[tool.setuptools_scm]\nversion_file = "a\\nRUN evil.py"\n'
    assert [*installation_of({"pyproject.toml": text.encode()}).written] == ["PKG-INFO"]


DIFF = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -3 +3,2 @@ def f():
-old
+--- new
+more
@@ -9,2 +10,0 @@
-gone
-gone
diff --git a/tests/x.bin b/tests/x.bin
Binary files a/tests/x.bin and b/tests/x.bin differ
diff --git a/b.py b/c.py
similarity index 90%
rename from b.py
rename to c.py
--- a/b.py
+++ b/c.py
@@ -1 +1 @@
-x
+y
diff --git a/d.py b/d.py
deleted file mode 100644
--- a/d.py
+++ /dev/null
@@ -1 +0,0 @@
-x
"""


def test_new_lines_are_those_after_the_commit() -> None:
    lines, count = new_lines(DIFF)
    assert lines == {"a.py": [(3, 4), (10, 11)], "tests/x.bin": [], "c.py": [(1, 1)], "d.py": [(1, 1)]}
    assert count == {"a.py": 5, "tests/x.bin": 0, "c.py": 2, "d.py": 1}


def test_touched_tests_are_named_as_pytest_does() -> None:
    text = "import x\n\nclass TestA:\n    def setUp(self):\n        pass\n\n"
    text += "    @mark\n    def test_b(self):\n        pass\n\n"
    text += "def helper():\n    pass\n\ndef test_c():\n    pass\n"
    assert touched_tests("t.py", text, [(7, 7)]) == ["t.py::TestA::test_b"]
    assert touched_tests("t.py", text, [(5, 5), (14, 15)]) == ["t.py::TestA", "t.py::test_c"]
    assert touched_tests("t.py", text, [(1, 1), (11, 12)]) == ["t.py"]
    assert touched_tests("t.py", "def (", [(1, 1)]) == []


def test_a_statement_holds_nothing_of_the_patch() -> None:
    said = """Fix sums of two numbers (#12)

They were differences. Fixes #7. See https://example.org/a/b/pull/12
Now `return a + b` does it:

```python
    return  a+b
```
-    result = sum([a, -b])
"""
    assert (
        cleaned(said, {"s.py": CORE}, {"s.py": RIGHT})
        == "Fix sums of two numbers\n\nThey were differences.  See"
    )
    windows = "Mend the sums\r\nof two numbers (#3)\r\n\r\n* [pre-commit.ci] auto fixes\r\n\x1b[1mBold\x07 words\rend"
    assert cleaned(windows, {}, {}) == "Mend the sums\nof two numbers\n\n[1mBold words\nend"
    kept = "Call f() and g(): they take () and [] now, as (x) does (gh-12, #13)."
    assert cleaned(kept, {}, {}).startswith("Call f() and g(): they take") and "gh-12" not in cleaned(
        kept, {}, {}
    )
    with pytest.raises(LeftOut, match="says too little"):
        cleaned("return a + b\n\nFixes #3", {"s.py": CORE}, {"s.py": RIGHT})
    lines = patch_lines({"s.py": "a = 1\n"}, {"s.py": "a = 1\nresult = compute(a)\nelse:\n", "gone.py": None})
    assert holds("it says result = compute( a ) there", lines) and not holds("something else:", lines)


def test_what_a_statement_tells_of_the_patch_is_known() -> None:
    before = {"s.py": "KEYWORDS = {}\n\ndef find_all(text):\n    return re.findall('x', text)\n"}
    after = {"s.py": before["s.py"] + "\nMATERIALIZED = 1\nlast_dot = r'(?!\\d)'\n\ndef fold():\n    pass\n"}
    tells = {
        "Add a ``(?!\\d)`` negative lookahead": ["(?!\\d)"],
        "Add MATERIALIZED to KEYWORDS": ["MATERIALIZED"],
        "find_all() fails; set last_dot and call fold()": ["fold", "last_dot"],
        "Anchor the `text` on 're.findall', don't fold the KEYWORDS": [],
        "Compare case-insensitively": [],
    }
    assert {said: told_of(said, before, after) for said in tells} == tells
    assert told_of("x" * 100_000 + "`" * 100_000, before, after) == []


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A history, and what was built of it."""
    folder = tmp_path_factory.mktemp("histories")
    repo = Made(folder / "sums")
    first: Files = {
        "pyproject.toml": PYPROJECT,
        "sums.py": CORE,
        "tests/test_sums.py": TESTS,
        "notes.md": "x",
    }
    repo.commit("First version of the sums", first)
    sums: Files = {"sums.py": RIGHT, "tests/test_sums.py": ADDS, "notes.md": "y"}
    repo.commit("Add the sum of two numbers, not their difference (#1)\n\nreturn a + b\n", sums)
    repo.commit("Say more in the notes of the sums", {"notes.md": "z"})
    more = ADDS.replace("double(2) == 4", "double(3) == 6")
    twice = RIGHT.replace("x + x", "2 * x")
    repo.commit("Tidy the doubles and test them more", {"sums.py": twice, "tests/test_sums.py": more})
    odd_tests = ODD_TESTS.replace("YEAR", str(datetime.date.today().year + 1))
    repo.commit("Tell odd numbers from even ones", {"sums.py": ODD + twice, "tests/test_odd.py": odd_tests})
    wrong: Files = {
        "sums.py": ODD + twice.replace("2 * x", "x * 2"),
        "tests/test_sums.py": more.replace("1) == 2", "1) == 3"),
    }
    repo.commit("Never pass its own tests, whatever happens", wrong)
    triple = "from sums import double\n\n\ndef test_t():\n    assert double(1) == 3\n"
    worse: Files = {"sums.py": ODD + twice.replace("2 * x", "3 * x"), "tests/test_triple.py": triple}
    repo.commit("Break another test by making doubles triples", worse)
    table: Files = {"tests/test_table.py": TABLE, "tests/table.json": "[]"}
    repo.commit("Test what a table holds", table)
    half: Files = {
        "sums.py": ODD + twice.replace("2 * x", "3 * x") + "\n\ndef half(x):\n    return x // 2\n",
        "tests/table.json": '[["half", 4, 2]]',
        "tests/test_triple.py": triple.replace("== 3", "== 1 + 2"),
    }
    repo.commit("Halve numbers as the table has it", half)
    out = folder / "out"
    done = warm.strop("build", "commits", repo.folder, "-o", out, "--workers", 1)
    assert done.returncode == 0, done.stderr
    return repo.folder, out


def test_a_commit_becomes_a_task_that_its_tests_judge(built: tuple[Path, Path], verifier: Any) -> None:
    tasks = {task.metadata["commit"]: task for task in load_tasks(str(built[1] / "tasks.jsonl.gz"))}
    assert len(tasks) == 3
    task = next(task for task in tasks.values() if "difference" in task.statement)
    check = task.check
    assert isinstance(check, EditCheck) and isinstance(check.judge, ProjectCheck)
    assert check.files == {"sums.py": CORE} and check.oracle == {"sums.py": RIGHT}
    assert check.judge.failing == ["tests/test_sums.py::test_add"]
    assert check.judge.passing == ["tests/test_sums.py::test_double"]
    assert task.statement.startswith(
        "Add the sum of two numbers, not their difference\n\nThe test `tests/test_sums.py::"
    )
    assert "a + b" not in task.statement and "#1" not in task.statement
    assert (
        task.metadata["strength"][0] >= 1 and task.family == "repair" and task.split in ("train", "held-out")
    )
    assert verifier.verify(task, task.reference).passed
    broken = task.model_copy(update={"check": check.judge.model_copy(update={"files": check.files})})
    assert verifier.verify(broken, "unchanged").outcome is Outcome.FAILED


def test_tests_that_order_and_day_decide_are_quarantined(built: tuple[Path, Path]) -> None:
    (task,) = [task for task in load_tasks(str(built[1] / "tasks.jsonl.gz")) if "odd" in task.statement]
    judge = task.check.effective()
    assert isinstance(judge, ProjectCheck)
    assert "tests/test_odd.py::test_odd" in judge.failing
    why = task.metadata["quarantined"]
    assert why.get("tests/test_odd.py::test_first", "order") == "order"  # as the draw has it
    assert why["tests/test_odd.py::test_this_year"] == "day"
    # its file cannot be imported before the commit; others' tests judge all the same
    assert {"tests/test_sums.py::test_double", "tests/test_sums.py::test_add"} <= set(judge.passing)


def test_tests_whose_data_change_judge_too(built: tuple[Path, Path]) -> None:
    (task,) = [task for task in load_tasks(str(built[1] / "tasks.jsonl.gz")) if "table" in task.statement]
    judge = task.check.effective()
    assert isinstance(judge, ProjectCheck)
    assert judge.failing == ["tests/test_table.py::test_table"]
    assert "tests/test_triple.py::test_t" in judge.passing


def test_what_makes_no_task_is_counted_by_reason(built: tuple[Path, Path]) -> None:
    manifest = json.loads((built[1] / "manifest.json").read_text())
    left = Counter(manifest["left_out"])
    assert left == {
        "changes no program": 2, "its tests pass before": 1, "breaks another test": 1, "the first commit": 1,
        "no test fails before and passes after": 1,
    }  # fmt: skip
    assert manifest["tasks"] == 3 and manifest["considered"] == 9 and manifest["snapshot_bytes"] > 0


def test_a_build_resumes_from_its_journal(built: tuple[Path, Path]) -> None:
    repo, out = built
    before = (out / ".journal.jsonl").read_bytes()
    tasks = load_tasks(str(out / "tasks.jsonl.gz"))
    lines = before.splitlines(keepends=True)
    (out / ".journal.jsonl").write_bytes(b"".join(lines[:-2]) + lines[-2][:20])  # as a kill leaves it
    done = warm.strop("build", "commits", repo, "-o", out, "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert (out / ".journal.jsonl").read_bytes() == before
    assert load_tasks(str(out / "tasks.jsonl.gz")) == tasks
    other = warm.strop("build", "commits", repo, "-o", out, "--mutants", 1)
    assert other.returncode == 2 and "was started with other settings" in other.stderr


@pytest.mark.soak(15)
def test_an_interrupted_build_writes_what_it_knows_and_ends_as_interrupted(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    repo, out = built
    command = [sys.executable, "-m", "strop.cli", "build", "commits", str(repo), "-o", str(tmp_path / "out")]
    with subprocess.Popen(
        [*command, "--workers", "1"], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as running:  # fmt: skip
        assert running.stderr is not None
        journal = tmp_path / "out" / ".journal.jsonl"
        told = b""  # a line behind a task's: then that task was taken up
        while running.poll() is None and told.partition(b'"task"')[2].count(b"\n") < 2:
            time.sleep(0.01)
            told = journal.read_bytes() if journal.exists() else b""
        running.send_signal(signal.SIGINT)
        assert "the same command resumes" in running.stderr.read()
        assert running.wait(20) == 130
    written = tmp_path / "out" / "tasks.jsonl.gz"
    assert 0 < len(load_tasks(str(written))) < 3
    done = warm.strop("build", "commits", repo, "-o", tmp_path / "out", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert gzip.decompress(written.read_bytes()) == gzip.decompress((out / "tasks.jsonl.gz").read_bytes())


HOSTILE_TEST = """import os
import socket
import subprocess

from sums import add


def test_add():
    assert add(2, 3) == 5


def test_fork():
    subprocess.run(["touch", "{mark}/forked"])


def test_listen():
    socket.create_server(("127.0.0.1", {port}))


def test_write():
    open("{mark}/written", "w").write("x")
"""


@pytest.mark.soak(25)
def test_a_hostile_project_stays_in_its_folder_and_the_others_go_on(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    mark.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    setup = f"import pathlib\npathlib.Path('{mark}/setup').touch()\nfrom setuptools import setup\nsetup(name='bad')\n"
    conftest = f"import os\nif os.fork() == 0:\n    open('{mark}/conftest', 'w')\n    os._exit(0)\n"
    hostile = HOSTILE_TEST.replace("{mark}", str(mark)).replace("{port}", str(port))
    bad = Made(tmp_path / "bad")
    bad.commit(
        "First version of the bad sums", {"setup.py": setup, "sums.py": CORE, "tests/test_a.py": TESTS}
    )
    bad.commit("Add numbers, with tests that reach out", {"sums.py": RIGHT, "tests/test_a.py": hostile})
    endless: Files = {
        "sums.py": RIGHT.replace("x + x", "2 * x"),
        "tests/test_b.py": "while True:\n    pass\n",
    }
    bad.commit("Double numbers in another way for ever", endless)
    forking: Files = {
        "sums.py": RIGHT.replace("x + x", "3 * x"),
        "tests/conftest.py": conftest,
        "tests/test_c.py": "import sums\n\n\ndef test_c():\n    assert sums.double(1) == 3\n",
    }
    bad.commit("Fork in conftest and triple the numbers", forking)
    good = Made(tmp_path / "good")
    good.commit(
        "First version of the good sums",
        {"pyproject.toml": PYPROJECT, "sums.py": CORE, "tests/test_a.py": TESTS},
    )
    good.commit("Add numbers as they should be", {"sums.py": RIGHT, "tests/test_a.py": ADDS})
    done = warm.strop("build", "commits", bad.folder, good.folder, "-o", tmp_path / "out", "--mutants", 0)
    assert done.returncode == 0, done.stderr
    assert list(mark.iterdir()) == []
    tasks = load_tasks(str(tmp_path / "out/tasks.jsonl.gz"))
    assert "good" in {task.topic for task in tasks}
    for task in tasks:
        judge = task.check.effective()
        assert isinstance(judge, ProjectCheck)
        assert not {"fork", "listen", "write"} & {
            name.rpartition("_")[2] for name in (*judge.failing, *judge.passing)
        }
    assert "its tests do not end" in done.stdout


def network_of(folder: Path) -> dict[str, str]:
    """The environment of a machine whose index has one package of one module."""
    folder.mkdir()
    info = "sumsdep-1.5.dist-info"
    with zipfile.ZipFile(folder / "sumsdep-1.5-py3-none-any.whl", "w") as file:
        file.writestr("sumsdep.py", "FIVE = 5\n")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sumsdep\nVersion: 1.5\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", f"sumsdep.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    index = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(folder),
    }
    return {**os.environ, **index, "UV_OFFLINE": "1"}


@pytest.mark.soak(20)
def test_an_environment_has_its_packages_and_is_made_again_from_its_lock(
    tmp_path: Path, verifier: Any
) -> None:
    network = network_of(tmp_path / "index")
    repo = Made(tmp_path / "sums")
    asks = PYPROJECT + 'dependencies = ["sumsdep==1.2", "nothing-of-this-name"]\n'  # neither is there
    tests = ADDS.replace("\n\ndef test_add", "\n\nimport sumsdep\n\n\ndef test_add").replace(
        "== 5", "== sumsdep.FIVE"
    )
    repo.commit(
        "First version of the sums", {"pyproject.toml": asks, "sums.py": CORE, "tests/test_a.py": TESTS}
    )
    repo.commit("Add the sum of two numbers", {"sums.py": RIGHT, "tests/test_a.py": tests})
    out = tmp_path / "out"
    done = warm.strop(
        "build", "env", repo.folder, "-o", out, "--container", tmp_path / "Containerfile", env=network
    )
    assert done.returncode == 0 and "2 tests pass twice; 1 packages in packages-" in done.stdout, done.stderr
    lock = json.loads((out / "sums.lock.json").read_text())
    assert lock["installed"] == {"sumsdep": "1.5"}
    assert lock["requirements"] == ["nothing-of-this-name", "sumsdep==1.2"]
    assert "sumsdep==1.5" in (tmp_path / "Containerfile").read_text()
    made = warm.strop("build", "commits", repo.folder, "-o", out, "--mutants", 0, env=network)
    assert made.returncode == 0, made.stderr
    again = tmp_path / "again"
    for path in (out / "sums.lock.json", out / f"{lock['packages']}.json"):
        done = warm.strop("build", "env", path, "-o", again, env=network)
        assert done.returncode == 0 and (again / lock["packages"] / "sumsdep.py").is_file(), done.stderr
    for path in (*out.glob("*.project.tar.gz"), out / "tasks.jsonl.gz"):
        path.rename(again / path.name)
    (task,) = load_tasks(str(again / "tasks.jsonl.gz"))
    assert verifier.verify(task, task.reference).passed
    assert "the edit changes tests: sumsdep.py" in shadowing(verifier, task).detail
    (out / lock["packages"]).rename(out / "gone")
    (again / lock["packages"]).rename(again / "gone")
    task = task.model_copy(update={"id": "another"})
    assert "strop build env packages-" in verifier.verify(task, task.reference).detail


def shadowing(verifier: Any, task: Task) -> Any:
    """The verdict on an answer that would be imported in place of a package."""
    check = task.check
    assert isinstance(check, EditCheck)
    after = {path: text for path, text in check.oracle.items() if text is not None}
    answer = FORMATS[check.format].render(check.files, {**check.files, **after, "sumsdep.py": "FIVE = 5\n"})
    return verifier.verify(task, answer)


def test_why_there_is_no_environment_is_one_line(tmp_path: Path) -> None:
    for name, files, why in (
        ("no-tests", {"a.py": "x = 1\n"}, "none of its tests passes here: none was found"),
        (
            "python",
            {"pyproject.toml": PYPROJECT + 'requires-python = ">=4"\n'},
            "it needs Python >=4; this is",
        ),
        ("crates", {"Cargo.toml": '[package]\nname = "a"\n[dependencies]\nserde = "1"\n'}, "cargo vendor"),
        ("fails", {"test_a.py": "import nothing_of_this_name\n"}, "No module named 'nothing_of_this_name'"),
    ):
        repo = Made(tmp_path / name)
        repo.commit("First version of it all", dict(files))
        done = warm.strop("build", "env", repo.folder, "-o", tmp_path / "out")
        error = [line for line in done.stderr.splitlines() if "error" in line]
        code = 1 if "none of its tests" in why or "No module" in why else 2
        assert done.returncode == code and len(error) == 1 and why in error[0], done.stderr
    missing = warm.strop("build", "env", tmp_path / "nowhere", "-o", tmp_path / "out")
    assert missing.returncode == 2 and "nowhere" in missing.stderr


@pytest.mark.soak(12)
def test_an_agent_finds_what_the_rules_do_not(tmp_path: Path) -> None:
    network = network_of(tmp_path / "index")
    repo = Made(tmp_path / "sums")
    tests = (
        "import sumsdep\nfrom sums import made\n\n\ndef test_a():\n    assert made.VERSION == sumsdep.FIVE\n"
    )
    repo.commit("First version of it all", {"sums/__init__.py": "", "tests/test_a.py": tests})
    says = [
        "<run>ls</run>",
        write({"requirements": ["sumsdep"], "files": {"sums/__init__.py": "x = 1\n"}}),
        FINISH,
    ]
    says += [
        write({"requirements": ["sumsdep", "pytest"], "files": {"sums/made.py": "VERSION = 5\n"}}),
        FINISH,
    ]
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps({"task_id": "environment", "answer": text}) + "\n" for text in says))
    command = ["build", "env", repo.folder, "-o", tmp_path / "out", "--with-agent", f"scripted:{script}"]
    done = warm.strop(*command, env=network)
    assert done.returncode == 0 and "1 tests pass twice" in done.stdout, done.stderr
    assert "No module named 'sumsdep'" in done.stderr and "sums/__init__.py already exists" in done.stderr
    lock = json.loads((tmp_path / "out/sums.lock.json").read_text())
    assert lock["requirements"] == ["sumsdep"] and lock["written"] == {"sums/made.py": "VERSION = 5\n"}


FINISH = "<finish></finish>"


def write(said: Any) -> str:
    return f"<write>environment.json @@ {json.dumps(said)}</write>"


def test_the_tasks_are_played_where_tasks_of_projects_are(built: tuple[Path, Path], tmp_path: Path) -> None:
    source = built[1] / "tasks.jsonl.gz"
    tasks = load_tasks(str(source))
    told = agents(tasks, source)
    assert told == {"plays": 3, "expert_solves": 3, "empty_solves": 0, "cheat_solves": 0, "expert_missed": []}
    answers = [
        {"task_id": task.id, "answer": task.reference if number else "?"} for number, task in enumerate(tasks)
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    words = [
        "eval",
        "scripted:answers.jsonl",
        "--tasks",
        source,
        "-o",
        "out.json",
        "-n",
        1,
        "--style",
        "chat",
    ]
    done = warm.strop(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads((tmp_path / "out.json").read_text())["models"].values()
    assert row["pass@1"] == pytest.approx(2 / 3, abs=1e-3)


def test_a_task_is_repaired_as_a_repository(built: tuple[Path, Path], tmp_path: Path) -> None:
    (task,) = [one for one in load_tasks(str(built[1] / "tasks.jsonl.gz")) if "difference" in one.statement]
    judge = task.check.effective()
    assert isinstance(judge, ProjectCheck)
    for path, data in tree_of(task).items():
        (tmp_path / "repo" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / path).write_bytes(data)
    (tmp_path / "issue.md").write_text(task.statement)
    says = {"task_id": "edits", "answer": task.reference}
    (tmp_path / "script.jsonl").write_text(json.dumps(says) + "\n")
    words = [
        "repair",
        tmp_path / "repo",
        "--issue",
        tmp_path / "issue.md",
        "-m",
        f"scripted:{tmp_path}/script.jsonl",
    ]
    done = warm.strop(*words, "--file", "sums.py", "-n", 1, "--reproductions", 0)
    assert done.returncode == 0 and "+    return a + b" in done.stdout, done.stderr


LIB = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"
USES = "use sums::add;\n\n#[test]\nfn zero() {\n    assert_eq!(add(3, 0), 3);\n}\n"


@pytest.mark.needs("cargo")
@pytest.mark.rust(40)
def test_a_commit_of_a_crate_becomes_a_task(tmp_path: Path, verifier: Any) -> None:
    repo = Made(tmp_path / "sums")
    manifest = '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n'
    repo.commit(
        "First version of the crate", {"Cargo.toml": manifest, "src/lib.rs": LIB, "tests/uses.rs": USES}
    )
    more = USES + "\n#[test]\nfn two() {\n    assert_eq!(add(1, 1), 2);\n}\n"
    right: Files = {"src/lib.rs": LIB.replace("a - b", "a + b"), "tests/uses.rs": more}
    repo.commit("Add numbers in place of taking them away", right)
    out = tmp_path / "out"
    env = warm.strop("build", "env", repo.folder, "-o", out)
    assert env.returncode == 0 and "2 tests pass twice" in env.stdout, env.stderr
    done = warm.strop("build", "commits", repo.folder, "-o", out, "--workers", 1)
    assert done.returncode == 0, done.stderr
    (task,) = load_tasks(str(out / "tasks.jsonl.gz"))
    judge = task.check.effective()
    assert isinstance(judge, ProjectCheck) and task.language == "rust"
    assert (judge.failing, judge.passing) == (["uses::two"], ["uses::zero"])
    assert verifier.verify(task, task.reference).passed


def test_histories_that_cannot_be_read_are_one_line_and_the_others_go_on(tmp_path: Path) -> None:
    made = {}
    for name in ("evil", "good"):
        repo = made[name] = Made(tmp_path / name)
        first: Files = {"pyproject.toml": PYPROJECT, "sums.py": CORE, "tests/test_a.py": TESTS}
        repo.commit("First version of the sums", first)
        repo.commit("Add numbers as they should be", {"sums.py": RIGHT, "tests/test_a.py": ADDS})
    evil = made["evil"]
    blob = evil.git("hash-object", "-w", "sums.py")
    lines = [f"100644 blob {blob}\tabove.py", f"{evil.git('ls-tree', 'HEAD')}\n040000 tree {{}}\t.."]
    tree = ""
    for line in lines:  # a tree with a file above its folder
        text = line.replace("{}", tree) + "\n"
        done = subprocess.run(["git", "mktree"], cwd=evil.folder, input=text, capture_output=True, text=True)
        tree = done.stdout.strip()
    commit = evil.git("commit-tree", tree, "-p", "HEAD~1", "-m", "Add numbers as they should be")
    evil.git("update-ref", "refs/heads/main", commit)
    Made(tmp_path / "empty")
    odd = os.fsencode(tmp_path / "good/tests") + b"/test_\xe9.py"  # no UTF-8
    Path(os.fsdecode(odd)).write_text(ADDS)
    made["good"].commit("Add them once more and test it well", {"sums.py": RIGHT.replace("x + x", "2 * x")})
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{made['good'].folder}", tmp_path / "shallow"],
        check=True,
    )
    for name, cause in (
        ("evil", f"evil: the tree of {commit[:12]} cannot be read"),
        ("empty", "empty: it has no commit"),
        ("shallow", "complete it: git fetch --unshallow"),
    ):
        done = warm.strop("build", "env", tmp_path / name, "-o", tmp_path / "envs")
        assert done.returncode == 2 and cause in done.stderr.splitlines()[-1], done.stderr
        assert "Traceback" not in done.stderr and "strop-histories" not in done.stderr
    both = ("build", "commits", evil.folder, made["good"].folder)
    done = warm.strop(*both, "-o", tmp_path / "out", "--mutants", 0)
    assert done.returncode == 0 and "a tree that git does not read" in done.stdout, done.stderr
    assert [task.topic for task in load_tasks(str(tmp_path / "out/tasks.jsonl.gz"))] == ["good"]


def test_a_project_whose_tests_are_never_found_ends_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "COLLECT_CPU", 1.0)
    tree = {"conftest.py": b"while True:\n    pass\n", "test_a.py": b"def test_a():\n    pass\n"}
    settings = Settings(limits=Limits(cpu_seconds=0.5, wall_seconds=20.0))
    with closing(backend.open_backend("python", tree, settings, 1.0)) as opened:
        run = opened.run()
    assert run.endless and run.results == {} and run.cpu_seconds < 5


def test_packages_that_break_pytest_are_seen_by_the_tests_alone(tmp_path: Path) -> None:
    """As py 1.5, for which old projects ask: Python 3.11 cannot import it, and pytest imports py."""
    for name in ("py", "pluggy"):
        (tmp_path / f"{name}.py").write_text("raise AttributeError('__spec__')\n")
    (tmp_path / "dep.py").write_text("FIVE = 5\n")
    tree = {"test_a.py": b"from dep import FIVE\n\n\ndef test_a():\n    assert FIVE == 5\n"}
    settings = Settings(packages=str(tmp_path))
    with closing(backend.open_backend("python", tree, settings, 1.0)) as opened:
        run = opened.run()
    assert [result.outcome for result in run.results.values()] == ["passed"]
