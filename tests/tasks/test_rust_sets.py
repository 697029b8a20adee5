# ruff: noqa: E501
"""The Rust data sets' adapters, on rows written here and on the files where they are at hand."""

import json
from pathlib import Path

import pytest
from tests import needs

from strop.core.checks import RustCheck
from strop.core.errors import UserError
from strop.tasks import load_tasks

EXERCISE = {
    "id": "exercism/rust/two-sums", "slug": "two-sums", "instructions": "Add.",
    "solution_stub": {"src/lib.rs": "pub fn f() {}"}, "dependencies": ["rand"],
    "tests": {"tests/two_sums.rs": 'use two_sums::*;\n#[test]\n#[ignore]\nfn a() {}\n#[test]\n#[ignore = "slow"]\nfn b() {}\n'},
    "example": {".meta/example.rs": "pub fn f() {} // done"},
}  # fmt: skip


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_exercises_are_integration_tests_without_ignored_ones(tmp_path: Path) -> None:
    (task,) = load_tasks(f"exercism-rust:{written(tmp_path / 'x.jsonl', EXERCISE)}")
    check = task.check
    assert isinstance(check, RustCheck)
    assert (check.crate, check.edition, check.crates) == ("two_sums", "2024", ["rand"])
    assert check.tests == "use two_sums::*;\n#[test]\nfn a() {}\n#[test]\nfn b() {}\n"
    assert (task.language, task.reference, task.signature) == (
        "rust",
        "pub fn f() {} // done",
        "pub fn f() {}",
    )


def test_an_exercise_without_its_tests_is_refused_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "x.jsonl", {**EXERCISE, "tests": {"tests/other.rs": ""}})
    with pytest.raises(UserError, match=r"x.jsonl:1: no test file tests/two_sums.rs, only tests/other.rs"):
        load_tasks(f"exercism-rust:{path}")


def test_functions_to_continue_are_closed(tmp_path: Path) -> None:
    row = {
        "id": "h/1", "prompt": "// Adds one.\nfn f(x: i32) -> i32 {\n", "canonical_solution": "x + 1\n", "edition": "2021",
        "test": "#[cfg(test)]\nmod tests { #[test] fn t() {} }\n", "entry_point": "f",
    }  # fmt: skip
    (task,) = load_tasks(f"humaneval-rust:{written(tmp_path / 'h.jsonl', row)}")
    assert task.statement == "Adds one."
    assert task.signature == "fn f(x: i32) -> i32"
    assert task.reference == "// Adds one.\nfn f(x: i32) -> i32 {\nx + 1\n}\n"
    assert task.prompt == row["prompt"]


@pytest.mark.parametrize(("kind", "count"), [("exercism-rust", 73), ("humaneval-rust", 113)])
def test_the_files_load_whole(kind: str, count: int) -> None:
    tasks = load_tasks(f"{kind}:{needs.data(f'{kind}.jsonl')}")
    assert len(tasks) >= count and all(t.reference and t.test_count for t in tasks)
