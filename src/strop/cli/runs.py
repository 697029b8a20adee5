"""`strop runs`: prints a table of runs with their headline numbers."""

import json
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

_HEADS = ("run", "state", "steps", "reward", "held out", "difference", "time", "last change", "alarms")


def runs(
    folders: Annotated[
        list[Path] | None,
        Argument(metavar="[DIR...]", help="folders that contain runs, or runs", show_default="runs"),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="print a JSON list instead")] = False,
    columns: Annotated[
        str,
        Option(
            metavar="NAME,...",
            help=f"some of {', '.join(_HEADS)}, or recipe keys, such as optim.learning_rate",
        ),
    ] = ",".join(_HEADS),
    sort: Annotated[str, Option(metavar="NAME", help="column to sort by; -NAME for descending order")] = "",
) -> None:
    """List runs, newest first: state, steps, reward, held-out result before and after, time, alarms.

    The reward is the mean of the first and of the last ten steps. Unreadable folders are listed too.
    """
    from strop.reports.terminal.run_list import find_runs, list_row

    asked, names = folders or [Path("runs")], [name.strip() for name in columns.split(",") if name.strip()]
    rows = [list_row(folder) for folder in find_runs(asked)]
    for name in (*names, sort.removeprefix("-")) if rows else ():
        if name and name not in _HEADS and all(_setting(row, name) is None for row in rows):
            raise UserError(
                f"no column {name!r}: there are {', '.join(_HEADS)}, and keys that a run's recipe sets"
            )
    if by := sort.removeprefix("-"):
        values = {row["folder"]: _sortable(row, by) for row in rows}
        known = [row for row in rows if values[row["folder"]] is not None]
        known.sort(key=lambda row: values[row["folder"]], reverse=sort.startswith("-"))
        rows = [*known, *(row for row in rows if values[row["folder"]] is None)]
    if as_json:
        from strop_verify.core.files import json_text

        print(json.dumps(json.loads(json_text(rows)), indent=2))  # ASCII: names may hold control characters
    elif rows:
        _print(rows, names)
    else:
        print(f"no runs in {', '.join(map(str, asked))}; make one with: strop train demo")


def _print(rows: list[dict[str, Any]], names: list[str]) -> None:
    """Prints a table if it fits or there is no terminal, otherwise a block of lines per run."""
    from rich.text import Text

    from strop.reports.terminal.consoles import console, fits
    from strop.reports.terminal.rollouts import new_table

    out = console()
    table = new_table(out)
    cells = [[_cell(row, name) for name in names] for row in rows]
    for name in names:
        table.add_column(name, no_wrap=True)
    for line in cells:
        table.add_row(*map(Text, line))
    if fits(out, table):
        out.print(table)
    else:
        for line in cells:
            out.print(line[0], style="bold", markup=False)
            for head, cell in list(zip(names, line, strict=True))[1:]:
                if cell:
                    out.print(f"  {head}: {cell}", markup=False)
    for row in rows:
        for said in filter(None, (row["cause"] and f"ended by: {row['cause']}", row["problem"])):
            out.print(printable(f"{row['folder']}: {said}"), style="yellow", markup=False)


def _cells(row: dict[str, Any]) -> list[str]:
    from datetime import datetime

    from strop.reports.terminal.live import clock

    planned = f"/{row['planned']}" if row["planned"] else ""
    changed = datetime.fromtimestamp(row["changed"]).strftime("%Y-%m-%d %H:%M") if row["changed"] else ""
    alarms = list(dict.fromkeys(row["alarms"]))
    named = "" if row["name"] == Path(row["folder"]).resolve().name else f" ({row['name']})"
    return [
        printable(row["folder"] + named),
        row["state"] or "unreadable",
        "" if row["steps"] is None else f"{row['steps']}{planned}",
        "" if row["reward_first"] is None else f"{row['reward_first']:.3f} -> {row['reward_last']:.3f}",
        printable(_held_out(row)),
        _difference(row["difference"]),
        "" if row["wall_seconds"] is None else clock(row["wall_seconds"]),
        changed,
        printable(", ".join(alarms[:2]) + (f" +{len(alarms) - 2}" if len(alarms) > 2 else "")),
    ]


def _cell(row: dict[str, Any], name: str) -> str:
    if name in _HEADS:
        return _cells(row)[_HEADS.index(name)]
    value = _setting(row, name)
    return "" if value is None else printable(str(value))


def _setting(row: dict[str, Any], key: str) -> Any:
    """The value of a key in a run's recipe."""
    from strop.config.yaml12 import read_yaml

    path = Path(row["folder"]) / "recipe.yaml"
    value: Any = read_yaml(path.read_text(), lambda *_: None) if path.is_file() else None
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _sortable(row: dict[str, Any], name: str) -> Any:
    """The sort key of a column: a number, or its text; None if missing."""
    numbers = {
        "steps": row["steps"], "reward": row["reward_last"], "time": row["wall_seconds"], "last change": row["changed"],
        "held out": (row["after"] or [None])[0], "difference": (row["difference"] or [None])[0],
    }  # fmt: skip
    value = (
        numbers[name] if name in numbers else _setting(row, name) if name not in _HEADS else _cell(row, name)
    )
    return (
        (1, 0.0, str(value)) if isinstance(value, str) else None if value is None else (0, float(value), "")
    )


def _held_out(row: dict[str, Any]) -> str:
    """pass@1 0.003 -> 0.182 -> 0.212: before, after a warm start, after; for a run in progress the newest is last."""
    values = [row[side][0] for side in ("before", "warm", "after") if row[side] and row[side][0] is not None]
    shown = [f"{value:.3f}" for value in values]
    if not row["after"] and row["during"] and row["during"][1] is not None:
        shown.append(f"{row['during'][1]:.3f} (step {row['during'][0]})")
    return f"{row['key']} {' -> '.join(shown)}" if shown else ""


def _difference(found: list[float | None] | None) -> str:
    if not found or None in found:
        return ""
    delta, low, high = (f"{value:+.3f}" for value in found)
    return f"{delta} [{low}, {high}]"
