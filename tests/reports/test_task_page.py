"""A task over training and two answers compared, in a real browser: the page shows what is on disk."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strop.reports.run_folder import RunFolder
from strop.reports.static.report import report

from .made_runs import task_id
from .two_runs import SIZE, TASKS, all_played, make_two_runs, show


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The two runs."""
    return make_two_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def page_file(runs: list[Path]) -> Path:
    """The report of both runs."""
    return report(runs, runs[0].parent / "report.html").path


def test_a_task_over_training_in_both_runs(
    runs: list[Path], page_file: Path, open_page: Callable[..., Any]
) -> None:
    task = task_id(0)
    page = open_page(page_file, f"#view=task&run=0&task={task}")
    mine = [[r for r in all_played(run).values() if r.task_id == task] for run in runs]
    groups = sum(len(rollouts) // SIZE for rollouts in mine)
    assert page.locator(".series-pass circle").count() == groups > 1
    rows = page.locator("section[aria-label='Over training'] tbody tr")
    assert rows.count() == groups
    assert page.locator("a.task-rollout").count() == sum(map(len, mine))
    passed = sum(bool(r.verdict and r.verdict.passed) for rollouts in mine for r in rollouts)
    told = [int(re.search(r"(\d+) of", text)[1]) for text in rows.all_inner_texts()]
    assert sum(told) == passed
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("section[aria-label=Tokens]")


def test_a_held_out_task_in_every_evaluation(
    runs: list[Path], page_file: Path, open_page: Callable[..., Any]
) -> None:
    task = task_id(1000)
    page = open_page(page_file, f"#view=task&run=0&task={task}")
    rows = page.locator("section[aria-label='In evaluations'] tbody tr").filter(has_text="first")
    assert rows.count() == 2
    run = RunFolder.read(runs[0])
    for name in ("before", "after"):
        on_disk = [r for r in run.iter_evaluation_rollouts(name) if r.task_id == task][:2]
        sampled = next(text for text in rows.all_inner_texts() if name in text)
        assert len(on_disk) == 2
        assert re.search(r"\d of \d", sampled)
    page.locator(".strip a").first.click()
    page.wait_for_selector("section[aria-label=Answer]")


def shown_side(page: Any, side: str) -> str:
    for fold in page.locator(".diff-fold > summary").all():
        fold.click()
    return "\n".join(page.locator(f".diff-body .diff-cell.{side} code").all_text_contents())


def test_compares_the_same_task_in_two_checkpoints(
    runs: list[Path], page_file: Path, open_page: Callable[..., Any]
) -> None:
    task = task_id(1001)
    page = open_page(page_file, f"#view=compare&run=0&task={task}")
    run = RunFolder.read(runs[0])
    before, after = (
        next(r for r in run.iter_evaluation_rollouts(name) if r.task_id == task)
        for name in ("before", "after")
    )
    page.wait_for_selector(".diff-body")
    assert shown_side(page, "left") == before.answer.rstrip("\n")
    assert shown_side(page, "right") == after.answer.rstrip("\n")
    outcomes = page.locator("section[aria-label=Results] tbody tr").first.inner_text()
    assert [before.verdict.outcome, after.verdict.outcome] == re.findall(
        r"passed|failed|timed out|no answer|error|out of memory", outcomes
    )
    page.keyboard.press("x")
    page.wait_for_function("() => new URLSearchParams(location.hash).get('left')?.includes('e.after')")
    page.wait_for_selector(".diff-body")
    assert shown_side(page, "left") == after.answer.rstrip("\n")
    page.locator(".picker select").nth(1).select_option(f"1:e.after.{task}.1")
    page.wait_for_function("() => location.hash.includes('right=1%3Ae.after')")


def test_a_comparison_is_stacked_where_there_is_no_room(
    page_file: Path, open_page: Callable[..., Any]
) -> None:
    page = open_page(page_file, f"#view=compare&run=0&task={task_id(1001)}", width=390, height=844)
    page.wait_for_selector(".diff-body")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".diff-same > .right:visible").count() == 0
    left, right = (
        page.locator(f".diff-changed > .{side}").first.bounding_box() for side in ("left", "right")
    )
    assert right["y"] >= left["y"] + left["height"] - 1


@pytest.mark.parametrize("view", ["rollout&id=t.1.0.0", "task"])
def test_fits_a_telephone(page_file: Path, open_page: Callable[..., Any], view: str) -> None:
    page = open_page(page_file, f"#run=0&task={task_id(0)}&view={view}", width=390, height=844, scheme="dark")
    page.wait_for_selector("section.part")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_is_not_there_is_said(page_file: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(page_file)
    for view, text in (
        ("rollout&id=t.99.0.0", "is not in this page"),
        ("rollout&id=constructor", "is not in this page"),
        ("rollout", "is not in this page"),
        ("task&task=__proto__", "No rollout of task __proto__"),
        ("compare&task=__proto__", "fewer than two"),
        ("compare", "Choose a task"),
        (f"compare&task={task_id(1000)}&left=t.9.9.9", "Not in this page, so another one is shown: t.9.9.9"),
    ):
        show(page, f"#run=0&view={view}", text)


def test_without_a_task_it_lists_those_that_can_be_compared(
    page_file: Path, open_page: Callable[..., Any]
) -> None:
    page = open_page(page_file, "#view=compare&run=0")
    rows = page.locator("section[aria-label='Tasks of this run'] tbody tr")
    assert rows.count() > TASKS
    assert page.locator("nav.tabs [aria-current]").inner_text() == "Compare"
    rows.filter(has_text="before, after").first.locator("a").click()
    page.wait_for_selector("section[aria-label=Answers]")
    assert "before" in page.locator(".picker select").first.evaluate("node => node.selectedOptions[0].text")
    assert "after" in page.locator(".picker select").last.evaluate("node => node.selectedOptions[0].text")
