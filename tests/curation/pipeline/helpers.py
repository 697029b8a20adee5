"""Tasks, pipelines and runs for the tests of `strop curate`."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from strop_tasks.curation.pipeline.read import plan
from strop_tasks.curation.pipeline.run import RunOptions, curate
from strop_tasks.curation.pipeline.stage import Watcher

RESULTS = ("tasks.jsonl", "dropped.jsonl", "changes.jsonl")


def program(task_id: str, *, tests: int = 6, add: int = 1, **fields: Any) -> dict[str, Any]:
    """A task line: a program that adds `add` to a number, with so many tests, the first one shown."""
    cases = [
        {"stdin": f"{10**n + add}\n", "stdout": f"{10**n + 2 * add}\n", "shown": n == 0} for n in range(tests)
    ]
    return {
        "id": task_id,
        "family": "program",
        "statement": f"Read a number and print it with {add} added to it.",
        "reference": f"print(int(input()) + {add})\n",
        "check": {"kind": "stdio", "cases": cases},
        **fields,
    }


def function(
    task_id: str, reference: str, cases: list[tuple[list[Any], Any]], **fields: Any
) -> dict[str, Any]:
    """A task line for a function `f`."""
    listed = [{"args": args, "expected": expected} for args, expected in cases]
    check = {"kind": "cases", "entry_point": "f", "cases": listed}
    return {
        "id": task_id,
        "statement": f"Write f of {task_id}.",
        "reference": reference,
        "check": check,
        **fields,
    }


def write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """The rows as a JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ran(
    folder: Path, source: Any, steps: list[Any], *, options: RunOptions | None = None, **keys: Any
) -> dict[str, Any]:
    """The manifest of a pipeline over one or more sources."""
    sources = [
        str(s) if isinstance(s, Path) else s for s in (source if isinstance(source, list) else [source])
    ]
    planned = plan({"source": sources, "steps": steps, **keys})
    return curate(planned, folder, options or RunOptions(workers=1), Watcher())


def results(folder: Path) -> dict[str, bytes]:
    """Every file of a finished folder; of the manifest all but the seconds."""
    found = {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if not p.name.startswith(".")}
    manifest = json.loads(found["manifest.json"])
    for step in manifest["steps"]:
        del step["seconds"]
    found["manifest.json"] = json.dumps(manifest).encode()
    return found
