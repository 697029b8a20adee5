"""Exercism's Rust track (MIT), from a JSONL file: exercises with a stub, integration tests and an example solution.

A row has `id`, `slug`, `instructions`, `solution_stub` and `tests` and `example` (path to text), `dependencies`.

1. Tests after the first are marked `#[ignore]` for learners; the mark is taken off, because all of them judge.
2. Where an exercise has several test files, the one named after it judges, as it does on the site.
3. Exercises that need crates name them in `check.crates`; they cannot be built without a folder of vendored crates.
"""

import re
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
            crates=[str(name) for name in row.get("dependencies") or ()],
        ),
        topic="exercism",
        source=text(row, "id", where),
    )
