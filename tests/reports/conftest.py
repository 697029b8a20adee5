"""A headless browser of the system, and pages in it that are watched: no console errors, no requests that leave."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import needs

from .viewing import BEFORE_END


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium. Code of the same module must not use asyncio in the main thread."""
    needs.need("browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=needs.browser_program(), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """open_page(path or URL, "#view=...", width=, height=, scheme=) -> a page that is drawn.

    A file is opened with the network off. When the test ends, no page may have had an error on its console, an
    uncaught exception, a dialog, or a request to anywhere but where it came from.
    """
    contexts, faults = [], []

    def opened(
        source: Path | str,
        fragment: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
    ) -> Any:
        url = source.as_uri() if isinstance(source, Path) else source
        home = url if isinstance(source, Path) else url.rstrip("/") + "/"
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            offline=isinstance(source, Path),
        )
        contexts.append(context)
        if not isinstance(source, Path):
            BEFORE_END.append(context.close)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: faults.append(f"uncaught: {error}"))
        page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on(
            "request",
            lambda asked: (
                None if asked.url.startswith((home, "data:", "blob:")) else faults.append(asked.url)
            ),
        )
        page.goto(url + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []
