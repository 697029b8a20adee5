"""Reading a repository of somebody else's: nothing that its configuration names is ever started."""

import os
import subprocess
from pathlib import Path

import pytest

from strop.config.foreign_git import ForeignGit
from strop.config.git import GitError
from strop.curation.edits.repository import Repository
from strop.verification.project.snapshot import read_project

WHO = {f"GIT_{role}_{part}": "a@b" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: str, check: bool = True, seconds: float = 30) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **WHO, "GIT_CONFIG_GLOBAL": "/dev/null"},
        capture_output=True,
        text=True,
        check=check,
        timeout=seconds,
    )
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Two commits of two files, one of them with attributes that ask for every kind of driver."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_text("A = 1\n")
    (folder / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "a.py").write_text("A = 2\n")
    git(folder, "commit", "-q", "-a", "-m", "second")
    return folder


def poison(folder: Path, mark: Path) -> None:
    """Names a program at every place of the configuration that can; it leaves a mark."""
    program = folder.parent / "evil"
    program.write_text(f"#!/bin/sh\necho $0 $@ >> {mark}\nexit 1\n")
    program.chmod(0o755)
    for name in (
        "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy",
        "core.alternateRefsCommand", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean",
        "filter.evil.smudge", "filter.evil.process", "gpg.program", "credential.helper", "uploadpack.packObjectsHook",
        "pager.log", "pager.diff-tree", "merge.evil.driver", "trailer.sign.command",
    ):  # fmt: skip
        git(folder, "config", name, str(program))
    for name, value in {
        "remote.evil.url": f"ext::{program} %S",
        "remote.evil.promisor": "true",
        "extensions.partialClone": "evil",
        "core.repositoryFormatVersion": "1",
        "protocol.ext.allow": "always",
        "protocol.allow": "always",
        "log.showSignature": "true",
        "core.hooksPath": str(folder.parent / "hooks"),
        "alias.diff-tree": f"!{program}",
        "diff.mnemonicPrefix": "true",
        "core.quotePath": "false",
    }.items():
        git(folder, "config", name, value)
    hooks = folder.parent / "hooks"
    hooks.mkdir()
    for hook in ("post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (hooks / hook).symlink_to(program)


def lose(folder: Path, path: str) -> None:
    """Takes away the newest blob of a path, as a partial clone has none."""
    name = git(folder, "rev-parse", f"HEAD:{path}")
    (folder / ".git/objects" / name[:2] / name[2:]).unlink()


def test_a_poisoned_repository_runs_nothing(clone: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    poison(clone, mark)
    repository = Repository(clone)
    newest, oldest = repository.commits(5)
    assert [newest.message, oldest.message] == ["second", "first"]
    assert [change.path for change in repository.changes(newest)] == ["a.py"]
    assert repository.texts(newest.id, ["a.py"]) == {"a.py": "A = 2\n"}
    assert read_project(clone)["a.py"] == b"A = 2\n"
    assert not mark.exists()


def test_a_missing_object_is_no_reason_to_call_anybody(clone: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    poison(clone, mark)
    lose(clone, "a.py")
    with pytest.raises(GitError):
        ForeignGit(clone)("cat-file", "-p", "HEAD:a.py")
    with pytest.raises(Exception, match="git cannot read it"):
        Repository(clone).texts(git(clone, "rev-parse", "HEAD"), ["a.py"])
    assert not mark.exists() or "rev-parse" in mark.read_text()
    mark.unlink(missing_ok=True)
    git(clone, "cat-file", "-p", "HEAD:a.py", check=False)  # git itself does what the repository says
    assert mark.exists()


def test_no_transport_is_allowed(clone: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    poison(clone, mark)
    with pytest.raises(GitError):
        ForeignGit(clone)("fetch", f"ext::{tmp_path}/evil %S")
    with pytest.raises(GitError):
        ForeignGit(clone)("fetch", str(clone))
    assert not mark.exists()


def test_all_layouts_are_read(clone: Path, tmp_path: Path) -> None:
    head = git(clone, "rev-parse", "HEAD")
    git(tmp_path, "clone", "-q", "--bare", str(clone), "bare")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{clone}", "shallow")
    git(clone, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    git(tmp_path, "clone", "-q", "--shared", str(clone), "shared")
    for name, commits in {"bare": 2, "shallow": 1, "linked": 2, "shared": 2, "clone": 2}.items():
        repository = Repository(tmp_path / name)
        assert [repository.commits(9)[0].id, len(repository.commits(9))] == [head, commits], name
    git(clone, "pack-refs", "--all")
    assert ForeignGit(clone)("rev-parse", "main", "other").split() == [head, head]


def test_longer_ids_are_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "long")
    (tmp_path / "long/a.py").write_text("A = 1\n")
    git(tmp_path / "long", "add", ".")
    git(tmp_path / "long", "commit", "-q", "-m", "first")
    assert len(Repository(tmp_path / "long").commits(1)[0].id) == 64


@pytest.mark.parametrize("name", ["../outside", "link/passwd", "/etc/passwd"])
def test_an_index_cannot_name_files_outside(clone: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "outside").write_text("secret")
    (clone / "link").symlink_to("/etc")
    blob = git(clone, "hash-object", "-w", "a.py")
    plain = "x" * len(name)
    git(clone, "update-index", "--add", "--cacheinfo", f"100644,{blob},{plain}")
    index = clone / ".git/index"
    data = index.read_bytes().replace(plain.encode(), name.encode())
    index.write_bytes(data[:-20] + bytes(20))  # a checksum of zeros is not looked at
    files = read_project(clone)
    assert "a.py" in files and not {n for n in files if n.endswith(("outside", "passwd"))}
