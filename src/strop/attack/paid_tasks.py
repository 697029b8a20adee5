"""Which tasks of other projects reward an answer that solves nothing, one row per task, as a table and as JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Column, Table
from rich.text import Text

from strop_verify.attacks.cheats import PaidTask
from strop_verify.core import files
from strop_verify.core.text import printable


def sums(rows: Sequence[PaidTask]) -> dict[str, int]:
    """The counts of tasks in the last line."""
    judged = [row for row in rows if not row.not_judged]
    return {
        "tasks": len(rows),
        "judged": len(judged),
        "paying": sum(bool(row.pays) for row in judged),
        "solution_failed": sum(bool(row.failed) for row in judged),
    }


def by_cheat(rows: Iterable[PaidTask]) -> dict[str, list[int]]:
    """By cheat: [tasks that reward it, tasks that it was tried on]."""
    found: dict[str, list[int]] = {}
    for row in rows:
        for name in row.rewards:
            pair = found.setdefault(name, [0, 0])
            pair[0] += name in row.pays
            pair[1] += 1
    return found


def table(rows: Iterable[PaidTask]) -> Table:
    """One line per judged task: the reward of its solution, and of each cheat that it rewards."""
    heads = ("task", "solution", "pays")
    found = Table(*(Column(head, overflow="fold") for head in heads), header_style="bold")
    for row in rows:
        if not row.not_judged:
            solution = "none" if row.solution is None else f"{row.solution:g}"
            paid = ", ".join(f"{name} {row.rewards[name]:g}" for name in row.pays)
            cells = (row.task, f"{solution}: {row.failed}" if row.failed else solution, paid or "nothing")
            style = "red" if row.pays else "yellow" if row.failed else None
            found.add_row(*(Text(printable(cell)) for cell in cells), style=style)
    return found


def lines(rows: Sequence[PaidTask]) -> list[str]:
    """The lines below the table: tasks that were not judged, counts by cheat, totals."""
    told = [f"not judged: {row.task}: {row.not_judged}" for row in rows if row.not_judged]
    counts = (f"{name} {paid} of {tried}" for name, (paid, tried) in by_cheat(rows).items())
    total = ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in sums(rows).items())
    return [*map(printable, told), "paid: " + ", ".join(counts), total]


def write_json(rows: Sequence[PaidTask], path: Path) -> None:
    """Totals, counts by cheat, and every row with its rewards."""
    report = {
        **sums(rows),
        "cheats": {name: {"paying": paid, "tried": tried} for name, (paid, tried) in by_cheat(rows).items()},
        "rows": [{**asdict(row), "pays": row.pays} for row in rows],
    }
    with files.atomic(path) as file:
        file.write(json.dumps(report, indent=1).encode("utf-8", "backslashreplace") + b"\n")
