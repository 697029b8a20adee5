"""The state of a run folder: running, finished, stopped or empty, as one line, with its problems.

running   a process holds the folder's lock
finished  summary.json exists
stopped   neither, but some steps were done, or it is an evaluation
empty     neither, and no step was done
"""

import fcntl
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from strop.reports import shapes
from strop.reports.run_folder import ASKED, ERROR, EVALUATION, METRICS, RECIPE, SUMMARY
from strop_verify.core.errors import UserError

Kind = Literal["running", "finished", "stopped", "empty"]
_LOCK, _FINAL = ".lock", "final"
_ENDED = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d, process \d+ of \d+: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class RunState:
    """The state of a run; `text` and each of `problems` are one line."""

    kind: Kind
    text: str
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Metrics:
    """The readable lines of metrics.jsonl."""

    lines: list[dict[str, Any]]
    torn: bool = False
    """Whether the last line is incomplete: cut off by a kill, or being written."""
    bad: list[int] = field(default_factory=list)
    """Numbers of other lines that are not metrics, from 1."""
    wrong: list[str] = field(default_factory=list)
    """Left-out values of a wrong type, such as "line 3: reward"."""

    @property
    def last_step(self) -> int:
        """The newest step with metrics, 0 if there is none."""
        return max((line["step"] for line in self.lines), default=0)


def check_run(folder: Path) -> None:
    """Raises UserError, with the remedy, if `folder` is not a run folder."""
    if not folder.exists():
        raise UserError(
            f"no such run folder: {folder}; name one that `strop train` or `strop eval` wrote, such as runs/demo"
        )
    if not (folder / RECIPE).is_file():
        raise UserError(
            f"{folder} is not a run folder: it has no {RECIPE}; name one that `strop train` or `strop eval` wrote"
        )


def in_use(folder: Path) -> bool:
    """Whether a process is writing to the folder: tries the lock and releases it, without disturbing the writer."""
    try:
        handle = os.open(folder / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # a file system without locks
    finally:
        os.close(handle)
    return False


def read_metrics(folder: Path) -> Metrics:
    """The readable part of metrics.jsonl, without unusable values; a line without an integer `step` is bad. Raises
    UserError for a file that cannot be read.
    """
    try:
        data = (folder / METRICS).read_bytes()
    except FileNotFoundError:
        return Metrics([])
    except OSError as error:
        raise UserError(f"cannot read {folder / METRICS}: {error.strerror}") from error
    *whole, rest = data.split(b"\n")
    lines: list[dict[str, Any]] = []
    bad: list[int] = []
    wrong: list[str] = []
    for number, text in enumerate(whole, start=1):
        if not text.strip():
            continue
        line = _object(text)
        if shapes.is_count(line.get("step")):
            names: list[str] = []
            lines.append(shapes.METRICS(line, "", names))
            wrong += [f"line {number}: {name}" for name in names]
        else:
            bad.append(number)
    return Metrics(lines, torn=bool(rest.strip()), bad=bad, wrong=wrong)


def read_settings(folder: Path) -> dict[str, Any]:
    """The recipe as {"optim.steps": 100, "rewards.0.name": "passed", ...}. Raises UserError for invalid YAML."""
    try:
        recipe = yaml.load((folder / RECIPE).read_bytes(), Loader=_Loader)
        flat: dict[str, Any] = {}
        _flatten("", recipe, flat)
    except (OSError, yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise UserError(f"cannot read {folder / RECIPE}: {' '.join(str(error).split())}") from error
    return flat


def state_of(folder: Path, metrics: Metrics | None = None, planned: int | None = None) -> RunState:
    """The state of a run; `metrics` and `planned` steps are read if not given. Raises UserError for other folders."""
    check_run(folder)
    problems: list[str] = []
    # Checked first, so a run that ends meanwhile counts as running, not stopped.
    running = not (folder / SUMMARY).is_file() and in_use(folder)
    try:
        metrics = read_metrics(folder) if metrics is None else metrics
        planned = planned_steps(read_settings(folder), metrics) if planned is None else planned
    except UserError as error:
        problems.append(str(error))
        metrics = metrics or Metrics([])
    if metrics.torn and not running:
        problems.append(f"the last line of {METRICS} is torn, as a kill leaves it; it is left out")
    if metrics.bad:
        problems.append(f"{METRICS}: line {_first(metrics.bad)} cannot be read and is left out")
    if metrics.wrong:
        problems.append(wrong_values(METRICS, metrics.wrong))
    kind, text = _kind_and_text(folder, running, metrics, planned)
    return RunState(kind, text, problems)


def last_cause(folder: Path) -> str:
    """The cause of a run's end, from its error.txt; "" if there is none."""
    try:
        text = (folder / ERROR).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    causes: list[str] = _ENDED.findall(text)
    return causes[-1] if causes else ""


def planned_steps(settings: dict[str, Any], metrics: Metrics) -> int | None:
    """The planned number of steps, None if unknown."""
    planned = metrics.lines[-1].get("steps") if metrics.lines else None
    steps = planned if isinstance(planned, int) else settings.get("optim.steps")
    return steps if isinstance(steps, int) else None


def _kind_and_text(folder: Path, running: bool, metrics: Metrics, planned: int | None) -> tuple[Kind, str]:
    if (folder / ASKED).is_file():
        return _evaluation(folder, running)
    step = metrics.last_step
    where = f"step {step}" + (f" of {planned}" if planned else "")
    if (folder / SUMMARY).is_file():
        return "finished", f"finished after {where}"
    if running and step and planned and step >= planned:
        return "running", f"running: {where} is done, but the final evaluation and saving are not"
    if running:
        return "running", f"running: {where} is done" if step else "running: no step is done yet"
    if step and planned and step >= planned:
        if "steps" in metrics.lines[-1] and (folder / _FINAL).is_dir():  # `strop sft` writes no summary
            return "finished", f"finished after {where}"
        return "stopped", f"stopped after {where}: training is done, the final evaluation and saving are not"
    if step:
        return "stopped", f"stopped after {where}; resume with: strop train --resume {folder}"
    return "empty", f"empty: no step was done; resume with: strop train --resume {folder}"


def _evaluation(folder: Path, running: bool) -> tuple[Kind, str]:
    """The state of an evaluation by `strop eval`, whose steps are models."""
    try:
        models = len(json.loads((folder / ASKED).read_bytes())["models"])
    except (OSError, ValueError, KeyError, TypeError):
        models = 0
    done = len(list((folder / EVALUATION).glob("*.record.json")))
    what = f"{done} of {models} models evaluated"
    if (folder / SUMMARY).is_file():
        return "finished", f"finished: {what}"
    if running:
        return "running", f"running: {what}"
    return "stopped", f"stopped: {what}; resume with: strop eval --resume {folder}"


def wrong_values(name: object, wrong: list[str]) -> str:
    """One line about left-out values of a file."""
    return f"{name}: values of an unexpected type, left out: {_first(wrong)}"


def _first(found: Sequence[object]) -> str:
    return ", ".join(map(str, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _flatten(prefix: str, value: Any, flat: dict[str, Any]) -> None:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            _flatten(f"{prefix}.{key}" if prefix else str(key), inner, flat)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for number, inner in enumerate(value):
            _flatten(f"{prefix}.{number}", inner, flat)
    elif isinstance(value, list):
        flat[prefix] = [_plain(item) for item in value]
    elif prefix:
        flat[prefix] = _plain(value)


def _plain(value: Any) -> Any:
    """The value if JSON can hold it, else its text, such as for a date."""
    return value if isinstance(value, str | int | float | None) else str(value)
