"""Issues of repositories: records keep what they need, and a bug's diff is turned round as git does it."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strop.tasks.adapters import ADAPTERS
from strop_tasks.formats.swe import reverse
from strop_verify.core.checks import WorkspaceCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.edits.languages import language_of

NAMES = ("swe-bench", "swe-smith")


def sample(name: str) -> list[dict[str, Any]]:
    return ADAPTERS[name].sample()


def read(name: str, row: dict[str, Any]) -> Task:
    (task,) = ADAPTERS[name].read(row, "x:1")
    return Task.model_validate_json(task.model_dump_json())


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_records(name: str) -> None:
    for row in sample(name):
        for change in ({}, {"difficulty": None, "meta": {"a": [1]}}, {"hints_text": "ü\n"}):
            whole = row | change
            task = read(name, whole)
            assert ADAPTERS[name].fits(whole) and task.metadata["original"].items() >= change.items()
            assert task.family == "swe" and isinstance(task.check, WorkspaceCheck)
            assert task.check.failing == ["tests/test_add.py::test_small"]
        for other in ADAPTERS:
            assert other == name or not ADAPTERS[other].fits(row), other


def test_tests_are_lists_or_json_text_of_lists() -> None:
    bench, gym, _ = sample("swe-bench")
    text, listed = read("swe-bench", bench), read("swe-bench", gym)
    assert isinstance(text.check, WorkspaceCheck) and isinstance(listed.check, WorkspaceCheck)
    assert text.check.passing == ["tests/test_add.py::test_[a-b]", "tests/test_é.py::t"]
    assert listed.check.passing == [] and listed.check.failing == text.check.failing
    odd = {**bench, "FAIL_TO_PASS": '[ "a" ]', "created_at": None, "test_patch": ""}
    assert text.metadata["date"] == "2023-07-19" and "date" not in read("swe-bench", odd).metadata


def test_a_bug_is_taken_out() -> None:
    for row in sample("swe-smith"):
        task = read("swe-smith", row)
        assert task.metadata["bug_patch"] == row["patch"] and task.reference == reverse(row["patch"])
        assert "+    return a + b" in task.reference and "-    return a - b" in task.reference


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("swe-bench", {"FAIL_TO_PASS": "[", "PASS_TO_PASS": "[]"}, "field 'FAIL_TO_PASS': bad JSON"),
        ("swe-bench", {"FAIL_TO_PASS": "[]", "PASS_TO_PASS": None}, "the task has no tests"),
        ("swe-bench", {"PASS_TO_PASS": '{"a": 1}'}, "must hold a list of test ids"),
        ("swe-bench", {"FAIL_TO_PASS": [1]}, "must hold a list of test ids"),
        ("swe-bench", {"repo": 3}, "field 'repo' must hold text"),
        ("swe-smith", {"patch": "hello"}, "not a diff that can be reversed: it has no hunk"),
        (
            "swe-smith",
            {"patch": "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n+b\n"},
            "the number of lines in its header",
        ),
        (
            "swe-smith",
            {"patch": "diff --git a/x b/x\nGIT binary patch\n@@ -1 +1 @@\n"},
            "which cannot be reversed",
        ),
    ],
)
def test_bad_rows_are_one_line(name: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=r"^x:1: .*") as caught:
        read(name, sample(name)[0] | change)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_languages_of_diffs() -> None:
    assert (
        language_of("--- a/x.rs\n+++ b/x.rs\n--- a/y.py\n+++ b/y.py\n--- a/z.rs\n+++ /dev/null\n") == "rust"
    )
    assert language_of("") == "python"


def git(folder: Path, *arguments: str, text: str = "") -> str:
    command = ["git", "-c", "core.autocrlf=false", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        command,
        cwd=folder,
        input=text.encode(),
        capture_output=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


_ODD = ["e\ff", "g\v", "\x1ch\x1d\x1ei", "\x85", "j\u2028k\u2029", "l\r", "\rm"]
"""Lines that hold what ends a line elsewhere, but not for git."""
_LINE = st.sampled_from(["a", "b", "-- c", "++ d", "@@ -1 +1 @@", "", " ", *_ODD])
_TEXT = st.lists(_LINE, max_size=7).map("\n".join)
_FILE = st.one_of(_TEXT, _TEXT.map(lambda text: text + "\n"))
_TREE = st.dictionaries(st.sampled_from(["one.py", "two.py", "sub/three.py"]), _FILE)


@pytest.mark.needs("git")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_TREE, _TREE)
def test_reversed_diffs_are_gits(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, str], new: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("repository")
    for number, tree in enumerate((old, new)):
        root = folder / str(number)
        root.mkdir()
        for name, content in tree.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(content, newline="")
    git(folder, "init", "-q")
    trees = []
    for number in ("0", "1"):
        git(folder, f"--work-tree={folder / number}", "add", "-A", ".")
        trees.append(git(folder, "write-tree").strip())
    forth = git(folder, "diff", "--find-renames", *trees)
    if "@@ -" not in forth:
        return
    back = reverse(forth)
    assert reverse(back) == forth
    git(folder, "read-tree", trees[1])
    git(folder, "apply", "--cached", "-", text=back)
    assert git(folder, "write-tree").strip() == trees[0]
