"""Hostile texts in every place of a run: nothing of them runs, becomes an element, or is hidden, in any view.

Each text is shown as it is, with signs for what cannot be seen. The page without its policy is as safe: the policy is
the second wall, not the only one.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from strop.reports.page.rollout_data import EVENT_NAME, cut_text
from strop.reports.static.report import report

from .hostile_runs import hostile_run, named_runs, shown
from .viewing import viewed
from .xss import CORPUS, SHORT

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
WATCH = (Path(__file__).parent / "watch.js").read_text()
Place = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    return hostile_run(folder / "run")


@pytest.fixture(scope="module")
def whole(run: Path) -> Path:
    """The report of the run, with every rollout."""
    made = report([run], run.parent / "whole.html", rollouts=100_000)
    assert made.embedded == made.rollouts
    return made.path


@pytest.fixture(scope="module")
def bare(whole: Path) -> Path:
    """The same page without its content security policy."""
    text, count = re.subn('<meta http-equiv="Content-Security-Policy"[^>]*>', "", whole.read_text())
    assert count == 1
    target = whole.with_name("bare.html")
    target.write_text(text)
    return target


def tour(page: Any, places: list[Place]) -> None:
    page.evaluate(WATCH)
    assert page.evaluate("places => tour(places)", places) == []


def task_of(kind: str) -> str:
    return CORPUS[kind] if kind in SHORT else f"task-{[*CORPUS].index(kind)}"


def expected(kind: str) -> list[str]:
    """What stands in the answer's view: the text, or its beginning and what was cut off."""
    text, cut = cut_text(CORPUS[kind])
    if kind in SHORT:
        return [shown(text).strip("\n")] if text.strip() else []
    return [shown(text[:1000])] + (["more characters"] if cut and text.count("\n") < 1000 else [])


def rollout_of(number: int, kind: str) -> Place:
    texts, task = expected(kind), shown(task_of(kind))
    parts = {"Answer": "pre", "Prompt": "pre", "Sampled text": "pre", "Verdict": ".stage pre"}
    has = [[f"section[aria-label='{name}'] {tag}", text] for name, tag in parts.items() for text in texts]
    has += [[f"section[aria-label=Verdict] {tag}", shown(task)] for tag in ("tbody", ".stage-head")]
    has += [
        ["section[aria-label=Scores]", task],
        [".rollout-head .flag", task],
        [
            "section[aria-label='Sampled text'] summary b",
            shown(cut_text(CORPUS[kind], EVENT_NAME)[0])[:EVENT_NAME],
        ],
        ["section[aria-label=Facts]", task],
    ]
    return {"view": "rollout", "id": f"t.1.{number}.0", "has": has}


def every_rollout() -> list[Place]:
    return [rollout_of(number, kind) for number, kind in enumerate(CORPUS)]


def every_task() -> Iterator[Place]:
    for number, kind in enumerate(CORPUS):
        if task := task_of(kind):
            # An address cannot hold lone surrogates: such a task has rollouts, and no page of its own.
            has = [] if "surrogates" in kind else [[".rollout-head code", shown(task)]]
            yield {"view": "task", "task": task, "has": has}
            yield {"view": "compare", "task": task, "left": f"t.1.{number}.0", "right": f"t.2.{number}.0"}


def filtered() -> Iterator[Place]:
    """The list of rollouts by step and evaluation, and with each filter."""
    rollouts = {"view": "rollouts"}
    yield {
        **rollouts,
        "step": 1,
        "has": [[".card td.answer", shown(SHORT[kind])] for kind in ("script", "frame")],
    }
    yield {**rollouts, "step": 2, "has": [[".card header", shown(SHORT["handler, img"])]]}
    yield from ({**rollouts, "evaluation": name} for name in ("before", "after"))
    for text in [*SHORT.values()][::3]:
        yield from ({**rollouts, name: text} for name in ("text", "flag", "outcome", "task", "evaluation"))
    yield from (
        {**rollouts, **more}
        for more in ({"min": "0.2"}, {"max": "0.7"}, {"from": "2"}, {"kind": "evaluation"})
    )


def summaries() -> list[Place]:
    """Overview and configuration: names of scores, stages, topics, sets, settings and versions."""
    scores = [[".o-figure h4", f"Score: {shown(text)}"] for text in SHORT.values()]
    results = [["table.o-results", shown(text)] for text in SHORT.values()]
    settings = [[".o-settings", shown(text)] for text in SHORT.values()]
    settings += [[".o-settings tbody th", shown(text)] for text in ("__proto__", "constructor")]
    return [{"view": "overview", "has": scores + results}, {"view": "config", "has": settings}]


@pytest.mark.browser(40)
def test_no_text_becomes_more_than_text(bare: Path, open_page: Callable[..., Any]) -> None:
    """Escaping alone holds, without the policy, in every view."""
    page = open_page(bare, "#view=rollouts")
    tour(page, [*every_rollout(), *every_task(), *filtered(), *summaries()])
    assert page.title() == "run \u00b7 Strop"


@pytest.mark.browser(22)
def test_the_policy_has_nothing_to_forbid(whole: Path, open_page: Callable[..., Any]) -> None:
    """What it forbids, the browser says on its console, and that is a failure of `open_page`."""
    page = open_page(whole, "#view=rollouts")
    tour(page, [*every_rollout()[::2], *[*every_task()][::7], *[*filtered()][::7], *summaries()])


@pytest.mark.browser(8)
def test_broken_escaping_is_seen(bare: Path, browser: Any) -> None:
    """The tests' own test: a page that takes texts for markup is found out, and so is one that hides them."""
    text = bare.read_text()
    append = "node.append(Strop.printable(child))"
    assert text.count(append) == 1
    markup = text.replace(append, "node.append(document.createRange().createContextualFragment(child))")
    bare.with_name("markup.html").write_text(markup)
    bare.with_name("hidden.html").write_text(
        text.replace("String(text).replace(MARKS, mark)", "String(text)")
    )
    seen = {
        "script": "a text was run",
        "frame": "element iframe",
        "base": "element base",
        "form": "element form",
    }
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        for kind, fault in seen.items():
            page.goto(bare.with_name("markup.html").as_uri() + "#view=rollout&id=none")
            page.wait_for_selector("html[data-ready]")
            page.evaluate(WATCH)
            page.evaluate("delete window.pwned")
            found = page.evaluate("places => tour(places)", [rollout_of([*CORPUS].index(kind), kind)])
            assert fault in " ".join(found), kind
            page.goto("about:blank")
        page.goto(bare.with_name("hidden.html").as_uri() + "#view=rollout&id=none")
        page.wait_for_selector("html[data-ready]")
        page.evaluate(WATCH)
        place = rollout_of([*CORPUS].index("direction overrides"), "direction overrides")
        assert "lacks" in " ".join(page.evaluate("places => tour(places)", [place]))


@pytest.mark.browser(9)
def test_addresses_may_be_hostile(whole: Path, open_page: Callable[..., Any]) -> None:
    """As a link from elsewhere would open the page: every part of the address is a text of the corpus."""
    page = open_page(whole, "#view=rollouts")
    page.evaluate(WATCH)
    for text in [*SHORT.values()][::12]:
        for view in ("rollouts", "rollout", "task", "compare", text):
            words = {
                name: text for name in ("id", "task", "left", "right", "at", "step", "group", "min", "print")
            }
            address = urlencode({**words, "view": view, "run": 0}, errors="replace")
            page.evaluate("address => { location.hash = address }", address)
            page.wait_for_function("document.querySelector('main .view').childElementCount > 0")
            assert page.evaluate("faults('address')") == []
    page.evaluate("location.hash = 'view=overview&run=%3Cscript%3E'")
    page.get_by_text("There is no run <script> in this page.").wait_for()


def test_print_layout_and_tooltips(whole: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(whole, f"#view=rollout&id=t.1.{[*CORPUS].index('handler, img')}.0&print=1")
    page.evaluate(WATCH)
    page.emulate_media(media="print")
    assert page.evaluate("faults('print')") == []
    page.emulate_media(media="screen")
    page.evaluate("visit({view: 'overview'})")
    marks = page.locator(
        ".o-figure [data-section] path, .o-figure .mark-symbol path, .o-figure .mark-rect path"
    )
    marks.first.scroll_into_view_if_needed()
    marks.first.hover(force=True)
    page.locator(".o-tip:not([hidden])").wait_for()
    assert page.evaluate("faults('tooltip')") == []


def test_names_of_runs_and_folders(folder: Path, open_page: Callable[..., Any]) -> None:
    runs = named_runs(folder / "named")
    made = report(runs, folder / "named.html")
    page = open_page(made.path, f"#view=overview&run={[*SHORT].index('frame')}")
    name = shown(SHORT["frame"])
    assert page.title() == f"{name} \u00b7 Strop"
    page.evaluate(WATCH)
    assert page.evaluate("visit({view: 'overview'})") == []
    heads = page.locator(".o-facts thead th").all_inner_texts()
    assert len(heads) == len(runs)
    for kind in ("script", "base", "policy", "prototype", "terminal, title", "direction overrides"):
        assert any(shown(SHORT[kind]).strip() in head for head in heads), kind
    tour(
        page,
        [{"view": view, "run": str(n)} for n in (0, 50, 99) for view in ("config", "rollouts", "compare")],
    )
    assert len(page.locator(".run-pick option").all_inner_texts()) == len(runs)


@pytest.mark.browser(18)
def test_live_page(run: Path, open_page: Callable[..., Any]) -> None:
    with viewed(run) as server:
        server.complete()
        page = open_page(server.url, "#view=rollouts")
        tour(page, [*every_rollout()[::4], *[*every_task()][::8], *[*filtered()][::8], *summaries()])
        assert page.title() == "run \u00b7 Strop"
        page.close()
