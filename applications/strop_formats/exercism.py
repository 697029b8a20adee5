"""Exercism's Python and Rust tracks (MIT): exercises with a stub, tests and an example; rows, or a clone of a track.

The fields are those of `exercise_files`; Rust has `dependencies` too, the names of crates that an exercise needs.

Python: the stub is in `metadata["stub"]`; an answer is the whole file, and the tests import it under the stub's name.

1. The ids of the tests are read from their source (`suite_tests`): skipped ones, such as extra credits, do not judge.
2. Files among the tests that hold no test, such as `test_utils.py`, lie beside them.
3. Answer and tests are in different processes (docs/formats.md, "pytest suites"). So exercises fail, reference
   included, whose tests pass their own objects to the answer or patch builtins for it.

Rust:

4. Tests after the first are marked `#[ignore]` for learners; the mark is taken off, because all of them judge.
5. Where an exercise has several test files, the one named after it judges, as it does on the site. The crate's name is
   the one in Cargo.toml, or else the one that the tests use (`twofer` of two-fer), or else the slug.
6. `check.crates` has the crates that an exercise's Cargo.toml asks for, in its versions, and in any version those that
   its example solution chose. Answers that use one are judged only with a folder of vendored crates.
7. `check.files` has what else belongs to the package. A file that the stub declares and the row lacks
   (`mod pre_implemented;`) makes an answer that declares it an *error*, not a failure.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from strop.core.checks import PytestCheck, RustCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import Adapter
from strop.tasks.row_limits import parse_toml
from strop.tasks.rows import Row
from strop.tasks.suite_tests import UnreadableTests, test_ids
from strop_formats import exercise_files
from strop_formats.exercise_files import chosen, inline, manifest
from strop_formats.fields import has

_PYTHON_EXAMPLES = (".meta/example.py", ".meta/exemplar.py")


def _read_python(row: Row, where: str) -> Iterator[Task]:
    module, stub, tests, example = exercise_files.parts_of(row, where)
    path, solved = chosen(stub, f"{module}.py") or f"{module}.py", chosen(example, *_PYTHON_EXAMPLES)
    further = {name: code for name, code in stub.items() if name != path}
    try:
        found = test_ids(tests)
    except UnreadableTests as error:
        raise UserError(f"{where}: the tests cannot be read from their source: {error}") from error
    if not found:
        raise UserError(f"{where}: the task has no tests: none in {', '.join(tests) or 'no file'}")
    yield exercise_files.task_of(
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
    slug, stub, tests, example = exercise_files.parts_of(row, where)
    judging = _judging(slug, tests, where)
    crate = _crate(stub, example, tests[judging], where) or slug
    yield exercise_files.task_of(
        row,
        where,
        language="rust",
        signature=stub.get(_RUST_STUB, ""),
        reference=example.get(_RUST_EXAMPLE, ""),
        check=RustCheck(
            tests=_IGNORE.sub("", tests[judging]),
            crate=crate,
            edition="2024",
            crates=_crates(row, stub, example, where),
            files={name: code for name, code in tests.items() if name.startswith("src/")},
        ),
    )


_PACKAGE = ("Cargo.toml", ".meta/Cargo-example.toml")
_USED = re.compile(r"^[ \t]*use\s+(?:::)?([A-Za-z_]\w*)", re.M)
_NOT_OURS = {"std", "core", "alloc", "crate", "self", "super"}


def _judging(slug: str, tests: dict[str, str], where: str) -> str:
    """The test file named after the exercise, with or without marks between its words. Raises UserError."""
    files = [
        name for name in tests if name.startswith("tests/") and name.endswith(".rs") and name.count("/") == 1
    ]
    plain = slug.replace("_", "")
    named = [name for name in files if name[6:-3].replace("-", "").replace("_", "") == plain]
    found = [f"tests/{slug}.rs"] if f"tests/{slug}.rs" in tests else named
    if not found:
        raise UserError(f"{where}: no test file tests/{slug}.rs, only {', '.join(tests) or 'none'}")
    return found[0]


def _crate(stub: dict[str, str], example: dict[str, str], tests: str, where: str) -> str:
    """The crate's name as Cargo.toml has it, else as the tests use it and nothing else provides it; "" for neither."""
    for text in filter(None, (stub.get(_PACKAGE[0], ""), example.get(_PACKAGE[1], ""))):
        tables = parse_toml(text, f"{where}: Cargo.toml")
        for table in (tables.get("lib"), tables.get("package")):
            if isinstance(table, dict) and isinstance(table.get("name"), str) and table["name"].strip():
                return str(table["name"]).replace("-", "_")
    others = _NOT_OURS | {
        name.replace("-", "_")
        for text in (stub.get(_PACKAGE[0], ""), example.get(_PACKAGE[1], ""))
        for name in manifest(text, where)
    }
    used = [name for name in dict.fromkeys(_USED.findall(tests)) if name not in others]
    return used[0] if len(used) == 1 else ""


def _crates(row: Row, stub: dict[str, str], example: dict[str, str], where: str) -> list[str]:
    """Lines of a manifest, one a crate; a bare name where any version will do."""
    asked = manifest(stub.get("Cargo.toml", ""), where)
    further = row.get("dependencies") or ()
    if not isinstance(further, list | tuple):
        raise UserError(f"{where}: field 'dependencies' must hold a list, not {type(further).__name__}")
    chosen = [*manifest(example.get(".meta/Cargo-example.toml", ""), where), *further]
    lines = {name: f"{name} = {inline(value)}" for name, value in asked.items() if value != "*"}
    return [lines.get(name, name) for name in dict.fromkeys([*asked, *map(str, chosen)])]


def _adapter(
    track: str,
    ending: str,
    read: Callable[[Row, str], Iterator[Task]],
) -> Adapter:
    def fits(row: Row) -> bool:
        shaped = has(row, slug=str, instructions=str, solution_stub=dict, tests=dict)
        return shaped and any(str(name).endswith(ending) for name in row["tests"])

    return Adapter(
        name=f"exercism-{track}",
        about=f"exercises of Exercism's {track.title()} track, or a clone of it",
        read=read,
        fits=fits,
        as_json=("solution_stub", "tests", "example"),
        folder=partial(exercise_files.clone, track=track),
    )


EXERCISM_PYTHON = _adapter("python", ".py", _read_python)
EXERCISM_RUST = _adapter("rust", ".rs", _read_rust)
