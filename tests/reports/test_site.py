"""The site of the docs: built strictly, looked at in Chromium at two widths; its search answers questions."""

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
FIRST = {
    "install": "install",
    "How do I train on my own tasks?": "tutorials/own-task",
    "own reward": "rewards",
    "use my own model": "models",
    "a data set from the Hub, csv": "data-sets",
    "learning rate": "training",
    "out of memory": "gpu",
    "How do I run it on SLURM?": "launch",
    "resume a run": "report",
    "pass@1": "evaluation",
    "Can another trainer use the verdicts?": "verify",
    "How does it work?": "ARCHITECTURE",
    "What does this message mean?": "trouble",
    "own environment": "plays",
    "rust recipe": "rust",
    "search/replace format": "edits",
}
"""What is asked, and the page that must come first."""
WIDER = """() => [...document.querySelectorAll("article :not(:has(*))")].filter(one => one.textContent.trim()
  && !one.closest("pre, .md-typeset__scrollwrap") && one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.textContent)"""
"""Text of a page that reaches beyond the window and cannot be scrolled to."""
META = "document.querySelector('.md-search-result__meta').textContent"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """The address of the site, and its pages."""
    pytest.importorskip("material", reason="mkdocs-material is not installed: make docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = sorted(str(page.relative_to(folder)) for page in folder.rglob("*.html"))
    serve = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", pages
        server.shutdown()


@pytest.mark.browser(60)
@pytest.mark.parametrize("width", [390, 1280])
def test_every_page_fits_the_window_and_is_whole(
    browser: Any, site: tuple[str, list[str]], width: int
) -> None:
    address, pages = site
    faults: list[str] = []
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.on(
            "console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request",
            lambda asked: None if asked.url.startswith((address, "data:")) else faults.append(asked.url),
        )
        page.on("response", lambda answer: faults.append(answer.url) if answer.status >= 400 else None)
        for name in pages:
            page.goto(address + name, wait_until="networkidle")
            faults += [f"{name}: {text}" for text in page.evaluate(WIDER)]
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
            assert page.evaluate("[...document.images].every(image => image.naturalWidth)"), name
    assert faults == []


@pytest.mark.browser(60)
def test_the_search_puts_the_right_page_first(browser: Any, site: tuple[str, list[str]]) -> None:
    address, _ = site
    found = {}
    with browser.new_context() as context:
        page = context.new_page()
        for question in FIRST:
            page.goto(address, wait_until="networkidle")
            page.click(".md-search__input")
            page.wait_for_function(f"!{META}.includes('Initializing')")
            page.locator(".md-search__input").press_sequentially(question)
            page.wait_for_function(f"{META}.includes('matching')")
            page.wait_for_timeout(500)
            first = page.locator(".md-search-result__item a").first.get_attribute("href")
            found[question] = first.removeprefix(address).partition(".html")[0]
    assert found == FIRST
