"""Exercism's Rust track (MIT): exercises with a stub, integration tests and an example; rows, or a clone of the track.

The fields are those of `exercise_files`, and `dependencies`, the names of crates that an exercise needs.

1. Tests after the first are marked `#[ignore]` for learners; the mark is taken off, because all of them judge.
2. Where an exercise has several test files, the one named after it judges, as it does on the site.
3. `check.crates` has the crates that an exercise's Cargo.toml asks for, in its versions, and in any version those that
   its example solution chose. Answers that use one are judged only with a folder of vendored crates.
4. `check.files` has what else belongs to the package. A file that the stub declares and the row lacks
   (`mod pre_implemented;`) makes an answer that declares it an *error*, not a failure.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from strop.core.checks import RustCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import exercise_files
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.exercise_files import inline, manifest, paths
from strop.tasks.adapters.fields import has, text
from strop.tasks.adapters.unreadable import refuse_unreadable
from strop.tasks.rows import Row

_IGNORE = re.compile(r"^[ \t]*#\[ignore(?:\s*=\s*\"[^\"]*\")?\][ \t]*\n", re.M)
_STUB, _EXAMPLE = "src/lib.rs", ".meta/example.rs"


def _read(row: Row, where: str) -> Iterator[Task]:
    refuse_unreadable(row, where)
    slug = text(row, "slug", where)
    crate = slug.replace("-", "_")
    tests = paths(row, "tests", where)
    chosen = f"tests/{crate}.rs"
    if chosen not in tests:
        raise UserError(f"{where}: no test file {chosen}, only {', '.join(tests) or 'none'}")
    stub, example = paths(row, "solution_stub", where), paths(row, "example", where)
    yield Task(
        id=text(row, "id", where),
        family="exercise",
        language="rust",
        statement=text(row, "instructions", where),
        signature=stub.get(_STUB, ""),
        reference=example.get(_EXAMPLE, ""),
        check=RustCheck(
            tests=_IGNORE.sub("", tests[chosen]),
            crate=crate,
            edition="2024",
            crates=_crates(row, stub, example, where),
            files={name: code for name, code in tests.items() if name.startswith("src/")},
        ),
        topic="exercism",
        source=text(row, "id", where),
        metadata={"original": _original(row, stub, example)},
    )


def _original(row: Row, stub: dict[str, str], example: dict[str, str]) -> dict[str, Any]:
    held = {"id", "instructions"}
    kept = exercise_files.left_over(row, held)
    kept["solution_stub"] = {name: code for name, code in stub.items() if name != _STUB or not code}
    kept["example"] = {name: code for name, code in example.items() if name != _EXAMPLE or not code}
    return kept


def _crates(row: Row, stub: dict[str, str], example: dict[str, str], where: str) -> list[str]:
    """Lines of a manifest, one a crate; a bare name where any version will do."""
    asked = manifest(stub.get("Cargo.toml", ""), where)
    further = row.get("dependencies") or ()
    if not isinstance(further, list | tuple):
        raise UserError(f"{where}: field 'dependencies' must hold a list, not {type(further).__name__}")
    chosen = [*manifest(example.get(".meta/Cargo-example.toml", ""), where), *further]
    lines = {name: f"{name} = {inline(value)}" for name, value in asked.items() if value != "*"}
    return [lines.get(name, name) for name in dict.fromkeys([*asked, *map(str, chosen)])]


def _write(task: Task) -> dict[str, Any]:
    check = task.check.maybe(RustCheck)
    kept = exercise_files.original(task, "exercism-rust")
    if check is None or not check.crate:
        raise UserError(f"task {task.id!r} has no integration tests: the format exercism-rust cannot hold it")
    path = f"tests/{check.crate}.rs"
    before = kept.get("tests", {}).get(path, "")
    tests = {} if before and _IGNORE.sub("", before) == check.tests else {path: check.tests}
    files = {"solution_stub": {_STUB: task.signature} if task.signature else {}}
    files["tests"] = {**tests, **check.files}
    files["example"] = {_EXAMPLE: task.reference} if task.reference else {}
    return {"dependencies": [], **exercise_files.row_of(task, kept, files)}


def _fits(row: Row) -> bool:
    if not has(row, slug=str, instructions=str, solution_stub=dict, tests=dict):
        return False
    return any(str(name).endswith(".rs") for name in row["tests"])


ADAPTER = Adapter(
    name="exercism-rust",
    about="exercises of Exercism's Rust track, or a clone of it",
    read=_read,
    fits=_fits,
    write=_write,
    as_json=("solution_stub", "tests", "example"),
    folder=partial(exercise_files.clone, track="rust"),
)
