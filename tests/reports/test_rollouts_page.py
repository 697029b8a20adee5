"""The rollouts view: steps, groups, search, filters and keys, in Chromium from disk with the network off."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from .made_pages import embedded, made_page, made_row, two_runs, written

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_runs(tmp_path_factory.mktemp("runs"))


def rows_of(page: Any) -> int:
    return int(page.locator("[data-row]").count())


def here(page: Any) -> str:
    """The id of the row where the walk is."""
    link = page.locator(".is-here a").get_attribute("href")
    return str(parse_qs(link.removeprefix("#"))["id"][0])


def wait_for_count(page: Any, text: str) -> None:
    page.locator(".count", has_text=text).wait_for()


def test_the_newest_step_is_shown_group_by_group(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts")
    wait_for_count(page, "Step 6 · 12 rollouts in 3 groups")
    assert page.locator(".card").count() == 3 and rows_of(page) == 12
    assert page.locator(".place-list a[aria-current]").inner_text().startswith("6")
    run = embedded(made.read_text(encoding="utf-8"))["runs"][0]
    group = next(one for one in run["groups"] if one[0] == 6 and one[1] == 0)
    assert f"{group[5]} of {group[4]} passed" in page.locator(".card").first.inner_text()


def test_keys_walk_rows_groups_and_steps_and_open_a_rollout(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts&step=3")
    wait_for_count(page, "Step 3")

    walked = [
        page.keyboard.press(key) or here(page) for key in ("j", "ArrowDown", "j", "k", "l", "ArrowRight", "h")
    ]
    assert walked == ["t.3.0.0", "t.3.0.1", "t.3.0.2", "t.3.0.1", "t.3.1.0", "t.3.2.0", "t.3.1.0"]
    page.keyboard.press("Enter")
    page.wait_for_url("**#view=rollout&run=0&id=t.3.1.0")
    page.go_back()
    page.locator(".is-here").wait_for()
    assert here(page) == "t.3.1.0"  # the place is kept
    for key in ("l", "l"):
        page.keyboard.press(key)
    wait_for_count(page, "Step 4")
    page.keyboard.press("H")
    wait_for_count(page, "Step 3")


def test_a_click_on_a_row_opens_it(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts&step=2")
    page.locator("[data-row]").nth(5).locator("td").nth(1).click()
    page.wait_for_url("**#view=rollout&run=0&id=t.2.1.1")
    page.go_back()
    page.locator(".is-here").wait_for()
    assert here(page) == "t.2.1.1"


def expected(rows: list[dict[str, Any]], keep: Callable[[dict[str, Any]], bool]) -> str:
    return f"{sum(map(keep, rows))} match"


def test_filters_find_what_they_say(made: Path, open_page: Open) -> None:
    run = embedded(made.read_text(encoding="utf-8"))["runs"][0]
    rows, details = run["rollouts"], run["details"]
    page = open_page(made, "#view=rollouts")
    box = page.get_by_role("search")

    page.keyboard.press("/")
    page.keyboard.type("SORTED(")
    wait_for_count(page, expected(rows, lambda one: "sorted(" in details[one["id"]]["answer"].lower()))
    assert "text=SORTED" in page.url
    box.get_by_role("button", name="Clear").click()
    wait_for_count(page, "Step 6")

    box.get_by_label("outcome").select_option("timed out")
    wait_for_count(page, expected(rows, lambda one: one["outcome"] == "timed out"))
    box.get_by_label("outcome").select_option("")
    box.get_by_label("flags").select_option("*")
    wait_for_count(page, expected(rows, lambda one: bool(one["flags"])))
    box.get_by_label("flags").select_option("")
    box.get_by_label("reward from").fill("0.25")
    box.get_by_label("reward to").fill("0.5")
    low = lambda one: one["reward"] is not None and 0.25 <= one["reward"] <= 0.5  # noqa: E731
    wait_for_count(page, expected(rows, low))
    box.get_by_label("step from").fill("2")
    box.get_by_label("step to").fill("3")
    wait_for_count(page, expected(rows, lambda one: low(one) and one["step"] in (2, 3)))
    page.keyboard.press("Escape")  # leaves the field
    page.keyboard.press("Escape")  # clears
    wait_for_count(page, "Step 6")

    task = rows[0]["task"]
    box.get_by_label("task").fill(task[:6])
    wait_for_count(page, expected(rows, lambda one: one["task"] == task))
    box.get_by_label("where").select_option("e:before")
    wait_for_count(page, expected(rows, lambda one: one["task"] == task and one["evaluation"] == "before"))


@pytest.mark.parametrize("sort", ["best", "worst", "longest", "shortest", "flagged"])
def test_rows_are_in_the_order_that_strop_view_gives(made: Path, open_page: Open, sort: str) -> None:
    from strop.reports.page.rollout_index import SORTS

    rows = embedded(made.read_text(encoding="utf-8"))["runs"][0]["rollouts"]
    page = open_page(made, "#view=rollouts")
    page.get_by_role("search").get_by_label("first").select_option(sort)
    page.wait_for_url(f"**sort={sort}**")
    page.wait_for_selector(".body table")
    links = page.locator(".body td.answer a").evaluate_all("all => all.map((one) => one.hash)")
    found = [parse_qs(link.removeprefix("#"))["id"][0] for link in links]
    expected_ids = [row["id"] for row in sorted(rows, key=SORTS[sort])]
    assert found == expected_ids[: len(found)]
    assert len(found) > 20


def test_steps_have_their_mean_reward_where_it_says_more_than_who_passed(made: Path, open_page: Open) -> None:
    metrics = embedded(made.read_text(encoding="utf-8"))["runs"][0]["metrics"]
    page = open_page(made, "#view=rollouts")
    shown = page.locator(".place-list .reward").all_text_contents()
    assert [float(one) for one in shown] == pytest.approx([line["reward"] for line in metrics], abs=0.0051)


def test_an_address_with_filters_opens_what_it_says(made: Path, open_page: Open) -> None:
    run = embedded(made.read_text(encoding="utf-8"))["runs"][0]
    page = open_page(made, "#view=rollouts&outcome=passed&kind=evaluation", width=390, height=844)
    passed = lambda one: one["kind"] == "evaluation" and one["outcome"] == "passed"  # noqa: E731
    wait_for_count(page, expected(run["rollouts"], passed))
    assert page.get_by_label("outcome").input_value() == "passed"  # unfolded, as it is set


def test_enter_in_the_search_goes_to_the_first_row(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts")
    page.keyboard.press("/")
    page.keyboard.type("return")
    page.keyboard.press("Enter")
    page.locator(".found tr.is-here").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**#view=rollout&*")


def test_evaluations_are_places_too(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts")
    page.get_by_role("link", name="before").click()
    wait_for_count(page, "Evaluation before training · 15 rollouts in 5 groups")
    assert page.locator(".card").first.get_by_text("greedy", exact=True).count() == 1
    page.keyboard.press("L")
    wait_for_count(page, "Evaluation after step 3")


def test_what_the_page_lacks_is_said(tmp_path: Path, open_page: Open) -> None:
    groups = [[step, group, f"task{group}", 8, 8, 4, 0.5, 1] for step in (1, 2) for group in range(3)]
    data = made_page(
        [made_row(number) for number in range(16)], groups=groups, steps=[1, 2], total_rollouts=50_000
    )
    page = open_page(written(tmp_path, data), "#view=rollouts")
    wait_for_count(page, "Step 1 · 16 rollouts in 2 groups here, 1 more group in the run")
    assert page.locator(".place-list a.absent").inner_text().startswith("2")
    page.keyboard.press("L")
    wait_for_count(page, "Step 2 · its 3 groups are not in this page")
    assert "strop view runs/made" in page.locator("main").inner_text()
    page.get_by_label("outcome").select_option("passed")
    wait_for_count(page, "8 match (of the 16 in this page; the run has 50,000)")


def test_long_lists_come_in_parts_and_by_walking(tmp_path: Path, open_page: Open) -> None:
    page = open_page(
        written(tmp_path, made_page([made_row(number) for number in range(1000)])), "#view=rollouts"
    )
    wait_for_count(page, "Step 1 · 1,000 rollouts in 125 groups")
    assert rows_of(page) == 200
    page.get_by_role("button", name="Show more (800 left)").click()
    assert rows_of(page) == 400
    for _ in range(50):
        page.keyboard.press("l")
    for _ in range(7):
        page.keyboard.press("j")
    assert rows_of(page) == 400 and here(page) == "t.1.49.7"
    page.keyboard.press("j")
    assert rows_of(page) == 600 and here(page) == "t.1.50.0"
    page.wait_for_url("**&at=t.1.50.0")  # follows when the walk rests

    page.get_by_label("outcome").select_option("passed")
    wait_for_count(page, "200 of 500 match")
    page.get_by_role("button", name="Show more").click()
    wait_for_count(page, "400 of 500 match")
    assert rows_of(page) == 400


def test_walking_past_the_groups_skips_steps_that_the_page_lacks(tmp_path: Path, open_page: Open) -> None:
    rows = [made_row(0, step=1, id="t.1.0.0"), made_row(0, step=7, id="t.7.0.0")]
    page = open_page(written(tmp_path, made_page(rows, steps=list(range(1, 9)))), "#view=rollouts&step=1")
    wait_for_count(page, "Step 1")
    for key in ("l", "l"):
        page.keyboard.press(key)
    wait_for_count(page, "Step 7")
    page.keyboard.press("h")
    wait_for_count(page, "Step 1")
    page.keyboard.press("L")
    wait_for_count(page, "Step 2 · no rollouts")


def test_of_very_many_steps_the_near_ones_and_the_ends_are_shown(tmp_path: Path, open_page: Open) -> None:
    rows = [made_row(0, step=2500, id="t.2500.0.0")]
    data = made_page(rows, steps=list(range(1, 5001)))
    page = open_page(written(tmp_path, data), "#view=rollouts&step=2500")
    wait_for_count(page, "Step 2500 · 1 rollout in 1 group")
    shown = page.locator(".place-list .name").all_inner_texts()
    assert (shown[0], shown[1], shown[-2], shown[-1]) == ("1", "2250", "2749", "5000")
    assert page.locator(".place-list a[aria-current]").bounding_box()["y"] < 900
    page.get_by_role("link", name="5000").click()
    wait_for_count(page, "Step 5000 · no rollouts")
