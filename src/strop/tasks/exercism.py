"""Exercism's Rust track (MIT), from a JSONL file: exercises with a stub, integration tests and an example solution.

A row has `id`, `slug`, `instructions`, `solution_stub` and `tests` and `example` (path to text), `dependencies`.

1. Tests after the first are marked `#[ignore]` for learners; the mark is taken off, because all of them judge.
2. Where an exercise has several test files, the one named after it judges, as it does on the site.
3. `check.crates` has the crates that an exercise's Cargo.toml asks for, in its versions, and in any version those that
   its example solution chose. Answers that use one are judged only with a folder of vendored crates.
4. `check.files` has what else belongs to the package. A file that the stub declares and the row lacks
   (`mod pre_implemented;`) makes an answer that declares it an *error*, not a failure.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strop.core.errors import UserError
from strop.core.task import RustCheck, Task
from strop.tasks import jsonl
from strop.tasks.rust_sets import text, texts

_IGNORE = re.compile(r"^[ \t]*#\[ignore(?:\s*=\s*\"[^\"]*\")?\][ \t]*\n", re.M)


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (`file:line`, fields of a task) for every exercise. Raises UserError."""
    for where, row in jsonl.read_rows(path):
        yield where, _task(row, where).model_dump(mode="json")


def _task(row: dict[str, Any], where: str) -> Task:
    slug = text(row, "slug", where)
    crate = slug.replace("-", "_")
    tests = texts(row, "tests", where)
    chosen = f"tests/{crate}.rs"
    if chosen not in tests:
        raise UserError(f"{where}: no test file {chosen}, only {', '.join(tests) or 'none'}")
    stub = texts(row, "solution_stub", where)
    example = texts(row, "example", where)
    return Task(
        id=text(row, "id", where),
        family="exercise",
        language="rust",
        statement=text(row, "instructions", where),
        signature=stub.get("src/lib.rs", ""),
        reference=example.get(".meta/example.rs", ""),
        check=RustCheck(
            tests=_IGNORE.sub("", tests[chosen]),
            crate=crate,
            edition="2024",
            crates=_crates(row, stub, example, where),
            files={name: code for name, code in tests.items() if name.startswith("src/")},
        ),
        topic="exercism",
        source=text(row, "id", where),
    )


def _crates(row: dict[str, Any], stub: dict[str, str], example: dict[str, str], where: str) -> list[str]:
    """Lines of a manifest, one a crate; a bare name where any version will do."""
    asked = _dependencies(stub.get("Cargo.toml", ""), where)
    chosen = [
        *_dependencies(example.get(".meta/Cargo-example.toml", ""), where),
        *(row.get("dependencies") or ()),
    ]
    lines = {name: f"{name} = {_inline(value)}" for name, value in asked.items() if value != "*"}
    return [lines.get(name, name) for name in dict.fromkeys([*asked, *map(str, chosen)])]


def _dependencies(manifest: str, where: str) -> dict[str, Any]:
    try:
        read = tomllib.loads(manifest)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{where}: Cargo.toml: {error}") from error
    return {**read.get("dependencies", {}), **read.get("dev-dependencies", {})}


def _inline(value: Any) -> str:
    """A value of Cargo.toml in one line. JSON's texts, numbers, truths and lists are TOML's too."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_inline(inner)}" for name, inner in value.items()) + " }"
    return json.dumps(value)
