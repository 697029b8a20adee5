"""`SearchTree`: a read-only tree of files on disk, shared by all plays that search it.

    with tree_of_check(check) as tree:
        tree.lines("shop/cart.py")

A tree is unpacked on first use, kept while plays use it, and then cached as long as idle trees fit in KEPT_BYTES. Its
folder holds the text files of at most LONGEST bytes. Longer and binary files are listed by name only; links and files
whose names hold control characters or are not UTF-8 are left out.
"""

import atexit
import secrets
import shutil
import tarfile
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from strop_verify.core.checks import ProjectCheck, RetrievalCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.ids import content_hash
from strop_verify.core.snapshots import DATA
from strop_verify.edits import EditError
from strop_verify.edits.paths import check_path
from strop_verify.sandbox.foreign_git import ForeignGit
from strop_verify.sandbox.git import GitError
from strop_verify.verification.project.snapshot import load_snapshot, read_project

LONGEST = 1 << 20
"""Maximum size in bytes of a file that is searched and read; longer ones are only listed."""
MOST_FILES = 50_000
KEPT_BYTES = 2 << 30
"""Maximum bytes on disk of trees that no play uses."""
_SECONDS = 300.0


class SearchTree:
    """One tree. `paths`: each file's size in bytes; `texts`: the files that can be read."""

    def __init__(self, folder: Path, paths: Mapping[str, int], texts: frozenset[str]) -> None:
        self.folder, self.paths, self.texts = folder, paths, texts
        self.bytes = sum(paths[path] for path in texts)

    def lines(self, path: str) -> list[str]:
        """The lines of a file, as an editor counts them. Raises ValueError if it is missing or not text."""
        if path not in self.paths:
            raise ValueError(f"there is no file {path!r:.200}; glob and grep show what is there")
        if path not in self.texts:
            raise ValueError(f"{path} is not text, or longer than {LONGEST} bytes")
        text = (self.folder / path).read_bytes().decode(errors="replace")
        return text.removesuffix("\n").split("\n") if text else []


@contextmanager
def tree_of_check(check: RetrievalCheck, *, keep: bool = True) -> Iterator[SearchTree]:
    """The tree of a check; `keep` as for `release`. Raises VerificationError if it is missing, damaged or too large."""
    tree = acquire(check)
    try:
        yield tree
    finally:
        release(check, keep=keep)


def trees_folder() -> Path:
    """The folder of all trees of this process; a jail that searches must be able to read it."""
    return _TREES.folder


class _Trees:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there: OrderedDict[str, SearchTree] = OrderedDict()
        self._uses: dict[str, int] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._folder: Path | None = None

    @property
    def folder(self) -> Path:
        """Created on first use and removed at exit. Jails run as other users, so everyone may read it, but others can't
        list its parent or guess its name.
        """
        with self._lock:
            if self._folder is None:
                outer = Path(tempfile.mkdtemp(prefix="strop-trees-"))
                atexit.register(shutil.rmtree, outer, ignore_errors=True)
                outer.chmod(0o711)
                self._folder = outer / secrets.token_hex(16)
                self._folder.mkdir(mode=0o755)
            return self._folder

    def acquire(self, check: RetrievalCheck) -> SearchTree:
        """The tree, kept until it is released as often as it was acquired. Raises like `tree_of_check`."""
        key = _key(check)
        with self._lock:
            self._uses[key] = self._uses.get(key, 0) + 1
            making = self._locks.setdefault(key, threading.Lock())
        try:
            with making:
                if key not in self._there:
                    try:
                        made = _unpacked(check, self.folder / key)
                    except (OSError, tarfile.TarError) as error:
                        raise VerificationError(
                            f"the tree {check.tree} cannot be unpacked: {error}"
                        ) from error
                    with self._lock:
                        self._there[key] = made
        except BaseException:
            self.release(check)
            raise
        return self._there[key]

    def release(self, check: RetrievalCheck, *, keep: bool = True) -> None:
        """Releases a tree. `keep=False` deletes it after its last use, for folders that may change."""
        key = _key(check)
        with self._lock:
            self._uses[key] -= 1
            if not self._uses[key]:
                del self._uses[key]
            if key in self._there:
                self._there.move_to_end(key, last=keep)
            idle = [name for name in self._there if name not in self._uses]
            held = sum(self._there[name].bytes for name in idle)
            gone = []
            while idle and (held > KEPT_BYTES or (idle[0] == key and not keep)):
                tree = self._there.pop(idle.pop(0))
                held -= tree.bytes
                gone.append(tree.folder.rename(tree.folder.with_name(f"gone-{secrets.token_hex(8)}")))
        for folder in gone:
            shutil.rmtree(folder, ignore_errors=True)


_TREES = _Trees()
acquire, release = _TREES.acquire, _TREES.release


def _key(check: RetrievalCheck) -> str:
    return content_hash([check.tree, check.commit, check.digest, check.files])


def _unpacked(check: RetrievalCheck, folder: Path) -> SearchTree:
    paths: dict[str, int] = {}
    texts: set[str] = set()
    made: set[Path] = set()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    changed = {path: text.encode("utf-8", "surrogatepass") for path, text in check.files.items()}
    for path, size, data in _contents(check, changed):
        if len(paths) >= MOST_FILES:
            raise VerificationError(f"the tree {check.tree} holds more than {MOST_FILES} files")
        if not is_plain(path):
            continue
        paths[path] = size
        if data is None or b"\0" in data:
            continue
        file = folder / path
        if file.parent not in made:
            file.parent.mkdir(parents=True, exist_ok=True)
            made.add(file.parent)
        file.write_bytes(data)
        texts.add(path)
    if not paths:
        raise VerificationError(f"the tree {check.tree} {check.commit} holds no files")
    return SearchTree(
        folder, dict(sorted(paths.items(), key=lambda item: item[0].split("/"))), frozenset(texts)
    )


def _contents(check: RetrievalCheck, changed: Mapping[str, bytes]) -> Iterator[tuple[str, int, bytes | None]]:
    """(path, size in bytes, content, or None if it is too long) of each regular file."""
    for path, data in changed.items():
        yield path, len(data), data
    found = _of_commit(check) if check.commit else _of_files(check)
    yield from (one for one in found if one[0] not in changed)


def _of_commit(check: RetrievalCheck) -> Iterator[tuple[str, int, bytes | None]]:
    with tempfile.TemporaryDirectory(prefix="strop-git-") as folder:
        out = Path(folder) / "tree.tar"
        try:
            git = ForeignGit(Path(check.tree))
            git("archive", "--format=tar", f"--output={out}", check.commit, seconds=_SECONDS)
        except GitError as error:
            raise VerificationError(f"the tree {check.tree} {check.commit} cannot be read: {error}") from None
        with tarfile.open(out, "r:", encoding="utf-8", errors="surrogateescape") as tar:
            for info in tar:
                if info.isreg():
                    stream = tar.extractfile(info) if info.size <= LONGEST else None
                    yield info.name, info.size, stream.read() if stream else None


def _of_files(check: RetrievalCheck) -> Iterator[tuple[str, int, bytes | None]]:
    try:
        if check.digest or check.tree.startswith(DATA):
            files = load_snapshot(ProjectCheck(project=check.tree, digest=check.digest, failing=[]))
        else:
            files = read_project(Path(check.tree))
    except UserError as error:
        raise VerificationError(str(error)) from None
    for path, data in files.items():
        yield path, len(data), data if len(data) <= LONGEST else None


def is_plain(path: str) -> bool:
    """Whether a path stays inside its tree, is UTF-8 and has no control characters."""
    try:
        return check_path(path).isprintable()
    except EditError:
        return False
