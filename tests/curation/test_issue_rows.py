"""Rows of SWE-bench and SWE-smith that the project's tests judge here: `strop build commits --repositories`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import warm
from tests.curation.test_histories import ADDS, CORE, PYPROJECT, RIGHT, TESTS
from tests.curation.test_retrieval import Made

from strop.tasks import load_tasks
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.verdict import Outcome

ISSUE = "The sum of two numbers is their difference\n\nadd(2, 3) gives -1, and I expected 5."


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.soak(15)
def test_rows_are_judged_or_said_why_not(tmp_path: Path, verifier: Any) -> None:
    repo = Made(tmp_path / "clones" / "someone__sums")
    repo.commit("First version", {"pyproject.toml": PYPROJECT, "sums.py": CORE, "tests/test_sums.py": TESTS})
    repo.commit("Mend it", {"sums.py": RIGHT, "tests/test_sums.py": ADDS})
    folder = repo.folder
    base, head = git(folder, "rev-parse", "HEAD~1", "HEAD").split()
    patch, test_patch = (git(folder, "diff", base, head, "--", path) for path in ("sums.py", "tests"))
    row = {
        "repo": "someone/sums", "instance_id": "someone__sums-1", "base_commit": base, "patch": patch,
        "test_patch": test_patch, "problem_statement": ISSUE, "hints_text": "", "created_at": "2024-03-01T10:00:00Z",
        "version": "1", "FAIL_TO_PASS": '["tests/test_sums.py::test_add"]',
        "PASS_TO_PASS": '["tests/test_sums.py::test_double"]', "environment_setup_commit": base,
    }  # fmt: skip
    nothing = git(folder, "diff", base, head, "--", "tests").replace("test_add", "test_none")
    rows = [
        row,
        {**row, "instance_id": "torn", "patch": patch.replace("a - b", "a ~ b")},
        {**row, "instance_id": "early", "base_commit": "1" * 40},
        {**row, "instance_id": "elsewhere", "repo": "nobody/nothing"},
        {**row, "instance_id": "no-proof", "patch": patch.replace("+    return a + b", "+    return a * b"),
         "test_patch": nothing, "FAIL_TO_PASS": '["tests/test_sums.py::test_none"]'},
    ]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    words = [
        "build",
        "commits",
        "swe-bench:rows.jsonl",
        "--repositories",
        "clones",
        "--workers",
        1,
        "-o",
        "out",
    ]
    done = warm.strop(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name, why in {
        "torn": "its patch or its tests do not apply to its commit",
        "early": "its commit is not in the history of someone/sums",
        "elsewhere": "no clone of nobody/nothing",
        "no-proof": "no test fails before and passes after",
    }.items():
        assert f"not judged: {name}: {why}" in done.stderr
    (task,) = load_tasks(str(tmp_path / "out" / "tasks.jsonl.gz"))
    check = task.check
    assert isinstance(check, EditCheck) and isinstance(check.judge, ProjectCheck)
    assert task.id == task.metadata["instance"] == "someone__sums-1" and task.metadata["commit"] == base
    assert check.files == {"sums.py": CORE} and check.oracle == {"sums.py": RIGHT}
    assert check.judge.failing == ["tests/test_sums.py::test_add"] and "add(2, 3) gives -1" in task.statement
    assert verifier.verify(task, task.reference).passed
    assert verifier.verify(task, "").outcome is Outcome.NO_ANSWER
    before = (tmp_path / "out" / ".journal.jsonl").read_bytes()
    assert warm.strop(*words, cwd=tmp_path).returncode == 0
    assert (
        tmp_path / "out" / ".journal.jsonl"
    ).read_bytes() == before  # the same commits: nothing is tried again


@pytest.mark.soak(10)
def test_a_bug_of_swe_smith_is_judged_by_the_tests_that_notice_it(tmp_path: Path, verifier: Any) -> None:
    repo = Made(tmp_path / "clones" / "sums")
    repo.commit("First version", {"pyproject.toml": PYPROJECT, "sums.py": RIGHT, "tests/test_sums.py": ADDS})
    repo.commit("Bug", {"sums.py": CORE})
    buggy = git(repo.folder, "rev-parse", "HEAD").strip()
    row = {
        "instance_id": "sums.1", "repo": "swesmith/sums", "image_name": "x", "base_commit": buggy,
        "patch": git(repo.folder, "diff", "HEAD~1", "HEAD"), "problem_statement": ISSUE,
        "FAIL_TO_PASS": ["tests/test_sums.py::test_add"], "PASS_TO_PASS": ["tests/test_sums.py::test_double"],
    }  # fmt: skip
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    words = [
        "build",
        "commits",
        "swe-smith:rows.jsonl",
        "--repositories",
        "clones",
        "--workers",
        1,
        "-o",
        "out",
    ]
    done = warm.strop(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (task,) = load_tasks(str(tmp_path / "out" / "tasks.jsonl.gz"))
    assert task.check.effective().only(ProjectCheck).failing == ["tests/test_sums.py::test_add"]
    assert verifier.verify(task, task.reference).passed


def test_rows_without_clones_are_told_how(tmp_path: Path) -> None:
    done = warm.strop("build", "commits", "swe-bench:rows.jsonl", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2 and "for rows, add --repositories" in done.stderr
