"""Exercism's tracks: rows and clones give the same tasks, and test ids are those that pytest collects."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import needs

from strop.tasks.adapters import ADAPTERS
from strop.tasks.prompts import render, solution
from strop.tasks.suite_tests import UnreadableTests, test_ids
from strop_verify.core.checks import PytestCheck, RustCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

TRACKS = ("rust", "python")


def rows(track: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in needs.data(f"exercism-{track}.jsonl").read_text().splitlines()]


def read(track: str, row: dict[str, Any]) -> Task:
    (task,) = ADAPTERS[f"exercism-{track}"].read(row, "x:1")
    return task


def sample(track: str) -> list[dict[str, Any]]:
    return ADAPTERS[f"exercism-{track}"].sample()


@pytest.mark.parametrize("track", TRACKS)
def test_rows_are_tasks(track: str) -> None:
    for row in (*sample(track), *rows(track)):
        task = read(track, row)
        assert ADAPTERS[f"exercism-{track}"].fits(row)
        assert not ADAPTERS[f"exercism-{TRACKS[TRACKS[0] == track]}"].fits(row)
        assert task.reference and task.test_count and task.statement and task.family == "exercise"


def test_python_exercises_are_suites() -> None:
    first, second = (read("python", row) for row in sample("python"))
    assert isinstance(first.check, PytestCheck) and isinstance(second.check, PytestCheck)
    ids = ["two_sums_test.py::TwoSumsTest::test_small", "two_sums_test.py::TwoSumsTest::test_below_zero"]
    assert first.check.path == "two_sums.py" and first.check.tests == second.check.tests == ids
    assert set(second.check.files) == {"two_sums_test.py", "test_utils.py"}
    assert first.metadata["stub"] == "def add(a, b):\n    pass\n"


@pytest.mark.parametrize("track", TRACKS)
def test_an_exercise_is_asked_with_its_stub(track: str) -> None:
    task = read(track, sample(track)[0])
    prompt = render(task, "chat")
    stub = task.metadata.get("stub") or task.signature
    assert (
        stub.strip() in prompt.messages[-1].content and task.statement.strip() in prompt.messages[-1].content
    )
    assert f"```{track}" in prompt.messages[-1].content
    assert prompt.assemble(solution(task, prompt)).strip() == task.reference.strip()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tests": {"a_test.py": "x = 1\n"}}, "no tests: none in a_test.py"),
        ({"tests": {"a_test.py": "def test_a(:\n"}}, "read from their source: a_test.py: SyntaxError"),
        ({"tests": ["a"]}, "field 'tests' must hold an object"),
        ({"tests": {"a_test.py": 3}}, "'a_test.py' must hold text, not int"),
        ({"slug": None}, "field 'slug' must hold text"),
    ],
)
def test_bad_rows_are_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=r"^x:1: .*") as caught:
        read("python", sample("python")[0] | change)
    assert message in str(caught.value) and "\n" not in str(caught.value)


SUITES = {
    "plain_test.py": """
import pytest, unittest
from unittest import TestCase as Base
def test_free(): pass
async def test_waits(): pass
def helper(): pass
class Mixin:
    def test_shared(self): pass
    def test_gone(self): pass
class TestPlain(Mixin):
    test_gone = None
    def test_own(self): pass
    def check(self): pass
class TestWithInit:
    def __init__(self): pass
    def test_never(self): pass
class Cases(Mixin, unittest.TestCase):
    def setUp(self): pass
    def test_b(self): pass
    def test_a(self): pass
    def test_b(self): pass
    def testCamel(self): pass
class More(Cases):
    def test_c(self): pass
class Other:
    def test_not_collected(self): pass
""",
    "test_utils.py": "HELP = 1\n",
}


def collected(folder: Path, files: dict[str, str]) -> set[str]:
    for name, text in files.items():
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    return {line for line in done.stdout.splitlines() if "::" in line}


def test_ids_are_those_that_pytest_collects(tmp_path: Path) -> None:
    found = test_ids(SUITES)
    assert set(found) == collected(tmp_path, SUITES) and len(set(found)) == len(found) == 15


def test_every_method_of_real_suites_is_found() -> None:
    for row in rows("python"):
        found = test_ids(row["tests"])
        written = {
            (path, name)
            for path, text in row["tests"].items()
            for name in re.findall(r"(?<!skip\(\"extra-credit\"\)\n)^ +def (test\w*)", text, re.MULTILINE)
        }
        assert {(name.split("::")[0], name.split("::")[2]) for name in found} == written, row["id"]
        assert len(set(found)) == len(found)


def test_what_cannot_pass_is_left_out() -> None:
    text = """
import unittest, pytest
class A(unittest.TestCase):
    @unittest.skip("extra")
    def test_a(self): pass
    @unittest.expectedFailure
    def test_b(self): pass
    def test_c(self): pass
@pytest.mark.skipif(True, reason="")
class TestB:
    def test_d(self): pass
@pytest.mark.xfail
def test_e(): pass
"""
    assert test_ids({"a_test.py": text}) == ["a_test.py::A::test_c"]
    with pytest.raises(UnreadableTests, match="test_f has parameters"):
        test_ids({"a.py": "import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_f(x): pass\n"})


@pytest.mark.parametrize("track", TRACKS)
def test_a_clone_gives_the_rows(tmp_path: Path, track: str) -> None:
    row = sample(track)[0]
    folder = tmp_path / "exercises" / "practice" / "two-sums"
    files = {key: list(row[field]) for key, field in
             (("solution", "solution_stub"), ("test", "tests"), ("example", "example"))}  # fmt: skip
    everything = {**row["solution_stub"], **row["tests"], **row["example"]}
    everything |= {
        ".docs/instructions.md": "Do.\n",
        ".docs/introduction.md": "Hello.\n",
        "README.md": "# No\n",
    }
    everything[".meta/config.json"] = json.dumps({"files": files, "blurb": "Add."})
    everything["test_utils.py" if track == "python" else "src/more.rs"] = "// help\n"
    for name, text in everything.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    broken = folder.parent / "broken"
    (broken / ".meta").mkdir(parents=True)
    (broken / ".meta" / "config.json").write_text("{")
    reader = ADAPTERS[f"exercism-{track}"].folder
    assert reader is not None
    (_, bad), (where, found) = reader(tmp_path)
    assert where == str(folder) and found["instructions"] == "Hello.\n\n\nDo.\n"
    extra = found["tests"].keys() - row["tests"].keys()
    assert found["id"] == row["id"] and extra == {"test_utils.py" if track == "python" else "src/more.rs"}
    assert {k: found[k] for k in ("solution_stub", "example")} == {
        k: row[k] for k in ("solution_stub", "example")
    }
    with pytest.raises(UserError, match=r"broken.*config\.json"):
        read(track, bad)
    (again,) = (found for _, found in reader(folder))
    assert again == found
    with pytest.raises(UserError, match=r"no exercises: expected a clone of github\.com/exercism/"):
        list(reader(folder / ".meta"))
    with pytest.raises(UserError, match="no such folder"):
        list(reader(tmp_path / "nothing"))


def test_a_clone_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "x" / ".meta").mkdir(parents=True)
    files = {"solution": ["../../secret.py"], "test": [], "example": []}
    (tmp_path / "x" / ".meta" / "config.json").write_text(json.dumps({"files": files}))
    reader = ADAPTERS["exercism-python"].folder
    assert reader is not None
    with pytest.raises(UserError, match="is outside the exercise's folder"):
        read("python", next(reader(tmp_path))[1])


CRATE: dict[str, Any] = {
    "id": "exercism/rust/two-sums", "slug": "two-sums", "instructions": "Add.", "dependencies": ["serde"],
    "solution_stub": {
        "src/lib.rs": "pub mod checks;",
        "Cargo.toml": '[dependencies]\nrand = "0.10"\ntime = { version = "0.3", features = ["macros"] }\n'
        '[dev-dependencies]\npretty_assertions = "*"\n',
    },
    "tests": {
        "tests/two_sums.rs": 'use two_sums::*;\n#[test]\n#[ignore]\nfn a() {}\n'
        '#[test]\n#[ignore = "slow"]\nfn b() {}\n',
        "src/checks.rs": "// checks", "tests/more.rs": "// more",
    },
    "example": {".meta/example.rs": "// done",
                ".meta/Cargo-example.toml": '[dependencies]\nrand = "0.8"\nitertools = "0.14"\n'},
}  # fmt: skip


def test_an_exercise_in_rust_is_integration_tests_with_what_belongs_to_the_package() -> None:
    task = read("rust", CRATE)
    check = task.check.only(RustCheck)
    assert (task.language, task.reference, task.signature) == ("rust", "// done", "pub mod checks;")
    assert (check.crate, check.edition, check.files) == ("two_sums", "2024", {"src/checks.rs": "// checks"})
    assert check.tests == "use two_sums::*;\n#[test]\nfn a() {}\n#[test]\nfn b() {}\n", "none is ignored"
    versions = ['rand = "0.10"', 'time = { version = "0.3", features = ["macros"] }']
    assert check.crates == [*versions, "pretty_assertions", "itertools", "serde"], (
        "the example's in any version"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"solution_stub": {"Cargo.toml": "[dependencies"}}, "x:1: Cargo.toml"),
        ({"tests": {"tests/other.rs": ""}}, "x:1: no test file tests/two_sums.rs, only tests/other.rs"),
    ],
)
def test_bad_crates_are_told_with_their_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read("rust", CRATE | change)
