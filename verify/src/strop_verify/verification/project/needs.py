"""Finds the packages that a project's files import; its jails get these and no others.

No release of the project itself may be among them, because a later one holds what a task asks for. Releases are found
by name, among the packages and in their folders of vendored copies, and by content.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from strop_verify.core.checks import ProjectCheck
from strop_verify.core.last_used import LastUsed
from strop_verify.core.snapshots import Files
from strop_verify.core.task import Task
from strop_verify.sandbox.interpreter import interpreter
from strop_verify.sandbox.packages import (
    NEVER,
    TESTS,
    PackageSite,
    canonical,
    closure,
    folder_site,
    providers,
    site_of,
)
from strop_verify.verification.project.layout import MACHINERY, is_protected, layout_of
from strop_verify.verification.project.snapshot import load_snapshot, locate_packages

_BEGIN = rb"(?:^[ \t]*(?:>>>|\.\.\.)?|[;:])[ \t]*"
_IMPORT = re.compile(_BEGIN + rb"import[ \t]+([^\n#;]+)|" + _BEGIN + rb"from[ \t]+(\w+)", re.MULTILINE)
"""Statements at the start of a line, after another one, and in doctests."""
_CONTINUED = re.compile(rb"\\\r?\n")
_SKIPPED = re.compile(rb"""(?:importorskip|import_module|__import__)\(\s*["'](\w+)""")
_PLUGINS = re.compile(rb"""^pytest_plugins\s*=\s*([^\n]+(?:\n[ \t][^\n]*)*)""", re.MULTILINE)
_NAMES = {
    "setup.py": re.compile(r"""\bname\s*=\s*["']([A-Za-z0-9][\w.-]*)["']"""),
    "PKG-INFO": re.compile(r"^Name:\s*([A-Za-z0-9][\w.-]*)", re.MULTILINE),
}
_SAYING = ("pyproject.toml", "setup.cfg", *_NAMES)
"""Files that state the project's name."""
_COMMON = frozenset(
    {
        "tests", "test", "testing", "docs", "doc", "examples", "example", "benchmarks", "bench", "scripts", "tools",
        "setup", "conftest", "noxfile", "tasks", "ci", "utils", "demo", "src", "lib", "build", "dist", "bin", "fabfile",
        "versioneer",
    }
)  # fmt: skip
"""Top-level names too common to identify a project."""
_COPIES = frozenset(
    {"_vendor", "vendor", "_vendored", "vendored", "vendored_packages", "third_party", "extern", "_extern", "packages"}
)  # fmt: skip
"""Folders in which packages keep copies of others."""
_LEAST, _SHARE = 20, 0.3
"""Minimum length of a distinctive line, and the share of a project's distinctive lines that makes files its copy."""
_LARGEST = 1 << 20


@dataclass(frozen=True)
class Needs:
    """Packages that a project's jails can read.

    site    packages of the Python that runs Strop
    given   folder of packages that precedes it, without the project
    told    copies of the project that cannot be kept out, one line each
    """

    site: PackageSite
    given: PackageSite | None = None
    told: tuple[str, ...] = ()


def needs_of(files: Files, packages: str = "", more: Sequence[str] = ()) -> Needs:
    """The needs of a snapshot. `packages`: folder of its environment, which comes first; `more`: packages to add.

    Raises SandboxError if their folder cannot be written.
    """
    key = frozenset(
        (path, hash(data)) for path, data in files.items() if path.endswith(".py") or path in _SAYING
    )
    return _known.get((key, packages, *more), lambda: _found(files, packages, more))


_known = LastUsed[tuple[object, ...], Needs](64)


def _found(files: Files, packages: str, more: Sequence[str]) -> Needs:
    own, given = own_modules(files), _modules_in(packages)
    names = {name for module in imported(files) - given - own for name in providers(module)}
    itself = {*project_names(files), *(name for module in own for name in providers(module))}
    wanted = tuple(sorted({*TESTS, *names, *map(canonical, more)} - itself - NEVER))
    there = {name: one for name, one in closure(wanted, itself).items() if one is not None}
    sources = ((one, path) for one in there.values() for path in one.files or () if path.suffix == ".py")
    installed = [Path(str(one.locate_file(path))) for one, path in sources]
    lines = Lines(files)
    hidden = {str(path.resolve()) for path in [*copies_by_name(installed, own), *lines.copies(installed)]}
    standard = lines.copies(interpreter().glob("lib*/python3*/**/*.py"))
    told = [f"{path.relative_to(interpreter())} of Python is a copy of it" for path in standard]
    if machinery := sorted(itself & set(closure(TESTS))):
        told.append(f"{', '.join(machinery)} runs the tests")
    site = site_of(wanted, tuple(sorted(itself)), tuple(sorted(hidden)))
    return Needs(
        site, folder_site(packages, copies_in(Path(packages), files)) if packages else None, tuple(told)
    )


def imported(files: Mapping[str, bytes]) -> set[str]:
    """Top-level modules that the project's files import, except the standard library's."""
    found: set[bytes] = set()
    for path, data in files.items():
        if not path.endswith(".py"):
            continue
        data = _CONTINUED.sub(b" ", data)
        for many, one in _IMPORT.findall(data):
            listed = [one] if one else [part.split()[0] for part in many.split(b",") if part.split()]
            found |= {name.partition(b".")[0] for name in listed}
        found |= {*_SKIPPED.findall(data)}
        for plugins in _PLUGINS.findall(data):
            found |= {name.partition(b".")[0] for name in re.findall(rb"""["']([\w.]+)["']""", plugins)}
    return {name.decode(errors="replace") for name in found} - sys.stdlib_module_names


def own_modules(files: Mapping[str, bytes]) -> set[str]:
    """The project's top-level modules, except names that many projects have."""
    layout = layout_of(files)
    tops = [path.removeprefix(f"{root}/") for root in layout.roots for path in files if path.startswith(root)]
    machinery = MACHINERY & {
        path.partition("/")[0].removesuffix(".py") for path in tops if path.endswith(".py")
    }
    return {name for name in layout.own | machinery if name.lower() not in _COMMON}


def project_names(files: Mapping[str, bytes]) -> set[str]:
    """Canonical names of the project, from its files."""
    found = set[object]()
    texts = {path: files[path].decode(errors="replace") for path in _SAYING if path in files}
    for path, pattern in _NAMES.items():
        found |= {match[1] for match in pattern.finditer(texts.get(path, ""))}
    with suppress(tomllib.TOMLDecodeError):
        told = tomllib.loads(texts.get("pyproject.toml", ""))
        found |= {_at(told, "project", "name"), _at(told, "tool", "poetry", "name")}
    settings = ConfigParser(interpolation=None, strict=False)
    with suppress(ConfigParserError):
        settings.read_string(texts.get("setup.cfg", ""))
        found.add(settings.get("metadata", "name", fallback=""))
    return {canonical(name) for name in found if isinstance(name, str)} - {""}


def _at(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _modules_in(folder: str) -> set[str]:
    top = Path(folder)
    return {entry.name.removesuffix(".py") for entry in top.iterdir()} if folder and top.is_dir() else set()


def copies_in(folder: Path, files: Files) -> list[Path]:
    """Files of any release of the project in a folder of packages, found by name and by content."""
    own, names = own_modules(files), project_names(files)
    found: set[Path] = set()
    for entry in folder.iterdir() if folder.is_dir() else ():
        stem = canonical(entry.name.partition("-")[0]) if entry.name.endswith(".dist-info") else ""
        if entry.name.removesuffix(".py") in own or stem in names:
            found |= {entry} if entry.is_file() else {path for path in entry.rglob("*") if path.is_file()}
    sources = sorted(folder.rglob("*.py"))
    return sorted({*found, *copies_by_name(sources, own), *Lines(files).copies(sources)})


def copies_by_name(paths: Iterable[Path], own: set[str]) -> Iterator[Path]:
    """Files of the project's own modules in folders of vendored copies."""
    for path in paths:
        parts = PurePosixPath(path).parts
        for above, name in pairwise(parts):
            if above in _COPIES and name.removesuffix(".py") in own:
                yield path


class Lines:
    """The distinctive lines of a project's source."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._lines: set[bytes] = set()
        for path, data in files.items():
            if path.endswith(".py") and not is_protected(path):
                self._lines |= _telling(data)

    def copies(self, paths: Iterable[Path]) -> list[Path]:
        """Files that together repeat a large share of the lines; each repeats at least five."""
        if len(self._lines) < 5:
            return []
        by_folder: dict[Path, dict[Path, set[bytes]]] = {}
        for path in paths:
            try:
                lines = _telling(path.read_bytes() if path.stat().st_size <= _LARGEST else b"")
            except OSError:
                continue
            if len(shared := self._lines & lines) >= max(5, _SHARE * len(lines)):
                for above in path.parents[:_ABOVE]:
                    by_folder.setdefault(above, {})[path] = shared
        found: set[Path] = set()
        for some in by_folder.values():
            if len(set().union(*some.values())) >= _SHARE * len(self._lines):
                found.update(some)
        return sorted(found)


_ABOVE = 4
_BOILERPLATE = (b"#", b"import ", b"from ", b"if __name__", b"raise NotImplementedError", b"@pytest")


def _telling(data: bytes) -> set[bytes]:
    lines = map(bytes.strip, data.splitlines())
    return {line for line in lines if len(line) >= _LEAST and not line.startswith(_BOILERPLATE)}


def copies_left(tasks: Iterable[Task]) -> list[str]:
    """Copies that cannot be kept out of the jails of project tasks, one line each; for the first 32 projects only."""
    found: dict[str, str] = {}
    for task in tasks:
        check = task.edit.judge.maybe(ProjectCheck) if task.edit and task.edit.judge else None
        if check is None or task.language != "python" or check.digest in found:
            continue
        if len(found) >= _PROJECTS:
            break
        told = needs_of(load_snapshot(check), locate_packages(check.packages)).told
        found[check.digest] = f"task {task.id}: {'; '.join(told)}" if told else ""
    return [line for line in found.values() if line]


_PROJECTS = 32
