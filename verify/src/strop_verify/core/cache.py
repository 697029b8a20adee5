"""The cache folder, for files that can be recreated, and locks on its folders while a process uses them."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path


def cache_dir() -> Path:
    """Strop's cache: `$STROP_CACHE`, else `$XDG_CACHE_HOME/strop`, else `~/.cache/strop`."""
    if root := os.environ.get("STROP_CACHE"):
        return Path(root)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "strop"


def kept_dir() -> Path:
    """The cache folder if writable, else this user's folder in the temporary directory. It exists on return."""
    place = cache_dir()
    try:
        place.mkdir(parents=True, exist_ok=True)
        if os.access(place, os.W_OK):
            return place
    except OSError:
        pass
    place = Path(tempfile.gettempdir()) / f"strop-{os.getuid()}"
    place.mkdir(mode=0o755, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        place = Path(tempfile.mkdtemp(prefix="strop-"))
        place.chmod(0o755)
    return place


def held(folder: Path) -> int | None:
    """A descriptor that keeps others from removing the folder (`remove_unused`) until it is closed; None if there is no
    such folder.
    """
    try:
        found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    with suppress(OSError):  # a file system without locks, where nothing is ever removed
        fcntl.flock(found, fcntl.LOCK_SH)
    if folder.is_dir() and os.path.samestat(os.fstat(found), os.stat(folder)):
        return found
    os.close(found)
    return None


def remove_unused(folder: Path) -> bool:
    """Removes a folder, unless a process holds it; returns whether it is gone."""
    away = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return not folder.exists()
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.rename(away)
    except OSError:
        return False
    finally:
        os.close(found)
    shutil.rmtree(away, ignore_errors=True)
    return True
