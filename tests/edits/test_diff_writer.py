"""The diffs that rewards compare, beside those of git itself."""

import subprocess
from pathlib import Path

import pytest
from tests.rewards.edit_pairs import real_pairs

from strop_verify.edits.diff_writer import write_diff


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        env={
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        },
    )
    return done.stdout.decode()


def gits(folder: Path, before: dict[str, str], after: dict[str, str]) -> str:
    """What `git diff` says of two trees."""
    for tree in (before, after):
        for old in folder.glob("[!.]*"):
            old.unlink()
        for path, text in tree.items():
            (folder / path).write_bytes(text.encode())
        if tree is before:
            git(folder, "add", "-A")
            name = git(folder, "write-tree").strip()
    git(folder, "add", "-A")
    return git(folder, "diff", "--cached", name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", ".")
    return tmp_path


FUNCTIONS = "def f():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    e = 5\n    return a\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a.py": FUNCTIONS}, {"a.py": FUNCTIONS.replace("e = 5", "e = 6")}),
        ({"a.py": "x\n"}, {"a.py": "x"}),
        ({"a.py": "x\r\ny\n"}, {"a.py": "x\ny\n"}),
        ({"a.py": "x\n"}, {"a.py": "x\n", "b.py": "y\n"}),
        ({"a.py": "x\n", "b.py": ""}, {"a.py": "x\n"}),
        ({"a.py": "x\n"}, {"a.py": "x\n", "e.py": ""}),
        ({"a.py": FUNCTIONS}, {"b.py": FUNCTIONS}),
        ({"a b.py": "x\n"}, {"a b.py": "y\n"}),
    ],
)
def test_the_same_as_git(folder: Path, before: dict[str, str], after: dict[str, str]) -> None:
    assert write_diff(before, after, full=True) == gits(folder, before, after)


@pytest.mark.needs("data")
def test_nearly_always_the_same_as_git_on_real_changes(folder: Path) -> None:
    """Where several smallest diffs exist, git may choose another one."""
    pairs = [(before, after) for before, after in real_pairs()[-60:] if before != after]
    same = sum(
        write_diff({"a.py": a}, {"a.py": b}, full=True) == gits(folder, {"a.py": a}, {"a.py": b})
        for a, b in pairs
    )
    assert same >= 0.8 * len(pairs)
