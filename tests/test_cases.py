"""Inputs on which Strop was wrong, kept beside the project: each answer gets the outcome that is noted for it."""

import json

import pytest
from tests.needs import case
from typer.testing import CliRunner

from strop.cli import app
from strop.tasks import load_tasks
from strop.tasks.answers import answer_in
from strop_verify.core.verdict import Outcome

FOLDERS = [
    "answer-fence-tags",
    "answer-stray-fence",
    "answer-thought-same-line",
    "answer-usage-block",
    "edit-line-taken-for-path",
    "tolerance-integers",
]
"""Folders with tasks.jsonl, answers.jsonl and expected.jsonl."""


@pytest.mark.parametrize("name", FOLDERS)
def test_outcomes_are_those_expected(name, verifier):
    folder = case(name)
    answers, expected = (
        [json.loads(line) for line in (folder / f"{file}.jsonl").read_text().splitlines()]
        for file in ("answers", "expected")
    )
    tasks = {task.id: task for task in load_tasks(f"jsonl:{folder / 'tasks.jsonl'}")}
    asked = [(tasks[row["task_id"]], row["answer"]) for row in answers]
    futures = [verifier.submit(task, answer_in(answer, task)) for task, answer in asked]
    found = [(row["task_id"], future.result()) for row, future in zip(answers, futures, strict=True)]
    wrong = [
        (name, verdict.outcome.value, verdict.detail)
        for (name, verdict), row in zip(found, expected, strict=True)
        if verdict.outcome is not Outcome(row["outcome"])
    ]
    assert [name for name, _ in found] == [row["task_id"] for row in expected] and wrong == []


@pytest.mark.parametrize("style", ["chat", "chat-prefilled", "continue"])
def test_scripted_answers_are_right_in_every_style(style, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = case("eval-future-import")
    words = f"eval scripted:{folder / 'answers.jsonl'} --tasks jsonl:{folder / 'tasks.jsonl'} -n 1 -k 1 --no-greedy"
    result = CliRunner().invoke(app, [*words.split(), "--style", style], env={"COLUMNS": "200"})
    assert result.exit_code == 0 and "1.000 [1.000, 1.000]" in result.output, result.output
