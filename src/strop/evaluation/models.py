"""Several models side by side: one row per model, each later one compared with the first, and bars below."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, NamedTuple

from rich.bar import Bar
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from strop.evaluation.outcome_rates import SIGNED, STAGES
from strop.evaluation.result import Evaluation, compare
from strop.evaluation.statistics import Difference, Estimate
from strop.evaluation.table import (
    TableColumn,
    console_of,
    control_table,
    difference_text,
    estimate_text,
    show,
    show_columns,
    topic_table,
)
from strop_verify.core.text import printable

_BAR, _SHORTEST_BAR = 40, 8
"""Columns of a full bar, if there is room."""

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442", "#000000")
"""Colours of models in charts: Okabe and Ito's, which colour-blind people can distinguish."""

_COSTS: dict[str, Callable[[Evaluation], str]] = {
    "tokens": lambda result: f"{result.tokens_mean:.1f}",
    "truncated": lambda result: f"{result.truncated_rate:.1%}",
    "errors": lambda result: f"{result.error_rate:.1%}",
    "seconds": lambda result: f"{result.seconds:.1f}",
}
"""Columns at the end of a row, without intervals; errors only if there are any."""

Paired = Mapping[str, Mapping[str, Difference]]
"""{model: {key: difference from the first model}}"""


class Rate(NamedTuple):
    """One bar of a chart: a model and its rate, None if it has none."""

    model: str
    estimate: Estimate | None


def show_all(
    results: Mapping[str, Evaluation],
    *,
    title: str = "",
    labels: Mapping[str, str] | None = None,
    footer: Sequence[str] = (),
    file: IO[str] | None = None,
) -> None:
    """Prints the results of models on the same tasks: each compared with the first, bars below.

    `labels` renames stages in heads, such as {"lint": "clippy"}. Below the table come the lines of `footer`, then the
    tasks that each model may have seen.
    """
    name, *others = results
    paired = {other: compare(results[name], results[other]) for other in others}
    names = labels or {}
    said = "\n".join([caption(results, paired), *footer, *_seen_notes(results)])
    show_columns(lambda gap: _columns(results, paired, names, gap), title, said, file)
    console = console_of(file)
    for stage, rates in stage_rates(results).items():
        head = Text(f"\n{names.get(stage, stage)}", style="bold")
        console.print(Group(head, _bars(rates, console.width if console.is_terminal else None)))
    show(control_table(results), file=file)
    if topics := topic_table(results):
        console.print()
        show(topics, file=file)


def stage_rates(results: Mapping[str, Evaluation]) -> dict[str, list[Rate]]:
    """{stage: one rate per model} for the stages of any model: of sampled answers, else of greedy ones."""
    keys = {name: result.first_stage_keys for name, result in results.items()}
    return {
        stage: [
            Rate(name, result.estimate(keys[name][stage]) if stage in keys[name] else None)
            for name, result in results.items()
        ]
        for stage in STAGES
        if stage not in SIGNED and any(stage in found for found in keys.values())
    }


def _columns(
    results: Mapping[str, Evaluation], paired: Paired, labels: Mapping[str, str], gap: str
) -> list[TableColumn]:
    """The models' names first. A model that was compared has a second line of cells, its differences."""
    rates = list(dict.fromkeys(key for r in results.values() for key in r.first_stage_keys.values()))
    scores = list(dict.fromkeys(key for r in results.values() for key in r.keys))
    names: list[Text] = []
    for name in results:
        names += [Text(printable(name))] + ([Text("  difference", style="dim")] if name in paired else [])
    columns = [TableColumn("model", names)]

    def add(head: str, of_models: Iterable[Text], key: str = "") -> None:
        cells: list[Text] = []
        for name, cell in zip(results, of_models, strict=True):
            cells.append(cell)
            if name in paired:
                cells.append(difference_text(paired[name].get(key), gap) if key else Text(""))
        columns.append(TableColumn(head, cells))

    for key in [*rates, *scores]:
        prefix, dash, stage = key.rpartition("-")
        values = [r.estimate(key) if key in (*r.keys, *r.stage_keys) else None for r in results.values()]
        add(f"{prefix}{dash}{labels.get(stage, stage)}", (estimate_text(one, gap) for one in values), key)
    for rate in dict.fromkeys(rate for result in results.values() for rate in result.accept_rates):
        add(rate, (estimate_text(result.accept_rates.get(rate), gap) for result in results.values()))
    errors = any(result.error_rate for result in results.values())
    for head, value in _COSTS.items():
        if head != "errors" or errors:
            add(head, (Text(value(result)) for result in results.values()))
    return columns


def caption(results: Mapping[str, Evaluation], paired: Paired) -> str:
    """One line: numbers of tasks and answers, and what intervals and differences mean."""
    name, first = next(iter(results.items()))
    sampled = f"{first.samples} answers each, T = {first.temperature:g}"
    answers = sampled if first.samples else "greedy answers"
    text = f"{len(first.counts)} tasks, {answers}; {first.confidence:.0%} intervals"
    return text + (f"; differences from {printable(name)} on the same tasks" if paired else "")


def _seen_notes(results: Mapping[str, Evaluation]) -> list[str]:
    """One line per model on tasks that it may have seen, if known."""
    notes = {name: note for name, r in results.items() if (note := r.seen_note())}
    if len(results) == 1:
        return [printable(text) for text in notes.values()]
    return [printable(f"{name}: {text}") for name, text in notes.items()]


def _bars(rates: Sequence[Rate], width: int | None) -> Table:
    """One line per model: name, bar, rate and interval; plain characters without a terminal (None)."""
    names = [Text(f"  {printable(rate.model)}") for rate in rates]
    values = [estimate_text(rate.estimate) for rate in rates]
    used = max(name.cell_len + value.cell_len for name, value in zip(names, values, strict=True))
    room = _BAR if width is None else width - 2 - used
    longest = min(_BAR, max(_SHORTEST_BAR, room))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(width=longest, no_wrap=True)
    grid.add_column(no_wrap=True)
    for number, (_, estimate) in enumerate(rates):
        value = estimate.value if estimate else 0.0
        bar: RenderableType = Text("#" * round(longest * value))
        if width is not None:
            bar = Bar(1.0, 0.0, value, width=longest, color=COLOURS[number % len(COLOURS)])
        grid.add_row(names[number], bar, values[number])
    return grid
