"""One rollout in a real browser: the page shows what is on disk."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strop.reports.static.report import report

from .hostile_runs import rewrite_lines
from .made_runs import make_run
from .two_runs import STEPS, all_played, make_two_runs, played

HOSTILE = "<img src=x onerror=alert(1)>\n<script>alert(2)</script>"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The two runs."""
    return make_two_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def page_file(runs: list[Path]) -> Path:
    """The report of both runs."""
    return report(runs, runs[0].parent / "report.html").path


@pytest.fixture
def rollout_page(open_page: Callable[..., Any], page_file: Path) -> Callable[..., Any]:
    """rollout_page("t.1.0.2") -> that rollout, opened; other arguments are those of `open_page`."""

    def opened(row: str, run: int = 0, **more: Any) -> Any:
        return open_page(page_file, f"#view=rollout&run={run}&id={row}", **more)

    return opened


def test_shows_verdict_scores_and_answer_as_on_disk(runs: list[Path], rollout_page: Any) -> None:
    failed = next(
        (name, r)
        for name, r in all_played(runs[0]).items()
        if r.verdict and r.verdict.tests and not r.verdict.passed and r.reward
    )
    name, rollout = failed
    page = rollout_page(name)
    for label, text in (("Answer", rollout.answer), ("Prompt", rollout.prompt)):
        shown = page.locator(f"section[aria-label={label}] pre").inner_text()
        assert shown.rstrip("\n") == text.rstrip("\n")
    assert page.locator("section[aria-label=Answer] .syn-k").count() > 0
    verdict = page.locator("section[aria-label=Verdict]")
    assert verdict.locator(".verdict-line").inner_text().split(" ", 1)[1].startswith(rollout.verdict.outcome)
    for test in rollout.verdict.tests:
        row = verdict.locator("tbody tr").filter(has_text=test.id)
        assert test.outcome in row.inner_text()
        assert test.message in row.inner_text()
    cells = page.locator("section[aria-label=Scores] tbody tr").all_inner_texts()
    parts = [float(line.split()[-1]) for line in cells]
    assert len(parts) == len(rollout.scores) + 1
    assert sum(parts[:-1]) == pytest.approx(parts[-1]) == pytest.approx(rollout.reward)
    assert page.locator(".warning").count() == 0
    assert str(rollout.seed) in page.locator("section[aria-label=Facts]").inner_text()
    head = page.locator(".rollout-result").inner_text()
    assert f"{abs(rollout.advantage):.2f}" in head


def test_unscored_rollouts_say_so(rollout_page: Any) -> None:
    page = rollout_page(f"t.{STEPS + 1}.0.0")
    assert "not scored" in page.locator(".rollout-result").inner_text()
    assert "from the baseline and the loss" in page.locator("section[aria-label=Scores]").inner_text()
    verdict = page.locator("section[aria-label=Verdict]").inner_text()
    assert "grader's failure" in verdict
    assert "the compiler is missing" in verdict


def test_compiler_output_is_shown_by_stage(runs: list[Path], rollout_page: Any) -> None:
    broken = next(
        (name, r)
        for name, r in all_played(runs[1]).items()
        if r.verdict and (stage := r.verdict.stage("build")) and stage.output
    )
    page = rollout_page(broken[0], run=1)
    stage = page.locator(".stage").filter(has_text="build").first
    assert "failed" in stage.locator(".stage-head").inner_text()
    shown = stage.locator("pre").text_content().rstrip("\n")
    assert shown == broken[1].verdict.stage("build").output.rstrip("\n")
    assert "not reached" in page.locator(".stage").last.inner_text()


def test_tokens_are_those_that_were_sampled(runs: list[Path], rollout_page: Any) -> None:
    name, rollout = next(iter(played(runs[0], 2).items()))
    page = rollout_page(name)
    ids, mask, logprobs = rollout.flat()
    tokens = page.locator(".tokens .token")
    assert tokens.count() == len(ids)
    assert page.locator(".token.masked").count() == mask.count(0) > 0
    flags = tokens.evaluate_all("nodes => nodes.map(node => node.classList.contains('masked') ? 0 : 1)")
    assert flags == mask
    text = "".join(tokens.all_text_contents()).replace("·", " ").replace("↵\n", "\n").replace("→\t", "\t")
    assert rollout.turns[0].completion.text in text

    page.locator(".tokens").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    readout = page.locator(".readout").inner_text()
    assert f"{len(ids) - 1} of {len(ids)}" in readout
    assert f"{logprobs[-2]:.2f}"[:4].replace("-", "") in readout
    least = min(range(len(ids)), key=lambda at: logprobs[at])
    tokens.nth(least).click()
    assert f"{least + 1} of" in page.locator(".readout").inner_text()
    heat = tokens.evaluate_all(
        r"nodes => nodes.map(node => Number(/heat-(\d)/.exec(node.className)?.[1] ?? -1))"
    )
    assert heat[least] == max(heat) > 0
    assert all(heat[at] == -1 for at, sampled in enumerate(mask) if not sampled)


def test_a_turn_s_verdict_and_why_the_play_ended(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    run = make_run(tmp_path / "run", steps=1, groups=1, size=2, turns=2, evaluations=())
    verdict = {
        "outcome": "failed",
        "detail": f"case 1: {HOSTILE}",
        "tests": [{"id": "0", "outcome": "passed"}, {"id": "1", "outcome": "failed"}],
    }

    def masked(line: dict[str, Any]) -> dict[str, Any]:
        event = {"name": "Verify", "asked": "", "result": "", "seconds": 1.5, "bytes": 0}
        line["turns"][0] |= {"verdict": verdict, "reward": 0.25, "advantage": -0.5, "events": [event, event]}
        return line | ({"stop_reason": "max turns", "left_out": "loss"} if line["index"] == 0 else {})

    rewrite_lines(run / "rollouts" / "step-000001.jsonl.zst", masked)
    file = report([run], tmp_path / "report.html").path
    page = open_page(file, "#view=rollout&run=0&id=t.1.0.0")
    (result,) = page.locator(".turn-result").all_inner_texts()
    assert result.startswith("This turn: ") and "failed" in result and "(1 of 2 tests passed)" in result
    assert "reward 0.25" in result and "advantage \u22120.5" in result and HOSTILE[:20] in result
    assert page.locator("main :is(img, script)").count() == 0
    assert "ended: max turns, carries no loss" in page.locator(".rollout-result").inner_text()
    facts = page.locator("section[aria-label=Facts]").inner_text()
    assert "max turns" in facts and "2 in 3 s" in facts
    answered = open_page(file, "#view=rollout&run=0&id=t.1.0.1")
    assert "ended" not in answered.locator(".rollout-result").inner_text()


def test_events_stand_after_their_turn(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    run = make_run(tmp_path / "run", steps=1, groups=1, size=2, turns=2, evaluations=())
    event = {
        "name": "RunTests",
        "asked": "RunTests(a.py)",
        "result": "2 of 3 failed",
        "seconds": 1.5,
        "bytes": 13,
    }

    def with_events(line: dict[str, Any]) -> dict[str, Any]:
        line["turns"][0]["events"] = [event, {**event, "name": HOSTILE, "result": HOSTILE}]
        return line

    rewrite_lines(run / "rollouts" / "step-000001.jsonl.zst", with_events)
    page = open_page(report([run], tmp_path / "report.html").path, "#view=rollout&run=0&id=t.1.0.0")
    heads = page.locator("section[aria-label='Sampled text'] summary").all_inner_texts()
    words = (
        "Turn 1 of 2",
        "After turn 1: RunTests 1.5 s, 13 B RunTests(a.py)",
        f"After turn 1: {HOSTILE[:20]}",
        "Given",
        "Turn 2",
    )
    assert len(heads) == len(words) and all(map(str.startswith, heads, words)), heads
    fold = page.locator("section[aria-label='Sampled text'] details").nth(1)
    assert not fold.locator("pre").first.is_visible()
    fold.locator("summary").click()
    assert [text.strip() for text in fold.locator("pre").all_inner_texts()] == [
        event["asked"],
        event["result"],
    ]
    assert page.locator("main :is(img, script)").count() == 0


def test_token_colours_follow_the_chosen_measure(runs: list[Path], rollout_page: Any) -> None:
    name, rollout = next(iter(played(runs[0], 1).items()))
    page = rollout_page(name)
    heats = r"nodes => nodes.map(node => Number(/heat-(\d)/.exec(node.className)?.[1] ?? -1))"
    entropies: list[float] = []
    for number, turn in enumerate(rollout.turns):
        entropies += [-1.0] * (len(turn.prompt_ids) if number else 0) + turn.completion.entropies
    page.locator("select.measure").select_option("entropy")
    heat = page.locator(".token").evaluate_all(heats)
    pairs = sorted(zip(entropies, heat, strict=True))
    assert [level for _, level in pairs] == sorted(heat)
    assert len(set(heat)) > 2
    page.locator("select.measure").select_option("none")
    assert set(page.locator(".token").evaluate_all(heats)) == {-1}


def test_four_thousand_tokens(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    run = make_run(tmp_path / "long", steps=1, groups=1, size=2, tokens=2400, turns=2, evaluations=())
    made = report([run], tmp_path / "long.html")
    page = open_page(made.path, "#view=rollout&run=0&id=t.1.0.0")
    assert page.locator(".token").count() >= 4000
    page.locator(".tokens").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    at = int(re.search(r"([\d,]+) of", page.locator(".readout").inner_text())[1].replace(",", ""))
    assert 3900 < at < page.locator(".token").count()


def test_moves_by_keyboard(rollout_page: Any) -> None:
    page = rollout_page("t.1.0.0")

    def pressed(key: str, there: str) -> None:
        page.keyboard.press(key)
        page.wait_for_function("there => location.hash.includes(there)", arg=there)

    for key, there in (
        ("j", "t.1.0.1"),
        ("k", "t.1.0.0"),
        ("l", "t.1.1.0"),
        ("l", "t.2.0.0"),
        ("h", "t.1.1.0"),
    ):
        pressed(key, there)
        page.wait_for_selector(f"section[aria-label=Facts] code:text-is('{there}')")
    assert page.locator(".strip [aria-current]").count() == 1
    pressed("g", "view=task")
    page.go_back()
    page.wait_for_selector("section[aria-label=Facts]")
    pressed("c", "view=compare")
    page.go_back()
    page.wait_for_selector("section[aria-label=Facts]")
    pressed("Escape", "view=rollouts")
    assert "at=t.1.1.0" in page.url


def test_print_layout_is_the_rollout_alone(rollout_page: Any) -> None:
    page = rollout_page("t.1.0.0")
    assert page.locator("header.top").is_visible()
    page.keyboard.press("p")
    assert not page.locator("header.top").is_visible()
    assert not page.locator("button:visible, select:visible, nav:visible").count()
    assert page.locator("section[aria-label=Answer]").is_visible()
    page.keyboard.press("p")
    assert page.locator("header.top").is_visible()
    page.emulate_media(media="print")
    assert not page.locator("header.top").is_visible()
    assert not page.locator("button:visible, select:visible, nav:visible").count()


def test_copies_the_answer_as_it_is(runs: list[Path], rollout_page: Any) -> None:
    name, rollout = next(iter(played(runs[0], 1).items()))
    page = rollout_page(name)
    page.evaluate(
        "document.addEventListener('copy', () => (window.copied = String(document.getSelection())))"
    )
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("button.copy").first.click()
    page.wait_for_selector("button.copy:text-is('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == rollout.answer
