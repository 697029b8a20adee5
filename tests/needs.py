"""What a test needs of the machine: it skips where that is missing, and fails where STROP_REQUIRE names it."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from strop_verify.core.errors import VerificationError
from strop_verify.verification.rust.installation import find_installation

DATA = Path(os.environ.get("STROP_DATA", "../shared/data"))
"""The folder of the shared data sets."""
CASES = Path(os.environ.get("STROP_CASES", "../shared/cases"))
"""The folder of inputs on which Strop was wrong."""
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SLURM = ("slurmctld", "slurmd", "sbatch", "srun", "scontrol")
KINDS = ("browser", "cargo", "data", "slurm")
"""What STROP_REQUIRE may name, with commas between; other needs are names of programs and only skip."""


def browser_program() -> str | None:
    """The path of the system's Chromium."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def missing(need: str) -> str:
    """Why a need is not met, empty where it is."""
    if need == "browser":
        if importlib.util.find_spec("playwright") is None:
            return "playwright is not installed"
        return "" if browser_program() else f"none of {', '.join(BROWSERS)} is installed"
    if need == "cargo":
        try:
            find_installation()
        except VerificationError as error:
            return str(error)
        return ""
    if need == "slurm":
        absent = [
            name for name in SLURM if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None
        ]
        return f"{', '.join(absent)} not installed" if absent else ""
    if need == "data":
        return "" if DATA.is_dir() else f"no folder {DATA}: set STROP_DATA to the shared data sets"
    return "" if shutil.which(need) else f"{need} is not installed"


def required() -> set[str]:
    """The needs that must be met."""
    return {word.strip() for word in os.environ.get("STROP_REQUIRE", "").split(",")} - {""}


def go_without(need: str, reason: str) -> None:
    """Ends the test: a skip, or a failure where the need is required."""
    if need in required():
        pytest.fail(f"STROP_REQUIRE names {need}: {reason}", pytrace=False)
    pytest.skip(reason)


def need(*needs: str) -> None:
    """Goes on when every need is met."""
    for one in needs:
        if reason := missing(one):
            go_without(one, reason)


def data(name: str) -> Path:
    """The file or folder of that name in the shared data sets."""
    path = DATA / name
    if not path.exists():
        go_without("data", f"{path} is not there: set STROP_DATA to the folder of the shared data sets")
    return path


def case(name: str) -> Path:
    """The folder of that name in the shared cases."""
    path = CASES / name
    if not path.exists():
        pytest.skip(f"{path} is not there: set STROP_CASES to the folder of the shared cases")
    return path
