"""The files of a finished build: tasks by part, what was dropped and why, and the manifest."""

import json
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strop import __version__
from strop.core.files import HashedFile, atomic
from strop.core.task import Task
from strop.curation.rust_build import folder, questions
from strop.curation.rust_build.parts import Member, assign, duplicates
from strop.curation.rust_build.results import Results
from strop.curation.rust_build.settings import RustBuildSettings
from strop.policies.paid.connection import Prices, Usage

STAGES = (
    "prompt",
    "refused",
    "rewrite",
    "format",
    "build",
    "lint",
    "test",
    "strength",
    "task",
    "source",
    "near-duplicate",
)
"""Where a prompt can be dropped, in order."""


@dataclass
class Written:
    """What was written."""

    kept: Counter[str] = field(default_factory=Counter)
    """Tasks by part."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Prompts by stage."""
    hashes: dict[str, dict[str, Any]] = field(default_factory=dict)
    """File -> number of lines and SHA-256."""

    def stages(self) -> dict[str, dict[str, int]]:
        """Stage -> prompts that came to it and that left it."""
        left = self.kept.total() + self.dropped.total()
        table = {}
        for stage in STAGES:
            table[stage] = {"in": left, "out": left - self.dropped[stage]}
            left -= self.dropped[stage]
        return table


def write(path: Path, results: Results, shares: tuple[int, int, int], seed: int) -> Written:
    """Writes train, test, eval, all tasks together, and dropped, each whole. Raises UserError.

    One task is held at a time; of the others their shingles.
    """
    numbers, members = _members(results)
    doubled, clusters = duplicates(members)
    sides = assign(members, clusters, shares, seed)
    position = {number: at for at, number in enumerate(numbers)}
    tally = Written()
    names = [*(f"{name}.jsonl" for name in folder.PART_NAMES), folder.ALL, folder.DROPPED]
    with ExitStack() as stack:
        files = {name: HashedFile(stack.enter_context(atomic(path / name))) for name in names}
        for number, line in results.lines():
            at = position.get(number)
            if at is None:
                _drop(files[folder.DROPPED], tally, line, line["stage"], line["reason"])
            elif at in doubled:
                reason = f"nearly the same exercise as {results.line(numbers[doubled[at]])['id']}"
                _drop(files[folder.DROPPED], tally, line, "near-duplicate", reason)
            else:
                body = _task_line(line["task"], sides[at])
                files[f"{sides[at]}.jsonl"].write(body)
                files[folder.ALL].write(body)
                tally.kept[sides[at]] += 1
    tally.hashes = {name: file.entry() for name, file in files.items()}
    return tally


def manifest(
    settings: RustBuildSettings, tally: Written, usage: Usage, prompts: int, done: int, judge: str
) -> dict[str, Any]:
    """What was made of what. Nothing in it depends on when, where, or in how many runs it was made.

    prompts  of the source; done: those that have a result; judge: names the compiler
    """
    prices = Prices(settings.price_in, settings.price_out)
    return {
        "format": 1,
        "build": settings.identity(questions.templates_hash()),
        "limit": settings.limit,
        "parts": dict(zip(folder.PART_NAMES, settings.parts, strict=True)),
        "complete": done == prompts,
        "prompts": prompts,
        "unfinished": prompts - done,
        "kept": {"total": tally.kept.total(), **{n: tally.kept[n] for n in folder.PART_NAMES}},
        "dropped": {
            "total": tally.dropped.total(),
            "by_stage": {s: tally.dropped[s] for s in STAGES if tally.dropped[s]},
        },
        "stages": tally.stages(),
        "usage": usage.summary(questions.STAGES),
        "cost": round(usage.cost(prices), 6) if prices.known else None,
        "prices_per_million": {"in": settings.price_in, "out": settings.price_out} if prices.known else None,
        "files": tally.hashes,
        "versions": {"strop": __version__, "rust": judge.rpartition(":")[2]},
    }


def _members(results: Results) -> tuple[list[int], list[Member]]:
    numbers: list[int] = []
    members: list[Member] = []
    for number, line in results.lines():
        if "task" in line:
            task = line["task"]
            numbers.append(number)
            members.append(Member.of(task["id"], task["statement"], task["reference"]))
    return numbers, members


def _task_line(task: dict[str, Any], side: str) -> bytes:
    metadata = {**task["metadata"], "part": side}
    split = "train" if side == "train" else "held-out"
    return Task.model_validate({**task, "split": split, "metadata": metadata}).model_dump_json().encode()


def _drop(file: HashedFile, tally: Written, line: dict[str, Any], stage: str, reason: str) -> None:
    where = line.get("where") or line["task"]["source"]
    entry = {"id": line["id"], "where": where, "stage": stage, "reason": reason}
    file.write(json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace"))
    tally.dropped[stage] += 1
