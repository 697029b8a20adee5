# ruff: noqa: E501
"""The probe: steady tests, lines reached, many variants; and the same for a cargo project."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strop_verify.core.checks import ProjectCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.project import Project, ProjectToolchain, open_project, pack
from strop_verify.verification.settings import Settings

MODULE = """\
STATE = []


def double(x):
    return 2 * x


def halves(items):
    found = []
    for item in items:
        if item % 2 == 0:
            found.append(item // 2)
    return found
"""
TESTS = """
import os
import time
import pytest
import mod

def test_double():
    assert mod.double(3) == 6

def test_halves():
    assert mod.halves([2, 3, 4]) == [1, 2]

def test_depends_on_the_hash_seed():
    assert hash("strop") == KNOWN

def test_fails():
    assert mod.double(1) == 3

def test_loops():
    while True:
        pass

def test_ends_the_process():
    os._exit(0)

def test_after():
    assert mod.halves([]) == []
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("probe")
    (folder / "mod.py").write_text(MODULE)
    known = "0 or os.environ['PYTHONHASHSEED'] == '0' and hash('strop')"
    (folder / "test_mod.py").write_text(TESTS.replace("KNOWN", known))
    with open_project(folder, workers=2, test_seconds=0.5) as made:
        yield made


def test_steady_tests_are_those_that_pass_every_time_in_time(project: Project) -> None:
    assert project.tests() == [f"test_mod.py::test_{n}" for n in ("double", "halves", "after")]
    assert project.sources() == ["mod.py"]


def test_lines_that_each_test_reaches(project: Project) -> None:
    reached = project.coverage()
    assert reached["test_mod.py::test_double"] == {("mod.py", 4), ("mod.py", 5)}
    assert {line for _, line in reached["test_mod.py::test_halves"]} == {8, 9, 10, 11, 12, 13}
    assert {line for _, line in reached["test_mod.py::test_after"]} == {8, 9, 10, 13}


def test_variants_do_not_see_each_other(project: Project) -> None:
    double, halves, after = project.tests()
    wrong = MODULE.replace("2 * x", "3 * x")
    endless = MODULE.replace("    return found", "    while True: pass")
    variants = [
        ({"mod.py": wrong}, None),
        ({}, None),
        ({"mod.py": endless}, [halves, after]),
        ({"mod.py": MODULE}, [double]),
    ]
    begun = [project.submit(*variant) for variant in variants * 2]
    seen = [future.result() for future in begun]
    for number in (0, 4):
        assert {n: r.outcome is Outcome.PASSED for n, r in seen[number].items()} == {
            double: False,
            halves: True,
            after: True,
        }
        assert seen[number][double].message.startswith("AssertionError: assert 9 == 6")
    for number in (1, 3, 5, 7):
        assert all(r.outcome is Outcome.PASSED for r in seen[number].values())
    assert all(r.outcome is Outcome.TIMED_OUT for r in seen[2].values())


def test_a_project_without_tests_says_why(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import nowhere_to_be_found\n")
    with open_project(tmp_path) as made, pytest.raises(UserError, match="nowhere_to_be_found"):
        made.tests()


def test_what_the_installation_of_a_checkout_wrote_is_named_in_one_line(tmp_path: Path) -> None:
    """The file is on disk, but git ignores it; the remedy that is told works."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").write_text("from shop._version import version\n")
    (tmp_path / "shop/_version.py").write_text("version = '1'\n")
    (tmp_path / ".gitignore").write_text("_version.py\n")
    (tmp_path / "test_it.py").write_text("import shop\n\ndef test_one():\n    assert shop.version\n")
    for words in (["init"], ["add", "."]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)
    for asked in (Project.tests, lambda made: made.look(0)):
        with open_project(tmp_path) as made, pytest.raises(UserError) as told:
            asked(made)
        cause, _, remedy = str(told.value).partition("; ")
        assert cause.endswith("here: test_it.py: ModuleNotFoundError: No module named 'shop._version'")
        assert "`git add -f`" in remedy
    subprocess.run(["git", "-C", tmp_path, "add", "-f", "shop/_version.py"], check=True)
    with open_project(tmp_path) as made:
        assert made.tests() == ["test_it.py::test_one"]


def test_nothing_is_left_behind(tmp_path: Path, family: Callable[..., list[int]]) -> None:
    before = set(family("strop_verify.verification.project.runner"))
    (tmp_path / "test_it.py").write_text("def test_one():\n    assert True\n")
    with open_project(tmp_path) as made:
        assert made.tests() == ["test_it.py::test_one"]
    assert set(family("strop_verify.verification.project.runner")) <= before


LIB = """\
pub fn twice(x: i32) -> i32 { 2 * x }

#[cfg(test)]
mod tests {
    #[test]
    fn inner() { assert_eq!(super::twice(4), 8); }
    #[test]
    #[ignore]
    fn never() {}
}
"""
CRATE = {
    "Cargo.toml": '[package]\nname = "small-crate"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": LIB,
    "tests/outer.rs": "#[test]\nfn outer() { assert_eq!(small_crate::twice(1), 2); }\n#[test]\nfn zero() { assert_eq!(small_crate::twice(0), 0); }\n",
}


@pytest.mark.rust
def test_a_crate_with_unit_and_integration_tests(tmp_path: Path) -> None:
    for name, text in CRATE.items():
        (tmp_path / "crate" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "crate" / name).write_text(text)
    inner, outer, zero = "small_crate::tests::inner", "outer::outer", "outer::zero"
    wrong = LIB.replace("2 * x", "3 * x")
    with open_project(tmp_path / "crate") as made:
        assert sorted(made.tests()) == sorted([inner, outer, zero])
        assert made.sources() == ["src/lib.rs"]
        seen = made.run({"src/lib.rs": wrong})
        assert {n: r.outcome is Outcome.PASSED for n, r in seen.items()} == {
            inner: False,
            outer: False,
            zero: True,
        }
        assert "panicked" in seen[outer].message
        seen = made.run({"src/lib.rs": LIB + 'const A: i64 = "\u2028\x85";\n'})  # in cargo's JSON as they are
        assert {result.outcome for result in seen.values()} == {Outcome.FAILED}
    out = tmp_path / "crate.project.tar.gz"
    digest = pack(tmp_path / "crate", out)
    toolchain = ProjectToolchain(Settings(limits=Limits()))
    try:
        said = []
        forged = "pub fn twice(_: i32) -> i32 { std::process::exit(0) }\n" + LIB.partition("\n")[2]
        untested = LIB.replace("super::twice(4), 8", "8, 8")
        for text in (LIB, wrong, forged, untested, "pub fn twice("):
            check = ProjectCheck(
                project=str(out),
                digest=digest,
                files={"src/lib.rs": text},
                failing=[inner, outer],
                passing=[zero],
            )
            said += toolchain.judge([(Task(statement="s", language="rust", check=check), "")])
    finally:
        toolchain.close()
    assert [v.outcome for v in said] == [Outcome.PASSED] + [Outcome.FAILED] * 4
    assert said[3].detail == "the edit changes tests: src/lib.rs"
