"""A project's environment: its packages in a folder, its tests run twice, and a lock that reproduces it.

A package folder is named by a hash of the requirements and the Python, so commits with the same requirements share it.
There is none if the Python that runs Strop has all packages.
"""

import hashlib
import json
import platform
import re
import shlex
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from strop_tasks.curation.histories.installation import ProjectInstall
from strop_tasks.curation.histories.runs import uncollected
from strop_verify.core import files
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.snapshots import Files
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.wheels import install_wheels, installed_in, knows_dates
from strop_verify.verification.project.backend import Backend, open_backend
from strop_verify.verification.project.needs import copies_in, project_names
from strop_verify.verification.project.runs import ProjectRun, RunRequest
from strop_verify.verification.settings import Settings

TEST_SECONDS = 5.0  # CPU seconds of one test
_FORM = 1
_ORDER = 48


@dataclass(frozen=True)
class EnvironmentLock:
    """Everything needed to reproduce an environment, and its test results."""

    repository: str
    revision: str
    language: str
    python: str
    found: Sequence[str]
    """Files that describe the installation."""
    requirements: Sequence[str]
    packages: str
    """Name of the folder of packages; empty if this Python has everything."""
    installed: Mapping[str, str]
    """Package to version."""
    written: Mapping[str, str]
    """Files that an installation writes and the checkout lacks."""
    command: Sequence[str]
    """The command that runs the tests, with the packages on PYTHONPATH."""
    passing: Sequence[str] = ()
    """Tests that pass in two runs, the second in another order and with another hash seed."""
    flaky: Sequence[str] = ()
    failing: Sequence[str] = ()
    form: int = _FORM


class PackageFolders:
    """The package folders below one folder, made on demand. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._failed: dict[str, str] = {}
        self._alone: dict[str, bool] = {}

    @property
    def failures(self) -> list[str]:
        """Reasons why folders could not be made."""
        return sorted(self._failed.values())

    def named(self, requirements: Sequence[str], day: str = "", tree: Files | None = None) -> str:
        """The name of the folder with these packages; "" if this Python has them all. Raises UserError. If they cannot
        be installed together, their newest versions are installed, else those that can be installed alone; the tests
        decide whether that is enough.

        day   YYYY-MM-DD of the commit: versions are those of the first day of its month, else of the day, else of the
              first later year with wheels for this Python, else of today; also of today if the installer does not
              support dates
        tree  the project's files; installed releases of the project itself are removed from the folder
        """
        cause: UserError | None = None
        with self._lock:  # one at a time: other requests for it wait
            for asked in self._ways(requirements):
                for before in _days(day):
                    try:
                        return self._made(asked, before, tree or {})
                    except UserError as error:
                        cause = cause or error
        raise cause or UserError("none of the requirements can be installed")

    def _ways(self, requirements: Sequence[str]) -> Iterator[Sequence[str]]:
        yield requirements
        bare = sorted(set(map(_bare, requirements)))
        yield bare
        if alone := [one for one in bare if self._can_be(one)]:
            yield alone

    def _can_be(self, one: str) -> bool:
        with tempfile.TemporaryDirectory(prefix="strop-packages-") as folder, suppress(UserError):
            if one not in self._alone:
                self._alone[one] = False
                self._alone[one] = _is_here(one) or bool(install_wheels([one], Path(folder) / "one"))
        return self._alone[one]

    def _made(self, requirements: Sequence[str], before: str, tree: Files) -> str:
        if not requirements or (not before and all(map(_is_here, requirements))):
            return ""
        own = sorted(project_names(tree)) if before else []
        name = package_folder([*requirements, *([before, *own] if before else [])])
        if name in self._failed:
            raise UserError(self._failed[name])
        if not (self.folder / name).is_dir():
            try:
                install_wheels(requirements, self.folder / name, before=before)
                _take_out(copies_in(self.folder / name, tree), self.folder / name)
                installed = installed_in(self.folder / name)
            except UserError as error:
                self._failed[name] = f"{', '.join(requirements)}: {error}"
                raise UserError(self._failed[name]) from None
            pinned = {"requirements": [*requirements], "installed": installed}
            files.write_json(self.folder / f"{name}.json", {"form": _FORM, "packages": name, **pinned})
        return name


def _days(day: str) -> list[str]:
    """Days to try for package versions, best first; "" is today."""
    if not day or not knows_dates():
        return [""]
    later = (f"{int(day[:4]) + years}{day[4:8]}01" for years in range(1, 6))
    now = date.today().isoformat()
    return [f"{day[:8]}01", day, *(one for one in later if one < now), ""]


def _take_out(paths: Sequence[Path], folder: Path) -> None:
    """Removes files of a folder, and folders that become empty."""
    for path in paths:
        path.unlink()
        for above in path.parents:
            if above == folder or any(above.iterdir()):
                break
            above.rmdir()


def package_folder(requirements: Sequence[str]) -> str:
    """The name of the folder for these requirements on this Python."""
    text = "\n".join(
        [f"{platform.python_implementation()}{sys.version_info[:2]}{platform.machine()}", *requirements]
    )
    return f"packages-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def rebuilt(path: Path, folder: Path) -> str:
    """Recreates a lock's package folder, with the same versions; returns its name. Raises UserError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        name, installed = data["packages"], dict(data["installed"])
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path} is not a lock of strop build env") from error
    if not re.fullmatch(r"packages-[0-9a-f]{12}|", name):
        raise UserError(f"{path} is not a lock of strop build env")
    if name and not (folder / name).is_dir():
        install_wheels([f"{one}=={which}" for one, which in installed.items()], folder / name)
    return str(name)


def _is_here(requirement: str) -> bool:
    from packaging.requirements import Requirement

    asked = Requirement(requirement)
    try:
        return not asked.extras and version(asked.name) in asked.specifier
    except PackageNotFoundError:
        return False


def environment_of(
    tree: Files,
    installation: ProjectInstall,
    name: str,
    revision: str,
    folder: Path,
    settings: Settings,
    day: str = "",
) -> EnvironmentLock:
    """A tree's environment, built and tested. Raises UserError if installing fails, StropError if no test passes."""
    if installation.refused:
        raise UserError(f"{name}: {installation.refused}")
    packages = ""
    if installation.language == "python":
        try:
            packages = PackageFolders(folder).named(installation.requirements, day, tree)
        except UserError as error:
            raise UserError(f"{name}: its packages cannot be installed: {error}") from None
    asked = set() if packages else {_bare(one) for one in installation.requirements}
    here = {one: version(one) for one in sorted(asked) if _is_here(one)}
    installed = installed_in(folder / packages) if packages else here
    pytest = ["python", "-m", "pytest", "-o", "addopts=", "-q"]
    lock = EnvironmentLock(
        name, revision, installation.language, platform.python_version(), installation.found,
        installation.requirements, packages, installed, installation.written,
        pytest if installation.language == "python" else ["cargo", "test", "--offline"],
    )  # fmt: skip
    whole = {**tree, **{path: text.encode() for path, text in installation.written.items()}}
    where = str((folder / packages).resolve()) if packages else ""
    return _proved(lock, whole, replace(settings, packages=where), installation.lacks)


def _proved(lock: EnvironmentLock, tree: Files, settings: Settings, lacks: str) -> EnvironmentLock:
    first = _all_tests(open_backend(lock.language, tree, settings, TEST_SECONDS), 0)
    second = _all_tests(open_backend(lock.language, tree, settings, TEST_SECONDS, hash_seed=1), _ORDER)
    one, other = (
        {name for name, test in run.results.items() if test.outcome is Outcome.PASSED}
        for run in (first, second)
    )
    if not one & other:
        failed = next((f"{n}: {t.message}" for n, t in first.results.items() if t.message), "")
        stop = first.stop[1] if first.stop else ""
        why = first.tampered or uncollected(first) or first.uncollected or stop or failed or "none was found"
        said = " ".join(f"{why}{f' ({lacks})' if lacks else ''}".split())[:300]
        raise StropError(f"{lock.repository}: none of its tests passes here: {said}")
    failing = (first.results.keys() | second.results.keys()) - one - other
    return replace(lock, passing=sorted(one & other), flaky=sorted(one ^ other), failing=sorted(failing))


def _all_tests(backend: Backend, order: int) -> ProjectRun:
    with closing(backend):
        return backend.run(RunRequest(order=order))


def _bare(requirement: str) -> str:
    return re.split(r"[\[<>=!~ ;]", requirement, maxsplit=1)[0]


def containerfile(lock: EnvironmentLock) -> str:
    """A Containerfile with the same versions, to be built inside the repository."""
    if lock.language == "rust":
        return 'FROM docker.io/library/rust:slim\nWORKDIR /project\nCOPY . .\nCMD ["cargo", "test", "--offline"]\n'
    pins = shlex.join(
        [f"{name}=={which}" for name, which in lock.installed.items()] + [f"pytest=={version('pytest')}"]
    )
    lines = [
        f"FROM docker.io/library/python:{'.'.join(lock.python.split('.')[:2])}-slim",
        f"RUN pip install --no-cache-dir {pins}",
        "WORKDIR /project",
        "COPY . .",
        *(f"RUN printf {_printed(text)} > {shlex.quote(path)}" for path, text in lock.written.items()),
        "ENV CI=1 TZ=UTC PYTHONHASHSEED=0 PYTHONPATH=/project/src:/project",
        f"CMD {json.dumps(lock.command)}",
    ]
    return "\n".join(lines) + "\n"


def _printed(text: str) -> str:
    """A text on one line for printf."""
    return shlex.quote(text.replace("\\", "\\\\").replace("%", "%%").replace("\n", "\\n"))
