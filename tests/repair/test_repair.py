"""Whole repairs of a small project with a scripted policy; the tests run in the jail."""

import contextlib
import hashlib
import json
import os
import subprocess

import pytest
from tests import warm

from strop.policies.scripted import ScriptedPolicy
from strop.repair.asking import Asker
from strop.repair.pipeline import repair
from strop.repair.plan import RepairPlan
from strop.repair.testing import ProjectTests
from strop_verify.verification.config import SandboxConfig

from .conftest import BREAKS, ISSUE, NEEDLESS, OLD, RIGHT, RIGHT_TOO, block

pytest.importorskip("pytest")

REPRODUCES = """```python
from shop.totals import total


def test_ten_percent():
    assert total([100], discount=10) == 90
```"""
WRONG_TEST = """```python
def test_never():
    assert False
```"""
PASSES_BEFORE = """```python
from shop.totals import total


def test_sum():
    assert total([1, 2]) == 3
```"""
UNREADABLE = [
    "I think it is fine.",
    "### ../../etc/passwd\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE",
    "\x1b[2J" * 1000,
]


class Watch:
    def __init__(self):
        self.lines = []

    def say(self, line):
        self.lines.append(line)

    @contextlib.contextmanager
    def progress(self, label, total):
        yield lambda: None


def digest(folder):
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def play(repository, edits, *, tests=(PASSES_BEFORE,), files="shop/totals.py", project=None, **plan):
    answers = {"files": [files], "lines": ["function: total"], "edits": edits, "tests": list(tests)}

    def policy_of(stage, ids):
        return _say(answers[stage])

    settings = {"samples": len(edits), "locating": 1, "reproductions": len(tests), **plan}
    asker = Asker(ScriptedPolicy({}), seed=0, policy_of=policy_of)
    watch = Watch()
    report = repair(repository, ISSUE, asker, RepairPlan(**settings), watch=watch, tests=project)
    return report, watch.lines


def _say(answers):
    turns = iter(range(10**6))
    return ScriptedPolicy(lambda ids, seed, asked: answers[next(turns) % len(answers)])


@pytest.fixture
def project(folder):
    made = ProjectTests(folder, "python", SandboxConfig(workers=1))
    yield made
    made.close()


def test_regression_tests_decide_against_the_majority(repository, project):
    report, lines = play(repository, [*UNREADABLE, BREAKS, BREAKS, BREAKS, RIGHT], project=project)
    assert report.decided_by == "regression tests"
    assert "/ 100" in report.diff
    assert report.regression == [f"tests/test_totals.py::test_{n}" for n in ("total", "mean", "label")]
    assert [e.broken for e in report.edits] == [[], report.regression[:2]]
    assert "edits: 4 of 7 samples apply, 2 different edits (2 no-edit, 1 bad-path)" in lines


def test_reproduction_tests_decide_where_regression_tests_do_not(repository, folder, project):
    before = digest(folder)
    report, lines = play(
        repository, [NEEDLESS, NEEDLESS, NEEDLESS, RIGHT], tests=[REPRODUCES, WRONG_TEST, PASSES_BEFORE, "?"],
        project=project,
    )  # fmt: skip
    assert report.decided_by == "reproduction tests"
    assert "/ 100" in report.diff
    assert [(e.samples, e.score, len(e.reproduced)) for e in report.edits] == [([3], 1, 1), ([0, 1, 2], 0, 0)]
    assert "reproduction: 2 of 3 different test files fail before" in lines
    assert len(report.reproduction) == 2
    assert digest(folder) == before


def test_the_majority_decides_where_no_test_does(repository, project):
    report, _ = play(repository, [NEEDLESS, RIGHT, RIGHT_TOO], tests=[WRONG_TEST], project=project)
    assert report.decided_by == "majority" and report.edits[0].samples == [1, 2]
    assert [(s.rule, s.left) for s in report.steps] == [
        ("regression tests", 2), ("reproduction tests", 2), ("majority", 1),
    ]  # fmt: skip


def test_without_tests_the_majority_decides_and_that_is_said(repository):
    report, _ = play(repository, [BREAKS, RIGHT, BREAKS], project=None)
    assert report.edits[0].samples == [0, 2]
    assert report.notes == ["no tests are run; the majority decides"]


def test_a_repository_without_passing_tests_says_so(folder):
    from strop.repair.repository import read_repository

    (folder / "tests/test_totals.py").write_text("def test_no():\n    assert False\n")
    made = ProjectTests(folder, "python", SandboxConfig(workers=1))
    try:
        report, _ = play(read_repository(folder), [NEEDLESS, RIGHT], tests=[REPRODUCES], project=made)
    finally:
        made.close()
    assert report.decided_by == "reproduction tests" and "/ 100" in report.diff
    assert report.regression == [] and report.edits[0].broken is None
    assert any(
        n.startswith("not checking for regressions: the project has no test that passes")
        for n in report.notes
    )


def test_a_smaller_edit_wins_among_equals(repository):
    longer = block("shop/totals.py", OLD, "    part = discount / 100\n    return amount - amount * part")
    report, _ = play(repository, [longer, RIGHT], project=None)
    assert report.decided_by == "smaller edit" and report.edits[0].samples == [1]


def test_files_fall_back_on_words_and_that_is_said(repository):
    report, _ = play(repository, [RIGHT], files="somewhere/else.py", project=None)
    assert report.files[0].path == "shop/totals.py" and report.files[0].by == "lexical"
    assert any("names no file" in note for note in report.notes)
    assert report.decided_by == "the only edit"


def test_lines_are_localised_where_files_do_not_fit(repository, folder):
    from strop.repair.repository import read_repository

    path = folder / "shop/totals.py"
    path.write_text(
        path.read_text() + "\n\n" + "\n\n".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(2000))
    )
    report, lines = play(read_repository(folder), [RIGHT], project=None)
    spans = report.lines["shop/totals.py"]
    assert spans == [(1, 19)]  # total is 4 to 9
    assert "/ 100" in report.diff and any(line.startswith("lines: shop/totals.py 1-19") for line in lines)


@pytest.mark.soak(15)
def test_hostile_edits_and_tests_break_nothing(repository, project):
    exits = block("shop/totals.py", OLD, "    import os\n    os._exit(0)")
    hangs = block("shop/totals.py", OLD, "    while True: pass")
    kills = "```python\nimport os\n\n\ndef test_kill():\n    os.kill(os.getppid(), 9)\n    os._exit(1)\n```"
    report, _ = play(repository, [exits, hangs, hangs, RIGHT], tests=[kills, REPRODUCES], project=project)
    assert "/ 100" in report.diff and report.decided_by == "regression tests"


def test_a_deleted_file_is_deleted_in_the_tests_too(repository, project):
    gone = "### shop/names.py (deleted)\n"
    report, _ = play(repository, [gone, gone, RIGHT], project=project)
    assert "/ 100" in report.diff
    assert report.edits[1].broken == report.regression


def test_the_same_seed_gives_the_same_report(repository, project):
    reports = [
        play(repository, [NEEDLESS, RIGHT, BREAKS], tests=[REPRODUCES], project=project)[0] for _ in range(2)
    ]
    assert reports[0] == reports[1]


# The command


@pytest.fixture
def answers(tmp_path):
    def write(**stages):
        file = tmp_path / "answers.jsonl"
        lines = [{"task_id": stage, "answer": a} for stage, given in stages.items() for a in given]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return file

    return write


def run(tmp_path, folder, *arguments, issue=ISSUE):
    (tmp_path / "issue.md").write_text(issue)
    return warm.strop_bytes("repair", folder, "--issue", "issue.md", *arguments, cwd=tmp_path)


def applied(folder, diff):
    """The diff through git apply, in a copy."""
    import shutil

    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(copy.parent)}
    subprocess.run(["git", "apply", "-"], input=diff, cwd=copy, check=True, env=environment)
    return copy


def test_the_command_prints_a_diff_that_git_applies(tmp_path, folder, answers):
    script = answers(
        files=["shop/totals.py"], edits=[*UNREADABLE, NEEDLESS, NEEDLESS, RIGHT], tests=[REPRODUCES]
    )
    done = run(
        tmp_path, folder, "-m", f"scripted:{script}", "-n", "6", "--json", "out.json", "--reproductions", "1"
    )
    assert done.returncode == 0, done.stderr.decode()
    copy = applied(folder, done.stdout)
    assert "discount / 100" in (copy / "shop/totals.py").read_text()
    told = done.stderr.decode()
    for stage in ("files:", "lines:", "edits:", "regression:", "reproduction:", "rerank:", "chosen:"):
        assert stage in told
    assert "\x1b" not in told
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["decided_by"] == "reproduction tests" and len(report["samples"]) == 6
    assert report["edits"][0]["diff"] == done.stdout.decode()


def test_odd_files_survive_to_the_letter(tmp_path, folder, answers):
    odd = folder / "shop/odd näme.py"
    odd.write_bytes("\ufeffX = 'é'\r\nY = '\u2028'\r\nZ = 3".encode())
    edit = block("shop/odd näme.py", "Z = 3", "Z = 4\nW = 'ü'")
    edit = edit.replace("### shop/odd näme.py", '### "shop/odd näme.py"')
    script = answers(files=["shop/odd näme.py"], edits=[edit])
    done = run(tmp_path, folder, "-m", f"scripted:{script}", "-n", "1", "--no-tests", "-o", "out.diff")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b""
    copy = applied(folder, (tmp_path / "out.diff").read_bytes())
    assert (
        (copy / "shop/odd näme.py").read_bytes().startswith("\ufeffX = 'é'\r\nY = '\u2028'\r\nZ = 4".encode())
    )


def test_nothing_applies(tmp_path, folder, answers):
    script = answers(files=["shop/totals.py"], edits=UNREADABLE)
    done = run(tmp_path, folder, "-m", f"scripted:{script}", "-n", "3", "--json", "out.json")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().splitlines()[-1].startswith("error: none of the 3 sampled edits applies")
    assert json.loads((tmp_path / "out.json").read_text())["edits"] == []


@pytest.mark.parametrize(
    ("arguments", "issue", "said"),
    [
        (["-m", "scripted:none.jsonl"], ISSUE, "no such file of answers"),
        ([], ISSUE, "--model is missing"),
        (["-m", "scripted:answers.jsonl"], " \n", "is empty"),
        (["-m", "scripted:answers.jsonl", "--issue", "no.md"], ISSUE, "cannot read the issue no.md"),
        (["-m", "scripted:answers.jsonl", "--file", "shop/total.py"], ISSUE, "no such text file"),
        (["-m", "scripted:answers.jsonl", "--file", "tests/test_totals.py"], ISSUE, "cannot be edited"),
        (["-m", "scripted:answers.jsonl", "--json", "/dev/null/x.json"], ISSUE, "/dev/null is not a folder"),
    ],
)
def test_mistakes_are_one_line(tmp_path, folder, answers, arguments, issue, said):
    answers(files=["shop/totals.py"], edits=[RIGHT])
    done = run(tmp_path, folder, *arguments, issue=issue)
    assert done.returncode == 2 and done.stdout == b""
    assert said in done.stderr.decode() and len(done.stderr.decode().splitlines()) == 1


def test_no_repository(tmp_path, answers):
    answers(files=["x"], edits=[RIGHT])
    done = run(tmp_path, tmp_path / "none", "-m", "scripted:answers.jsonl")
    assert done.returncode == 2 and b"no such folder" in done.stderr
    (tmp_path / "empty").mkdir()
    done = run(tmp_path, tmp_path / "empty", "-m", "scripted:answers.jsonl")
    assert done.returncode == 2 and b"no files" in done.stderr


RUST = """
pub fn total(prices: &[i64], discount: i64) -> i64 {
    let amount: i64 = prices.iter().sum();
    amount - amount * discount / 10
}

#[cfg(test)]
mod tests {
    #[test]
    fn sums() {
        assert_eq!(super::total(&[1, 2], 0), 3);
    }
}
"""


@pytest.mark.rust(4)
def test_a_rust_project_is_judged_by_its_tests(tmp_path, answers):
    folder = tmp_path / "crate"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text('[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n')
    (folder / "src/lib.rs").write_text(RUST)
    old = "    amount - amount * discount / 10"
    wrong = block("src/lib.rs", old, "    amount * (100 - discount)")
    script = answers(files=["src/lib.rs"], edits=[wrong, wrong, block("src/lib.rs", old, f"{old}0")])
    done = run(tmp_path, folder, "-m", f"scripted:{script}", "-n", "3", "--locating", "1")
    assert done.returncode == 0, done.stderr.decode()
    assert b"+    amount - amount * discount / 100\n" in done.stdout
    assert b"decided by regression tests" in done.stderr
    assert b"note: reproduction tests are written for Python only" in done.stderr
