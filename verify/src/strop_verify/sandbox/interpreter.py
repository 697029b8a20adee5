"""The Python that jailed processes run: an interpreter with its standard library, in a folder without Strop.

Copies are made once per machine, below the cache, of the program, the shared libraries beside it, and the standard
library without what is installed in it (site-packages) and without wheels. So a jail that reads the whole folder reads
no task, reference or package, whether Strop was cloned or installed in an environment or in the system's Python.

A process that uses a copy holds a shared lock on its folder. Making a new one removes all but the newest three, except
those in use.
"""

import compileall
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from strop_verify.core.cache import held, kept_dir, remove_unused
from strop_verify.core.errors import SandboxError
from strop_verify.sandbox import landlock

GIVEN = "STROP_INTERPRETER"
"""Variable with the path of an existing copy, for Strop in a jail of Strop."""
_FORM = "2"
_LEFT_OUT = (
    "site-packages", "dist-packages", "test", "idlelib", "turtledemo", "_bundled", "config-*", "sitecustomize.py",
    "usercustomize.py", "EXTERNALLY-MANAGED", "LICENSE*",
)  # fmt: skip
"""Left out of the standard library: packages, wheels, its own tests, a machine's additions to Python's start."""
_FIRST_PLACES = "libraries.txt"
_KEPT, _PART_SECONDS = 3, 3600
"""Copies to keep, and the age from which an unfinished copy counts as abandoned."""
_LIBRARIES = """
import os, sys
for name in sorted(os.listdir(sys.argv[1])) if os.path.isdir(sys.argv[1]) else ():
    try:
        __import__(name.partition(".")[0])
    except BaseException:
        pass
print(open("/proc/self/maps").read())
"""
"""Imports all extension modules and prints which files are mapped then."""
_SECONDS = 120.0


@cache
def interpreter() -> Path:
    """The folder, made if it does not exist. Raises SandboxError if that fails."""
    if given := os.environ.get(GIVEN):
        return Path(given)
    place = Path()
    try:
        place = _place() / f"python-{_digest()}"
        while held(place) is None:  # kept open for as long as this process and its forks live
            _make(place)
            _remove_old(place)
    except (OSError, shutil.Error, subprocess.SubprocessError) as error:
        cause = " ".join(str(error).split())[:300]
        raise SandboxError(
            f"no copy of Python for jails could be made in {place}: {cause}; free some space, or set "
            "STROP_CACHE to a folder that can be written"
        ) from None
    return place


def _remove_old(made: Path) -> None:
    """Removes copies that no process uses, all but the newest."""
    with suppress(OSError):
        for part in made.parent.glob(".python-*"):
            if time.time() - part.stat().st_mtime > _PART_SECONDS:
                shutil.rmtree(part, ignore_errors=True)
        copies = sorted(made.parent.glob("python-*"), key=lambda copy: -copy.stat().st_mtime)
        for copy in {*copies[_KEPT:]} - {made}:
            remove_unused(copy)


def program() -> str:
    """Path of the copy's Python."""
    return str(interpreter() / "bin" / "python3")


@cache
def interpreter_reads() -> tuple[str, ...]:
    """Paths that it must be able to read: the folder, and the original paths of shared libraries."""
    folder = interpreter()
    return (str(folder), *(folder / _FIRST_PLACES).read_text().splitlines())


def _version() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def _base() -> str:
    """The Python to copy: the one outside any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _standard() -> str:
    return os.path.realpath(os.path.dirname(os.__file__))


def _digest() -> str:
    """Identifies this Python; changes with an update."""
    seen = [_FORM, sys.version]
    for path in (_base(), os.path.join(_standard(), "os.py"), _standard()):
        found = os.stat(path)
        seen += [path, str(found.st_mtime_ns), str(found.st_size)]
    return hashlib.sha256("\0".join(seen).encode()).hexdigest()[:12]


def _place() -> Path:
    """The folder for copies: a worker with its own user id can read below root's home only with Landlock."""
    if os.getuid() == 0 and not landlock.abi() and "STROP_CACHE" not in os.environ:
        place = Path("/var/cache/strop")
        place.mkdir(parents=True, exist_ok=True)
        return place
    return kept_dir()


def _make(place: Path) -> None:
    part = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        part.chmod(0o755)
        _fill(part)
        _check(part)
        try:
            part.rename(place)
        except OSError:
            if not place.is_dir():  # another process was first
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _fill(folder: Path) -> None:
    (folder / "bin").mkdir()
    shutil.copy2(_base(), folder / "bin" / _version())
    for name in ("python3", "python"):
        (folder / "bin" / name).symlink_to(_version())
    library = folder / sys.platlibdir / _version()
    shutil.copytree(
        _standard(), library, ignore=shutil.ignore_patterns(*_LEFT_OUT), ignore_dangling_symlinks=True
    )
    shared = list(_shared())
    (folder / _FIRST_PLACES).write_text("".join(f"{path}\n" for path in shared))
    for path in shared:
        target = folder / "lib" / path.name
        target.parent.mkdir(exist_ok=True)
        if path.is_symlink():
            target.symlink_to(Path(os.path.realpath(path)).name)
        else:
            shutil.copy2(path, target)
    for entry in folder.rglob("*"):
        if not entry.is_symlink():
            entry.chmod(0o755 if entry.is_dir() or os.access(entry, os.X_OK) else 0o644)
    compileall.compile_dir(library, quiet=2, rx=re.compile("lib2to3"))  # or each start would compile it


def _shared() -> Iterator[Path]:
    """Shared libraries beside this Python that it or its extension modules load, with links to them."""
    folder = os.path.realpath(os.path.join(sys.base_prefix, "lib"))
    if folder in ("/usr/lib", "/usr/local/lib"):
        return  # the system's, which every program may read
    done = _run(_base(), "-c", _LIBRARIES, os.path.join(_standard(), "lib-dynload"))
    mapped = {line.rpartition(" ")[2] for line in done.stdout.splitlines()}
    for path in map(Path, sorted(glob.glob(os.path.join(folder, "*.so*")))):
        if os.path.realpath(path) in mapped:
            yield path


def _run(python: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [python, "-I", "-S", *arguments],
        capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL, env={},
    )  # fmt: skip


def _check(folder: Path) -> None:
    """Raises OSError if the copy does not run by itself."""
    asked = "import sys, json, ctypes, hashlib, socket; print(json.dumps([sys.prefix, sys.path]))"
    done = _run(str(folder / "bin" / "python3"), "-B", "-c", asked)
    if done.returncode:
        raise OSError(f"its copy of {_base()} does not run: {done.stderr.strip().splitlines()[-1:]}")
    prefix, path = json.loads(done.stdout)
    outside = [
        entry for entry in [prefix, *path] if not os.path.realpath(entry).startswith(os.path.realpath(folder))
    ]
    if outside:
        raise OSError(f"its copy of {_base()} still reads {outside[0]}")
