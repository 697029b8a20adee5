"""The part of the page that `strop scale` adds: table, curves, rounds beside resampling."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import warm

from strop_tasks.generators.needs_feedback import generate

pytest.importorskip("altair")

from strop.reports.static.report import report

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plays with feedback, each right in its second turn."""
    folder = tmp_path_factory.mktemp("scaled")
    tasks = list(generate(4))
    codes = [task.metadata["wrong"][0] for task in tasks] + [task.reference for task in tasks]
    lines = [
        {"task_id": task.id, "answer": f"```python\n{code}```"}
        for task, code in zip(tasks * 2, codes, strict=True)
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = warm.strop(
        "scale", "scripted:a.jsonl", "--tasks", "needs-feedback:4", "--environment", "feedback", "--style", "chat",
        "-n", "2", "evaluation.bootstrap=200", "run.dir=run", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return report([folder / "run"], folder / "report.html").path


def test_a_table_two_curves_and_the_rounds_are_shown(open_page: Open, scaled: Path) -> None:
    page = open_page(scaled, "#view=overview&run=0")
    part = page.locator(".o-scaling")
    assert part.count() == 1 and part.locator("h3").first.text_content() == "scripted:a.jsonl"
    rows = part.locator("table").first.locator("tbody tr")
    names = rows.locator("th").all_text_contents()
    assert names[:2] == ["first", "random"] and names[-1] == "oracle" and "shown-majority" in names
    assert "k = 2" in part.locator("table").first.text_content()
    pictures = part.locator("figure svg")
    assert pictures.count() == 2 and pictures.first.locator("path").count() == len(names) - 1
    assert "oracle" in pictures.first.get_attribute("aria-label")
    rounds = part.locator(".o-against tbody tr").all_text_contents()
    assert len(rounds) >= 2 and [row[0] for row in rounds] == [str(at + 1) for at in range(len(rounds))]
    assert all("100.0" in row for row in rounds[-1:])
    assert "None" not in part.text_content() and "NaN" not in part.inner_html()


def test_wrong_numbers_are_left_out_and_said(open_page: Open, scaled: Path) -> None:
    path = scaled.parent / "run" / "scaling" / "scripted-a.json"
    whole = path.read_text()
    found = json.loads(whole)
    found["selectors"]["shown"]["accuracy"] = "<b>high</b>"
    found["selectors"]["<img src=x>"] = {"accuracy": {"value": [None], "interval": [[0]]}}
    try:
        path.write_text(json.dumps(found))
        written = report([scaled.parent / "run"], scaled.parent / "wrong.html")
    finally:
        path.write_text(whole)
    assert any("scripted-a.json" in problem for problem in written.problems)
    part = open_page(written.path, "#view=overview&run=0").locator(".o-scaling")
    assert "<img src=x>" in part.text_content() and not part.locator("img").count()
