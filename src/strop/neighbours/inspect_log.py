"""Writes a run's rollouts as a log for `inspect view`, in Inspect's file format but without its package.

A sample is a rollout: `id` is the task's, `epoch` counts its plays, `messages` are its turns, `scores` the verdict
(1 or 0) and each reward. Scores that are None are left out; a verdict of *error* becomes a sample with an error and
without scores. Deviations: the environment's text between turns is one user message, as training saw it; there are no
events and no token counts of single calls.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from strop.config.load import load_recipe
from strop.config.revision import VERSIONS
from strop.config.schema import Recipe
from strop.reports.page.rollout_data import detail_of, language_of
from strop.reports.run_folder import ASKED, RECIPE
from strop.reports.run_state import check_run
from strop.reports.terminal.find import FoundRollout, RolloutFinder
from strop_verify.core import files
from strop_verify.core.errors import UserError

_TASK = "strop"
_SHOWN = ("id", "kind", "evaluation", "step", "group", "index", "reward", "advantage", "outcome", "flags")
"""Fields of a rollout's row that become a sample's metadata."""


def write_log(run: Path, target: Path) -> int:
    """Writes the rollouts of a run folder to a .json file and returns their number.

    Raises UserError for a folder without rollouts, another file ending, and a file that cannot be read or written.
    """
    check_run(run)
    if target.suffix != ".json":
        raise UserError(f"--inspect {target}: Inspect only opens logs whose names end in .json")
    finder = RolloutFinder(run)
    plays: Counter[str] = Counter()
    every = (found for place in finder.places() for found in finder.read(place))
    samples = [_sample(found, finder.vocabulary, plays) for found in every]
    if finder.unreadable:
        raise UserError(finder.unreadable[0])
    if not samples:
        raise UserError(f"{run} has no rollouts yet")
    with files.writing(target.parent), files.atomic(target) as file:
        file.write(json.dumps(_log(run, samples), ensure_ascii=False).encode("utf-8", errors="replace"))
    return len(samples)


def _log(run: Path, samples: list[dict[str, Any]]) -> dict[str, Any]:
    recipe = load_recipe([run / RECIPE])
    created = datetime.fromtimestamp((run / RECIPE).stat().st_mtime, UTC).isoformat()
    done = [sample for sample in samples if "error" not in sample]
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": recipe.run.name,
            "run_id": recipe.run.name,
            "created": created,
            "task": f"{_TASK}/{recipe.run.name}",
            "task_id": recipe.run.name,
            "dataset": {"name": _sources(recipe), "samples": len({s["id"] for s in samples})},
            "model": f"{_TASK}/{_model(run, samples) or recipe.model.name}",
            "config": {"epochs": max(s["epoch"] for s in samples)},
            "packages": _packages(run),
        },
        "results": {"total_samples": len(samples), "completed_samples": len(done), "scores": [*_means(done)]},
        "samples": samples,
    }


def _sample(found: FoundRollout, vocabulary: list[str], plays: Counter[str]) -> dict[str, Any]:
    line, row = found.line, found.row
    language = language_of(str(line.get("prompt") or ""), str(line.get("answer") or ""))
    detail = detail_of(line, found.place, vocabulary, language, colours=False)
    plays[row["task"]] += 1
    verdict = line.get("verdict") or {}
    sample = {
        "id": row["task"],
        "epoch": plays[row["task"]],
        "input": detail["prompt"],
        "target": "",
        "messages": [*_messages(detail)],
        "output": _output(detail),
        "scores": _scores(line),
        "metadata": {key: row[key] for key in _SHOWN},
    }
    if verdict.get("outcome") == "error":
        why = str(verdict.get("detail") or "the answer could not be judged")
        sample |= {"error": {"message": why, "traceback": "", "traceback_ansi": ""}, "scores": {}}
    return sample


def _messages(detail: dict[str, Any]) -> Iterator[dict[str, str]]:
    yield {"role": "user", "content": detail["prompt"]}
    for turn in detail["turns"]:
        if turn["given"]:
            yield {"role": "user", "content": turn["given"]}
        yield {"role": "assistant", "content": turn["text"]}


def _output(detail: dict[str, Any]) -> dict[str, Any]:
    choices = [
        {
            "message": {"role": "assistant", "content": turn["text"]},
            "stop_reason": "max_tokens" if turn["finish_reason"] == "length" else "stop",
        }
        for turn in detail["turns"][-1:]
    ]
    return {"model": _TASK, "choices": choices}


def _scores(line: dict[str, Any]) -> dict[str, Any]:
    """The verdict, and each reward that has a value."""
    verdict = line.get("verdict") or {}
    made: dict[str, Any] = {}
    if verdict:
        made["verdict"] = {
            "value": int(verdict["outcome"] == "passed"),
            "answer": str(line.get("answer") or ""),
            "explanation": str(verdict.get("detail") or verdict["outcome"]),
        }
    for score in line.get("scores") or ():
        if score["value"] is not None:
            made.setdefault(score["name"], {"value": score["value"]})
    return made


def _means(samples: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    values = defaultdict[str, list[float]](list)
    for sample in samples:
        for name, score in sample["scores"].items():
            values[name].append(score["value"])
    for name, known in values.items():
        mean = {"name": "mean", "value": sum(known) / len(known)}
        yield {"name": name, "scorer": name, "metrics": {"mean": mean}, "scored_samples": len(known)}


def _model(run: Path, samples: list[dict[str, Any]]) -> str:
    """The models of a `strop eval` run, whose evaluations are named after them; "" for a training run."""
    names = dict.fromkeys(str(sample["metadata"]["evaluation"]) for sample in samples)
    return ", ".join(names) if (run / ASKED).is_file() else ""


def _sources(recipe: Recipe) -> str:
    every = recipe.tasks if isinstance(recipe.tasks, list) else [recipe.tasks]
    return ", ".join(str(one.source) for one in every)


def _packages(run: Path) -> dict[str, str]:
    try:
        found = json.loads((run / VERSIONS).read_text())
    except (OSError, ValueError):
        return {}
    listed = found.get("packages") if isinstance(found, dict) else None
    return {str(k): str(v) for k, v in listed.items()} if isinstance(listed, dict) else {}
