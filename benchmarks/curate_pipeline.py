"""Runs `strop curate` on a corpus with planted faults, as a subprocess, and counts its findings by class."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from corpus import CLASSES, DUPLICATES, write

STEPS = (
    "[min-tests, verify, decontaminate: {against: humaneval}, dedupe, filter-tests, audit, shuffle, split]"
)


def pipeline(
    count: int, seed: int, keep: Path | None, workers: int | None, steps: str | None
) -> dict[str, Any]:
    """Makes the corpus, curates it, and compares the result with the labels."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or Path(scratch)
        print(f"making {count} tasks ...", file=sys.stderr)
        write(count, seed, folder)
        plan = folder / "pipeline.yaml"
        plan.write_text(
            f"source: {folder.resolve() / 'tasks.jsonl.gz'}\nseed: {seed}\nsteps: {steps or STEPS}\n"
        )
        command = [sys.executable, "-m", "strop.cli", "curate", str(plan), "-o", str(folder / "curated")]
        start = time.monotonic()
        done = subprocess.run([*command, *(["--workers", str(workers)] if workers else [])], check=False)
        seconds = time.monotonic() - start
        if done.returncode:
            raise SystemExit(f"strop curate ended with exit code {done.returncode}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = score(folder)
    return {
        "tasks": count,
        "seed": seed,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "cores": os.cpu_count(),
        "largest_process_mib": round(used.ru_maxrss / 1024, 1),
        **result,
    }


def score(folder: Path) -> dict[str, Any]:
    """Recall of each class, share of honest problems that are lost, and drops by step.

    One of an honest problem's tasks, duplicates included, may remain. Every further one is a missed duplicate; if none
    remains, the problem is lost.
    """
    labels = [json.loads(line) for line in (folder / "labels.jsonl").open()]
    kept = {json.loads(line)["id"] for line in (folder / "curated/tasks.jsonl").open()}
    dropped = [json.loads(line) for line in (folder / "curated/dropped.jsonl").open()]
    why = {row["id"]: f"{row['step']}: {row['reason']}" for row in dropped}
    problems: dict[str, list[dict[str, str]]] = defaultdict(list)
    for label in labels:
        kind = label["class"]
        if kind == "honest" or kind in DUPLICATES:
            problems[label["of"] or label["id"]].append(label)
    planted = Counter(label["class"] for label in labels)
    missed: Counter[str] = Counter()
    lost: list[str] = []
    for name, members in problems.items():
        left = [m for m in members if m["id"] in kept]
        if not left:
            lost.append(name)
        # The original may stay; a copy that stayed instead of it does not count as missed.
        extra = sorted(left, key=lambda m: m["class"] != "honest")[1:]
        missed.update(m["class"] for m in extra)
    for label in labels:
        kind = label["class"]
        if kind in CLASSES and kind not in DUPLICATES and label["id"] in kept:
            missed[kind] += 1
    return {
        "recall": {kind: round(1 - missed[kind] / planted[kind], 4) for kind in CLASSES if planted[kind]},
        "planted": {kind: planted[kind] for kind in CLASSES},
        "honest": planted["honest"],
        "wrongly_dropped": round(len(lost) / max(1, planted["honest"]), 5),
        "lost": {name: why.get(name, "?") for name in lost[:50]},
        "by": {
            kind: dict(Counter(why[m["id"]] for m in labels if m["class"] == kind and m["id"] in why))
            for kind in CLASSES
        },
    }


def report(result: dict[str, Any]) -> str:
    """The result as a table for people."""
    lines = [
        f"{result['tasks']} tasks in {result['seconds']} s on {result['cores']} cores "
        f"({result['cpu_seconds']} s of CPU time), largest process {result['largest_process_mib']} MiB",
        f"{'class':16} {'planted':>8} {'recall':>8}  dropped by",
    ]
    for kind, recall in result["recall"].items():
        by = ", ".join(
            f"{n} {reason}" for reason, n in sorted(result["by"][kind].items(), key=lambda p: -p[1])[:4]
        )
        lines.append(f"{kind:16} {result['planted'][kind]:8} {recall:8.4f}  {by}")
    lines.append(f"honest problems lost: {result['wrongly_dropped']:.4%} of {result['honest']}")
    lines += [f"    {name}: {reason}" for name, reason in list(result["lost"].items())[:10]]
    return "\n".join(lines)
