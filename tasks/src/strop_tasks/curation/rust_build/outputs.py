"""The files of a build: tasks by part, what was dropped and why, and the manifest.

Near-duplicates are dropped, and similar tasks go into one part.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

from strop import __version__
from strop.policies.connection import Usage
from strop.tasks.splits import CODE_THRESHOLD, STATEMENT_THRESHOLD, joined, similar_pairs, statement_shingles
from strop_tasks.curation.rust_build import RustBuildSettings, questions
from strop_tasks.curation.steps.split import place_clusters
from strop_verify.core.files import HashedFile, atomic
from strop_verify.core.ids import derive_seed
from strop_verify.core.task import Task

PART_NAMES = ("train", "test", "eval")
SMALLEST_CODE = 40  # minimum tokens of compared code: short functions are alike by chance
_TOKEN = re.compile(r"//[^\n]*|\w+|[^\s\w]")


class Member(NamedTuple):
    """The data of a task that is held in memory."""

    prompt_id: str
    task_id: str
    statement: frozenset[str]
    """Runs of three words."""
    code: frozenset[str]
    """Runs of five tokens of the solution without line comments; none if it is too short."""

    @classmethod
    def of(cls, prompt_id: str, task: Mapping[str, Any]) -> "Member":
        """From the stored line of a task."""
        tokens = [token for token in _TOKEN.findall(task["reference"]) if not token.startswith("//")]
        runs = (" ".join(tokens[at : at + 5]) for at in range(len(tokens) - 4))
        code = frozenset(runs if len(tokens) >= SMALLEST_CODE else ())
        return cls(prompt_id, task["id"], statement_shingles(task["statement"]), code)


def duplicates(members: Sequence[Member]) -> tuple[dict[int, int], list[int]]:
    """(index of a near-duplicate -> index of the task that stays, the cluster of each).

    A task is dropped if its statement is like that of an earlier one that stays. Clusters join tasks alike in statement
    or code, directly or through others, dropped ones included.
    """
    stated = list(similar_pairs([m.statement for m in members], STATEMENT_THRESHOLD))
    dropped: dict[int, int] = {}
    for a, b in stated:
        if a not in dropped and b not in dropped:
            dropped[b] = a
    alike = similar_pairs([m.code for m in members], CODE_THRESHOLD)
    return dropped, joined(len(members), chain(stated, alike))


def assign(
    members: Sequence[Member], clusters: Mapping[int, int], shares: tuple[int, int, int], seed: int
) -> dict[int, str]:
    """Index of each task with a cluster -> "train", "test" or "eval", placed as by the step `split`."""
    ranks = [derive_seed("build", seed, members[at].task_id) for at in clusters]
    wanted = {name: share / sum(shares) for name, share in zip(PART_NAMES, shares, strict=True)}
    chosen = place_clusters(list(clusters.values()), ranks, wanted, {})
    return {at: chosen[cluster] for at, cluster in clusters.items()}


RESULTS, DROPPED, MANIFEST, ALL = "results.jsonl", "dropped.jsonl", "manifest.json", "tasks.jsonl"
STAGES = (
    "prompt", "refused", "rewrite", "format", "build", "lint", "test", "strength", "task", "source", "near-duplicate"
)  # fmt: skip
"""Where a prompt can be dropped, in order."""


@dataclass
class Written:
    """What a build wrote, and what it dropped."""

    kept: Counter[str] = field(default_factory=Counter)
    """Kept tasks, by part."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Dropped prompts, by stage."""
    hashes: dict[str, dict[str, Any]] = field(default_factory=dict)
    """File -> number of lines and SHA-256."""

    def stages(self) -> dict[str, dict[str, int]]:
        """Stage -> numbers of prompts before and after it."""
        left = self.kept.total() + self.dropped.total()
        table = {}
        for stage in STAGES:
            table[stage] = {"in": left, "out": left - self.dropped[stage]}
            left -= self.dropped[stage]
        return table


def write(
    path: Path, read: Callable[[], Iterator[dict[str, Any]]], shares: tuple[int, int, int], seed: int
) -> Written:
    """Writes train, test, eval, all tasks together, and dropped, each atomically. Raises UserError.

    read  yields the results in the order of the source; memory holds one of them, and the shingles of all
    """
    members = [Member.of(line["id"], line["task"]) for line in read() if "task" in line]
    doubled, clusters = duplicates(members)
    stay = {at: cluster for at, cluster in enumerate(clusters) if at not in doubled}
    sides, places = assign(members, stay, shares, seed), count()
    tally = Written()
    names = [*(f"{name}.jsonl" for name in PART_NAMES), ALL, DROPPED]
    with ExitStack() as stack:
        files = {name: HashedFile(stack.enter_context(atomic(path / name))) for name in names}
        for line in read():
            if "task" not in line:
                _drop(files[DROPPED], tally, line, line["stage"], line["reason"])
            elif (at := next(places)) in doubled:
                reason = f"nearly the same exercise as {members[doubled[at]].prompt_id}"
                _drop(files[DROPPED], tally, line, "near-duplicate", reason)
            else:
                body = _task_line(line["task"], sides[at])
                files[f"{sides[at]}.jsonl"].write(body)
                files[ALL].write(body)
                tally.kept[sides[at]] += 1
    tally.hashes = {name: file.entry() for name, file in files.items()}
    return tally


def manifest(
    source: str,
    settings: RustBuildSettings,
    tally: Written,
    usage: Usage,
    prompts: int,
    done: int,
    judge: str,
) -> dict[str, Any]:
    """The manifest, which does not depend on the time, the machine or the number of runs.

    prompts  number of the source's prompts; done: of those with a result; judge: the compiler's identity
    """
    prices = settings.connection().prices
    by_stage = {stage: tally.dropped[stage] for stage in STAGES if tally.dropped[stage]}
    return {
        "format": 1,
        "build": settings.identity(source, questions.templates_hash()),
        "limit": settings.limit, "draw": settings.draw,
        "parts": dict(zip(PART_NAMES, settings.shares, strict=True)),
        "complete": done == prompts, "prompts": prompts, "unfinished": prompts - done,
        "kept": {"total": tally.kept.total(), **{n: tally.kept[n] for n in PART_NAMES}},
        "dropped": {"total": tally.dropped.total(), "by_stage": by_stage},
        "stages": tally.stages(),
        "usage": usage.summary(questions.STAGES),
        "cost": round(usage.cost(prices), 6) if prices.known else None,
        "prices_per_million": {"in": settings.price_in, "out": settings.price_out} if prices.known else None,
        "files": tally.hashes,
        "versions": {"strop": __version__, "rust": judge.rpartition(":")[2]},
    }  # fmt: skip


def _task_line(task: dict[str, Any], side: str) -> bytes:
    metadata = {**task["metadata"], "part": side}
    split = "train" if side == "train" else "held-out"
    return Task.model_validate({**task, "split": split, "metadata": metadata}).model_dump_json().encode()


def _drop(file: HashedFile, tally: Written, line: dict[str, Any], stage: str, reason: str) -> None:
    where = line.get("where") or line["task"]["source"]
    entry = {"id": line["id"], "where": where, "stage": stage, "reason": reason}
    file.write(json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace"))
    tally.dropped[stage] += 1
