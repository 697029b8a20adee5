"""Reading a repository of somebody else's: nothing that its configuration names is ever started."""

import os
import shutil
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from strop_tasks.curation.edits.repository import Repository
from strop_verify.core.errors import UserError
from strop_verify.sandbox.foreign_git import ForeignGit
from strop_verify.sandbox.git import GitError
from strop_verify.verification.project.snapshot import read_project

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


def test_all_layouts_are_read(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = git(clone, "rev-parse", "HEAD")
    git(tmp_path, "clone", "-q", "--bare", str(clone), "bare")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{clone}", "shallow")
    git(clone, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    git(tmp_path, "clone", "-q", "--shared", str(clone), "shared")
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", f"/nowhere:{clone}/.git/objects")
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


SECRET = "another repository's secret"


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A repository of the user's that the foreign one must not reach."""
    folder = tmp_path / "private"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "secret.py").write_text(f"# {SECRET}\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", SECRET)
    return folder


def moved(clone: Path) -> None:
    shutil.rmtree(clone / ".git")


def named(clone: Path, text: str) -> None:
    moved(clone)
    (clone / ".git").write_text(text)


def linked(clone: Path, place: str, target: Path) -> None:
    shutil.rmtree(clone / place)
    (clone / place).symlink_to(target)


def include(clone: Path, private: Path) -> None:
    git(clone, "config", "include.path", str(private / "evil.config"))
    git(clone, "config", f"includeIf.gitdir:{clone}/.path", str(private / "evil.config"))
    (private / "evil.config").write_text("[core]\n\tfsmonitor = touch mark\n\tworktree = /\n")


def ours(clone: Path, path: str, text: str) -> None:
    (clone / ".git" / path).parent.mkdir(parents=True, exist_ok=True)
    (clone / ".git" / path).write_text(text)


def borrows(clone: Path, text: str, more: str = "") -> Path:
    """Names where git looks for further objects; `more`: where it looks from a folder of its own."""
    (clone / ".git/more/info").mkdir(parents=True)
    (clone / ".git/more/info/alternates").write_text(more)
    ours(clone, "objects/info/alternates", text)
    return clone / ".git/objects/info/alternates"


def cyclic(clone: Path) -> None:
    (clone / ".git/refs/heads/up").symlink_to(clone / ".git")


def embedded(clone: Path) -> None:
    git(clone, "init", "-q", "--bare", "inner")
    (clone / "inner/config").write_text("[core]\n\tbare = false\n\tfsmonitor = touch mark\n\tworktree = ..\n")


def fifo(clone: Path) -> None:
    os.mkfifo(clone / ".git/packed-refs")
    os.mkfifo(clone / ".git/refs/heads/pipe")


OUTSIDE = {
    "gitdir elsewhere": lambda c, p: named(c, f"gitdir: {p}/.git\n"),
    "gitdir up and down": lambda c, p: named(c, "gitdir: ../private/.git\n"),
    "gitdir of a link": lambda c, p: (named(c, "gitdir: way\n"), (c / "way").symlink_to(p / ".git")),
    "a linked .git": lambda c, p: (moved(c), (c / ".git").symlink_to(p / ".git")),
    "a linked .git file": lambda c, p: (
        named(c, ""),
        (c / ".git").unlink(),
        (c.parent / "file").write_text(f"gitdir: {p}/.git\n"),
        (c / ".git").symlink_to(c.parent / "file"),
    ),
    "commondir elsewhere": lambda c, p: ours(c, "commondir", f"{p}/.git\n"),
    "commondir up and down": lambda c, p: ours(c, "commondir", "../../private/.git\n"),
    "commondir of nowhere": lambda c, p: ours(c, "commondir", "\0"),
    "linked objects": lambda c, p: linked(c, ".git/objects", p / ".git/objects"),
    "linked refs": lambda c, p: linked(c, ".git/refs", p / ".git/refs"),
    "refs of the whole host": lambda c, p: linked(c, ".git/refs", Path("/")),
    "HEAD elsewhere": lambda c, p: ours(c, "HEAD", "ref: ../../private/.git/HEAD\n"),
    "HEAD of an absolute path": lambda c, p: ours(c, "HEAD", f"ref: {p}/.git/HEAD\n"),
    "HEAD as an option": lambda c, p: ours(c, "HEAD", "ref: --output=mark\n"),
    "linked HEAD": lambda c, p: ((c / ".git/HEAD").unlink(), (c / ".git/HEAD").symlink_to(p / ".git/HEAD")),
    "no HEAD": lambda c, p: ((c / ".git/HEAD").unlink(), os.mkfifo(c / ".git/HEAD")),
    "alternates of the host": lambda c, p: borrows(c, "/dev/zero\n/proc/self/fd\n"),
    "alternates in a private repository": lambda c, p: borrows(c, f"{p}/.git/objects\n"),
    "alternates up and down": lambda c, p: borrows(c, "../../../private/.git/objects"),
    "alternates after a comment": lambda c, p: borrows(c, f"#\n{p}/.git/objects\r\n"),
    "quoted alternates": lambda c, p: borrows(c, f'"{p}/.git/objects"\n'),
    "alternates by a way round": lambda c, p: borrows(c, "../more\n", f"{p}/.git/objects\n"),
    "linked alternates": lambda c, p: (
        (c / "list").write_text(f"{p}/.git/objects\n"),
        (c / ".git/objects/info/alternates").symlink_to(c / "list"),
    ),
    "alternates from a pipe": lambda c, p: os.mkfifo(c / ".git/objects/info/alternates"),
    "alternates without end": lambda c, p: os.truncate(borrows(c, f"{p}/.git/objects\n"), 2**27),
    "linked packs": lambda c, p: linked(c, ".git/objects/pack", p / ".git/objects/pack"),
    "a linked object": lambda c, p: (
        (c / ".git/objects/ff").mkdir(exist_ok=True),
        (c / ".git/objects/ff/x").symlink_to(next((p / ".git/objects").glob("??/*"))),
    ),
    "a pipe among its objects": lambda c, p: os.mkfifo(c / ".git/objects/pack/pack-0.idx"),
}
"""Repositories that are refused: they lead outside, or nowhere."""

READ = {
    "included configuration": include,
    "a file system's own names": lambda c, p: git(c, "config", "core.worktree", "/"),
    "a ref that leads up": lambda c, p: ours(c, "packed-refs", f"{'0' * 40} refs/heads/../../../private\n"),
    "a linked ref": lambda c, p: (c / ".git/refs/heads/x").symlink_to(p / ".git/refs/heads/main"),
    "a folder of refs that holds itself": lambda c, p: cyclic(c),
    "grafts": lambda c, p: ours(c, "info/grafts", f"{git(c, 'rev-parse', 'HEAD')} {'0' * 40}\n"),
    "attributes of its own": lambda c, p: ours(c, "info/attributes", "* filter=x diff=x textconv=x\n"),
    "a mailmap": lambda c, p: git(c, "config", "mailmap.file", str(p / "secret.py")),
    "its own hooks": lambda c, p: ours(c, "hooks/post-index-change", "#!/bin/sh\ntouch mark\n"),
    "unknown extensions": lambda c, p: git(c, "config", "extensions.evil", "true"),
    "refs by a table": lambda c, p: git(c, "config", "extensions.refStorage", "reftable"),
    "a configuration of its work tree": lambda c, p: ours(
        c, "config.worktree", "[core]\n\tfsmonitor = touch mark\n"
    ),
    "a broken configuration": lambda c, p: ours(c, "config", "[core\n"),
    "an endless configuration": lambda c, p: git(c, "config", "include.path", "config"),
    "a submodule by a command": lambda c, p: ours(
        c, "../.gitmodules", '[submodule "x"]\n\turl = ext::touch mark\n\tpath = x\n'
    ),
    "a bare one within": lambda c, p: embedded(c),
    "pipes among its refs": lambda c, p: fifo(c),
    "alternates of itself": lambda c, p: ours(
        c, "objects/info/alternates", "# none\n\n.\n../objects\nmissing\n"
    ),
    "a shallow file of options": lambda c, p: ours(c, "shallow", "--upload-pack=touch mark\n"),
    "a promise": lambda c, p: ours(c, "objects/pack/pack-0.promisor", ""),
}
"""Repositories that are read as if what is odd about them were not there."""


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_repository_that_leads_outside_is_refused(clone: Path, private: Path, name: str) -> None:
    OUTSIDE[name](clone, private)
    began = time.monotonic()
    with pytest.raises((GitError, UserError)):
        Repository(clone).commits(5)
    assert "secret.py" not in read_project(clone) and time.monotonic() - began < 30


@pytest.mark.parametrize("name", READ)
def test_a_hostile_repository_gives_its_own_content_alone(clone: Path, private: Path, name: str) -> None:
    mark = clone.parent / "mark"
    poison(clone, mark)
    mark.unlink(missing_ok=True)
    READ[name](clone, private)
    mark.unlink(missing_ok=True)
    repository = Repository(clone)
    newest, oldest = repository.commits(5)
    assert [newest.message, oldest.message] == ["second", "first"]
    assert repository.texts(newest.id, ["a.py"]) == {"a.py": "A = 2\n"}
    assert read_project(clone)["a.py"] == b"A = 2\n"
    assert not mark.exists() and not list(clone.rglob("mark"))


def test_a_clone_that_shares_objects_is_read_once_it_is_whole(clone: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(clone), "shared")
    shared = tmp_path / "shared"
    with pytest.raises(UserError, match="git repack -a -d"):
        Repository(shared).commits(5)
    git(shared, "repack", "-a", "-d", "-q")
    (shared / ".git/objects/info/alternates").unlink()
    shutil.rmtree(clone)
    assert [found.message for found in Repository(shared).commits(5)] == ["second", "first"]


def test_objects_borrowed_within_the_repository_are_read(clone: Path) -> None:
    (clone / ".git/objects").rename(clone / ".git/more")
    (clone / ".git/objects/pack").mkdir(parents=True)
    ours(clone, "objects/info/alternates", "../more\n")
    assert len(Repository(clone).commits(5)) == 2


def test_git_has_bounded_memory(clone: Path) -> None:
    limits = ForeignGit(clone)("-c", "alias.limits=!cat /proc/self/limits", "limits")
    row = next(line for line in limits.splitlines() if line.startswith("Max address space"))
    assert row.split()[3:5] == [str(2**32)] * 2
    name = git(clone, "rev-parse", "HEAD:a.py")
    path = clone / f".git/objects/{name[:2]}/{name[2:]}"
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"tree 5000000000\0" + bytes(99)))
    with pytest.raises(GitError, match="memory"):
        ForeignGit(clone)("cat-file", "-p", name)


def test_a_replaced_commit_is_not_what_its_id_says(clone: Path) -> None:
    head, before = git(clone, "rev-parse", "HEAD", "HEAD~1").split()
    git(clone, "replace", "HEAD", "HEAD~1")
    assert Repository(clone).texts(head, ["a.py"]) == {"a.py": "A = 2\n"} and before != head


def test_a_submodule_is_read_where_it_lies(clone: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "outer")
    git(tmp_path / "outer", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(clone), "inner")
    assert len(Repository(tmp_path / "outer/inner").commits(5)) == 2


@pytest.mark.parametrize("path", [".git/config", ".GIT/config", "b/.git/x"])
def test_an_index_cannot_name_the_repository_itself(clone: Path, path: str) -> None:
    if not (clone / path).exists():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text("[core]\n")
    plain = "x" * len(path)
    blob = git(clone, "hash-object", "-w", "a.py")
    git(clone, "update-index", "--add", "--cacheinfo", f"100644,{blob},{plain}")
    index = clone / ".git/index"
    data = index.read_bytes().replace(plain.encode(), path.encode())
    index.write_bytes(data[:-20] + bytes(20))
    assert path not in read_project(clone)


def test_trees_that_name_themselves_ten_thousand_times_end(clone: Path) -> None:
    blob = git(clone, "rev-parse", "HEAD:a.py")
    kind = "100644 blob"
    for _ in range(10):  # ten levels of ten entries each: 10^10 files
        rows = "".join(f"{kind} {blob}\tf{number}\n" for number in range(10))
        made = subprocess.run(
            ["git", "mktree"], cwd=clone, input=rows, capture_output=True, text=True, check=True
        )
        blob, kind = made.stdout.strip(), "040000 tree"
    git(clone, "reset", "-q", "--soft", git(clone, "commit-tree", blob, "-m", "bomb"))
    began = time.monotonic()
    with pytest.raises(GitError):
        ForeignGit(clone)("ls-tree", "-r", "HEAD", seconds=3)
    assert time.monotonic() - began < 20
