"""Reads git repositories from untrusted sources without executing anything that they configure.

A repository's own configuration can name programs: transports of a promisor remote, a file-system monitor, filters,
text conversions, external diffs, signature checkers, hooks. None of it is read. Git works on a folder created here: a
configuration of two lines, HEAD and refs copied as checked text, and the repository's object store as an alternate,
from which git only reads objects. No transport is allowed, so a missing object is an error. Git's output and memory are
bounded.

Nothing outside the folder is read as a repository, unless it names the folder itself, as the git folder of a linked
work tree or a submodule does. A repository that borrows objects from outside is refused, with the command that makes it
complete: otherwise anyone who knows an object's hash could have it read from any of the user's repositories. It may
borrow from a store that the user names in GIT_ALTERNATE_OBJECT_DIRECTORIES, as `git clone --shared` does.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from strop_verify.sandbox.git import Git, GitError

_NAME = re.compile(r"refs/(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)))[^ ~^:?*\[\\\x00-\x1f\x7f]+")
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SMALL = 64 * 2**20
"""Maximum bytes of refs or of an index that are read."""
_MOST_REFS = 1_000_000
_MOST_FILES = 1_000_000
"""Maximum files of an object store."""
_BOUNDED = ("sh", "-c", 'ulimit -f 4194304 && ulimit -v 4194304 && exec "$@"', "sh")
"""Ends git when it has written 2 GiB (in some shells 4 GiB): small trees can expand without end.

Its address space is 4 GiB: an object states its size, and git allocates that much at once.
"""
_SETTINGS = (
    "protocol.allow=never", "core.bigFileThreshold=64m", "core.packedGitLimit=1g", "core.packedGitWindowSize=64m",
    "core.useReplaceRefs=false",
)  # fmt: skip


class ForeignGit:
    """Runs reading commands on a repository: the folder's `.git` (a folder, or a file that names one) or a bare one.

    Raises GitError, also for a folder without one.
    """

    def __init__(self, folder: Path) -> None:
        self._own = _git_folder(folder)
        self._shared = _common_folder(self._own)
        lent = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
        self._lenders = (self._shared, folder.resolve(), *(Path(path).resolve() for path in lent if path))
        """Folders that may hold its objects."""

    def __call__(self, *arguments: str, seconds: float = 60) -> str:
        """git's output, stripped. Raises GitError, also after `seconds`."""
        top = self._sealed.name
        # not in the work tree, whose files git would read instead of some blobs
        git = Git(own=True, folder=Path(top), through=_BOUNDED)
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        return git(f"--git-dir={top}", *settings, *arguments, seconds=seconds)

    @cached_property
    def _sealed(self) -> "tempfile.TemporaryDirectory[str]":
        """The folder in which git works; removed with this object."""
        made = tempfile.TemporaryDirectory(prefix="strop-git-")
        top = Path(made.name)
        _whole(self._shared / "objects", self._lenders)
        head, refs = _head(self._own), dict(_refs(self._shared))
        long = any(len(name) == 64 for name in [head, *refs.values()])
        for name in ("refs", "objects/info", "info"):
            (top / name).mkdir(parents=True)
        (top / "info/attributes").write_text("* -export-ignore -export-subst -text -ident -filter\n")
        extension = "[extensions]\n\tobjectFormat = sha256\n" if long else ""
        (top / "config").write_text(
            f"[core]\n\trepositoryFormatVersion = {int(long)}\n\tbare = true\n{extension}"
        )
        (top / "objects/info/alternates").write_text(f"{self._shared / 'objects'}\n", encoding="utf-8")
        (top / "HEAD").write_text(f"{head}\n", encoding="utf-8")
        lines = [f"{target} {name}\n" for name, target in sorted(refs.items())]
        (top / "packed-refs").write_text("".join(lines), encoding="utf-8")
        if shallow := [line for line in _text(self._shared / "shallow").split() if _ID.fullmatch(line)]:
            (top / "shallow").write_text("\n".join(shallow) + "\n")
        if index := _bytes(self._own / "index"):
            (top / "index").write_bytes(index)
        return made


def _git_folder(folder: Path) -> Path:
    inside = folder / ".git"
    if inside.is_file():
        named = re.fullmatch(r"gitdir: ([^\n\0]+)\n?", _text(inside))
        inside = (folder / named[1]) if named else inside
    for found in (inside, folder):
        if (found / "HEAD").is_file():
            found = found.resolve()
            if "\n" in str(found):
                raise GitError("its path holds a line break; rename the folder")
            if not found.is_relative_to(folder.resolve()) and not _names(found, folder.resolve()):
                raise GitError("its .git leads to another folder, which does not name this one")
            if _inside(_common_folder(found), "objects").is_dir():
                return found
    raise GitError("not a git repository")


def _names(own: Path, folder: Path) -> bool:
    """Whether a git folder elsewhere names this folder, as that of a linked work tree or a submodule does."""
    back = _text(own / "gitdir").strip()
    if back and "\0" not in back:
        return (own / back).resolve() == folder / ".git"
    worktree = re.search(r"(?m)^\s*worktree = ([^\n\0]+)$", _text(own / "config"))
    return worktree is not None and (own / worktree[1].strip()).resolve() == folder


def _common_folder(own: Path) -> Path:
    """The folder with objects and refs: for a linked work tree, whose own folder is in `worktrees`, two levels up."""
    named = _text(own / "commondir").strip()
    if not named:
        return own
    if "\n" in named or "\0" in named or (shared := (own / named).resolve()) != own.parent.parent:
        raise GitError("its commondir leads to another repository")
    return shared


def _inside(shared: Path, name: str) -> Path:
    """A folder of the repository. Raises GitError if it is a link."""
    if (shared / name).is_symlink():
        raise GitError(f"its {name} lead to another folder")
    return shared / name


def _whole(objects: Path, within: tuple[Path, ...]) -> None:
    """Raises GitError for an object store with objects from outside these folders, or with anything but plain files."""
    waiting, known, files = [objects], {objects}, 0
    while waiting:
        for top, folders, names in os.walk(store := waiting.pop()):
            files += len(names)
            if files > _MOST_FILES:
                raise GitError(f"more than {_MOST_FILES} files of objects; pack them: git gc")
            for path in (Path(top, name) for name in (*folders, *names)):
                if path.is_symlink() or not (path.is_dir() or path.is_file()):
                    raise GitError(f"{path.relative_to(store)} of its objects is not a plain file or folder")
        for borrowed in _alternates(store):
            if not any(borrowed.is_relative_to(folder) for folder in within):
                raise GitError(
                    f"it borrows objects from {borrowed}; make it complete (git repack -a -d && rm "
                    f".git/objects/info/alternates), or set GIT_ALTERNATE_OBJECT_DIRECTORIES={borrowed}"
                )
            if borrowed not in known and borrowed.is_dir():
                known.add(borrowed)
                waiting.append(borrowed)


def _alternates(objects: Path) -> Iterator[Path]:
    """Stores in which git looks for further objects. Raises GitError for entries that git may read differently."""
    listed = objects / "info/alternates"
    if listed.is_file() and listed.stat().st_size > _SMALL:
        raise GitError("its list of alternates is too long")
    for line in _bytes(listed).split(b"\n"):
        if line.startswith(b'"') or b"\0" in line:
            raise GitError("its list of alternates holds a quoted path")
        if line and not line.startswith(b"#"):
            yield (objects / os.fsdecode(line)).resolve()


def _head(own: Path) -> str:
    text = _text(own / "HEAD").strip()
    target = text.removeprefix("ref: ")
    if _NAME.fullmatch(target) if text != target else _ID.fullmatch(text):
        return text
    raise GitError("its HEAD names neither a branch nor a commit")


def _refs(shared: Path) -> Iterator[tuple[str, str]]:
    """(name, id) of each ref, packed ones first, without symbolic refs."""
    for line in _text(shared / "packed-refs").split("\n"):
        target, _, name = line.partition(" ")
        if _ID.fullmatch(target) and _NAME.fullmatch(name):
            yield name, target
    seen = 0
    for top, _, names in os.walk(_inside(shared, "refs")):
        seen += len(names)
        if seen > _MOST_REFS:
            raise GitError(f"more than {_MOST_REFS} refs")
        for file in (Path(top, name) for name in names):
            target, name = _text(file).strip(), file.relative_to(shared).as_posix()
            if _ID.fullmatch(target) and _NAME.fullmatch(name):
                yield name, target


def _text(file: Path) -> str:
    return _bytes(file).decode(errors="replace")


def _bytes(file: Path) -> bytes:
    """The content of a plain file; empty if there is none."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _SMALL:
            return b""
        return file.read_bytes()
    except OSError:
        return b""
