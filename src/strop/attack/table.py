"""The results as a rich table for the terminal and a Markdown table for docs/attacks.md."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from strop_verify.attacks.bench import Row, counts
from strop_verify.attacks.suite import FAMILIES, Attack
from strop_verify.core.text import printable

_WIDTH = 160
"""Columns without a terminal."""


def console() -> Console:
    """The console for tables, `_WIDTH` columns wide without a terminal."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH)


def overview(rows: Sequence[Row]) -> Table:
    """One line per language, family and jail."""
    counted = ("attacks", "exploits", "honest failed", "leftovers", "slowest s")
    numbers = (Column(name, justify="right") for name in counted)
    table = Table("language", "family", "jail", *numbers, "stopped by", header_style="bold")
    kind = attrgetter("language", "family", "jail")
    for key, same in groupby(sorted(rows, key=kind), key=kind):
        group = list(same)
        stopped = Counter(r.stopped_by for r in group if r.stopped_by)
        bad = not all(r.good for r in group)
        table.add_row(
            *key,
            *map(str, counts(group).values()),
            f"{max(r.seconds for r in group):.1f}",
            ", ".join(f"{name} {count}" for name, count in stopped.most_common(4)),
            style="red" if bad else None,
        )
    return table


def details(rows: Iterable[Row]) -> Table:
    """One line per trial and jail."""
    table = Table(title=None, header_style="bold")
    for name in ("attack", "jail", "outcome", "honest", "stopped by", "s", "what is wrong"):
        table.add_column(name, justify="right" if name == "s" else "left", overflow="fold")
    for row in rows:
        cells = (f"{row.language}/{row.attack}", row.jail, row.outcome, row.honest_outcome, row.stopped_by)
        wrong = [*row.exploits, *(f"left: {item}" for item in row.leftovers)]
        if row.honest_failed:
            wrong.append(f"the honest answer: {row.honest_outcome}: {row.honest_detail}")
        table.add_row(
            *(Text(printable(cell)) for cell in cells),
            f"{row.seconds:.1f}",
            Text(printable("; ".join(wrong))),
            style=None if row.good else "red",
        )
    return table


def compared(ours: Sequence[Row], theirs: Sequence[Row]) -> Table:
    """One line per attack that beat either grader, and a line of totals."""
    heads = map(printable, ("attack", ours[0].jail, theirs[0].jail))
    table = Table(*(Column(head, overflow="fold") for head in heads), header_style="bold")
    known = {(r.language, r.attack): r for r in ours}
    for row in theirs:
        mine = known.get((row.language, row.attack))
        if mine is not None and not (mine.good and row.good):
            cells = (f"{row.language}/{row.attack}", _said(mine), _said(row))
            table.add_row(*(Text(printable(cell)) for cell in cells))
    sums = (f"{sum(r.good for r in rows)} of {len(rows)} held" for rows in (ours, theirs))
    table.add_section()
    table.add_row("all", *sums)
    return table


def markdown(rows: Sequence[Row], attacks: Sequence[Attack]) -> str:
    """The table for the documentation: one line per attack with what stopped it, by jail where that differs."""
    jails = list(dict.fromkeys(r.jail for r in rows))
    by_key = {(r.language, r.attack, r.jail): r for r in rows}
    lines = [f"In the jails {', '.join(jails)}:", "", "| attack | tries | stopped by |", "|---|---|---|"]
    for attack in sorted(attacks, key=lambda a: (a.language, FAMILIES.index(a.family))):
        found = {jail: by_key.get((attack.language, attack.name, jail)) for jail in jails}
        if any(found.values()):
            cells = {jail: _cell(row) for jail, row in found.items()}
            alike = len(set(cells.values())) == 1
            stopped = cells[jails[0]] if alike else "; ".join(f"{j}: {c}" for j, c in cells.items())
            lines.append(f"| {attack.id} | {attack.tries.replace('|', '/')} | {stopped} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row | None) -> str:
    if row is None:
        return "not run"
    if row.good:
        return row.stopped_by
    return f"**{'; '.join(row.exploits + row.leftovers or ['honest failed'])}**"


def _said(row: Row) -> str:
    if row.exploits or row.leftovers:
        return "; ".join([*row.exploits, *row.leftovers])
    return f"honest answer {row.honest_outcome}" if row.honest_failed else "held"
