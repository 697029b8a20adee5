import json
import signal
import subprocess
import sys

import pytest
from tests import warm

from strop.tasks import load_tasks
from strop_tasks.curation.bugs import LAYOUT
from strop_tasks.curation.bugs.issue import project_issue, same_message
from strop_tasks.curation.bugs.project_bugs import Factory, ProjectPlace, split_of
from strop_tasks.curation.bugs.targets import Targets, judges
from strop_tasks.curation.commands.bugs import _until_stopped
from strop_tasks.curation.engine.tally import Tally
from strop_tasks.curation.faults.draw import both_changes, rust_faults, rust_functions
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.verdict import Outcome
from strop_verify.edits import FORMATS
from strop_verify.verification.project import open_project, pack
from strop_verify.verification.project.runs import TestReach

PRICES = '''"""Prices."""


def total(prices, tax=0):
    """The sum with tax."""
    found = 0
    for price in prices:
        if price < 0:
            continue
        found += price
    return found + found * tax // 100


def unused(x):
    return x + 1
'''
TESTS = """from shop import total

def test_total():
    assert total([1, 2, -3]) == 3

def test_tax():
    assert total([100, 100], tax=10) == 220
"""
RUST = """pub fn above(x: i32) -> bool {
    x > 10
}

#[cfg(test)]
mod tests {
    #[test]
    fn it() {
        assert!(super::above(11 + 1));
    }
}
"""


def made(folder, files, verifier, *counts):
    """The bugs of a project of these files."""
    for path, text in {"pyproject.toml": '[project]\nname = "p"\nversion = "1"\n', **files}.items():
        (folder / "p" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "p" / path).write_text(text)
    archive, tally = folder / "p.tar.gz", Tally(LAYOUT)
    place = ProjectPlace("p", str(archive), str(archive), pack(folder / "p", archive))
    with open_project(archive, workers=1, test_seconds=2.0) as project:
        found = Targets(project, 0, (1, 1), tally)
        return list(Factory(project, place, found, verifier, tally).tasks(*counts)), tally


def test_bugs_of_a_project_fail_and_their_repairs_pass(tmp_path, verifier):
    tasks, tally = made(tmp_path, {"shop.py": PRICES, "tests/test_shop.py": TESTS}, verifier, 3)
    assert tally.originals == 1, "`unused` is reached by no test"
    assert len(tasks) == 3 == tally.tasks
    for task in tasks:
        check = task.check
        assert isinstance(check, EditCheck) and isinstance(check.judge, ProjectCheck)
        assert check.oracle == {"shop.py": PRICES} and check.judge.failing and "unused(x)" in PRICES
        judged_by = {*check.judge.failing, *check.judge.passing}
        assert judged_by == {"tests/test_shop.py::test_tax", "tests/test_shop.py::test_total"}
        assert verifier.verify(task, task.reference).passed
        broken = task.model_copy(update={"check": check.judge.model_copy(update={"files": check.files})})
        verdict = verifier.verify(broken, "unrepaired")
        failing = [t.id for t in verdict.tests if t.outcome is not Outcome.PASSED]
        assert verdict.outcome is Outcome.FAILED and failing == check.judge.failing
        assert "`total` (shop.py)" in task.statement and check.judge.failing[0] in task.statement
        assert task.split == split_of(PRICES)


PAIR = '''"""Two things."""


def half(number):
    """Half of it."""
    return number // 2


def shout(word):
    """In capitals, with a mark."""
    return word.upper() + "!"
'''
TESTS_OF_PAIR = """from pair import half, shout
import pytest

@pytest.mark.parametrize("number, wanted", [(4, 2), (9, 4), (2, 1)])
def test_half(number, wanted):
    assert half(number) == wanted

@pytest.mark.parametrize("word, wanted", [("a", "A!"), ("bc", "BC!"), ("", "!")])
def test_shout(word, wanted):
    assert shout(word) == wanted
"""


def test_two_bugs_in_one_file_are_repaired_together_or_not_at_all(tmp_path, verifier):
    files = {"pair.py": PAIR, "tests/test_pair.py": TESTS_OF_PAIR}
    (*single, pair), tally = made(tmp_path, files, verifier, 4, 1)
    assert len(single) == 4 and tally.tasks == 5
    assert len(pair.metadata["bug"]) == 2 and pair.metadata["original"].startswith("pair.py:")
    assert {"half", "shout"} == {*pair.metadata["original"].partition(":")[2].split("+")}
    wrong = dict(pair.check.files)["pair.py"]
    texts = [(one, other) for one in single for other in single if one is not other]
    (halves, *_) = [
        both for both in texts if both_changes(PAIR, *(t.check.files["pair.py"] for t in both)) == wrong
    ]
    halves = sorted(halves, key=lambda task: pair.statement.index(task.statement))
    assert pair.statement == "\n\n".join(task.statement for task in halves)
    assert verifier.verify(pair, pair.reference).passed
    assert dict(pair.check.oracle) == {"pair.py": PAIR}
    for task in halves:  # what is left when the other one alone is repaired
        left = FORMATS[pair.check.format].render({"pair.py": wrong}, task.check.files)
        verdict = verifier.verify(pair, left)
        assert verdict.outcome is Outcome.FAILED
        assert {test.id for test in verdict.tests if test.outcome is not Outcome.PASSED} & {
            *task.check.judge.failing
        }
    assert {*halves[0].check.judge.failing, *halves[1].check.judge.failing} == {*pair.check.judge.failing}


def test_faults_of_rust_leave_tests_alone():
    functions = rust_functions(RUST)
    assert [(f.name, f.first) for f in functions] == [("above", 1)]
    made = list(rust_faults(RUST, functions[0], seed=0, key="x"))
    assert "x >= 10" in "".join(fault.text for fault in made)
    after = RUST[RUST.index("#[cfg") :]
    assert all(fault.text.endswith(after) and fault.lines == (2, 2) for fault in made)


def test_the_issue_names_the_function_and_a_test_and_no_addresses():
    said = project_issue("f", "a.py", ["t::a", "t::b", "t::c"], "AssertionError: <object at 0x7f44166a28e0>")
    assert "`f` (a.py)" in said and "`t::a` fails" in said and "2 other tests fail too." in said
    assert "0x7f44166a28e0" not in said and "t::b" not in said
    assert "0x7F44" not in project_issue("f", "a.py", ["t::a"], "<object at 0x7F44166A28E0>")


def test_a_message_is_told_as_far_as_two_runs_agree():
    assert same_message("ValueError: <a at 0x7f44166a28e0>", "ValueError: <a at 0x7F00166A28E0>").endswith(
        "0x...>"
    )
    assert same_message("E: in all\n{1, 2}", "E: in all\n{2, 1}") == "E: in all"
    assert same_message("KeyError: a", "KeyError: b") == "KeyError"
    assert same_message("KeyError: a", "TypeError: b") == ""


def test_judges_are_few_calls_first_and_many_functions():
    reached = {
        name: TestReach(frozenset(), calls, False)
        for name, calls in {"t::a[1]": 5, "t::a[2]": 6, "t::b": 9, "t::c": 3_000_000, "t::d[x]": 7}.items()
    }
    assert judges(set(reached), reached) == ["t::a[1]", "t::d[x]", "t::b", "t::a[2]"]


MANY = """import time

import pytest

from many.sums import add, slow, twice, waits

@pytest.mark.parametrize("n", range({count}))
def test_add(n):
    assert add(n, {part}) == n + {part}

@pytest.mark.parametrize("n", range({count}))
def test_twice(n):
    assert twice(n) == 2 * n

def test_other():
    assert twice(1) + twice(2) == 6

def test_waits():
    began = time.perf_counter()
    waits()
    assert time.perf_counter() - began < 60

def test_by_lot():
    assert twice(3) == 6 and hash("many") == {drawn}
"""
SUMS = """import time

def add(a, b):
    return a + b

def twice(x):
    total = add(x, 0)
    return total + x

def waits():
    time.sleep(0.001)
    return add(1, 2)

def slow(x):
    return x
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A project of more than 800 tests in ten files."""
    folder = tmp_path_factory.mktemp("many") / "many"
    said = "[project]\nname = 'many'\nversion = '1'\n"
    files = {"pyproject.toml": said, "many/__init__.py": "", "many/sums.py": SUMS,
             "examples/shown.py": "def shown():\n    return 1\n", "many/large.py": "x = 1\n" * 20_000}  # fmt: skip
    say = [sys.executable, "-c", "print(hash('many'))"]
    drawn = subprocess.run(
        say, env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True
    ).stdout.strip()
    for part in range(10):
        files[f"tests/test_{part}.py"] = MANY.format(count=40, part=part, drawn=drawn)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.mark.soak(15)
def test_what_tests_reach_is_found_in_parts_and_told(many):
    told = []
    with open_project(many, workers=2, test_seconds=2.0) as project:
        assert project.look(0, told.append) and project.looked < len(project.collected) == 830
        while project.look(0, told.append):
            pass
        reached, calls = project.reached, {}
        assert len(reached) == 830 == project.looked
        for name, reach in reached.items():
            assert reach.clock == name.endswith("test_waits")
            lines = {line for path, line in reach.code if path == "many/sums.py"}
            assert (6 in lines) == any(word in name for word in ("test_twice", "test_other", "lot")), name
            calls.setdefault(name.partition("::")[2].partition("[")[0], set()).add(reach.calls)
        assert all(len(counts) == 1 for counts in calls.values()), calls
        names = [
            f"tests/test_{part}.py::{name}"
            for part in range(10)
            for name in ("test_other", "test_waits", "test_by_lot")
        ]
        steady = project.steady(names, told.append)
        assert {n for n in steady if n.endswith("other")} == {n for n in names if n.endswith("other")}
        assert not any(n.endswith(("waits", "lot")) for n in steady)
    assert told[0] == "collecting tests" and any("of 830 tests done" in text for text in told)


@pytest.mark.soak(60)
def test_a_large_project_gives_the_same_tasks_twice(many, tmp_path):
    lines = []
    for name in ("one", "two"):
        words = ["-o", f"{name}.jsonl", "--count", 4, "--workers", 2]
        done = warm.strop("build", "bugs", many, *words, cwd=tmp_path)
        out, err = done.stdout, done.stderr
        assert done.returncode == 0, (out, err)
        told = err.splitlines()
        assert (
            told[0].startswith("copying ") and "collecting tests" in told[1] and "what tests reach" in told[2]
        )
        assert "tests that judge a task: median " in out and "1 files of examples" in out
        assert "1 files of more than 60000 characters" in out
        tasks = load_tasks(str(tmp_path / f"{name}.jsonl"))
        for task in tasks:
            judging = [*task.check.judge.failing, *task.check.judge.passing]
            assert len(judging) >= 3 and not any("waits" in test for test in judging)
            assert task.check.judge.project == str(tmp_path / f"{name}.project.tar.gz")
        lines.append((tmp_path / f"{name}.jsonl").read_text().replace(f"{name}.project", "a.project"))
        assert str(tmp_path) not in lines[-1]
        assert json.loads((tmp_path / f"{name}.jsonl.manifest.json").read_text())["tests_a_task"]["few"] == 0
    assert lines[0] == lines[1]


def test_the_issue_of_a_crate_has_no_numbers_of_threads():
    message = (
        "thread 'low' (241) panicked at tests/outer.rs:3:5:\nleft: 7\nnote: run with `RUST_BACKTRACE=1` ..."
    )
    said = project_issue("f", "a.rs", ["t::a"], message)
    assert said.endswith("fails:\n\n    thread 'low' panicked at tests/outer.rs:3:5:\n    left: 7")


def test_an_interrupt_after_a_task_was_made_and_before_it_is_written(capsys):
    def tasks(*made):
        yield from made
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    try:
        assert list(_until_stopped(tasks(1, 2))) == [1, 2]
        assert "the 2 tasks so far are written" in capsys.readouterr().err
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(KeyboardInterrupt):
        list(_until_stopped(tasks()))
