from strop.code.mutate.rust.draw import rust_faults, rust_functions
from strop.core.checks import EditCheck, ProjectCheck
from strop.core.verdict import Outcome
from strop.curation.bugs import LAYOUT
from strop.curation.bugs.from_project import Factory, ProjectPlace, split_of
from strop.curation.bugs.issue import project_issue
from strop.curation.bugs.targets import targets
from strop.curation.engine.tally import Tally
from strop.verification.project import open_project, pack

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


def test_bugs_of_a_project_fail_and_their_repairs_pass(tmp_path, verifier):
    (tmp_path / "p/tests").mkdir(parents=True)
    (tmp_path / "p/pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
    (tmp_path / "p/shop.py").write_text(PRICES)
    (tmp_path / "p/tests/test_shop.py").write_text(TESTS)
    archive = tmp_path / "p.tar.gz"
    place = ProjectPlace("p", str(archive), str(archive), pack(tmp_path / "p", archive))
    tally = Tally(LAYOUT)
    with open_project(archive, workers=1, test_seconds=2.0) as project:
        found = targets(project, seed=0, at_once=(1, 1), max_file_chars=None)
        assert [target.name for target in found] == ["total"]
        assert found[0].tests == ["tests/test_shop.py::test_tax", "tests/test_shop.py::test_total"]
        tasks = list(Factory(project, place, found, verifier, tally).tasks(3))
        assert len(tasks) == 3 == tally.tasks
        for task in tasks:
            check = task.check
            assert isinstance(check, EditCheck) and isinstance(check.judge, ProjectCheck)
            assert check.oracle == {"shop.py": PRICES} and check.judge.failing and "unused(x)" in PRICES
            assert {*check.judge.failing, *check.judge.passing} == set(found[0].tests)
            assert verifier.verify(task, task.reference).passed
            broken = task.model_copy(update={"check": check.judge.model_copy(update={"files": check.files})})
            verdict = verifier.verify(broken, "unrepaired")
            failing = [t.id for t in verdict.tests if t.outcome is not Outcome.PASSED]
            assert verdict.outcome is Outcome.FAILED and failing == check.judge.failing
            assert "`total` (shop.py)" in task.statement and check.judge.failing[0] in task.statement
            assert task.split == split_of(PRICES)


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


def test_the_issue_of_a_crate_has_no_numbers_of_threads():
    message = (
        "thread 'low' (241) panicked at tests/outer.rs:3:5:\nleft: 7\nnote: run with `RUST_BACKTRACE=1` ..."
    )
    said = project_issue("f", "a.rs", ["t::a"], message)
    assert said.endswith("fails:\n\n    thread 'low' panicked at tests/outer.rs:3:5:\n    left: 7")
