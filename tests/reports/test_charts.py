import json
import re
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from strop.reports.run_folder import RunFolder

from .made_runs import make_run

alt = pytest.importorskip("altair")

from strop.reports.page.charts import CURVES, charts  # noqa: E402
from strop.reports.static.report import report  # noqa: E402

Open = Callable[..., Any]
STEPS, WINDOW = 9, 5
OVERVIEW = "#view=overview&run=0"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("runs")
    first = make_run(
        root / "first",
        steps=STEPS,
        groups=2,
        size=2,
        evaluations=("before", "warm", "step-000004", "after"),
        extra=("humaneval",),
    )
    changes = [
        "optim.learning_rate=0.003",
        "rewards=[{name: passed, weight: 0.5}, {name: build, weight: 0.5}]",
    ]
    return [first, make_run(root / "second", steps=6, groups=2, size=2, seed=1, overrides=changes)]


@pytest.fixture(scope="module")
def one(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(folders[:1], tmp_path_factory.mktemp("one") / "report.html", rollouts=4).path


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


def metrics(folder: Path) -> list[dict[str, Any]]:
    return list(RunFolder.read(folder).iter_metrics())


def figure(page: Any, title: str) -> Any:
    return page.locator("figure", has=page.locator("h4", has_text=re.compile(f"^{re.escape(title)}$")))


def points(page: Any, title: str) -> list[tuple[float, float, str]]:
    """(x, y, colour) of the raw points of a chart, in pixels of the plot."""
    found = figure(page, title).locator(".mark-symbol path")
    read = "all => all.map(p => [p.getAttribute('transform'), p.getAttribute('fill')])"
    made = [(re.findall(r"-?[\d.]+", place), fill) for place, fill in found.evaluate_all(read)]
    return [(float(place[0]), float(place[1]), fill) for place, fill in made]


def straight(pixels: list[float], values: list[float]) -> bool:
    """Whether the pixels are a linear function of the values."""
    low, high = values.index(min(values)), values.index(max(values))
    slope = (pixels[high] - pixels[low]) / (values[high] - values[low])
    return all(
        pixel == pytest.approx(pixels[low] + slope * (value - values[low]), abs=0.6)
        for pixel, value in zip(pixels, values, strict=True)
    )


def numbers(page: Any, title: str) -> list[list[str]]:
    """The table below a chart, head and rows."""
    fold = figure(page, title).locator("details")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    fold.locator("table").wait_for()
    read = "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    rows: list[list[str]] = fold.locator("tr").evaluate_all(read)
    return rows


def redrawn(page: Any) -> None:
    page.wait_for_selector(".o-sections[data-drawn]")


def test_every_spec_is_valid_and_holds_no_data() -> None:
    specs = charts()
    assert specs.keys() == CURVES.keys()
    for spec in specs.values():
        alt.LayerChart.from_dict(spec, validate=True)
        assert spec["data"] == {"name": "points"} and "datasets" not in spec
        assert spec["description"] and spec["width"] == "container"
    broken = {**specs["loss"], "layer": [{"mark": "blob", "encoding": {}}]}
    with pytest.raises(Exception, match="blob"):
        alt.LayerChart.from_dict(broken, validate=True)


def test_charts_appear_for_what_was_measured(overview: Open, one: Path) -> None:
    page = overview(one)
    titles = page.locator("figure h4").all_text_contents()
    assert titles == [
        "pass@1, held-out", "greedy, held-out", "pass@1, humaneval", "greedy, humaneval",
        "Reward", "Score: passed", "Score: build", "Pass rate", "Rates by stage", "Completion length", "Truncated",
        "Error rate", "Groups without signal", "Entropy", "Sampling surprise", "Loss", "Gradient norm", "Clip fraction",
        "KL", "Learning rate", "Seconds per step", "Time of a step: first",
    ]  # fmt: skip
    for title in titles:
        chart = figure(page, title).locator(".o-chart")
        said = figure(page, title).locator("figcaption p").first.text_content()
        assert chart.get_attribute("aria-label") == f"{title}. {said}" and len(said) > 10
        marks = figure(page, title).locator(".mark-symbol path, .mark-rect path")
        assert marks.count() >= 2, title


def test_points_stand_where_their_numbers_are(overview: Open, one: Path, folders: list[Path]) -> None:
    page = overview(one)
    lines = metrics(folders[0])
    for title, key in (("Reward", "reward"), ("KL", "kl"), ("Completion length", "completion_tokens")):
        found = points(page, title)
        assert len(found) == STEPS
        assert straight([x for x, _, _ in found], [line["step"] for line in lines])
        assert straight([-y for _, y, _ in found], [line[key] for line in lines])
    without = [1 - line["groups_with_signal"] / line["groups_played"] for line in lines]
    assert straight([-y for _, y, _ in points(page, "Groups without signal")], without)


def test_the_rolling_mean_follows_its_window(overview: Open, one: Path, folders: list[Path]) -> None:
    page = overview(one)
    rewards = [line["reward"] for line in metrics(folders[0])]
    for window in (WINDOW, 2, 1):
        page.get_by_label("steps of the rolling mean").fill(str(window))
        redrawn(page)
        means = [
            sum(some) / len(some) for i in range(STEPS) for some in [rewards[max(0, i - window + 1) : i + 1]]
        ]
        head, *rows = numbers(page, "Reward")
        assert head == ["step", "first", "mean"]
        assert [[float(text) for text in row] for row in rows] == [
            pytest.approx([i + 1, reward, mean], abs=6e-5)
            for i, (reward, mean) in enumerate(zip(rewards, means, strict=True))
        ]
        line = figure(page, "Reward").locator(".mark-line path").get_attribute("d")
        heights = [float(y) for _, y in re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", line)]
        assert straight([-y for y in heights], means)


def test_evaluations_have_intervals_and_stand_at_their_steps(
    overview: Open, one: Path, folders: list[Path]
) -> None:
    page = overview(one)
    _, *rows = numbers(page, "pass@1, held-out")
    files = ("before", "warm", "step-000004", "after")
    results = [json.loads((folders[0] / "evaluation" / f"{name}.json").read_text()) for name in files]
    expected = [
        [f"{100 * value:.1f} %" for value in (result["pass@1"], *result["intervals"]["pass@1"])]
        for result in results
    ]
    assert [row[3:] for row in rows] == expected
    assert [row[0] for row in rows] == ["0", "0", "4", str(STEPS)]
    found = points(page, "pass@1, held-out")
    assert straight([-y for _, y, _ in found], [result["pass@1"] for result in results])
    assert figure(page, "pass@1, held-out").locator(".mark-rule.role-mark line").count() == 4


def test_runs_are_overlaid_and_can_be_left_out(overview: Open, two: Path, folders: list[Path]) -> None:
    page = overview(two)
    assert {fill for _, _, fill in points(page, "Loss")} == {"var(--run-0)", "var(--run-1)"}
    assert len(points(page, "Loss")) == STEPS + 6
    page.locator(".o-runs").get_by_label("first").uncheck()
    redrawn(page)
    assert [fill for _, _, fill in points(page, "Loss")] == ["var(--run-1)"] * 6
    page.locator(".o-controls select").select_option("time")
    redrawn(page)
    assert "seconds of training" in figure(page, "Loss").locator("svg").text_content()
    ends = list(accumulate(line["seconds"] for line in metrics(folders[1])))
    assert straight([x for x, _, _ in points(page, "Loss")], ends)


def test_seeds_of_one_recipe_have_their_mean(overview: Open, tmp_path: Path) -> None:
    runs = [
        make_run(tmp_path / f"run-{n}", steps=6 - n, planned=6, groups=2, size=2, seed=n) for n in range(3)
    ]
    other = make_run(tmp_path / "other", steps=6, groups=2, size=2, overrides=["optim.learning_rate=0.003"])
    page = overview(report([*runs, other], tmp_path / "report.html", rollouts=4).path)
    head, *rows = numbers(page, "Reward")
    assert head == [
        "step", "run-0", "mean", "run-1", "mean", "run-2", "mean", "other", "mean",
        "mean of 3 seeds, run-0 …", "mean",
    ]  # fmt: skip
    rewards = [[line["reward"] for line in metrics(run)][:4] for run in runs]
    means = [sum(each) / 3 for each in zip(*rewards, strict=True)]
    assert [float(row[9]) for row in rows[:4]] == pytest.approx(means, abs=6e-5)
    assert [row[9] for row in rows[4:]] == ["\u2013", "\u2013"]  # where one seed has no such step


def test_new_data_is_drawn_in_place(overview: Open, one: Path) -> None:
    page = overview(one)
    before, after, kept, added = page.evaluate(
        """async () => {
          const host = document.querySelector("main").appendChild(Strop.el("div", {}));
          const whole = await Strop.source.page();
          const short = { ...whole, runs: whole.runs.map((run) => ({ ...run, metrics: run.metrics.slice(0, 3) })) };
          for (const line of short.runs[0].metrics) line.kl = undefined;
          const curves = Strop.curves(host);
          await curves.update(short);
          const loss = (one) => one.textContent.startsWith("Loss");
          const svg = () => [...host.querySelectorAll("figure")].find(loss).querySelector("svg");
          const count = () => svg().querySelectorAll(".mark-symbol path").length;
          const [first, node, titles] = [count(), svg(), host.querySelectorAll("h4").length];
          short.runs[0].metrics = structuredClone(whole.runs[0].metrics);
          short.runs[0].metrics[5].kl = 0.5;
          await curves.update(short);
          return [first, count(), node === svg(), host.querySelectorAll("h4").length - titles];
        }"""
    )
    assert (before, after, kept, added) == (3, STEPS, True, 1)


def test_names_are_text(overview: Open, tmp_path: Path) -> None:
    names = ["<img src=x onerror=alert(1)>", "__proto__", "constructor", "a.b", "{name}", "$&"]
    folder = make_run(tmp_path / "hostile", steps=3, groups=1, size=2)
    lines = metrics(folder)
    for line in lines:
        line["rewards"] = {name: 0.1 * line["step"] for name in names}
        line["stages"] = {name: 0.1 * line["step"] for name in names}
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = overview(report([folder], tmp_path / "report.html", rollouts=2).path)
    titles = page.locator("figure h4").all_text_contents()
    assert [title for title in titles if title.startswith("Score: ")] == [f"Score: {name}" for name in names]
    assert all(len(points(page, f"Score: {name}")) == 3 for name in names)
    page.locator("figure .mark-symbol path").nth(8).hover(force=True)
    page.locator(".o-tip:not([hidden])").wait_for()
    assert page.locator("img").count() == 0


def test_plays_of_many_turns(overview: Open, tmp_path: Path) -> None:
    """A reason that a step lacks is a share of zero there; a step without any is left out."""
    folder = make_run(tmp_path / "plays", steps=4, groups=1, size=2)
    lines = metrics(folder)
    stops = [{"answered": 1.0}, {"answered": 0.75, "max turns": 0.25}, None, {"max turns": 1.0}]
    for line, ended in zip(lines, stops, strict=True):
        step = line["step"]
        line |= {
            "turns": step,
            "effects": 2 * step,
            "turns_with_effects": 0.25 * step,
            "seconds_effects": 0.5 * step,
        }
        line |= {"stops": ended} if ended else {}
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = overview(report([folder], tmp_path / "report.html", rollouts=2).path)
    assert page.locator("section[data-section=Plays] h4").all_text_contents() == [
        "Turns", "Effects", "Turns with an effect", "Why plays ended",
    ]  # fmt: skip
    assert straight([-y for _, y, _ in points(page, "Turns")], [1, 2, 3, 4])
    assert [row[1] for row in numbers(page, "Turns with an effect")[1:]] == [
        "25.0 %", "50.0 %", "75.0 %", "100.0 %",
    ]  # fmt: skip
    assert straight([-y for _, y, _ in points(page, "Why plays ended")], [1, 0.75, 0, 0, 0.25, 1])
    assert len(points(page, "Seconds of effects")) == 4


def test_a_run_without_a_step(overview: Open, open_page: Open, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "empty", steps=0, evaluations=(), finished=False, planned=5)
    page = open_page(report([folder], tmp_path / "report.html").path, OVERVIEW)
    page.get_by_text("No step is finished yet").wait_for()
    assert page.locator("figure").count() == 0
