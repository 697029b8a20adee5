"""A local git repository as data: its commits, and the exact texts of its files at each. Nothing is checked out.

The repository is not trusted: its configuration is not read (`strop_verify.sandbox.foreign_git`), and its attributes
do not change what is read. `gather` copies several histories into one bare repository; git shares and packs the
objects, so thousands of commits take little more space than the histories.
"""

import re
import shutil
import tarfile
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from strop_verify.core.errors import UserError
from strop_verify.core.snapshots import Files
from strop_verify.core.text import plain_text
from strop_verify.sandbox.foreign_git import ForeignGit
from strop_verify.sandbox.git import Git, GitError
from strop_verify.verification.project.snapshot import unpack

SECONDS, COPY_SECONDS = 600.0, 1800.0  # time limits of one git command, and of copying a history
_REGULAR = ("100644", "100755", "100664")
_AT_ONCE = 100  # files or commits per git command, to bound the length of its command line


class Commit(NamedTuple):
    """A commit with at most one parent, and its message."""

    id: str
    parent: str
    """"" for the first one."""
    author: str
    """`NAME <MAIL>`."""
    date: str
    """Commit date, YYYY-MM-DD."""
    message: str


class CommitFile(NamedTuple):
    """A file that a commit changes."""

    status: str
    """git's letter: A added, M modified, D deleted, R renamed, T another kind of file, ..."""
    path: str
    regular: bool
    """Whether it is a plain file, not a link or submodule, wherever it exists."""


class Repository:
    """Reads a clone, bare or not. Raises UserError for other folders and for git's errors."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise UserError(f"no such folder: {folder}")
        try:
            self._git = ForeignGit(folder)
        except GitError as error:
            around = next((p for p in folder.resolve().parents if (p / ".git").exists()), None)
            hint = f", only part of {around}; name the repository's own folder" if around else ""
            raise UserError(f"{folder}: git cannot read it: {error}{hint}") from error
        self._empty = self._call("hash-object", "-t", "tree", "/dev/null")

    def resolve(self, name: str) -> str:
        """The id of a commit; "" if neither a revision nor a remote branch has that name."""
        for spelt in (name, f"refs/remotes/origin/{name}"):
            try:
                commit = f"{spelt}^{{commit}}"
                return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", commit)
            except GitError:
                continue
        return ""

    def date(self, commit: str) -> str:
        """When it was committed, YYYY-MM-DD."""
        return self._call("show", "--no-patch", "--format=%cs", commit).strip()

    def commits(self, newest: int, start: str = "HEAD") -> list[Commit]:
        """The last `newest` commits without merges, newest first."""
        if not self.resolve(start):
            raise UserError(f"{self.folder}: no commit {start!r}")
        text = self._call(
            "log", "-z", "--format=%H%n%P%n%an <%ae>%n%cs%n%B", "--no-merges", "--encoding=UTF-8",
            "--no-show-signature", f"--max-count={newest}", start, "--",
        )  # fmt: skip
        return [_commit(record) for record in text.split("\0") if record.strip()]

    def merges(self, newest: int, start: str = "HEAD") -> int:
        """How many merges the history has, counted up to `newest`."""
        return int(self._call("rev-list", "--count", "--merges", f"--max-count={newest}", start, "--"))

    def changes(self, commit: Commit) -> list[CommitFile]:
        """The files that a commit changes, with renames detected."""
        before = commit.parent or self._empty
        words = self._call("diff-tree", "-r", "-z", "--raw", "-M", "--no-ext-diff", before, commit.id, "--")
        return list(_changes(words.split("\0")))

    def diffs(self, commits: Sequence[Commit], around: int = 0) -> Iterator[tuple[Commit, str]]:
        """Each commit with its diff: `around` lines of context, renames detected, invalid UTF-8 replaced."""
        for at in range(0, len(commits), _AT_ONCE):
            some = commits[at : at + _AT_ONCE]
            ids = [commit.id for commit in some]
            text = self._call(
                "log", "--no-walk=unsorted", "--format=%x00%H", "-p", f"-U{around}", "-M", "--no-ext-diff",
                "--no-textconv", "--no-color", "--no-show-signature", "--src-prefix=a/", "--dst-prefix=b/", *ids, "--",
            )  # fmt: skip
            # no diff line begins with NUL
            parts = re.split(r"(?m)^\0([0-9a-f]{40,64})$", text)
            found = dict(zip(parts[1::2], parts[2::2], strict=True))
            yield from ((commit, found[commit.id]) for commit in some)

    def paths(self, commit: str) -> dict[str, int]:
        """Path to size in bytes of every plain file at a commit."""
        found = {}
        for entry in self._call("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split("\0"):
            described, _, path = entry.partition("\t")
            words = described.split()
            if len(words) == 4 and words[0] in _REGULAR and words[3].isdecimal():
                found[path] = int(words[3])
        return found

    def files(self, commit: str) -> Files:
        """Path to content of every plain file at a commit. Raises VerificationError if too many or too large."""
        with tempfile.TemporaryDirectory(prefix="strop-git-") as folder:
            out = Path(folder) / "tree.tar"
            self._call("archive", "--format=tar", f"--output={out}", commit)
            return unpack(out)

    def texts(self, commit: str, paths: Collection[str]) -> dict[str, str]:
        """The texts of files at a commit, without missing files and files that are not UTF-8 text."""
        wanted = sorted(paths)
        found: dict[str, str] = {}
        for at in range(0, len(wanted), _AT_ONCE):
            found |= self._texts(commit, wanted[at : at + _AT_ONCE])
        return found

    def _texts(self, commit: str, paths: Sequence[str]) -> dict[str, str]:
        listed = self._call("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths)
        found: dict[str, str] = {}
        if not (asked := {*paths} & {entry.partition("\t")[2] for entry in listed.split("\0")}):
            return found
        with tempfile.TemporaryDirectory(prefix="strop-git-") as folder:
            out = Path(folder) / "files.tar"
            self._call(
                "--literal-pathspecs", "archive", "--format=tar", f"--output={out}", commit, "--", *asked
            )
            with tarfile.open(out) as tar:
                for one in tar:
                    content = tar.extractfile(one) if one.isfile() else None
                    with suppress(UnicodeDecodeError):
                        text = content.read().decode() if content is not None else "\0"
                        found |= {one.name: text} if "\0" not in text else {}
        return found

    def _call(self, *arguments: str) -> str:
        try:
            return self._git(*arguments, seconds=SECONDS)
        except GitError as error:
            raise UserError(f"{self.folder}: git cannot read it: {error}") from error


def _commit(record: str) -> Commit:
    head = record.lstrip("\n").split("\n", 4)
    name, parents, author, date, message = [*head, *[""] * (5 - len(head))]
    return Commit(name, parents.split(" ")[0], author, date, plain_text(message).strip())


def _changes(words: Sequence[str]) -> Iterator[CommitFile]:
    """`words`: `:MODE MODE ID ID STATUS`, path (and a second path for renamed and copied files), and so on."""
    at = 0
    while at + 1 < len(words):
        described = words[at].split()
        if len(described) != 5:
            return
        status = described[4][:1]
        modes = {described[0].removeprefix(":"), described[1]} - {"000000"}
        at += 3 if status in "RC" else 2
        yield CommitFile(status, words[at - 1], modes <= set(_REGULAR))


class SourceHistory(NamedTuple):
    """A source's history in the gathered repository."""

    name: str
    """The source's name, without its folder and ending."""
    ref: str


def gather(sources: Sequence[str], store: Path) -> list[SourceHistory]:
    """Copies the histories of git folders and bundles into a new bare repository. Raises UserError.

    Their configurations and hooks are not read. An existing `store` is replaced.
    """
    names = [_name(source) for source in sources]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UserError(f"two sources are called {twice!r}; rename one to distinguish their tasks")
    shutil.rmtree(store, ignore_errors=True)
    git = Git(own=True)
    found: list[SourceHistory] = []
    kept = ""
    try:
        for name, source in zip(names, sources, strict=True):
            history = SourceHistory(name, f"refs/heads/{name}")
            with tempfile.TemporaryDirectory(prefix="strop-git-") as folder:
                bundle = _bundle(source, Path(folder) / "history.bundle")
                head, objects = _head(git, bundle, source)
                if not kept:
                    git("init", "--quiet", "--bare", f"--object-format={objects}", str(store))
                elif objects != kept:
                    raise UserError(
                        f"{source}: its git object format is {objects}, that of {sources[0]} is {kept}; build them "
                        "separately"
                    )
                kept, wanted = objects, [str(bundle), f"+{head}:{history.ref}"]
                git(f"--git-dir={store}", "fetch", "--quiet", "--no-tags", *wanted, seconds=COPY_SECONDS)
            found.append(history)
        if found:
            (store / "HEAD").write_text(f"ref: {found[0].ref}\n")
    except GitError as error:
        raise UserError(f"{source}: git cannot read it: {error}") from error
    return found


def _name(source: str) -> str:
    path = Path(source).expanduser()
    name = path.name.removesuffix(".bundle") if path.is_file() else path.resolve().name.removesuffix(".git")
    return re.sub(r"[^A-Za-z0-9._-]+|\.\.+|^[.-]+|\.(?:lock)?$", "-", name) or "repository"


def _bundle(source: str, made: Path) -> Path:
    path = Path(source).expanduser()
    if path.is_file():
        return path.resolve()
    if not path.is_dir():
        raise UserError(f"{source!r} is neither a git repository nor a bundle")
    git = ForeignGit(path)
    if not git("rev-list", "--max-count=1", "--all"):
        raise UserError(f"{source}: it has no commit to build from")
    if git("rev-parse", "--is-shallow-repository") == "true":
        raise UserError(
            f"{source}: a shallow clone, without its older commits; complete it: git fetch --unshallow"
        )
    git("bundle", "create", "--quiet", str(made), "HEAD", seconds=COPY_SECONDS)
    return made


def _head(git: Git, bundle: Path, source: str) -> tuple[str, str]:
    """(HEAD or the first branch, the format of its objects) of a bundle."""
    listed = git("bundle", "list-heads", str(bundle)).split("\n")
    names = {name: objects for objects, _, name in (line.partition(" ") for line in listed)}
    branches = [name for name in names if name == "HEAD" or name.startswith("refs/heads/")]
    if not branches:
        raise UserError(f"{source}: the bundle holds no branch")
    head = "HEAD" if "HEAD" in branches else branches[0]
    return head, "sha256" if len(names[head]) == 64 else "sha1"
