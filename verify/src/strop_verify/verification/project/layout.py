"""Describes a Python project: its import path, which files are tests, its metadata."""

import fnmatch
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from functools import cache
from importlib.machinery import PathFinder
from pathlib import PurePosixPath

from strop_verify.core.checks import ProjectCheck

_FOLDERS = ("src", "lib", "python", "source")
"""Folders on the import path unless they are packages themselves; the project's own folder is always on it."""
_CONFIGURATION = (
    "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml",
    "setup.py", "sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.so", "*.egg-link",
)  # fmt: skip
_TESTS = ("test_*.py", "*_test.py", "tests.py", "test.py")
_TEST_FOLDERS = frozenset({"tests", "test"})
_RUST = ("Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml", "clippy.toml")
_RUST_FOLDERS = frozenset({"tests", "benches", ".cargo"})
MACHINERY = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "strop", "strop_verify", "strop_tasks"})
_NAME = re.compile(r"[A-Za-z0-9._+! -]{1,64}")
"""A project name or version that may be part of a file name."""
SITE = ".strop-site"
"""Folder for the metadata that an installation would have written."""


def is_protected(path: str, language: str = "python") -> bool:
    """Whether editing this file may change test results: tests, their configuration, what Python runs on start-up."""
    parts = PurePosixPath(path).parts
    if language == "rust":
        return parts[-1] in _RUST or bool(_RUST_FOLDERS.intersection(parts[:-1]))
    named = any(fnmatch.fnmatchcase(parts[-1], pattern) for pattern in (*_CONFIGURATION, *_TESTS))
    machinery = not MACHINERY.isdisjoint({*parts[:-1], parts[-1].removesuffix(".py")})
    folders = any(part in _TEST_FOLDERS or part in ("__pycache__", SITE) for part in parts[:-1])
    return named or machinery or folders


def shadows(path: str, own: Iterable[str], roots: Iterable[str], packages: str = "") -> bool:
    """Whether a new file would be imported in place of a module of Python, of the environment or of `packages`."""
    for root in roots:
        rest = path if not root else path.removeprefix(root + "/") if path.startswith(root + "/") else ""
        name = rest.partition("/")[0].removesuffix(".py")
        if name and name not in own and rest.endswith(".py") and _known(name, packages):
            return True
    return False


@cache
def _known(name: str, packages: str) -> bool:
    if name in sys.stdlib_module_names or PathFinder.find_spec(name) is not None:
        return True
    return bool(packages) and PathFinder.find_spec(name, [packages]) is not None


@dataclass(frozen=True)
class Layout:
    """How a tree of files is imported."""

    roots: tuple[str, ...]
    """Folders at the front of the import path; "" is the tree itself."""
    own: frozenset[str]
    """Top-level modules in these folders."""
    extra: dict[str, bytes]
    """Files that stand in for an installation: a dist-info with the metadata of PKG-INFO."""


def layout_of(files: Mapping[str, bytes]) -> Layout:
    """The layout of a project, from its file names and its PKG-INFO."""
    python = [path for path in files if path.endswith(".py")]
    holding = [root for root in _FOLDERS if any(path.startswith(root + "/") for path in python)]
    roots = [root for root in holding if f"{root}/__init__.py" not in files]
    own = {path.partition("/")[0].removesuffix(".py") for path in python}
    for root in roots:
        inner = (path.removeprefix(root + "/") for path in python if path.startswith(root + "/"))
        own |= {path.partition("/")[0].removesuffix(".py") for path in inner}
    extra = _metadata(files)
    site = (SITE,) if extra else ()
    return Layout((*roots, "", *site), frozenset(own - sys.stdlib_module_names - MACHINERY), extra)


def sources(files: Mapping[str, bytes], language: str = "python") -> list[str]:
    """Source files that an edit may change, sorted."""
    ending = ".rs" if language == "rust" else ".py"
    return sorted(path for path in files if path.endswith(ending) and not is_protected(path, language))


def _metadata(files: Mapping[str, bytes]) -> dict[str, bytes]:
    data = files.get("PKG-INFO")
    if data is None:
        return {}
    header = HeaderParser().parsestr(data.decode("utf-8", "replace"))
    name, version = str(header.get("Name", "")).strip(), str(header.get("Version", "")).strip()
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(version)):
        return {}
    folder = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
    return {f"{folder}/METADATA": data, f"{folder}/RECORD": b"", f"{folder}/INSTALLER": b"strop\n"}


def refusal(check: ProjectCheck, base: Mapping[str, bytes], language: str) -> str:
    """The first file by which the edit could change test results, or an empty text."""
    named = {test.partition("::")[0] for test in (*check.failing, *check.passing)}
    layout = layout_of(base)
    for path in (*check.files, *check.removed):
        text = check.files.get(path)
        if text is not None and base.get(path) == text.encode("utf-8", "surrogatepass"):
            continue
        if path in named or is_protected(path, language):
            return path
        if language == "rust" and path.endswith(".rs") and _rust_tests(base.get(path)) != _rust_tests(text):
            return path
        new = language == "python" and path not in base
        if new and shadows(path, layout.own, layout.roots, check.packages):
            return path
    return ""


def _rust_tests(text: str | bytes | None) -> list[str]:
    from strop_verify.verification.project.cargo import tests_within

    return tests_within(text.decode(errors="replace") if isinstance(text, bytes) else text or "")
