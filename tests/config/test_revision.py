"""The revision names the commit and whether it is what ran."""

import subprocess
from pathlib import Path

import pytest

from strop.config.revision import revision


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_outside_a_checkout_there_is_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert revision(tmp_path)["git"] is None


def test_a_change_makes_it_dirty(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    state = revision(tmp_path)["git"]
    assert len(state["commit"]) == 40
    assert state["dirty"] is False
    (tmp_path / "a").write_text("2")
    assert revision(tmp_path)["git"]["dirty"] is True


def test_without_git_there_is_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert revision()["git"] is None


def test_versions_are_listed() -> None:
    found = revision()
    assert found["packages"]["pydantic"].count(".") >= 1
    assert found["strop"]
