"""The exercism adapter: crates with their versions, and further files of an exercise."""

import json
from pathlib import Path

import pytest

from strop.core.checks import RustCheck
from strop.core.errors import UserError
from strop.tasks import load_tasks

ROW = {
    "id": "exercism/rust/two-sums", "slug": "two-sums", "instructions": "Add.", "dependencies": ["serde"],
    "solution_stub": {
        "src/lib.rs": "pub mod checks;",
        "Cargo.toml": '[dependencies]\nrand = "0.10"\ntime = { version = "0.3", features = ["macros"] }\n'
        '[dev-dependencies]\npretty_assertions = "*"\n',
    },
    "tests": {"tests/two_sums.rs": "#[test]\nfn a() {}\n", "src/checks.rs": "// checks", "tests/more.rs": "// more"},
    "example": {".meta/example.rs": "",
                ".meta/Cargo-example.toml": '[dependencies]\nrand = "0.8"\nitertools = "0.14"\n'},
}  # fmt: skip


def loaded(path: Path, row: dict[str, object]) -> RustCheck:
    path.write_text(json.dumps(row) + "\n")
    (task,) = load_tasks(f"exercism-rust:{path}")
    assert isinstance(task.check, RustCheck)
    return task.check


def test_an_exercise_asks_for_versions_and_its_example_for_any(tmp_path: Path) -> None:
    assert loaded(tmp_path / "x.jsonl", ROW).crates == [
        'rand = "0.10"',
        'time = { version = "0.3", features = ["macros"] }',
        "pretty_assertions",
        "itertools",
        "serde",
    ]


def test_files_of_the_package_come_along_and_other_tests_do_not(tmp_path: Path) -> None:
    assert loaded(tmp_path / "x.jsonl", ROW).files == {"src/checks.rs": "// checks"}


def test_a_broken_manifest_is_told_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"x.jsonl:1: Cargo.toml"):
        loaded(tmp_path / "x.jsonl", {**ROW, "solution_stub": {"Cargo.toml": "[dependencies"}})
