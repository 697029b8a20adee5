import io
from xml.etree import ElementTree

import pytest

from strop.evaluation.chart import html, svg
from strop.evaluation.models import Rate, show_all, stage_rates
from strop.evaluation.result import Evaluation, TaskCounts
from strop.evaluation.statistics import Estimate


def result(build, lint, test, *, errors=0, samples=4):
    """Ten tasks of four answers; the numbers say how many of the four came through in each."""
    counts = [
        TaskCounts(
            task_id=str(i), n=4, c=test, greedy=test > 2, stages={"build": build, "lint": lint, "test": test}
        )
        for i in range(10)
    ]
    return Evaluation(
        counts=counts, samples=samples, temperature=0.8, max_tokens=9, k=[1], greedy=True,
        outcomes={"passed": 40 - errors, "error": errors}, tokens_mean=12.5, truncated_rate=0.25, seconds=3.25,
        resamples=100,
    )  # fmt: skip


RESULTS = {"base": result(2, 1, 1), "tuned\x1b[2J": result(4, 3, 3), "third": result(1, 1, 0)}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(file=None, results=RESULTS):
    file = file or io.StringIO()
    show_all(results, title="demo", labels={"lint": "clippy"}, file=file)
    return file.getvalue()


def test_a_row_a_model_and_differences_from_the_first():
    text = shown()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    head, base, tuned, first_difference, third, second_difference = rows
    assert head == ["model", "build", "clippy", "test", "pass@1", "greedy", "tokens", "truncated", "seconds"]
    assert base[:4] == ["base", "0.500 [0.500, 0.500]", "0.250 [0.250, 0.250]", "0.250 [0.250, 0.250]"]
    assert base[6:] == ["12.5", "25.0%", "3.2"]
    assert tuned[0] == "tuned\\x1b[2J" and third[0] == "third"
    assert first_difference[:3] == ["difference", "+0.500 [+0.500, +0.500]", "+0.500 [+0.500, +0.500]"]
    assert second_difference[1] == "-0.250 [-0.250, -0.250]"
    assert "10 tasks, 4 answers each, T = 0.8; 95% intervals; differences from base on the same tasks" in text
    assert "\x1b" not in text and "…" not in text


def test_bars_are_as_long_as_the_rates():
    lines = shown().splitlines()
    group = lines[lines.index("clippy") + 1 :][:3]
    assert [line.count("#") for line in group] == [10, 30, 10]  # of 40
    assert [line.split()[0] for line in group] == ["base", "tuned\\x1b[2J", "third"]
    assert group[1].rstrip().endswith("0.750 [0.750, 0.750]")


def test_errors_have_a_column_where_there_are_any():
    assert "errors" not in shown()
    assert "10.0%" in shown(results={"a": result(1, 1, 1, errors=4)})


@pytest.mark.parametrize("columns", [60, 200])
def test_a_narrow_terminal_gets_several_tables_with_every_number(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    text = shown(Terminal())
    assert (text.count("model") > 1) == (columns == 60)
    assert "…" not in text and "\x1b[2J" not in text
    for number in ("0.500", "+0.500", "12.5", "25.0%", "seconds"):
        assert number in text


def test_rates_are_the_sampled_ones_else_the_greedy_ones():
    rates = stage_rates(RESULTS)
    assert list(rates) == ["build", "lint", "test"]
    assert [rate.estimate.value for rate in rates["build"]] == [0.5, 1.0, 0.25]
    greedy = Evaluation.model_validate(
        {
            **RESULTS["base"].model_dump(),
            "counts": [TaskCounts(task_id="0", n=0, c=0, greedy=True, greedy_stages={"build": True})],
        }
    )
    both = stage_rates({"base": RESULTS["base"], "greedy": greedy})
    assert both["build"][1] == Rate("greedy", Estimate(1.0, 1.0, 1.0))
    assert both["lint"][1] == Rate("greedy", None)


def test_the_chart_draws_each_rate_to_scale_and_escapes_names():
    hostile = '</svg><script>alert("x")</script>\x1b'
    groups = {
        "build": [Rate("base", Estimate(0.5, 0.4, 0.6)), Rate(hostile, Estimate(1.0, 0.9, 1.0))],
        "test": [Rate("base", Estimate(0.25, 0.1, 0.3)), Rate(hostile, None)],
    }
    picture = svg(groups, title="a < b", note="note")
    name = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(picture)
    bars = [bar for bar in root.iter(f"{name}rect") if bar.find(f"{name}title") is not None]
    heights = [float(bar.get("height")) for bar in bars]
    assert heights == pytest.approx([120, 240, 60])
    feet = {round(float(bar.get("y")) + float(bar.get("height")), 1) for bar in bars}
    assert len(feet) == 1
    assert bars[0].get("fill") == bars[2].get("fill") != bars[1].get("fill")
    assert bars[0].find(f"{name}title").text == "base: 50.0% [40.0%, 60.0%]"
    texts = [text.text for text in root.iter(f"{name}text")]
    assert "a < b" in texts and "build" in texts and hostile.replace("\x1b", "\\x1b") in texts
    page = html(picture, title="a < b")
    assert "<script" not in page and "default-src 'none'" in page and "a &lt; b" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
