"""Where what can be made again is kept."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Strop's cache: `$STROP_CACHE`, else `$XDG_CACHE_HOME/strop`, else `~/.cache/strop`."""
    if root := os.environ.get("STROP_CACHE"):
        return Path(root)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "strop"
