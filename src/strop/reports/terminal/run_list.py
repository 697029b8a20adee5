"""The rows of `strop runs`, one per run. An unreadable folder is a row too, with the reason."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from strop.config.revision import VERSIONS
from strop.reports.page.run_data import run_data
from strop.reports.run_folder import METRICS, SUMMARY
from strop.reports.run_state import last_cause
from strop.reports.shapes import is_number
from strop_verify.core.errors import UserError

REWARD_STEPS = 10
"""Steps averaged in the first and in the last reward; fewer in runs of less than twice as many."""
_MARKS = (VERSIONS, METRICS, SUMMARY)
"""Files that mark a run; not the recipe, which a folder of `strop init` also has."""


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """Run folders among `folders` and directly in them, newest first, unreadable ones too. Raises UserError."""
    found: dict[Path, float] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UserError(
                f"no such folder: {folder}; `strop train` writes runs to runs/; name a folder that contains runs"
            )
        for path in [folder] if _is_run(folder) else _inside(folder):
            found[path] = _changed(path)
    return sorted(found, key=lambda path: (-found[path], str(path)))


def list_row(folder: Path) -> dict[str, Any]:
    """A run's headline numbers, as `strop runs --json` gives them; see docs/report.md.

    `problem` is "", or the reason why the folder cannot be read; the other fields are then empty.
    """
    row: dict[str, Any] = {
        "name": folder.resolve().name, "folder": str(folder), "changed": _changed(folder) or None, "state": None,
        "text": "", "steps": None, "planned": None, "reward_first": None, "reward_last": None, "key": None,
        "before": None, "warm": None, "after": None, "during": None, "difference": None, "difference_warm": None,
        "wall_seconds": None, "alarms": [], "problem": "", "cause": "",
    }  # fmt: skip
    try:
        run = run_data(folder, "")
    except (UserError, OSError) as error:
        return row | {"problem": str(error)}
    metrics = run["metrics"]
    first, last = reward_ends(metrics)
    return row | {
        "name": run["name"],
        "state": run["state"]["kind"],
        "text": run["state"]["text"],
        "steps": None if run["kind"] == "evaluation" else max((line["step"] for line in metrics), default=0),
        "planned": run["steps_planned"],
        "reward_first": first,
        "reward_last": last,
        **_headline(run),
        "wall_seconds": _wall(run),
        "alarms": [alarm["name"] for alarm in run["alarms"]],
        "problem": "; ".join(run["state"]["problems"]),
        "cause": last_cause(folder) if run["state"]["kind"] in ("stopped", "empty") else "",
    }


def reward_ends(metrics: Sequence[Mapping[str, Any]]) -> tuple[float | None, float | None]:
    """Mean reward of the first and of the last steps: `REWARD_STEPS` each, fewer in a short run."""
    rewards = [line["reward"] for line in metrics if isinstance(line.get("reward"), int | float)]
    if not rewards:
        return None, None
    size = max(1, min(REWARD_STEPS, len(rewards) // 2))
    return fmean(rewards[:size]), fmean(rewards[-size:])


def _headline(run: Mapping[str, Any]) -> dict[str, Any]:
    """The first number of the held-out set, as [value, low, high] if there is one."""
    table = run["comparison"][0] if run["comparison"] else {}
    if run["kind"] == "evaluation":
        table = first_number(run)
    during = [line for line in run["metrics"] if isinstance(line.get("held_out"), dict)]
    key = table.get("key") or next(
        (k for k in ("pass@1", "greedy") if during and k in during[-1]["held_out"]), None
    )
    newest = during[-1]["held_out"].get(key) if during else None
    return {
        "key": key,
        **{side: table.get(side) for side in ("before", "warm", "after")},
        "during": [during[-1]["step"], newest if is_number(newest) else None] if during else None,
        "difference": table.get("paired"),
        "difference_warm": table.get("paired_warm"),
    }


def first_number(run: Mapping[str, Any]) -> dict[str, Any]:
    """The first number of the first model of an evaluation, as a row of a comparison."""
    result = run["evaluations"][0]["result"] if run["evaluations"] else {}
    key = next((key for key in result.get("intervals", {}) if is_number(result.get(key))), None)
    return {"key": key, "after": [result[key], *(result["intervals"][key] or (None, None))]} if key else {}


def _wall(run: Mapping[str, Any]) -> float | None:
    """Seconds of the whole run if its summary has them, else of its steps."""
    whole = (run["summary"] or {}).get("wall_seconds")
    if isinstance(whole, int | float):
        return float(whole)
    seconds = [s for line in run["metrics"] if isinstance(s := line.get("seconds"), int | float)]
    return float(sum(seconds)) if seconds else None


def _is_run(folder: Path) -> bool:
    return any(os.path.isfile(folder / name) for name in _MARKS)  # also False if the folder cannot be read


def _inside(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise UserError(f"cannot read {folder}: {error.strerror}") from error
    for path in entries:
        if path.is_dir() and (_is_run(path) or not _readable(path)):
            yield path


def _readable(folder: Path) -> bool:
    try:
        next(folder.iterdir(), None)
    except OSError:
        return False
    return True


def _changed(folder: Path) -> float:
    """The time of the run's last write, in Unix seconds; 0 if unknown."""
    times = []
    for name in _MARKS:
        try:
            times.append((folder / name).stat().st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)
