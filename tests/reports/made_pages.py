"""Pages with rollouts made by hand, and what a page embeds."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

from strop.reports.page import document
from strop.reports.static.report import report

from .made_runs import make_run


def two_runs(folder: Path) -> Path:
    """A report of two runs: alpha with 6 steps of 3 groups of 4, and beta, stopped after 2 of 9 steps."""
    alpha = make_run(
        folder / "alpha", steps=6, groups=3, size=4, evaluations=("before", "step-000003", "after")
    )
    beta = make_run(folder / "beta", steps=2, groups=2, size=3, seed=5, finished=False, planned=9)
    target = folder / "report.html"
    report([alpha, beta], target)
    return target


def embedded(html: str) -> dict[str, Any]:
    found = re.search(r'id="strop-data">([^<]*)<', html)
    assert found
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return data


def made_row(number: int, **more: Any) -> dict[str, Any]:
    """A row as a page embeds it."""
    plain = {
        "id": f"t.1.{number // 8}.{number % 8}", "kind": "train", "evaluation": "", "step": 1, "group": number // 8,
        "index": number % 8, "task": f"task{number // 8}", "reward": number % 4 / 4, "advantage": 0.0,
        "outcome": "passed" if number % 2 else "failed", "stages": {}, "flags": [], "tokens": 9, "truncated": False,
        "scores": {}, "text": f"return {number}", "greedy": False,
    }  # fmt: skip
    return plain | more


def made_page(rows: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    run = {
        "id": "0", "name": "made", "folder": "runs/made",
        "state": {"kind": "running", "text": "running", "problems": []},
        "steps_planned": 1, "recipe": "", "settings": {}, "versions": {}, "metrics": [], "alarms": [], "summary": None,
        "evaluations": [], "comparison": [], "extra_comparisons": {}, "steps": sorted({one["step"] for one in rows}),
        "groups": [], "tasks": {}, "rollouts": rows, "details": {}, "total_rollouts": len(rows),
    }  # fmt: skip
    return {"version": 1, "mode": "static", "sampling": "", "charts": {}, "diffs": None, "runs": [run | more]}


def written(folder: Path, data: dict[str, Any]) -> Path:
    target = folder / "page.html"
    target.write_text(document(data, charts=False), encoding="utf-8")
    return target
