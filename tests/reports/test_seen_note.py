"""The page says what the model may have seen of the tasks, below the table of the set."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .made_runs import make_run

pytest.importorskip("altair")

from strop.reports.static.report import report


def test_the_note_stands_below_the_results_as_text(open_page: Callable[..., Any], tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=2, groups=2, size=2)
    note = "3 of 9 tasks are dated up to the model's cutoff 2024-01-31 <b>x</b>"
    for name in ("before", "after"):
        path = run / "evaluation" / f"{name}.json"
        result = json.loads(path.read_text())
        path.write_text(
            json.dumps({**result, "contamination": {"note": note, "similar": 2, "before": {"tasks": 3}}})
        )
    page = open_page(report([run], tmp_path / "report.html", rollouts=2).path, "#view=overview&run=0")
    page.wait_for_selector(".o-sections[data-drawn]")
    assert page.locator(".o-seen").all_text_contents() == [f"{note}."]


def test_a_note_of_another_type_is_left_out_and_named(open_page: Callable[..., Any], tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=2, groups=2, size=2)
    path = run / "evaluation" / "before.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "contamination": {"note": [1]}}))
    page = open_page(report([run], tmp_path / "report.html", rollouts=2).path, "#view=overview&run=0")
    page.wait_for_selector(".o-sections[data-drawn]")
    assert page.locator(".o-seen").count() == 0
    assert page.get_by_text("contamination.note").count()
