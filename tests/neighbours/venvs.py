"""Environments of neighbours: one for each package, made by pip; what they pin clashes. STROP_TEST_VENVS keeps them."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.installs import PARTS

ROOT = Path(__file__).parents[2]
LATER = (
    "python3.13",
    "python3.12",
    *sorted(map(str, Path.home().glob(".pyenv/versions/3.1[23]*/bin/python3"))),
)
"""Where a Python of version 3.12 or later may be."""


def working(*names: str) -> str | None:
    """The first of these Pythons that runs and makes environments: pyenv has programs of versions that it lacks."""
    for found in filter(None, map(shutil.which, names)):
        if (
            subprocess.run(
                [found, "-c", "import venv, ensurepip"], capture_output=True, check=False
            ).returncode
            == 0
        ):
            return found
    return None


class Neighbour:
    """A Python with a neighbour's package, and this checkout of Strop."""

    def __init__(self, place: Path) -> None:
        self.programs = place / "bin"

    def run(
        self,
        *words: object,
        paths: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 1500,
    ) -> subprocess.CompletedProcess[str]:
        """Runs one of its programs to the end; `paths` are packages beside Strop's."""
        command = [str(self.programs / str(words[0])), *map(str, words[1:])]
        found = ":".join(map(str, [ROOT / "src", ROOT / "verify/src", ROOT / "tasks/src", *paths]))
        return subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, check=False, cwd=cwd,
            env={**os.environ, "PYTHONPATH": found, "NO_COLOR": "1", **(env or {})},
        )  # fmt: skip


def neighbour(name: str, *packages: str, folder: Path, python: str = sys.executable) -> Neighbour:
    """The environment of that name, of that Python, with what Strop imports and what suites of tests need;
    skips where pip does not get the packages.
    """
    projects = [tomllib.loads((ROOT / part / "pyproject.toml").read_text())["project"] for part in PARTS]
    needed = [one for project in projects for one in project["dependencies"]]
    for project in projects:  # the extras of evaluators bring it
        needed += project.get("optional-dependencies", {}).get("suites", [])
    needed = [one for one in needed if not one.startswith("strop")]
    return Neighbour(made(name, *packages, *dict.fromkeys(needed), folder=folder, python=python))


def made(name: str, *packages: str, folder: Path, python: str = sys.executable) -> Path:
    """An environment with these packages and no more; skips where pip does not get them."""
    place = Path(os.environ.get("STROP_TEST_VENVS") or folder) / name
    if not (place / "complete").exists():
        subprocess.run([python, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "-q"]
        done = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"pip does not get {', '.join(packages)}: {done.stderr.strip()[-300:]}")
        (place / "complete").touch()
    return place
