import json
import signal
import subprocess
import sys

import pytest
from tests.processes import alive, family
from tests.waiting import wait_until

from strop.tasks import load_tasks


def test_tasks_and_manifest_are_written_and_are_the_same_again(strop, tmp_path):
    words = ["build", "bugs", "python-functions", "-o", "bugs.jsonl.gz", "--limit", 6, "--per-task", 3]
    done = strop(*words, "--seed", 7, "--faults", "1-2")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "bugs.jsonl.gz.manifest.json").read_text())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bugs.jsonl.gz",
        "bugs.jsonl.gz.manifest.json",
    ]
    count = manifest["tasks"]
    assert 12 <= count <= 18 and f"{count} repair tasks from 6 originals" in done.stdout
    assert count == sum(manifest["splits"].values()) == sum(manifest["faults"].values())
    assert set(manifest["faults"]) == {"1", "2"} and manifest["settings"]["seed"] == 7
    for row in manifest["operators"].values():
        assert row["tried"] == row["kept"] + sum(row["dropped"].values())
    first = (tmp_path / "bugs.jsonl.gz").read_bytes()
    again = strop(*words, "--seed", 7, "--faults", "1-2", "--workers", 1)
    assert again.returncode == 0 and (tmp_path / "bugs.jsonl.gz").read_bytes() == first
    assert len(strop("tasks", "list", "bugs.jsonl.gz").stdout.splitlines()) == count


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["python-functions", "-o", "bugs.txt"], "ends in .jsonl"),
        (["python-functions", "-o", "/dev/null/bugs.jsonl"], "/dev/null is not a folder"),
        (["python-functions", "-o", "bugs.jsonl", "--faults", "2-1"], "--faults '2-1'"),
        (["python-functions", "-o", "bugs.jsonl", "--format", "whole"], "did you mean 'whole-file'"),
        (["python-function", "-o", "bugs.jsonl"], "did you mean 'python-functions'"),
        (["python-functions", "-o", "bugs.jsonl", "--rewrite-model", "m"], "add --rewrite-url"),
        (
            ["python-functions", "-o", "bugs.jsonl", "--issue-model", "m", "--rewrite-url", "x"],
            "must begin with http",
        ),
        (["python-functions", "-o", "bugs.jsonl", "--rewrite-url", "http://x"], "add --rewrite-model"),
        (["python-functions", "-o", "bugs.jsonl", "--rewrite-share", "0.5"], "add --rewrite-model"),
        (["python-functions", "-o", "bugs.jsonl", "--language", "rust"], "for a project, not for tasks"),
        (["rust-functions", "-o", "bugs.jsonl", "--limit", "2"], "2 no Python task with tests"),
    ],
)
def test_mistakes_are_said_in_one_line_and_leave_nothing(strop, tmp_path, words, cause):
    done = strop("build", "bugs", *words)
    assert done.returncode == 2 and cause in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sent", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "")]
)
def test_an_interrupt_or_a_termination_leaves_no_file(start, tmp_path, sent, code, word):
    running = start("build", "bugs", "python-functions", "-o", "bugs.jsonl", "--workers", "1")
    wait_until(lambda: list(tmp_path.iterdir()), running)  # a temporary file
    running.send_signal(sent)
    said = running.communicate(timeout=300)[1]
    assert running.returncode == code and word in said and "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "shop.py": "".join(
        f"def total_{n}(prices, tax={n}):\n    found = {n}\n    for price in prices:\n        if price < {n}:\n"
        f"            continue\n        found += price\n    return found + found * tax // 100\n\n\n"
        for n in range(12)
    ),
    "tests/test_shop.py": "import shop\n\n\n"
    + "".join(
        f"def test_some_{n}():\n    assert shop.total_{n}([{n}, 100, -3], 50) == {3 * n + 150}\n\n\n"
        f"def test_none_{n}():\n    assert shop.total_{n}([], 100) == {2 * n}\n\n\n"
        f"def test_free_{n}():\n    assert shop.total_{n}([-3, 99], 0) == {n + 99}\n\n\n"
        for n in range(12)
    ),
}


def written(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def interrupted(start, until, *words):
    """(exit status, what is said, lines of it): Ctrl-C once a line of stderr holds `until`; nothing of it runs then."""
    running = start("build", "bugs", "shop", *words)
    told = []
    for line in running.stderr:
        told.append(line)
        if until in line:
            break
    children = wait_until(lambda: family(root=running.pid), running)
    running.send_signal(signal.SIGINT)
    out, rest = running.communicate(timeout=300)
    assert not any(map(alive, children)), "left running"
    return running.returncode, out, rest.splitlines()


@pytest.mark.soak(60)
def test_an_interrupted_build_on_a_project_leaves_nothing_or_its_tasks(start, tmp_path):
    written(tmp_path / "shop", SHOP)
    words = ["-o", "bugs.jsonl", "--workers", 2, "--per-task", 2, "--count", 12]
    code, _, said = interrupted(start, "collecting tests", *words)
    assert code == 130 and said and said[-1].startswith("interrupted") and "Traceback" not in "".join(said), (
        said
    )
    assert [path.name for path in tmp_path.iterdir()] == ["shop"]
    code, out, said = interrupted(start, "tasks: 1", *words)
    assert code == 0 and any(line.startswith("stopped: the ") for line in said), (out, said)
    names = ["bugs.jsonl", "bugs.jsonl.manifest.json", "bugs.project.tar.gz", "shop"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    part = [task.model_dump() for task in load_tasks(str(tmp_path / "bugs.jsonl"))]
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        whole = start("build", "bugs", "shop", *words)
        said = whole.communicate(timeout=400)
    finally:
        busy.kill()
        busy.wait()
    assert whole.returncode == 0, said
    tasks = [task.model_dump() for task in load_tasks(str(tmp_path / "bugs.jsonl"))]
    assert 0 < len(part) <= len(tasks) == 12 and tasks[: len(part)] == part, (
        "the same, also beside a busy loop"
    )


CRATE = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """/// The sum of the prices that are above `low`.
pub fn total(prices: &[i64], low: i64) -> i64 {
    let mut found = 0;
    for &price in prices {
        if price > low {
            found += price;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn inside() {
        assert_eq!(super::total(&[1, 2, 3], 0), 6);
    }
}
""",
    "tests/outer.rs": "#[test]\nfn low() {\n    assert_eq!(shop::total(&[2, 5], 2), 5);\n}\n",
}


@pytest.mark.rust(9)
def test_a_crate_gives_tasks_whose_repairs_pass(start, tmp_path, verifier):
    for name, text in CRATE.items():
        path = tmp_path / "crate" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    running = start("build", "bugs", "crate", "-o", "crate.jsonl", "--count", 2, "--workers", 1)
    said = running.communicate(timeout=400)
    assert running.returncode == 0 and "2 repair tasks from 1 originals" in said[0], said
    names = ["crate", "crate.jsonl", "crate.jsonl.manifest.json", "crate.project.tar.gz"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for task in load_tasks(str(tmp_path / "crate.jsonl")):
        judge = task.check.judge
        assert task.language == "rust" and task.check.oracle == {"src/lib.rs": CRATE["src/lib.rs"]}
        assert {*judge.failing, *judge.passing} == {"outer::low", "shop::tests::inside"}
        assert judge.project == str(tmp_path / "crate.project.tar.gz")
        assert f"`{judge.failing[0]}` fails" in task.statement and "` (src/lib.rs)" in task.statement
        assert verifier.verify(task, task.reference).passed
        assert not verifier.verify(task, "I would change nothing.").passed
