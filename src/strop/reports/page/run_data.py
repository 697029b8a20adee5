"""A run folder as the page's data: state, recipe, metrics, evaluations, comparison; everything but its rollouts.

The folder's content never causes a failure: unreadable parts are left out and listed among the problems.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from strop.config.revision import VERSIONS
from strop.reports import shapes
from strop.reports.alarms import alarms
from strop.reports.rollout_files import CONTROL, evaluation_file
from strop.reports.run_folder import ASKED, EVALUATION, RECIPE, SCALING, SUMMARY
from strop.reports.run_state import (
    Metrics,
    check_run,
    planned_steps,
    read_metrics,
    read_settings,
    state_of,
    wrong_values,
)
from strop_verify.core.errors import UserError

_NAME = re.compile(r"(before|room|warm|after|step-(\d{6,}))(?:-(.+))?", re.S)
_LABELS = {
    "before": "before training",
    "room": "before training, more tokens",
    "warm": "after the warm start",
    "after": "after training",
}
_SIDES = ("before", "warm", "after")
_NO_NUMBERS = ("confidence", "tasks", "samples", "temperature", "top_p", "max_tokens", "tokens_mean", "truncated_rate",
               "seconds", "error_rate")  # fmt: skip
"""Keys of a result that are not rates of the policy."""


def run_data(folder: Path, run_id: str) -> dict[str, Any]:
    """The run as a page shows it, without what `PageRun` adds of its rollouts.

    Raises UserError for a folder that is not a run; any other fault becomes a problem of its state.
    """
    check_run(folder)
    problems: list[str] = []
    settings = _tried(lambda: read_settings(folder), {}, problems)
    metrics = _tried(lambda: read_metrics(folder), Metrics([]), problems)
    planned = planned_steps(settings, metrics)
    state = state_of(folder, metrics, planned)
    summary = _json(folder / SUMMARY, shapes.SUMMARY, problems)
    versions = _json(folder / VERSIONS, shapes.VERSIONS, problems) or {}
    asked = _json(folder / ASKED, shapes.ASKED, problems)
    planned = None if asked else planned
    evaluations = read_evaluations(folder, metrics.last_step, problems, (asked or {}).get("models"))
    if asked:
        evaluations += _going_on(folder, asked.get("models") or {}, {e["file"] for e in evaluations})
    scaling = _scaling(folder, asked or {}, problems)
    results = {(e["set"], e["name"]): e["result"] for e in evaluations}
    missing = ("", "before") in results and ("", "after") not in results
    if state.kind == "finished" and missing and settings.get("evaluation.after") is not False:
        problems.append("there is an evaluation before training but none after it")
    paired = (summary or {}).get("evaluation")
    return {
        "id": run_id,
        "kind": "evaluation" if asked else "training",
        "name": str(settings.get("run.name") or folder.resolve().name),
        "folder": str(folder),
        "state": {**asdict(state), "problems": list(dict.fromkeys([*state.problems, *problems]))},
        "steps_planned": planned,
        "recipe": (folder / RECIPE).read_text(encoding="utf-8", errors="replace"),
        "settings": settings,
        "versions": versions,
        "metrics": metrics.lines,
        "alarms": [
            {**alarm.model_dump(mode="json"), "when": alarm.when}
            for alarm in alarms(metrics.lines, [] if asked else evaluations)
        ],
        "summary": summary,
        "evaluations": evaluations,
        "comparison": comparison(results, "", paired),
        "extra_comparisons": {
            name: comparison(results, name, _inside(paired, "extra", name))
            for name in sorted({name for name, _ in results} - {""})
        },
        "scaling": scaling,
    }


def tell_apart(runs: list[dict[str, Any]]) -> None:
    """Adds the folder to the names of runs that have the same name."""
    names = Counter(run["name"] for run in runs)
    for run in runs:
        if names[run["name"]] > 1:
            run["name"] = f"{run['name']} ({run['folder']})"


def read_evaluations(
    folder: Path, last_step: int, problems: list[str], models: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Every evaluation/NAME.json by NAME, in the order of training or of `models`, the models of `strop eval`.

    Unreadable ones go to `problems`.
    """
    found = []
    for path in sorted((folder / EVALUATION).glob("*.json")):
        if path.name.startswith(".") or path.name.endswith(".record.json"):
            continue
        result = _json(path, shapes.RESULT, problems)
        if result is not None:
            found.append(_evaluation(path.name.removesuffix(".json"), result, last_step, models))
    if models is not None:
        names = [*models]
        return sorted(found, key=lambda e: names.index(e["name"]) if e["name"] in models else len(names))
    order = {"before": 0, "room": 0, "warm": 1, "after": 3}
    found.sort(key=lambda e: (e["set"], order.get(e["name"], 2), e["step"] or 0, e["name"]))
    return found


def _evaluation(
    file: str, result: dict[str, Any], last_step: int, models: Mapping[str, Any] | None
) -> dict[str, Any]:
    match = _NAME.fullmatch(file) if models is None else None
    name, number, extra = match.groups() if match else (file, None, None)
    step = int(number) if number else {"before": 0, "room": 0, "warm": 0, "after": last_step}.get(name)
    label = _LABELS.get(name) or (f"after step {step}" if number else name.replace("control_", "control: "))
    label = f"{label}, {extra}" if extra else label
    if models is not None:
        step, label = None, str((models.get(file) or {}).get("word") or file)
    return {
        "name": name,
        "file": file,
        "label": label,
        "set": extra or "",
        "step": step,
        "result": {key: value for key, value in result.items() if key != "per_task"},
    }


def _scaling(folder: Path, asked: Mapping[str, Any], problems: list[str]) -> list[dict[str, Any]]:
    """Results of `strop scale` for each model of an evaluation, with its name as `label`."""
    found = []
    for name, one in (asked.get("models") or {}).items():
        numbers = _json(folder / SCALING / f"{name}.json", shapes.SCALING, problems)
        if numbers:
            found.append({"label": str((one or {}).get("word") or name), **numbers})
    return found


def _going_on(folder: Path, models: Mapping[str, Any], done: set[str]) -> list[dict[str, Any]]:
    """Evaluations of `strop eval` with answers but no result: unfinished ones, and answers of controls."""
    found = []
    for name, one in models.items():
        word = str((one or {}).get("word") or name)
        for file, label in ((name, word), (f"{name}{CONTROL}", f"{word}, control")):
            if file not in done and evaluation_file(folder, file).path.is_file():
                plain: dict[str, Any] = {"set": "", "step": None, "result": {}}
                found.append({"name": file, "file": file, "label": label, **plain})
    return found


def comparison(
    results: Mapping[tuple[str, str], Mapping[str, Any]], extra: str, summary: Any
) -> list[dict[str, Any]]:
    """Rows of the table before/after on one task set: each number with its interval, and the paired difference.

    results  {(set, name): result};  summary  that set's part of summary.json, with the paired differences
    """
    sides = {side: results[extra, side] for side in _SIDES if (extra, side) in results}
    keys = {key: None for result in sides.values() for key, value in result.items() if _rate(key, value)}
    return [
        {
            "key": key,
            **{side: _with_interval(sides.get(side, {}), key) for side in _SIDES},
            "paired": _difference(_inside(summary, "paired", key)),
            "paired_warm": _difference(_inside(summary, "paired_after_warm_start", key)),
        }
        for key in keys
    ]


def _rate(key: str, value: Any) -> bool:
    return key not in _NO_NUMBERS and isinstance(value, int | float) and not isinstance(value, bool)


def _with_interval(result: Mapping[str, Any], key: str) -> list[Any] | None:
    value = result.get(key)
    if value is None:
        return None
    ends = _inside(result, "intervals", key)
    low, high = ends if isinstance(ends, list) and len(ends) == 2 else (None, None)
    return [value, low, high]


def _difference(value: Any) -> list[Any] | None:
    return [value.get(key) for key in ("delta", "low", "high")] if isinstance(value, dict) else None


def _inside(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _tried(read: Any, otherwise: Any, problems: list[str]) -> Any:
    """The result of `read`, or `otherwise` if it fails. The state already names the cause for files that it reads
    itself."""
    try:
        return read()
    except UserError as error:
        problems.append(str(error))
        return otherwise


def _json(path: Path, shape: shapes.Shape, problems: list[str]) -> dict[str, Any] | None:
    """A JSON object of that shape; None if missing, with a problem for anything else."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        problems.append(f"{path} cannot be read and is left out: {error}")
        return None
    if isinstance(value, dict):
        wrong: list[str] = []
        found: dict[str, Any] = shape(value, "", wrong)
        problems.extend([wrong_values(path, wrong)] if wrong else [])
        return found
    problems.append(f"{path} is not a JSON object and is left out")
    return None
