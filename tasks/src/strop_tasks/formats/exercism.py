"""Exercism's Python and Rust tracks (MIT): exercises with a stub, tests and an example; rows, or a clone of a track.

A row has `id`, `slug`, `instructions`, `solution_stub`, `tests` and `example` (path to text), in Rust also
`dependencies`, the names of crates that an exercise needs. In a clone of a track an exercise is a folder of
`exercises/practice` whose `.meta/config.json` names the files (github exercism/docs,
"building/tracks/practice-exercises").

Python: the stub is in `metadata["stub"]`; an answer is the whole file, and the tests import it under the stub's name.

1. The ids of the tests are read from their source (`suite_tests`): skipped ones, such as extra credits, do not count.
2. Files among the tests that hold no test, such as `test_utils.py`, are placed beside them.
3. Answer and tests run in different processes (docs/formats.md, "pytest suites"). So exercises whose tests pass their
   own objects to the answer, or patch builtins for it, fail even with the reference.

Rust:

4. Tests after the first are marked `#[ignore]` for learners; the mark is removed, because all tests count.
5. If an exercise has several test files, the one named after it is used, as on the site. The crate's name is
   the one in Cargo.toml, or else the one that the tests use (`twofer` of two-fer), or else the slug.
6. `check.crates` has the crates of an exercise's Cargo.toml in its versions, and those that its example solution chose
   in any version. Answers that use one are judged only with a folder of vendored crates.
7. `check.files` has the package's other files. If the stub declares a file that the row lacks (`mod pre_implemented;`),
   an answer that declares it is an *error*, not a failure.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.row_limits import parse_json, parse_toml
from strop.tasks.rows import Row
from strop.tasks.suite_tests import UnreadableTests, test_ids
from strop_tasks.formats.fields import has, mapping, refuse_unreadable, text, unreadable
from strop_verify.core.checks import PytestCheck, RustCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

MAX_FILE = 4 << 20
"""Size limit for a file of an exercise, in bytes."""
_DOCS = ("introduction.md", "instructions.md", "instructions.append.md")
"""Files of an exercise's instructions, in the site's order."""
_LEFT_OUT = {"target", "benches", "__pycache__", "Cargo.lock", "HELP.md", "HINTS.md", "README.md"}


def paths(row: Row, name: str, where: str) -> dict[str, str]:
    """A field that maps paths to texts. Raises UserError."""
    found = mapping(row, name, where)
    for path, value in found.items():
        if not isinstance(value, str):
            raise UserError(f"{where}: field {name!r}: {path!r} must hold text, not {type(value).__name__}")
    return {str(path): value for path, value in found.items()}


def chosen(files: Mapping[str, str], *wanted: str) -> str:
    """The first of `wanted` that is among the files, else the only file, else ""."""
    alone = list(files) if len(files) == 1 else []
    return next(iter([name for name in wanted if name in files] or alone), "")


def parts_of(row: Row, where: str) -> tuple[str, dict[str, str], dict[str, str], dict[str, str]]:
    """A row's slug as a module or crate name, its stub, tests and example. Raises UserError."""
    refuse_unreadable(row, where)
    module = text(row, "slug", where).replace("-", "_")
    stub, tests, example = (paths(row, name, where) for name in ("solution_stub", "tests", "example"))
    return module, stub, tests, example


def task_of(row: Row, where: str, **fields: Any) -> Task:
    """The task of a row, with its track's fields. Raises UserError."""
    name, statement = text(row, "id", where), text(row, "instructions", where)
    return Task(id=name, family="exercise", statement=statement, topic="exercism", source=name, **fields)


def clone(path: Path, track: str) -> Iterator[tuple[str, Row]]:
    """(folder, row) for each exercise in a clone, in its `exercises/practice`, or for one exercise; unreadable ones
    included.

    Raises UserError if there are none.
    """
    root = next((p for p in (path / "exercises" / "practice", path / "practice", path) if p.is_dir()), path)
    if not root.is_dir():
        raise UserError(f"no such folder: {path}")
    folders = [root] if (root / ".meta" / "config.json").is_file() else sorted(_subfolders(root))
    folders = [folder for folder in folders if (folder / ".meta" / "config.json").is_file()]
    if not folders:
        raise UserError(
            f"{path}: no exercises: expected a clone of github.com/exercism/{track}, with the folder "
            f"exercises/practice"
        )
    for folder in folders:
        try:
            row = _row(folder, track)
        except UserError as error:
            row = unreadable(error)
        yield str(folder), row


def _subfolders(root: Path) -> list[Path]:
    try:
        return [entry for entry in root.iterdir() if entry.is_dir() and not entry.is_symlink()]
    except OSError as error:
        raise UserError(f"cannot read {root}: {error.strerror or error}") from error


def _row(folder: Path, track: str) -> dict[str, Any]:
    where = str(folder)
    config = parse_json(_text(folder, ".meta/config.json"), f"{where}/.meta/config.json")
    files = config.get("files") if isinstance(config, dict) else None
    if not isinstance(files, dict):
        raise UserError(f"{where}/.meta/config.json: it has no object 'files'")
    stub, tests, example = (
        {name: _text(folder, name) for name in _names(files, key, where)}
        for key in ("solution", "test", "example")
    )
    tests |= {
        name: _text(folder, name) for name in _further(folder) if name not in stub and name not in tests
    }
    docs = [_text(folder, f".docs/{name}") for name in _DOCS if (folder / ".docs" / name).is_file()]
    row: dict[str, Any] = {
        "id": f"exercism/{track}/{folder.name}",
        "slug": folder.name,
        "instructions": "\n\n".join(docs),
        "solution_stub": stub,
        "tests": tests,
        "example": example,
    }
    if track == "rust":
        row["dependencies"] = list(manifest(stub.get("Cargo.toml", ""), where))
    return row


def manifest(toml: str, where: str) -> dict[str, Any]:
    """Dependencies in a Cargo.toml, including dev-dependencies. Raises UserError."""
    read = parse_toml(toml, f"{where}: Cargo.toml")
    tables = [read.get("dependencies", {}), read.get("dev-dependencies", {})]
    if not all(isinstance(table, dict) for table in tables):
        raise UserError(f"{where}: Cargo.toml: dependencies must be a table")
    return {**tables[0], **tables[1]}


def inline(value: Any) -> str:
    """A value of Cargo.toml on one line. JSON strings, numbers, booleans and lists are also valid TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {inline(inner)}" for name, inner in value.items()) + " }"
    return json.dumps(value)


def _names(files: dict[str, Any], key: str, where: str) -> list[str]:
    names = files.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{where}/.meta/config.json: files.{key} must be a list of paths")
    return names


def _further(folder: Path) -> list[str]:
    """Files of the exercise that its configuration does not name, such as test helpers."""
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part in _LEFT_OUT for part in parts)
        if not hidden and path.is_file() and path.suffix in (".py", ".rs"):
            found.append("/".join(parts))
    return found


def _text(folder: Path, name: str) -> str:
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UserError(f"{path}: is outside the exercise's folder")
        if path.stat().st_size > MAX_FILE:
            raise UserError(f"{path}: more than {MAX_FILE >> 20} MiB: left out")
        return path.read_bytes().decode()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error


_PYTHON_EXAMPLES = (".meta/example.py", ".meta/exemplar.py")


def _read_python(row: Row, where: str) -> Iterator[Task]:
    module, stub, tests, example = parts_of(row, where)
    path, solved = chosen(stub, f"{module}.py") or f"{module}.py", chosen(example, *_PYTHON_EXAMPLES)
    further = {name: code for name, code in stub.items() if name != path}
    try:
        found = test_ids(tests)
    except UnreadableTests as error:
        raise UserError(f"{where}: the tests cannot be read from their source: {error}") from error
    if not found:
        raise UserError(f"{where}: the task has no tests: none in {', '.join(tests) or 'no file'}")
    yield task_of(
        row,
        where,
        language="python",
        reference=example.get(solved, ""),
        check=PytestCheck(path=path, files={**further, **tests}, tests=found),
        metadata={"stub": stub[path]} if path in stub else {},
    )


_IGNORE = re.compile(r"^[ \t]*#\[ignore(?:\s*=\s*\"[^\"]*\")?\][ \t]*\n", re.M)
_RUST_STUB, _RUST_EXAMPLE = "src/lib.rs", ".meta/example.rs"


def _read_rust(row: Row, where: str) -> Iterator[Task]:
    slug, stub, tests, example = parts_of(row, where)
    judging = _judging(slug, tests, where)
    tomls = stub.get("Cargo.toml", ""), example.get(".meta/Cargo-example.toml", "")
    crate = _crate(tomls, tests[judging], where) or slug
    yield task_of(
        row,
        where,
        language="rust",
        signature=stub.get(_RUST_STUB, ""),
        reference=example.get(_RUST_EXAMPLE, ""),
        check=RustCheck(
            tests=_IGNORE.sub("", tests[judging]),
            crate=crate,
            edition="2024",
            crates=_crates(row, *tomls, where),
            files={name: code for name, code in tests.items() if name.startswith("src/")},
        ),
    )


_USED = re.compile(r"^[ \t]*use\s+(?:::)?([A-Za-z_]\w*)", re.M)
_NOT_OURS = {"std", "core", "alloc", "crate", "self", "super"}


def _judging(slug: str, tests: dict[str, str], where: str) -> str:
    """The test file named after the exercise, with or without separators between its words. Raises UserError."""
    files = [
        name for name in tests if name.startswith("tests/") and name.endswith(".rs") and name.count("/") == 1
    ]
    plain = slug.replace("_", "")
    named = [name for name in files if name[6:-3].replace("-", "").replace("_", "") == plain]
    found = [f"tests/{slug}.rs"] if f"tests/{slug}.rs" in tests else named
    if not found:
        raise UserError(f"{where}: no test file tests/{slug}.rs, only {', '.join(tests) or 'none'}")
    return found[0]


def _crate(tomls: tuple[str, str], tests: str, where: str) -> str:
    """The crate's name from Cargo.toml, or else the one that the tests use and nothing else provides; "" for
    neither."""
    for toml in filter(None, tomls):
        tables = parse_toml(toml, f"{where}: Cargo.toml")
        for table in (tables.get("lib"), tables.get("package")):
            if isinstance(table, dict) and isinstance(table.get("name"), str) and table["name"].strip():
                return str(table["name"]).replace("-", "_")
    others = _NOT_OURS | {name.replace("-", "_") for toml in tomls for name in manifest(toml, where)}
    used = [name for name in dict.fromkeys(_USED.findall(tests)) if name not in others]
    return used[0] if len(used) == 1 else ""


def _crates(row: Row, stub: str, example: str, where: str) -> list[str]:
    """Lines of a manifest, one per crate; a bare name if any version will do."""
    asked = manifest(stub, where)
    further = row.get("dependencies") or ()
    if not isinstance(further, list | tuple):
        raise UserError(f"{where}: field 'dependencies' must hold a list, not {type(further).__name__}")
    chosen = [*manifest(example, where), *further]
    lines = {name: f"{name} = {inline(value)}" for name, value in asked.items() if value != "*"}
    return [lines.get(name, name) for name in dict.fromkeys([*asked, *map(str, chosen)])]


def _adapter(track: str, ending: str, read: Callable[[Row, str], Iterator[Task]]) -> Adapter:
    def fits(row: Row) -> bool:
        shaped = has(row, slug=str, instructions=str, solution_stub=dict, tests=dict)
        return shaped and any(str(name).endswith(ending) for name in row["tests"])

    return Adapter(
        name=f"exercism-{track}",
        about=f"exercises of Exercism's {track.title()} track, or a clone of it",
        read=read,
        fits=fits,
        as_json=("solution_stub", "tests", "example"),
        folder=partial(clone, track=track),
    )


EXERCISM_PYTHON = _adapter("python", ".py", _read_python)
EXERCISM_RUST = _adapter("rust", ".rs", _read_rust)
