"""Installs wheels from a package index into a folder: they are unpacked, and none of their code is run.

The only place in Strop that installs packages. It uses the network with the settings of the user's `uv` or `pip`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from strop_verify.core.errors import UserError

SECONDS = 300.0


@cache
def knows_dates() -> bool:
    """Whether packages can be installed as of a date, which needs uv: pip 26 has an option for it, but was seen to
    install later releases.
    """
    return bool(shutil.which("uv"))


def install_wheels(
    requirements: Sequence[str], folder: Path, *, before: str = "", seconds: float = SECONDS
) -> dict[str, str]:
    """Installs packages and their requirements into a new folder, atomically; returns versions by name.

    before  YYYY-MM-DD: only earlier releases; see `knows_dates`
    Raises UserError with the cause in one line: no such version, no wheel, no network.
    """
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)
    uv = shutil.which("uv")
    tool = (
        [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    )
    quiet = ["--quiet"] if uv else ["--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"]
    if before and not uv:
        raise UserError("packages as of a date need uv: pip install uv")
    quiet += [f"--exclude-newer={before}"] if before else []
    command = [*tool, *quiet, "--only-binary", ":all:", "--target", str(part), "--", *requirements]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            raise UserError(
                _cause(done.stderr) or f"{' '.join(tool[:3])} failed with status {done.returncode}"
            )
        part.rename(folder)
    except subprocess.TimeoutExpired:
        raise UserError(f"installing took longer than {seconds:g} s") from None
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return installed_in(folder)


def installed_in(folder: Path) -> dict[str, str]:
    """Versions of the packages in a folder, by name."""
    return dict(sorted((found.name, found.version) for found in distributions(path=[str(folder)])))


def _cause(errors: str) -> str:
    lines = [" ".join(line.split()) for line in errors.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("ERROR:", "error:", "Error"))]
    return next(iter(telling[::-1] or lines[-1:]), "")[:300]
