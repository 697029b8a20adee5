"""Evaluations as tables: for a terminal, and as plain text where there is none."""

import sys
from collections.abc import Mapping
from typing import IO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from strop.core.text import printable
from strop.evaluation.result import NO_TOPIC, Evaluation
from strop.evaluation.statistics import Difference, Estimate

_PLAIN_WIDTH = 200


def main_table(
    results: Mapping[str, Evaluation], paired: Mapping[str, Difference] | None = None, *, title: str = ""
) -> Table:
    """One row a number, one column an evaluation (such as before and after), and their difference when `paired`."""
    table = _table(title, "", *results, *(["difference"] if paired else []))
    keys = list(dict.fromkeys(key for result in results.values() for key in result.keys))
    for key in keys:
        cells = [_cell(result.estimate(key) if key in result.keys else None) for result in results.values()]
        if paired:
            cells.append(_difference(paired.get(key)))
        table.add_row(Text(key), *cells)
    for name, unit in (("tokens_mean", ""), ("truncated_rate", "%"), ("error_rate", "%")):
        cells = [_number(getattr(result, name), unit) for result in results.values()]
        table.add_row(Text(name.replace("_", " "), style="dim"), *cells, *([Text("")] if paired else []))
    first = next(iter(results.values()))
    tasks, level = len(first.counts), f"{first.confidence:.0%}"
    table.caption = (
        f"{tasks} tasks, {first.samples} answers each, T = {first.temperature:g}; {level} intervals"
    )
    return table


def topic_table(results: Mapping[str, Evaluation], *, title: str = "by topic") -> Table | None:
    """One row a topic, and for every evaluation the first number and greedy; None when there are no topics."""
    first = next(iter(results.values()))
    if not first.topics:
        return None
    columns = [(name, key) for name, result in results.items() for key in _short_keys(result)]
    table = _table(title, "topic", "tasks", *(f"{name} {key}" for name, key in columns))
    for topic in first.topics:
        tasks = sum(t.topic == topic for t in first.counts)
        cells = [_number(_mean(results[name].values(key, topic))) for name, key in columns]
        table.add_row(Text(printable(topic or NO_TOPIC)), Text(str(tasks)), *cells)
    return table


def show(*tables: Table | None, file: IO[str] | None = None) -> None:
    """Prints tables: with colour on a terminal, else as plain text that is never wrapped."""
    file = file or sys.stdout
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        console = Console(file=file, highlight=False, width=_PLAIN_WIDTH, color_system=None)
    for table in filter(None, tables):
        if not console.is_terminal:
            table.box = box.ASCII2
        # Printed apart, because rich would break these lines at the table's width.
        title, table.title, caption, table.caption = table.title, None, table.caption, None
        for part in (title, table, caption):
            if part:
                console.print(part, soft_wrap=part is not table)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=Text(printable(title)) if title else None, box=box.SIMPLE_HEAD, title_justify="left")
    table.caption_justify = "left"
    for number, column in enumerate(columns):
        table.add_column(Text(printable(column)), justify="right" if number else "left", no_wrap=True)
    return table


def _short_keys(result: Evaluation) -> list[str]:
    return list(dict.fromkeys((result.keys[0], result.keys[-1])))


def _cell(estimate: Estimate | None) -> Text:
    if estimate is None:
        return Text("-", style="dim")
    text = Text(f"{estimate.value:.3f} ")
    return text.append(f"[{estimate.low:.3f}, {estimate.high:.3f}]", style="dim")


def _difference(difference: Difference | None) -> Text:
    """Coloured only when its interval leaves zero out."""
    if difference is None:
        return Text("-", style="dim")
    style = "green" if difference.low > 0 else "red" if difference.high < 0 else ""
    text = Text(f"{difference.delta:+.3f} ", style=style)
    return text.append(f"[{difference.low:+.3f}, {difference.high:+.3f}]", style="dim")


def _number(value: float | None, unit: str = "") -> Text:
    if value is None:
        return Text("-", style="dim")
    return Text(f"{100 * value:.1f} %" if unit else f"{value:.3f}" if value <= 1 else f"{value:.1f}")


def _mean(values: Mapping[str, float]) -> float | None:
    return sum(values.values()) / len(values) if values else None
