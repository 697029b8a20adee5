"""The rollouts view while a process writes the run: one's place stays, searches and steps follow."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .made_runs import make_run
from .viewing import Writer, viewed

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("live") / "source", steps=4, groups=3, size=4, evaluations=())


def wait_for_count(page: Any, text: str) -> None:
    page.locator(".count", has_text=text).wait_for(timeout=300_000)


def test_a_newer_step_is_offered_and_the_place_stays(source: Path, tmp_path: Path, open_page: Open) -> None:
    with Writer(source, tmp_path / "run") as writer, viewed(tmp_path / "run") as server:
        writer.say("step", "step")
        page = open_page(server.url, "#view=rollouts")
        wait_for_count(page, "Step 2 · 12 rollouts in 3 groups")
        for key in ("j", "j"):
            page.keyboard.press(key)
        chosen = page.locator(".is-here a").get_attribute("href")
        writer.say("step")
        page.get_by_role("link", name="step 3 is available").wait_for(timeout=300_000)
        assert page.locator(".is-here a").get_attribute("href") == chosen
        assert page.locator(".place-list a[aria-current]").inner_text().startswith("2")
        page.get_by_role("link", name="step 3 is available").click()
        wait_for_count(page, "Step 3 · 12 rollouts in 3 groups")


def test_a_search_follows_the_run_forwards_and_back(source: Path, tmp_path: Path, open_page: Open) -> None:
    with Writer(source, tmp_path / "run") as writer, viewed(tmp_path / "run") as server:
        writer.say("step", "step")
        page = open_page(server.url, "#view=rollouts&kind=train")
        wait_for_count(page, "24 match (of all 24 of the run)")
        page.keyboard.press("j")
        chosen = page.locator(".is-here a").get_attribute("href")
        writer.say("step")
        wait_for_count(page, "36 match (of all 36 of the run)")
        assert page.locator("[data-row]").count() == 36
        assert page.locator(".is-here a").get_attribute("href") == chosen
        writer.say("back 1")
        wait_for_count(page, "12 match (of all 12 of the run)")
        assert page.locator("[data-row]").count() == 12
        page.keyboard.press("Escape")
        wait_for_count(page, "Step 1 · 12 rollouts in 3 groups")


def test_steps_that_were_made_again_are_shown_anew(source: Path, tmp_path: Path, open_page: Open) -> None:
    other = make_run(tmp_path / "other", steps=2, groups=2, size=3, seed=9, evaluations=())
    with Writer(source, tmp_path / "run") as writer, viewed(tmp_path / "run") as server:
        writer.say("step", "step")
        page = open_page(server.url, "#view=rollouts&step=1")
        wait_for_count(page, "Step 1 · 12 rollouts in 3 groups")
        writer.kill()
        shutil.rmtree(tmp_path / "run")
        shutil.copytree(other, tmp_path / "run")
        wait_for_count(page, "Step 1 · 6 rollouts in 2 groups")
        assert page.locator("[data-row]").count() == 6
