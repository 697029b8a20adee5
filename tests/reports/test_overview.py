import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strop.reports.page.run_data import run_data

from .made_runs import make_run

pytest.importorskip("altair")

from strop.reports.static.report import report

Open = Callable[..., Any]
OVERVIEW = "#view=overview&run=0"
STEPS = 5


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("runs")
    sides = ("before", "warm", "after")
    first = make_run(root / "first", steps=STEPS, groups=2, size=2, evaluations=sides, extra=("humaneval",))
    changes = [
        "optim.learning_rate=0.003",
        "rewards=[{name: passed, weight: 0.5}, {name: build, weight: 0.5}]",
    ]
    return [first, make_run(root / "second", steps=6, groups=2, size=2, seed=1, overrides=changes)]


@pytest.fixture(scope="module")
def two(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(folders, tmp_path_factory.mktemp("two") / "report.html", rollouts=4).path


@pytest.fixture
def overview(open_page: Open) -> Open:
    """A page whose charts are all drawn."""

    def opened(path: Path, **more: Any) -> Any:
        page = open_page(path, OVERVIEW, **more)
        page.wait_for_selector(".o-sections[data-drawn]")
        return page

    return opened


def test_the_table_has_every_number_with_its_difference(
    overview: Open, two: Path, folders: list[Path]
) -> None:
    page = overview(two)
    tables = page.locator(".o-results")
    assert tables.count() == 2
    assert tables.locator("caption b").all_text_contents() == ["Held-out tasks", "humaneval"]
    summary = json.loads((folders[0] / "summary.json").read_text())["evaluation"]
    for table, part in ((tables.nth(0), summary), (tables.nth(1), summary["extra"]["humaneval"])):
        row = table.locator("tr", has=page.locator("th", has_text=re.compile("^pass@1$")))
        cells = row.locator("td.num").all_text_contents()
        shown = [side for side in ("before", "warm", "after") if side in part]
        for side, cell in zip(shown, cells, strict=False):
            low, high = part[side]["intervals"]["pass@1"]
            assert cell == f"{100 * part[side]['pass@1']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
        paired = part["paired"]["pass@1"]
        sign = "▲" if paired["low"] > 0 else "▼" if paired["high"] < 0 else "○"
        assert cells[len(shown)].startswith(f"{100 * paired['delta']:+.1f} {sign}".replace("-", "\u2212"))


def test_what_the_runs_are(overview: Open, two: Path) -> None:
    page = overview(two)
    text = {
        row.locator("th").text_content(): row.locator("td").all_text_contents()
        for row in page.locator(".o-facts tbody tr").all()
    }
    assert text["steps"] == [f"{STEPS} of {STEPS}", "6 of 6"]
    assert text["wall time"] == ["5 min", "6 min"] and text["memory"] == ["2 GB at most"] * 2
    assert all("finished" in cell for cell in text["state"])


def test_the_configuration_shows_what_differs(open_page: Open, two: Path, folders: list[Path]) -> None:
    page = open_page(two, "#view=config&run=1")
    page.wait_for_selector(".o-settings")
    settings = [run_data(folder, "0")["settings"] for folder in folders]
    keys = {*settings[0], *settings[1]}
    differ = {key for key in keys if settings[0].get(key) != settings[1].get(key)}
    table = page.locator(".o-settings").first
    names = table.locator("tbody th").all_text_contents()
    assert set(names) == differ >= {"optim.learning_rate", "optim.steps", "run.name"}
    missing = {key for key in differ if key not in settings[0] or key not in settings[1]}
    assert missing and table.locator("td.o-missing").count() == len(missing)
    page.get_by_label("all settings").check()
    assert table.locator("tbody tr").count() == len(keys)
    assert table.locator("tr.o-differs").count() == len(differ)
    recipe = (folders[1] / "recipe.yaml").read_text()
    assert page.locator(".o-recipe pre").text_content().strip() == recipe.strip()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_small_screens_and_themes(overview: Open, two: Path, scheme: str) -> None:
    page = overview(two, width=390, height=844, scheme=scheme)
    page.locator("details").evaluate_all("all => all.forEach(one => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    label = ".o-chart .role-axis-label text"
    colours = page.evaluate(
        f"[getComputedStyle(document.querySelector('{label}')).fill, getComputedStyle(document.body).color]"
    )
    assert colours[0] == colours[1]
    width = page.locator(".o-chart svg").first.evaluate("svg => svg.getBoundingClientRect().width")
    assert 250 < width <= 390


def test_controls_stand_beside_the_trained_model(overview: Open, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=2, groups=2, size=2)
    summary = json.loads((run / "summary.json").read_text())
    summary["controls"] = {
        name: {
            "pass@1": 0.25, "intervals": {"pass@1": [0.2, 0.3]}, "took": {"updates": 7},
            "difference": {"pass@1": {"delta": delta, "low": delta - 0.05, "high": delta + 0.05}},
        }
        for name, delta in (("ssd", 0.1), ("rft", -0.02), ("warm", -0.2))
    }  # fmt: skip
    (run / "summary.json").write_text(json.dumps(summary))
    page = overview(report([run], tmp_path / "report.html", rollouts=4).path)
    rows = page.locator(".o-trained tbody tr").all_text_contents()
    assert [row.split(",")[0] for row in rows] == ["ssd", "rft", "warm"]
    assert [re.findall(r"[▲○▼]", row) for row in rows] == [["▲"], ["○"], ["▼"]]
    assert "25.0 [20.0, 30.0]" in rows[0] and "+10.0" in rows[0]


def test_many_runs_are_a_table_in_the_order_of_any_column(overview: Open, tmp_path: Path) -> None:
    rates = {"third": 0.003, "first": 0.001, "second": 0.02}
    runs = [
        make_run(tmp_path / name, steps=2, groups=2, size=2, overrides=[f"optim.learning_rate={rate}"])
        for name, rate in rates.items()
    ]
    page = overview(report(runs, tmp_path / "report.html", rollouts=4).path)
    names = lambda: page.locator(".o-runs tbody tr td:first-child").all_text_contents()  # noqa: E731
    assert [name.strip() for name in names()] == ["first", "second", "third"]
    head = page.locator(".o-runs thead")
    head.get_by_role("button", name="optim.learning_rate").click()
    assert [name.strip() for name in names()] == ["first", "third", "second"]
    head.get_by_role("button", name="optim.learning_rate").click()
    assert [name.strip() for name in names()] == ["second", "third", "first"]
    page.locator(".o-runs summary").click()
    page.get_by_label("optim.learning_rate", exact=True).uncheck()
    assert "optim.learning_rate" not in head.inner_text()
