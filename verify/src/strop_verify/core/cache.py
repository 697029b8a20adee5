"""The cache folder, for files that can be made again."""

import os
import tempfile
from pathlib import Path


def cache_dir() -> Path:
    """Strop's cache: `$STROP_CACHE`, else `$XDG_CACHE_HOME/strop`, else `~/.cache/strop`."""
    if root := os.environ.get("STROP_CACHE"):
        return Path(root)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "strop"


def kept_dir() -> Path:
    """The cache folder if writable, else a folder of this user in the temporary one. It exists."""
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
