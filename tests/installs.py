"""Strop as users install it: its three wheels, in an environment, in a Python of its own, where images have it, and by
pip.
"""

import os
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
PARTS = ("verify", ".", "tasks")
_IN_USR_LOCAL = 'mount --bind "$0" /usr/local && exec "$@"'


@dataclass(frozen=True)
class Install:
    """How its programs are started.

    python  the command
    own     folder that Strop lies in
    """

    python: Sequence[str]
    own: Path

    def run(
        self, *words: object, cwd: Path, timeout: float = 600, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Its Python with these words, beside nothing of the tests' own environment."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "STROP"))}
        command = [*self.python, *map(str, words)]
        return subprocess.run(
            command,
            cwd=cwd,
            env={**clean, **more},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


def build_wheels(source: Path, target: Path) -> Path:
    """The folder of this tree's wheels, built from a copy in `source`."""
    copy_parts(source)
    for part in PARTS:
        words = [sys.executable, "-c", BUILD, str(target)]
        done = subprocess.run(words, cwd=source / part, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    return target


def copy_parts(source: Path) -> None:
    """What the three are built from, so that nothing of an earlier build gets into them."""
    for part in PARTS:
        for folder in (ROOT / part / "src").iterdir():
            if (folder / "__init__.py").exists():
                place = source / part / "src" / folder.name
                shutil.copytree(folder, place, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / part / name, source / part)
    shutil.copy(ROOT / "LICENSE", source)


def by_pip(there: Path, *words: object) -> Install:
    """In a virtual environment that holds nothing but what pip installs for these words; skips without an index."""
    subprocess.run([sys.executable, "-m", "venv", str(there)], check=True, timeout=300)
    python = there / "bin/python"
    found = Install([str(python)], Path(sysconfig.get_path("purelib", vars={"base": str(there)})))
    pip = ("-m", "pip", "--quiet")
    if found.run(*pip, "download", "--no-deps", "--dest", there / "tried", "zstandard", cwd=there).returncode:
        pytest.skip("pip reaches no index")
    done = found.run(*pip, "install", *words, cwd=there)
    assert done.returncode == 0, done.stderr
    return found


def in_environment(wheels: Path, there: Path) -> Install:
    """In a virtual environment, whose other packages are those of the tests."""
    venv.create(there, with_pip=False, symlinks=True)
    return _install(wheels, there / "bin/python")


def in_system(wheels: Path, there: Path) -> Install:
    """In a Python without an environment, as `pip install` of root does."""
    base = Path(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (there / "bin").mkdir(parents=True)
    shutil.copy2(base, there / "bin" / version)
    (there / "bin/python3").symlink_to(version)
    library = Path(os.__file__).resolve().parent
    left_out = shutil.ignore_patterns(
        "site-packages", "dist-packages", "test", "config-*", "EXTERNALLY-MANAGED"
    )
    shutil.copytree(library, there / sys.platlibdir / version, ignore=left_out, ignore_dangling_symlinks=True)
    for path in Path(sys.base_prefix, "lib").glob("libpython*.so*"):
        shutil.copy2(path, there / "lib" / path.name, follow_symlinks=False)
    (there / sys.platlibdir / version / "site-packages").mkdir(exist_ok=True)
    return _install(wheels, there / "bin/python3")


def in_image(wheels: Path, there: Path) -> Install:
    """In /usr/local, as in images with Python, in a mount namespace; root only."""
    found = in_system(wheels, there)
    python = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _IN_USR_LOCAL, str(there)]
    return Install([*python, "/usr/local/bin/python3"], Path("/usr/local") / found.own.relative_to(there))


def _install(wheels: Path, python: Path) -> Install:
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = Path(subprocess.check_output([python, "-c", where], text=True).strip())
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
    ]
    subprocess.run(
        [*pip, "--break-system-packages", *map(str, wheels.glob("*.whl"))], check=True, timeout=300
    )
    # A path from a .pth file has no .pth files of its own read, so the editable Strop of the tests is not seen.
    (own / "tests.pth").write_text("\n".join(site.getsitepackages()))
    return Install([str(python)], own)


def put_beside(install: Path, module: str) -> None:
    """Copies an installed package of the tests to where Strop lies."""
    found = find_spec(module)
    assert found is not None and found.origin is not None
    shutil.copytree(Path(found.origin).parent, install / module)
