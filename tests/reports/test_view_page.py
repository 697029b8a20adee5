"""The live page in a real browser, against a real server and a process that writes the run."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strop.reports.page import chart_library
from strop.reports.page.page_run import PageRun

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


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that asked for no evaluation: step 2 is cut off, step 3 is garbage, steps 4 and 5 are gone."""
    none = ["evaluation.before=false", "evaluation.after=false"]
    folder = make_run(
        tmp_path_factory.mktemp("lost") / "run", steps=6, groups=1, size=2, evaluations=(), overrides=none
    )
    files = {step: folder / "rollouts" / f"step-{step:06d}.jsonl.zst" for step in range(2, 6)}
    files[2].write_bytes(files[2].read_bytes()[:50])
    files[3].write_bytes(b"no rollouts")
    files[4].unlink()
    files[5].unlink()
    return folder


def test_what_is_damaged_or_gone_is_known_by_its_step(damaged: Path) -> None:
    page = PageRun(damaged, "0").page(60)
    assert page["steps"] == [1, 2, 3, 4, 5, 6] and sorted(page["lost"]) == ["t.2", "t.3", "t.4", "t.5"]
    assert "torn" in page["lost"]["t.2"] and "damaged" in page["lost"]["t.3"]
    assert page["lost"]["t.4"].endswith("step-000004.jsonl.zst: no such file")
    assert page["state"]["text"] == "finished after step 6 of 6; 4 files of rollouts cannot be read"
    gone = f"rollouts of steps 4 to 5 are gone: no such files in {damaged}/rollouts"
    assert page["state"]["problems"] == [page["lost"]["t.3"], page["lost"]["t.2"], gone]


def test_what_is_damaged_or_gone_is_said_at_its_step_and_in_the_head(
    damaged: Path, open_page: OpenPage
) -> None:
    with viewed(damaged) as server:
        server.complete()
        page = open_page(server.url, "#view=overview")
        state(page, "finished after step 6 of 6; 4 files of rollouts cannot be read")
        assert page.locator(".status .state-finished").count() == 0
        assert page.locator(".o-state").inner_text().startswith("⚠")
        assert page.locator(".o-said").inner_text() == "The recipe asks for no evaluation."
        for step, why in ((2, "torn"), (3, "damaged"), (4, "no such file")):
            page.goto(f"{server.url}#view=rollouts&run=0&step={step}")
            page.locator(".count", has_text=f"Step {step}").locator(".bad", has_text=why).wait_for()
        assert page.locator(".place-list .name").all_inner_texts() == ["1", "2 ⚠", "3 ⚠", "4 ⚠", "5 ⚠", "6"]
        page.close()


def test_curves_say_that_their_library_is_loading(source: Path, browser: Any) -> None:
    with viewed(source) as server:
        page = browser.new_page()
        held: list[Any] = []
        page.route("**/vega.js", lambda asked: held.append(asked))
        page.goto(f"{server.url}#view=overview")
        page.locator(".o-curves", has_text="The chart library is loading").wait_for(timeout=300 * SECONDS)
        until(lambda: page.wait_for_timeout(100) or held, bool)
        held[0].continue_()
        page.locator("main [data-drawn]").wait_for(timeout=300 * SECONDS)
        assert page.locator(".o-curves", has_text="is loading").count() == 0
        page.close()


def test_the_chart_library_is_put_together_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = pytest.importorskip("vl_convert")
    monkeypatch.setenv("STROP_CACHE", str(tmp_path))
    (tmp_path / "charts-0.0.js").write_text("an older one")
    text = chart_library.__wrapped__()
    assert "vegaEmbed" in text and [path.name for path in tmp_path.iterdir()] == [
        f"charts-{made.__version__}.js"
    ]
    (kept,) = tmp_path.iterdir()
    assert kept.read_text() == text
    kept.write_text("// kept")
    assert chart_library.__wrapped__() == "// kept"
    kept.write_bytes(b"\xff")  # and what cannot be read is made again
    assert chart_library.__wrapped__() == text
