"""Pages of evaluations: the result first, sets apart, names of tasks, what failed cases asked, controls."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import warm

from strop.tasks import write_tasks
from strop.tasks.sources import load_tasks
from strop_tasks.generators.needs_feedback import generate

from .made_runs import make_run

pytest.importorskip("altair")

from strop.reports.static.report import report

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_run(tmp_path_factory.mktemp("runs") / "trained", steps=3, extra=("humaneval",), held_out=4)
    return report([folder], folder / "report.html").path


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scripted models on tasks that need feedback, the second one right in its second turn."""
    folder = tmp_path_factory.mktemp("evaluated")
    tasks = list(generate(6))
    wrong = {task.id: f"```python\n{task.metadata['wrong'][0]}```" for task in tasks}
    right = {task.id: f"```python\n{task.reference}```" for task in tasks}
    for name, rounds in (("bad", [wrong]), ("good", [wrong, right])):
        lines = [{"task_id": t, "answer": a} for answers in rounds for t, a in answers.items()]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = warm.strop(
        "eval", "scripted:bad.jsonl", "scripted:good.jsonl", "--tasks", "needs-feedback:6", "--environment", "feedback",
        "--style", "chat", "-n", "1", "--no-greedy", "evaluation.bootstrap=200", "run.dir=run", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return report([folder / "run"], folder / "report.html").path


def test_the_result_is_the_first_thing_on_the_page_and_facts_are_folded(
    open_page: Open, trained: Path
) -> None:
    page = open_page(trained, "#view=overview&run=0")
    first, second = page.locator(".o-said").all_text_contents()
    assert first.startswith("pass@1 on 4 held-out tasks: ") and "before training" in first
    assert first.endswith(
        ("the model got better.", "the model got worse.", "no difference is shown.")
    ) and second.startswith("humaneval: pass@1 on 4 tasks: ")
    tops = {
        name: page.locator(name).first.bounding_box()["y"] for name in (".o-said", ".o-results", ".o-about")
    }
    assert tops[".o-said"] < tops[".o-results"] < tops[".o-about"] and tops[".o-said"] < 250
    assert not page.locator(".o-facts").is_visible()
    page.locator(".o-about summary").click()
    assert page.locator(".o-facts").is_visible()


def test_evaluations_of_two_sets_are_two_places(open_page: Open, trained: Path) -> None:
    page = open_page(trained, "#view=rollouts&run=0")
    links = page.locator(".place-list a", has=page.locator(".name"))
    names = [text for text in links.locator(".name").all_text_contents() if not text.isdecimal()]
    assert names == ["before", "after", "before-humaneval", "after-humaneval"]
    shown = {}
    for name in names:
        page.locator(".place-list .name", has_text=name).filter(has_text=name).first.click()
        page.get_by_text(name, exact=True).first.click()
        page.wait_for_function("name => location.hash.includes(`evaluation=${name}`)", arg=name)
        page.wait_for_selector(".card")
        shown[name] = (
            page.locator(".count strong").text_content(),
            page.locator(".card h3 a").all_text_contents(),
        )
        facts = page.locator(".card .facts").all_text_contents()
        assert all(fact.split(" passed")[0] in ("0 of 2", "1 of 2", "2 of 2") for fact in facts), facts
    assert shown["before-humaneval"][0] == "Evaluation before training, humaneval"
    assert set(shown["before"][1]).isdisjoint(shown["before-humaneval"][1])
    page.locator(".card tbody a").first.click()
    page.wait_for_selector(".rollout-head h1")
    assert "humaneval" in page.locator(".rollout-head h1").text_content()


def test_a_run_of_strop_eval(open_page: Open, evaluated: Path) -> None:
    page = open_page(evaluated, "#view=overview&run=0")
    assert page.locator(".o-said").all_text_contents() == [
        "scripted:bad.jsonl: 0.0 % [0.0, 0.0] of 6 tasks solved (pass@1).",
        "scripted:good.jsonl: 100.0 % [100.0, 100.0] of 6 tasks solved (pass@1).",
    ]
    models, against = page.locator(".o-results").all()
    assert [row.text_content() for row in models.locator("tbody th").all()] == [
        "scripted:bad.jsonl", "scripted:good.jsonl", "difference from the first",
    ]  # fmt: skip
    assert models.locator("tbody tr").nth(2).locator("td").first.text_content().startswith("+100.0 ▲")
    heads = against.locator("thead th").all_text_contents()
    assert heads[:4] == ["evaluation", "solved", "resampled", "difference"]
    assert {"ceiling", "by turn 1", "by turn 2", "repeated"} <= {*heads}
    good = dict(
        zip(heads, against.locator("tbody tr").nth(1).locator("th, td").all_text_contents(), strict=True)
    )
    assert (good["by turn 1"], good["by turn 2"]) == ("0.0", "100.0")
    assert not page.locator(".o-curves").is_visible()


def test_failed_cases_say_what_they_gave_and_expected_where_the_prompt_shows_it(
    open_page: Open, evaluated: Path
) -> None:
    page = open_page(evaluated, "#view=rollouts&run=0")
    assert page.locator(".count strong").text_content() == "Evaluation scripted:bad.jsonl"
    names = set(page.locator(".card h3 a").all_text_contents())
    assert names <= {task.check.function for task in generate(6)}
    page.locator(".card tbody a").first.click()
    page.wait_for_selector(".rollout-head h1")
    table = page.locator("table", has=page.locator("caption", has_text="tests"))
    assert table.locator("thead th").all_text_contents() == [
        "Test",
        "Outcome",
        "Given",
        "Expected",
        "Got",
        "Time",
    ]
    rows = [row.locator("td").all_text_contents() for row in table.locator("tbody tr").all()]
    told = [row for row in rows if row[2]]
    assert told and all("(" in row[2] and row[3] and row[4] for row in told)
    assert "⟨" not in page.locator(".tokens").first.text_content()


def test_hidden_cases_are_not_told(tmp_path: Path) -> None:
    """Of the built-in functions the first two cases are in the prompt."""
    tasks = sorted(load_tasks("python-functions"), key=lambda task: task.id)[:2]
    write_tasks(tasks, tmp_path / "tasks.jsonl")
    answers = [
        {"task_id": task.id, "answer": f"```python\n{task.signature}\n    return 'no'\n```"} for task in tasks
    ]
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    words = (
        "--tasks",
        "tasks.jsonl",
        "--style",
        "chat",
        "-n",
        "0",
        "run.dir=run",
        "evaluation.bootstrap=200",
    )
    assert warm.strop("eval", "scripted:bad.jsonl", *words, cwd=tmp_path).returncode == 0
    shown = warm.strop("show", "run", "--evaluation", "scripted-bad", "--full", cwd=tmp_path).stdout
    for task in tasks:
        cases = task.check.cases
        assert any(case.shown for case in cases) and not all(case.shown for case in cases)
        for case in cases:
            call = case.call(task.check.entry_point)
            assert (f"{call} expected {case.expected!r}" in shown) is case.shown
