"""Packs a project into one file, or a data URI in the task: a .tar.gz of its text and data files.

A snapshot holds regular files only, without modes and times. Reading one never writes to disk.
"""

import fnmatch
import io
import os
import re
import tarfile
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from strop_verify.core.checks import ProjectCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.files import atomic
from strop_verify.core.snapshots import DATA, Files, archive, archive_in, digest_of
from strop_verify.sandbox.foreign_git import ForeignGit
from strop_verify.sandbox.git import GitError
from strop_verify.sandbox.work import safe_name

MAX_BYTES = 48 * 2**20
"""Maximum bytes of all files of a project: they have to fit into the jail's work directory."""
MAX_FILE_BYTES = 4 * 2**20
"""Larger files are left out of a snapshot."""
MAX_FILES = 12_000
_LOST = re.compile(r"[\ud800-\udfff]")
"""Surrogates, as which Python reads the bytes of file names that are not UTF-8."""
_PATH, _NAME = 3_800, 255
"""Maximum bytes of a path, and of a name in it."""
_ROOTS = "STROP_PROJECTS"
_SKIPPED = (
    ".*", "__pycache__", "*.pyc", "*.pyo", "*.so", "*.pyd", "*.o", "node_modules", "venv", "env", "*.egg-info",
    "build", "dist", "target", "htmlcov", "*.tar.gz", "*.whl", "*.zip.part",
)  # fmt: skip
"""Names that are not source: hidden files, caches, environments, build outputs."""
_SKIPPED_NAME = re.compile("|".join(map(fnmatch.translate, _SKIPPED)))
_KEPT = (".cargo", ".coveragerc")
_OF_PYTHON = ("build", "dist", "target", "env")
"""Skipped names that may also be packages; a folder with an `__init__.py` is kept."""
_MARKS = ("PKG-INFO", "setup.py", "pyproject.toml", "Cargo.toml")
"""Files found at the top of a project."""


def pack(folder: Path, out: Path) -> str:
    """Writes the snapshot of a folder or an sdist to `out`, atomically; returns its digest.

    Takes the tracked files of a git checkout as they are on disk; elsewhere, all but hidden files and build outputs.
    Raises UserError for a folder without files, or with more than MAX_FILES or MAX_BYTES.
    """
    files = read_project(folder)
    data = archive(files)
    with atomic(out) as file:
        file.write(data)
    return digest_of(files)


def unpack(source: Path | bytes) -> Files:
    """The files of a snapshot, given as a path or as bytes, or of a plain .tar.

    Skips special members such as links, and names that are not UTF-8, which no task can hold.
    Raises VerificationError if it cannot be read, holds too much, or a path leaves its folder.
    """
    files: Files = {}
    total = 0
    name = "in the task" if isinstance(source, bytes) else str(source)
    try:
        data = source if isinstance(source, bytes) else source.read_bytes()
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as tar:
            for info in tar:
                if not info.isfile() or info.size > MAX_FILE_BYTES or _LOST.search(info.name):
                    continue
                total += info.size
                stream = tar.extractfile(info)
                if stream is None or total > MAX_BYTES or len(files) >= MAX_FILES:
                    raise VerificationError(
                        f"snapshot {name} holds more than {MAX_FILES} files or {MAX_BYTES} bytes"
                    )
                path = safe_name(info.name)
                if len(os.fsencode(path)) > _PATH or max(map(len, map(os.fsencode, path.split("/")))) > _NAME:
                    raise ValueError(f"a path in it is too long: {path:.40}...")
                files[path] = stream.read()
    except (OSError, EOFError, ValueError, tarfile.TarError, zlib.error) as error:
        raise VerificationError(f"snapshot {name} cannot be read: {error}") from None
    return files


def locate(project: str) -> Path:
    """The snapshot that a check names: at that path, or by its base name in the folder STROP_PROJECTS.

    Raises VerificationError if it is in neither.
    """
    path = Path(project)
    if (there := _found(path)) is not None and there.is_file():
        return there
    folder = os.environ.get(_ROOTS)
    where = f"nor {path.name} in {_ROOTS}={folder}" if folder else f"set {_ROOTS} to the folder that holds it"
    raise VerificationError(f"the project's snapshot {project} is missing; {where}")


def locate_packages(packages: str) -> str:
    """The folder of packages that a check names, found like a snapshot; "" if it names none.

    Raises VerificationError if it is missing.
    """
    if not packages:
        return ""
    path = Path(packages)
    if (there := _found(path)) is not None and there.is_dir():
        return str(there.resolve())
    remedy = f"strop build env {path.name}.json -o FOLDER rebuilds it, beside the tasks"
    raise VerificationError(f"the project's packages {packages} are missing; {remedy}")


def _found(path: Path) -> Path | None:
    """The path itself, or its name in the folder STROP_PROJECTS."""
    folder = os.environ.get(_ROOTS)
    places = (path, Path(folder) / path.name) if folder else (path,)
    return next((place for place in places if place.exists()), None)


def read_project(path: Path) -> Files:
    """The files of a folder, a snapshot or an sdist. Raises UserError."""
    if path.is_file():
        try:
            return {n: data for n, data in _without_top(unpack(path)).items() if not _hidden(n)}
        except VerificationError as error:
            raise UserError(str(error)) from None
    if not path.is_dir():
        raise UserError(f"{path}: no such folder or .tar.gz; name a project")
    files: Files = {}
    total = 0
    top = path.resolve()
    for name in listed_files(path):
        file = path / name
        if file.is_symlink() or not file.is_file() or (size := file.stat().st_size) > MAX_FILE_BYTES:
            continue
        if _LOST.search(name) or {"..", ".git"} & {part.lower() for part in Path(name).parts}:
            continue  # not UTF-8; or a path that an index can hold: outside, or in the repository's own folder
        if not file.resolve().is_relative_to(top):
            continue  # a folder can be a link
        total += size
        if total > MAX_BYTES or len(files) >= MAX_FILES:
            most = f"{MAX_FILES} files or {MAX_BYTES // 2**20} MiB"
            raise UserError(f"{path}: more than {most}; name a smaller project")
        files[name] = file.read_bytes()
    if not files:
        raise UserError(f"{path}: no files; name a project's folder")
    return files


def listed_files(folder: Path, most: int = 0) -> list[str]:
    """Sorted names of a project's files: what git tracks, else all but hidden files and build outputs; links too.

    Raises UserError if there are more than `most`; 0 = any number.
    """
    names: list[str] = []
    for name in _tracked(folder) or _walk(folder):
        if most and len(names) >= most:
            raise UserError(f"{folder}: more than {most} files; name a folder in it")
        names.append(name)
    return sorted(names)


def _tracked(folder: Path) -> list[str]:
    """The files that git tracks, or nothing if the folder is not the top of a checkout."""
    if not (folder / ".git").exists():
        return []
    try:
        listed = ForeignGit(folder)("ls-files", "-z")
    except GitError:
        return []
    return [name for name in listed.split("\0") if name]


def _walk(folder: Path) -> Iterator[str]:
    for top, names, files in os.walk(folder):
        names[:] = [n for n in names if not _skipped(n, Path(top, n, "__init__.py").is_file())]
        above = Path(top).relative_to(folder).as_posix()
        for name in files:
            if not _skipped(name, False):
                yield name if above == "." else f"{above}/{name}"


def _skipped(name: str, package: bool) -> bool:
    if name in _KEPT or (package and name in _OF_PYTHON):
        return False
    return _SKIPPED_NAME.match(name) is not None


def is_made(path: str) -> bool:
    """Whether a path's name shows that it is not source: hidden, a cache, an environment, build output."""
    return any(_skipped(part, False) for part in path.split("/"))


def _hidden(path: str) -> bool:
    return any(part.startswith(".") and part not in _KEPT for part in path.split("/"))


def _without_top(files: Files) -> Files:
    tops = {path.partition("/")[0] for path in files}
    top = next(iter(tops), "")
    if len(tops) == 1 and any(f"{top}/{mark}" in files for mark in _MARKS):
        return {path.partition("/")[2]: data for path, data in files.items()}
    return files


def load_snapshot(check: ProjectCheck) -> Files:
    """The files of the check's project. Raises VerificationError if it is missing or has another digest."""
    if check.project.startswith(DATA):
        where, (files, digest) = "in the task", _held(check.project)
    else:
        path = locate(check.project)
        where, (files, digest) = str(path), _loaded(str(path), path.stat().st_mtime_ns)
    if digest != check.digest:
        raise VerificationError(
            f"the project's snapshot {where} does not match the task: its files have digest {digest}, "
            f"the task was made with {check.digest}"
        )
    return files


@lru_cache(maxsize=8)
def _loaded(path: str, changed: int) -> tuple[Files, str]:
    files = unpack(locate(path))
    return files, digest_of(files)


@lru_cache(maxsize=64)
def _held(uri: str) -> tuple[Files, str]:
    files = unpack(archive_in(uri))
    return files, digest_of(files)
