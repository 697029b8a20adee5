"""How a project is installed, read from its files by rules; neither setup.py nor a build backend is run.

Its requirements are the declared dependencies, and those of extras, groups and files for tests, without linters, build
tools, and pytest and its plugins, which the jail's pytest does not load. Files that only an installation writes, with
version and metadata, are added.
"""

import ast
import configparser
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from strop_verify.code.python.source import UNPARSABLE, tree_of
from strop_verify.core.snapshots import Files

_TEST_GROUPS = frozenset({"test", "tests", "testing", "dev", "develop", "development", "pytest", "unittest"})
_TEST_FILES = (
    "requirements.txt", "*requirements*test*.txt", "*test*requirements*.txt", "*requirements*dev*.txt",
    "*dev*requirements*.txt", "requirements/test*.txt", "requirements/dev*.txt", "tests/requirements.txt",
    "test/requirements.txt",
)  # fmt: skip
_TOOLS = (
    "pytest", "pytest-*", "coverage", "codecov", "coveralls", "tox", "tox-*", "nox", "virtualenv", "pip", "setuptools",
    "setuptools-*", "wheel", "build", "twine", "flit", "flit-*", "hatch", "hatchling", "hatch-*", "poetry", "poetry-*",
    "pdm", "uv", "black", "ruff", "isort", "flake8", "flake8-*", "pep8-naming", "pycodestyle", "pydocstyle", "pylint",
    "mypy", "mypy-*", "pyright", "types-*", "pre-commit", "*sphinx*", "furo", "myst-*",
    "mkdocs", "mkdocs-*", "bumpversion", "bump2version", "check-manifest", "pyroma", "docutils", "ipython", "nose",
    "python", "readme-renderer", "towncrier", "prek",
)  # fmt: skip
_VERSION = re.compile(r"^__version__\s*(?::\s*\w+\s*)?=\s*[\"']([^\"'\n]+)[\"']", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]{1,18}")  # maximum digits read as a number: Python refuses 4,300 and more
_LONGEST = 1000  # maximum characters of a requirement
_UNKNOWN = "0.0.0"
_VERSION_FILE = '__version__ = version = "{}"\n__version_tuple__ = version_tuple = {!r}\n'
_COMPILED = ("maturin", "scikit_build_core", "mesonpy", "setuptools_rust")


@dataclass(frozen=True)
class ProjectInstall:
    """A project's requirements, and the files to write beside its own."""

    language: str
    found: tuple[str, ...]
    """Files it was read from."""
    requirements: tuple[str, ...] = ()
    """Sorted requirements for pip; those whose markers do not hold here are left out."""
    written: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""
    """Why it cannot be installed here."""
    lacks: str = ""
    """Possible reasons why its tests do not run."""


def installation_of(files: Files) -> ProjectInstall:
    """How these files are installed."""
    if "Cargo.toml" in files and not {"pyproject.toml", "setup.py", "setup.cfg"} & files.keys():
        return _of_cargo(files)
    reading = _InstallReading(files)
    reading.pyproject()
    reading.setup_cfg()
    reading.setup_py()
    reading.other_files()
    return reading.installation()


class _InstallReading:
    def __init__(self, files: Files) -> None:
        self.files = files
        self.found: list[str] = []
        self.wanted: list[str] = []
        self.name = self.version = self.python = ""
        self.version_files: list[str] = []
        self.compiled = any(path.endswith((".pyx", ".pxd")) for path in files)

    def pyproject(self) -> None:
        """Reads PEP 621 and 735, Poetry, and version files of hatch-vcs and setuptools-scm."""
        data = _toml(self._text("pyproject.toml"))
        project, tool = _table(data, "project"), _table(data, "tool")
        poetry = _table(tool, "poetry")
        self._named(
            project.get("name") or poetry.get("name"), project.get("version") or poetry.get("version")
        )
        self.python = str(project.get("requires-python") or "")
        self._want(project.get("dependencies"))
        for name, group in _table(project, "optional-dependencies").items():
            self._want(group if _for_tests(name) else ())
        groups = _table(data, "dependency-groups")
        self._want(word for name in groups if _for_tests(name) for word in _group(groups, name, ()))
        constraints = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
        constraints += [
            _table(g, "dependencies") for n, g in _table(poetry, "group").items() if _for_tests(n)
        ]
        for table in constraints:
            self._want(word for name, value in table.items() if (word := _of_poetry(name, value)))
        scm = _table(tool, "setuptools_scm")
        hatch = _table(_table(_table(_table(tool, "hatch"), "build"), "hooks"), "vcs")
        named = (scm.get("write_to"), scm.get("version_file"), hatch.get("version-file"))
        self.version_files += [path for path in named if isinstance(path, str)]
        backend = str(_table(data, "build-system").get("build-backend") or "")
        self.compiled = self.compiled or backend.startswith(_COMPILED)

    def setup_cfg(self) -> None:
        """Reads setuptools' declarative options."""
        ini = _ini(self._text("setup.cfg"))
        self._named(ini.get("metadata", {}).get("name"), ini.get("metadata", {}).get("version"))
        options = ini.get("options", {})
        self.python = self.python or options.get("python_requires", "")
        for key in ("install_requires", "tests_require"):
            self._want(options.get(key, "").splitlines())
        for name, lines in ini.get("options.extras_require", {}).items():
            self._want(lines.splitlines() if _for_tests(name) else ())

    def setup_py(self) -> None:
        """Reads the literal arguments of `setup` from the syntax tree."""
        given = _arguments_of_setup(self._text("setup.py"))
        self._named(given.get("name"), given.get("version"))
        self.python = self.python or str(given.get("python_requires") or "")
        for key in ("install_requires", "tests_require"):
            self._want(given.get(key))
        extras = given.get("extras_require")
        for name, group in extras.items() if isinstance(extras, dict) else ():
            self._want(group if _for_tests(str(name)) else ())
        scm = given.get("use_scm_version")
        if isinstance(scm, dict) and isinstance(scm.get("write_to"), str):
            self.version_files.append(scm["write_to"])
        self.compiled = self.compiled or "ext_modules" in given

    def other_files(self) -> None:
        """Reads requirements files, and the dependencies of tox's default environment."""
        for path in sorted(self.files):
            if any(fnmatchcase(path.lower(), pattern) for pattern in _TEST_FILES):
                self._want(_listed(self._text(path)))
        self._want(_listed(_ini(self._text("tox.ini")).get("testenv", {}).get("deps", "")))

    def installation(self) -> ProjectInstall:
        """The installation, from all that was read."""
        lacks = "it has compiled extensions, which are not built" if self.compiled else ""
        if ".gitmodules" in self.files:
            lacks = lacks or "its submodules are missing"
        refused = "" if _python_fits(self.python) else f"it needs Python {self.python}; this is {_here()}"
        return ProjectInstall(
            "python", tuple(self.found), tuple(sorted(set(wanted(self.wanted, self.name)))), self._written(), refused,
            lacks,
        )  # fmt: skip

    def _written(self) -> dict[str, str]:
        """Missing version files and metadata."""
        version = self.version or self._told() or _UNKNOWN
        numbers = tuple(int(part) if _NUMBER.fullmatch(part) else part for part in version.split("."))
        texts = {path: _VERSION_FILE.format(version, numbers) for path in self.version_files if _inside(path)}
        if self.name:
            texts["PKG-INFO"] = f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {version}\n"
        return {path: text for path, text in texts.items() if path not in self.files}

    def _told(self) -> str:
        """The version in a top-level module."""
        for path in sorted(self.files, key=lambda path: (path.count("/"), path)):
            tells = path.endswith(("__init__.py", "version.py")) and path.count("/") < 3
            if tells and (told := _VERSION.search(self.files[path].decode(errors="replace"))):
                return told[1]
        return ""

    def _named(self, name: Any, version: Any) -> None:
        self.name = self.name or (name.strip() if isinstance(name, str) else "")
        plain = isinstance(version, str) and re.fullmatch(r"\d[\w.+-]*", version.strip())
        self.version = self.version or (version.strip() if plain else "")

    def _text(self, path: str) -> str:
        data = self.files.get(path)
        if data is None:
            return ""
        self.found.append(path)
        return data.decode(errors="replace")

    def _want(self, words: Any) -> None:
        if isinstance(words, str):
            words = words.splitlines()
        try:
            self.wanted += [word.strip() for word in words or () if isinstance(word, str) and word.strip()]
        except (TypeError, RecursionError):
            return


def _of_cargo(files: Files) -> ProjectInstall:
    """A cargo project; refused if it needs external crates that are not vendored."""
    found = tuple(path for path in ("Cargo.toml", "Cargo.lock") if path in files)
    outside = set[str]()
    for path in (path for path in files if PurePosixPath(path).name == "Cargo.toml"):
        data = _toml(files[path].decode(errors="replace"))
        for key in ("dependencies", "dev-dependencies", "build-dependencies"):
            outside |= {
                n for n, v in _table(data, key).items() if not (isinstance(v, dict) and v.get("path"))
            }
    if outside and not any(path.startswith("vendor/") for path in files):
        some = ", ".join(sorted(outside)[:3])
        return ProjectInstall(
            "rust", found, refused=f"it needs external crates ({some}); vendor them: cargo vendor"
        )
    return ProjectInstall("rust", found)


def wanted(words: Iterable[str], own: str) -> Iterator[str]:
    """The requirements that apply here and that tests may import."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    for word in words:
        if len(word) > _LONGEST:
            continue
        try:
            asked = Requirement(word.partition(" #")[0])
            holds = asked.marker is None or asked.marker.evaluate({"extra": ""})
        except (ValueError, RecursionError):  # not a requirement, or an invalid marker
            continue
        name = canonicalize_name(asked.name)
        if (
            asked.url
            or any(fnmatchcase(name, tool) for tool in _TOOLS)
            or name == canonicalize_name(own or "-")
        ):
            continue
        if holds:
            extras = f"[{','.join(sorted(asked.extras))}]" if asked.extras else ""
            yield f"{name}{extras}{asked.specifier}"


def _python_fits(asked: str) -> bool:
    from packaging.specifiers import SpecifierSet

    try:
        return _here() in SpecifierSet(asked)
    except ValueError:  # not a specifier, or one with an oversized number
        return True


def _here() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def _for_tests(name: str) -> bool:
    return name.lower().replace("_", "-") in _TEST_GROUPS


def _inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return path.endswith(".py") and path.isprintable() and not pure.is_absolute() and ".." not in pure.parts


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):  # oversized numbers and deep nesting do not raise TOMLDecodeError
        return {}


def _ini(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _group(groups: Mapping[str, Any], name: str, above: tuple[str, ...]) -> Iterator[str]:
    """The requirements of a dependency group, with those that it includes."""
    for word in groups.get(name) or () if name not in above else ():
        if isinstance(word, str):
            yield word
        elif isinstance(word, dict) and isinstance(word.get("include-group"), str):
            yield from _group(groups, word["include-group"], (*above, name))


def _of_poetry(name: str, value: Any) -> str:
    """A Poetry requirement in standard form; "" for optional and path ones."""
    if isinstance(value, dict):
        if value.get("optional") or not isinstance(value.get("version"), str):
            return ""
        value = value["version"]
    if not isinstance(value, str):
        return ""
    parts = (_bounds(part.strip()) for part in value.split(","))
    return name + ",".join(filter(None, parts))


def _bounds(part: str) -> str:
    """`^1.2` becomes `>=1.2,<2`, `~1.2` becomes `>=1.2,<1.3`, a bare number `==`; others stay as they are."""
    if part in ("", "*"):
        return ""
    if part[0] not in "^~" or part.startswith("~="):
        return part if part[0] in "<>=!~" else f"=={part}"
    numbers = [int(number) for number in _NUMBER.findall(part[1:])] or [0]
    first = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
    at = first if part[0] == "^" else min(1, len(numbers) - 1)
    above = [*numbers[:at], numbers[at] + 1]
    return f">={part[1:].strip()},<{'.'.join(map(str, above))}"


def _listed(text: str) -> list[str]:
    """The requirements of a requirements file, without options, other files and tox's factors."""
    lines = (line.strip() for line in text.splitlines())
    return [
        line
        for line in lines
        if line and line[0] not in "-#{" and "://" not in line and not re.match(r"[\w{},-]+:", line)
    ]


def _arguments_of_setup(text: str) -> dict[str, Any]:
    """The arguments of the call of `setup`: literals, or names that the module assigns a literal; others are None."""
    try:
        tree = tree_of(text)
    except UNPARSABLE:
        return {}
    known = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "setup":
            return {word.arg: _literal(word.value, known) for word in node.keywords if word.arg}
    return {}


def _literal(node: ast.expr, known: Mapping[str, ast.expr]) -> Any:
    try:
        return ast.literal_eval(known.get(node.id, node) if isinstance(node, ast.Name) else node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
