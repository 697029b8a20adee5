"""The live page in a real browser, against a real server and a process that writes the run."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .made_runs import make_run
from .viewing import Writer, until, viewed

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
SECONDS = 1000
OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("page") / "source", steps=6, groups=3, size=4, seed=8)


def state(page: Any, words: str) -> None:
    """Waits until the line about the run's state says so."""
    page.locator(".status", has_text=words).wait_for(timeout=300 * SECONDS)


def test_a_growing_run_is_shown_without_reload(source: Path, tmp_path: Path, open_page: OpenPage) -> None:
    with Writer(source, tmp_path / "run") as writer, viewed(tmp_path / "run") as server:
        page = open_page(server.url, "#view=rollouts")
        page.evaluate("window.sameDocument = true")
        state(page, "running")
        writer.say("step", "step")
        state(page, "step 2 of 6")
        page.locator("a[href*='step=2']").first.wait_for(state="attached", timeout=300 * SECONDS)
        page.goto(f"{server.url}#view=rollouts&run=0&step=1")
        page.locator("main").get_by_text("Step 1", exact=True).wait_for()
        page.keyboard.press("/")
        page.keyboard.type("return")
        writer.say("step", "step")
        state(page, "step 4 of 6")
        page.locator("a[href*='step=4']").first.wait_for(state="attached", timeout=300 * SECONDS)
        assert page.evaluate("document.activeElement.value") == "return"
        assert "step=1" in page.evaluate("location.hash")
        writer.say("step", "step", "finish")
        writer.kill()
        state(page, "finished after step 6 of 6")
        assert page.evaluate("window.sameDocument")
        page.close()


def test_where_one_has_scrolled_to_stays(source: Path, tmp_path: Path, open_page: OpenPage) -> None:
    with Writer(source, tmp_path / "run") as writer, viewed(tmp_path / "run") as server:
        writer.say("step", "step")
        steps = 2
        for fragment in ("#view=overview", "#view=rollouts&step=1", "#view=rollout&id=t.1.0.1"):
            page = open_page(server.url, fragment, height=300)
            down = "window.scrollTo(0, 150), window.scrollY"  # the page grows while it is drawn
            until(lambda: page.evaluate(down), lambda y: y >= 100)  # noqa: B023
            before = page.evaluate("[window.scrollY, location.hash]")
            writer.say("step")
            steps += 1
            state(page, f"step {steps} of 6")
            page.wait_for_timeout(0.5 * SECONDS)
            assert page.evaluate("[window.scrollY, location.hash]") == before, fragment
            page.close()


def test_charts_are_drawn_and_follow(source: Path, tmp_path: Path, open_page: OpenPage) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    with Writer(source, tmp_path / "run") as writer, viewed(tmp_path / "run") as server:
        writer.say("step", "step", "step")
        page = open_page(server.url, "#view=overview")
        drawn = page.locator("main svg .mark-symbol path")
        page.locator("main [data-drawn]").wait_for(timeout=300 * SECONDS)
        before = until(drawn.count, lambda count: count >= 3)
        writer.say("step")
        until(drawn.count, lambda count: count > before)
        page.close()


def test_a_rollout_of_a_live_run_opens(source: Path, open_page: OpenPage) -> None:
    with viewed(source) as server:
        page = open_page(
            server.url, "#view=rollouts&step=3"
        )  # its tasks come with the rows, before any index
        answer = server.json("rows", step=3)
        label = answer["tasks"][answer["rows"][0]["task"]]["label"]
        page.locator("main").get_by_text(label).first.wait_for()
        page.close()
        row = server.rows(step=6)[0]
        page = open_page(server.url, f"#view=rollout&id={row['id']}")
        first = row["text"].strip().splitlines()[0].strip()
        page.locator("main", has_text=first[:20]).wait_for()
        page.goto(f"{server.url}#view=rollout&run=0&id=t.99.0.0")
        page.locator("main", has_text="t.99.0.0").wait_for()
        page.close()


def test_a_deleted_folder_and_a_server_that_ended_are_said(tmp_path: Path, browser: Any) -> None:
    folder = make_run(tmp_path / "run", steps=2, groups=1, size=2)
    with viewed(folder) as server:
        page = browser.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{server.url}#view=config")
        state(page, "finished")
        shutil.rmtree(folder)
        state(page, "is gone")
        server.process.send_signal(signal.SIGINT)
        server.process.wait(300)
        state(page, "does not answer")
        page.close()
        assert faults == []


def test_another_name_for_this_address_gets_nothing(source: Path, browser: Any) -> None:
    """What a page of another site would do after its name was bound to 127.0.0.1."""
    with viewed(source) as server:
        context = browser.new_context()
        page = context.new_page()
        answer = page.goto(server.url.replace("127.0.0.1", "rebound.localhost"))
        assert answer is not None and answer.status == 403
        context.close()
