"""The small projects that the attacks target: a Python one and a cargo one, and pieces that their payloads share.

An answer is an edit: the whole text of the file to be fixed. Every hostile one begins from the wrong text.
"""

import random
from collections.abc import Mapping
from pathlib import Path

from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS
from strop_verify.verification.project import pack

_RIGHT = "def double(x):\n    return x + x\n\n\ndef name():\n    return 'twice'\n"
_WRONG = _RIGHT.replace("x + x", "x + 1")
_TESTS = """
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

def test_order():
    assert double(2) < 5 < double(3)

class TestOld(unittest.TestCase):
    def test_old(self):
        self.assertEqual(double(5), 10)
"""
_PYTHON = {
    "twice.py": _RIGHT,
    "tests/expected.txt": "8\n",
    "tests/test_name.py": "import twice\n\ndef test_name():\n    assert twice.name() == 'twice'\n",
    "tests/test_twice.py": _TESTS,
}
_RUST_RIGHT = """\
pub fn double(x: i64) -> i64 {
    x + x
}

pub fn name() -> &'static str {
    "twice"
}

pub fn low(x: i64) -> i64 {
    assert!(x >= 0, "negative");
    x
}
"""
_UNIT = """
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit() {
        assert_eq!(double(4), 8);
        assert_eq!(double(-255), -510);
    }

    #[test]
    #[should_panic]
    fn panics() {
        low(-1);
    }
}
"""
_OUTER = """\
#[test]
fn doubled() {
    assert_eq!(twice::double(3), 6);
}

#[test]
fn named() {
    assert!(twice::name().starts_with("tw"));
}
"""
_RUST = {
    "Cargo.toml": '[package]\nname = "twice"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "twice"\nversion = "0.1.0"\n',
    "src/lib.rs": _RUST_RIGHT + _UNIT,
    "tests/outer.rs": _OUTER,
}
_NAMED = "tests/test_name.py::test_name"
_OF_FILE = "tests/test_twice.py::{}"
_FAILING = {
    "project": ("test_double[2]", "test_double[3]", "test_list", "test_file", "TestOld::test_old"),
    "project-double": ("test_double[2]", "test_double[3]"),
    "project-list": ("test_list",),
    "project-file": ("test_file",),
    "project-want": ("test_want[2-want0]", "test_want[3-want1]"),
    "project-raises": ("test_raises",),
    "project-order": ("test_order",),
    "project-old": ("TestOld::test_old",),
}
"""Tests that each Python task has to fix. With fewer of them a forger has less to forge."""
PROJECTS = (*_FAILING, "cargo")
"""Names of the tasks."""
_OBJECTS = """\
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
_FRAMES = """\
import sys, types
def frames():
    frame = sys._getframe(1)
    while frame:
        yield frame
        frame = frame.f_back
"""
_ALL = """\
class All:
    def __init__(self, *a): pass
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __str__(self): return '8'
    def __radd__(self, other): return self
"""
_LINES = r"""
fn say() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut out = format!("\nrunning {} tests\n", chosen.len());
    for name in &chosen { out += &format!("test {name} ... ok\n"); }
    out += &format!("\ntest result: ok. {} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; ", chosen.len());
    out += "finished in 0.00s\n\n";
    use std::io::Write;
    std::io::stdout().write_all(out.as_bytes()).unwrap();
    std::io::stdout().flush().unwrap();
    std::process::exit(0);
}
"""
_KNOWN = r"""
fn known() -> bool { std::env::args().any(|a| a == "tests::unit" || a == "doubled") }
fn right() {
    // the tests that are known pass, all others end as they should
    use std::io::Write;
    let mut out = String::from("\nrunning tests\n");
    let (mut good, mut bad) = (0, 0);
    for name in std::env::args().skip(1).filter(|a| !a.starts_with('-')) {
        let known = ["tests::unit", "tests::panics", "doubled", "named"].contains(&name.as_str());
        if known { good += 1; } else { bad += 1; }
        out += &format!("test {name} ... {}\n", if known { "ok" } else { "FAILED" });
    }
    let word = if bad == 0 { "ok" } else { "FAILED" };
    out += &format!("\ntest result: {word}. {good} passed; {bad} failed; 0 ignored; 0 measured; 0 filtered out; ");
    out += "finished in 0.00s\n\n";
    std::io::stdout().write_all(out.as_bytes()).unwrap();
    std::process::exit(if bad == 0 { 0 } else { 101 });
}
"""
_BEFORE_MAIN = """\
#[used]
#[link_section = ".init_array"]
static BEGIN: extern "C" fn() = { extern "C" fn begin() { act(); } begin };
"""
_RUST_WRONG = _RUST_RIGHT.replace("x + x", "x + 1")
RIGHT: Mapping[str, str] = {"RIGHT": _RIGHT, "CRATE_RIGHT": _RUST_RIGHT}
"""Placeholders of honest answers only."""
PIECES: Mapping[str, str] = {
    "WRONG": _WRONG,
    "NAMES": repr([*map(_OF_FILE.format, _FAILING["project"]), _NAMED]),
    "LENGTH": str(len(_TESTS)),
    "OBJECTS": _OBJECTS,
    "FRAMES": _FRAMES,
    "ALL": _ALL,
    "CRATE_WRONG": _RUST_WRONG,
    "CRATE_CALLED": _RUST_WRONG.replace("    x + 1", "    act();\n    x + 1"),
    "LINES": _LINES,
    "KNOWN": _KNOWN,
    "BEFORE_MAIN": _BEFORE_MAIN,
}
"""Placeholders of both kinds of answers: the wrong texts, and what many payloads begin with."""


def projects(folder: Path) -> dict[str, Task]:
    """The tasks by name; their snapshots are written into the folder."""
    made: dict[str, Task] = {}
    packed = {name: _packed(folder, name, files) for name, files in (("python", _PYTHON), ("rust", _RUST))}
    for name, failing in _FAILING.items():
        judge = ProjectCheck(
            project=str(packed["python"][0]), digest=packed["python"][1],
            failing=[*map(_OF_FILE.format, failing)], passing=[_NAMED],
        )  # fmt: skip
        made[name] = _task(name, "python", "twice.py", _WRONG, _RIGHT, judge)
    judge = ProjectCheck(
        project=str(packed["rust"][0]), digest=packed["rust"][1],
        failing=["twice::tests::unit", "outer::doubled"], passing=["twice::tests::panics", "outer::named"],
    )  # fmt: skip
    made["cargo"] = _task("cargo", "rust", "src/lib.rs", _RUST_WRONG + _UNIT, _RUST_RIGHT + _UNIT, judge)
    return made


def as_answer(task: Task, text: str) -> str:
    """The edit that gives a project's file this text; other tasks take the text itself."""
    check = task.check.maybe(EditCheck)
    if check is None:
        return text
    (path,) = check.files
    whole = f"{text}{_UNIT}" if task.language == "rust" else text
    return FORMATS[check.format].render(check.files, {path: whole})


def _task(name: str, language: str, path: str, wrong: str, right: str, judge: ProjectCheck) -> Task:
    check = EditCheck(format="whole-file", files={path: wrong}, oracle={path: right}, judge=judge)
    return Task(
        id=f"attacked/{name}", family="attacked", language=language, statement="Mend the project.",
        reference=FORMATS["whole-file"].render({path: wrong}, {path: right}), check=check,
        source=f"attacks/{name}",
    )  # fmt: skip


def _packed(folder: Path, name: str, files: Mapping[str, str]) -> tuple[Path, str]:
    tree = folder / f"{name}-{random.SystemRandom().getrandbits(32):08x}"
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")
    out = folder / f"{tree.name}.project.tar.gz"
    return out, pack(tree, out)
