"""The page as a document and its frame: in Chromium, from disk, with the network off."""

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strop.reports.page import document, packed, policy

from .made_pages import embedded, made_page, made_row, two_runs, written

Open = Callable[..., Any]
SIZES = [(1280, 900, "light"), (1280, 900, "dark"), (390, 844, "light"), (390, 844, "dark")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_runs(tmp_path_factory.mktemp("runs"))


def wait_for_count(page: Any, text: str) -> None:
    page.locator(".count", has_text=text).wait_for()


# The document


def test_every_inline_element_is_named_by_the_policy_and_nothing_else_is() -> None:
    html = document(made_page([]), charts=False)
    policy_ = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy_ and policy_[1] == policy(live=False, charts=False)
    assert "unsafe" not in policy_[1] and "http" not in policy_[1] and "'self'" not in policy_[1]
    bodies = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", html, re.DOTALL)
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in bodies}
    assert hashes == set(re.findall(r"'sha256-([^']+)'", policy_[1]))
    assert len(bodies) == html.count("<script>") + html.count("<style>")


def test_only_the_live_page_may_ask_and_only_its_server() -> None:
    assert "connect-src 'none'" in policy(live=False) and "connect-src 'self'" in policy(live=True)
    assert ">null</script>" in document(None, charts=False)


def test_data_cannot_end_its_element_and_comes_back_whole() -> None:
    hostile = "</script><script>alert(1)</script><!-- \ud800 \u2028 \0 " + "é" * 5
    data = made_page([made_row(0, text=hostile)], name="</title><script>alert(2)</script>")
    html = document(data, charts=False)
    assert "<script>alert" not in html
    assert embedded(html)["runs"][0]["rollouts"][0]["text"] == hostile
    assert packed(data) == packed(data)


def test_title_is_text() -> None:
    html = document(made_page([], name="a<b>\x1b & \u202e"), charts=False)
    assert "<title>a&lt;b&gt;\\x1b &amp; \\u202e · Strop</title>" in html


def test_numbers_that_json_lacks_become_null() -> None:
    assert (
        embedded(document(made_page([made_row(0, reward=float("nan"))]), charts=False))["runs"][0][
            "rollouts"
        ][0]["reward"]
        is None
    )


# The frame


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_no_view_is_wider_than_the_window(
    made: Path, open_page: Open, width: int, height: int, scheme: str
) -> None:
    page = open_page(made, "#view=rollouts", width=width, height=height, scheme=scheme)
    for fragment in (
        "#view=rollouts&evaluation=before",
        "#view=rollouts&text=return",
        "#view=overview",
        "#view=config",
    ):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("fragment => location.hash = fragment", fragment)
        page.locator(".view > *").first.wait_for()
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(22, 24, 27)"
    assert dark == (scheme == "dark")


def test_runs_are_switched_by_picker_and_by_keys(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts")
    wait_for_count(page, "Step 6")
    assert "finished after step 6 of 6" in page.locator(".status").inner_text()
    page.keyboard.press("]")
    wait_for_count(page, "Step 2")
    assert "step 2 of 9" in page.locator(".status").inner_text()
    assert page.title() == "beta · Strop"
    page.locator("header select").select_option("0")
    wait_for_count(page, "Step 6")


def test_theme_is_chosen_by_key_and_outlives_the_system(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=config", scheme="dark")
    themes = []
    for _ in range(3):
        page.keyboard.press("t")
        themes.append(
            (page.evaluate("document.documentElement.dataset.theme"), page.evaluate("Strop.theme()"))
        )
    assert themes == [("light", "light"), ("dark", "dark"), ("auto", "dark")]


def test_help_lists_the_keys_of_the_view(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts")
    page.keyboard.press("?")
    assert "next rollout" in page.locator("dialog").inner_text()
    page.keyboard.press("j")  # the dialog has the keys now
    assert page.locator(".is-here").count() == 0
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()


def test_print_layout_hides_what_one_cannot_use_on_paper(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts")
    page.keyboard.press("p")
    assert not page.locator("header.top").is_visible() and not page.locator(".filters").is_visible()
    assert page.locator(".card").first.bounding_box()["width"] > 350
    page.emulate_media(media="print")
    assert page.locator(".card").first.bounding_box()["width"] > 350
    page.emulate_media(media="screen")
    page.keyboard.press("Escape")
    assert page.locator("header.top").is_visible()


def test_an_address_of_nothing_is_said(made: Path, open_page: Open) -> None:
    page = open_page(made, "#view=rollouts&run=constructor")
    assert "no run constructor" in page.locator("main").inner_text()


# Making nodes


def test_texts_are_never_markup_and_hidden_characters_are_seen(tmp_path: Path, open_page: Open) -> None:
    page = open_page(written(tmp_path, made_page([])), "#view=rollouts")
    shown = page.evaluate(
        "text => Strop.el('p', {}, text).outerHTML", "<b>\x1b[2J\u202eevil\u200b\x00\r\n\tx\ud800"
    )
    assert shown == "<p>&lt;b&gt;␛[2J⟨U+202E⟩evil⟨U+200B⟩␀␍\n\tx⟨U+D800⟩</p>"


ACTING = [
    "Strop.el('a', {onclick: 'window.hit=1'})",
    "Strop.el('a', {ONCLICK: 'window.hit=1'})",
    "Strop.el('a', {href: 'javascript:1'})",
    "Strop.el('a', {HREF: 'javascript:1'})",
    "Strop.svg('a', {'xlink:href': 'javascript:1'})",
    "Strop.el('img', {src: 'http://example.invalid/x'})",
    "Strop.el('script', {}, '1')",
    "Strop.svg('script', {}, '1')",
    "Strop.el('iframe', {srcdoc: 'x'})",
]


def test_nodes_that_could_act_are_not_made(tmp_path: Path, open_page: Open) -> None:
    page = open_page(written(tmp_path, made_page([])), "#view=rollouts")
    refused = "(() => {{ try {{ {}; return false }} catch {{ return true }} }})()"
    assert [call for call in ACTING if not page.evaluate(refused.format(call))] == []


NUMBERS = {
    "number(0.123456)": "0.123", "number(12)": "12", "number(1234.5)": "1,235", "number(0.00002)": "2.0e-5",
    "number(null)": "\u2013", "number(NaN)": "\u2013", "number(0)": "0", "percent('1')": "\u2013",
    "signed(-0.5)": "\u22120.50", "signed(0.5)": "+0.50", "signed(-0.001)": "0.00", "percent(0.256)": "26 %",
    "seconds(0.25)": "250 ms", "seconds(90)": "90 s", "seconds(7200)": "2.0 h", "count(50000)": "50,000",
    "bytes(1536)": "1.5 kB", "bytes(3)": "3 B", "bytes(2.5e9)": "2.5 GB",
}  # fmt: skip


def test_numbers_are_written_for_people(tmp_path: Path, open_page: Open) -> None:
    page = open_page(written(tmp_path, made_page([])), "#view=rollouts")
    assert {call: page.evaluate(f"Strop.format.{call}") for call in NUMBERS} == NUMBERS
