"""Evaluations as tables for a terminal, or as plain text."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from strop.evaluation.result import GREEDY, NO_TOPIC, Evaluation
from strop.evaluation.statistics import Difference, Estimate
from strop_verify.core.text import printable

PLAIN_WIDTH = 200
"""Columns without a terminal, if the table needs no more."""


class TableColumn(NamedTuple):
    """A heading and its cells, each of one or more lines."""

    head: str
    cells: list[Text]

    @property
    def width(self) -> int:
        """Width in terminal columns, including the space and the line next to it."""
        lines = [line for cell in self.cells for line in cell.plain.split("\n")]
        return 3 + max(cell_len(line) for line in [self.head, *lines])


def control_table(results: Mapping[str, Evaluation]) -> Table | None:
    """The controls of each evaluation (`evaluation.evaluate`), with differences; None without any.

    Turns: the share that has passed its environment's tests by then. Repeated: second answers equal to the first.
    """
    names = dict.fromkeys(name for result in results.values() for name in result.controls)
    if not names:
        return None
    turns = max(len(r.by_turn.passed) if r.by_turn else 0 for r in results.values())
    heads = [head for name in names for head in (name, "difference")] + [
        f"turn {n + 1}" for n in range(turns)
    ]
    table = new_table("compared with", "", "solved", *heads, *(["repeated"] if turns else []))
    for label, result in results.items():
        for key in (key for key in result.keys if key in ("pass@1", GREEDY)):
            if not result.by_turn and not any(key in one.keys for one in result.controls.values()):
                continue
            cells = [estimate_text(result.estimate(key))]
            for name in names:
                one = result.controls.get(name)
                found = one.estimate(key) if one and key in one.keys else None
                difference = result.against(name).get(key) if found else None
                cells += [estimate_text(found), difference_text(difference)]
            passed = result.by_turn.passed if result.by_turn else []
            cells += [_number(share) for share in [*passed, *[None] * (turns - len(passed))]]
            cells += [_number(result.by_turn.repeated if result.by_turn else None)] if turns else []
            table.add_row(Text(f"{label} {key}"), *cells)
    said = {
        "resampled": "resampled: single answers of the same model at equal sampled tokens, any of them right",
        "ceiling": "ceiling: best possible in one turn",
        "room": "room: the model before training, with more tokens for an answer",
    }
    table.caption = "; ".join(said[name] for name in names if name in said)
    return table


def topic_table(results: Mapping[str, Evaluation]) -> Table | None:
    """One row per topic, with the first number of every evaluation and, for at most two evaluations, greedy; None
    without topics."""
    first = next(iter(results.values()))
    if not first.topics:
        return None
    most = 1 if len(results) > 2 else 2
    columns = [(name, key) for name, result in results.items() for key in _short_keys(result)[:most]]
    table = new_table("by topic", "topic", "tasks", *(f"{name} {key}" for name, key in columns))
    for topic in first.topics:
        tasks = sum(t.topic == topic for t in first.counts)
        values = [results[name].values(key, topic).values() for name, key in columns]
        cells = [_number(sum(known) / len(known) if known else None) for known in values]
        table.add_row(Text(printable(topic or NO_TOPIC)), Text(str(tasks)), *cells)
    return table


def console_of(file: IO[str] | None, width: int = PLAIN_WIDTH) -> Console:
    """A console for a file, stdout by default; plain and of `width` columns unless it is a terminal."""
    file = file or sys.stdout
    console = Console(file=file, highlight=False)
    if console.is_terminal:
        return console
    return Console(file=file, highlight=False, width=width, color_system=None)


def show(*tables: Table | None, file: IO[str] | None = None, width: int = PLAIN_WIDTH) -> None:
    """Prints tables: with colour on a terminal, else as plain text of up to `width` columns that is never wrapped."""
    console = console_of(file, width)
    for table in filter(None, tables):
        if not console.is_terminal:
            table.box = box.ASCII2
        # Printed separately, because rich would break these lines at the table's width.
        title, table.title, caption, table.caption = table.title, None, table.caption, None
        for part in (title, table, caption):
            if part:
                console.print(part, soft_wrap=part is not table)


def show_columns(
    columns: Callable[[str], Sequence[TableColumn]], title: str, caption: str, file: IO[str] | None = None
) -> None:
    """Prints columns in as few tables as fit into the terminal, each with the first of them.

    columns  separator between a number and its interval -> the columns
    """
    console = Console(file=file or sys.stdout)
    (first, *rest), left = columns("\n" if console.is_terminal else " "), console.width
    tables: list[list[TableColumn]] = [[first]]
    for column in rest:
        used = sum(other.width for other in tables[-1])
        if console.is_terminal and len(tables[-1]) > 1 and used + column.width + 2 > left:
            tables.append([first])
        tables[-1].append(column)
    for number, some in enumerate(tables):
        table = new_table("" if number else title, *(column.head for column in some))
        for row in zip(*(column.cells for column in some), strict=True):
            table.add_row(*row)
        table.caption = caption if number == len(tables) - 1 else None
        show(table, file=file, width=max(PLAIN_WIDTH, sum(column.width for column in some) + 2))


def new_table(title: str, *columns: str) -> Table:
    """An empty table in Strop's style: the first column left-aligned, the others right-aligned."""
    table = Table(title=Text(printable(title)) if title else None, box=box.SIMPLE_HEAD, title_justify="left")
    table.caption_justify = "left"
    for number, column in enumerate(columns):
        table.add_column(Text(printable(column)), justify="right" if number else "left", no_wrap=True)
    return table


def _short_keys(result: Evaluation) -> list[str]:
    score = result.first_stage_keys.get("score")
    return [score] if score else list(dict.fromkeys((result.keys[0], result.keys[-1])))


def estimate_text(estimate: Estimate | None, gap: str = " ") -> Text:
    """The value and its interval, with `gap` between them; a dash for None."""
    if estimate is None:
        return Text("-", style="dim")
    text = Text(f"{estimate.value:.3f}{gap}")
    return text.append(f"[{estimate.low:.3f}, {estimate.high:.3f}]", style="dim")


def difference_text(difference: Difference | None, gap: str = " ") -> Text:
    """`estimate_text` for a difference, coloured only if its interval excludes zero."""
    if difference is None:
        return Text("-", style="dim")
    style = "green" if difference.low > 0 else "red" if difference.high < 0 else ""
    text = Text(f"{difference.delta:+.3f}{gap}", style=style)
    return text.append(f"[{difference.low:+.3f}, {difference.high:+.3f}]", style="dim")


def _number(value: float | None) -> Text:
    if value is None:
        return Text("-", style="dim")
    return Text(f"{value:.3f}" if value <= 1 else f"{value:.1f}")
