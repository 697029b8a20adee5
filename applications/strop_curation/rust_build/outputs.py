"""The files of a build: each prompt's result, then tasks by part, what was dropped and why, and the manifest.

Here it is decided which tasks stay, and on which side: near-duplicates are dropped once, look-alikes stay together.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from strop import __version__
from strop.core.files import HashedFile, atomic
from strop.core.ids import unit_interval
from strop.core.journal import Appender, JournalReader, LinePlace, scan
from strop.core.task import Task
from strop.policies.connection import Usage
from strop.tasks.splits import CODE_THRESHOLD, STATEMENT_THRESHOLD, joined, statement_shingles
from strop_curation.rust_build import RustBuildSettings, questions
from strop_curation.rust_build.answer import NotKept
from strop_curation.rust_build.sources import SourcePrompt
from strop_curation.similar.hashes import Hashes
from strop_curation.similar.set_pairs import pairs

PART_NAMES = ("train", "test", "eval")
SMALLEST_CODE = 40
"""Tokens below which code is not compared: short functions are alike by chance."""
_TOKEN = re.compile(r"//[^\n]*|\w+|[^\s\w]")


class Member(NamedTuple):
    """What is kept in memory of a task."""

    task_id: str
    statement: Hashes
    code: Hashes

    @classmethod
    def of(cls, task_id: str, statement: str, code: str) -> "Member":
        """From the texts."""
        return cls(task_id, of_statement(statement), of_code(code))


def duplicates(members: Sequence[Member]) -> tuple[dict[int, int], list[list[int]]]:
    """(position of a near-duplicate -> position of the one that stays, clusters of those that stay).

    A task is dropped when its statement is like that of an earlier one that stays. Clusters join what is alike in
    statement or code, directly or through others, the dropped included.
    """
    stated = list(pairs([m.statement for m in members], STATEMENT_THRESHOLD))
    dropped: dict[int, int] = {}
    for a, b in stated:
        if a not in dropped and b not in dropped:
            dropped[b] = a
    alike = chain(stated, pairs([m.code for m in members], CODE_THRESHOLD))
    groups: dict[int, list[int]] = defaultdict(list)
    for i, first in enumerate(joined(len(members), alike)):
        if i not in dropped:
            groups[first].append(i)
    return dropped, list(groups.values())


def assign(
    members: Sequence[Member], clusters: Iterable[list[int]], shares: tuple[int, int, int], seed: int
) -> dict[int, str]:
    """Position -> "train", "test" or "eval".

    Clusters come in an order drawn by content and go to eval, then test, while they fit into its share; the rest is
    train.
    """
    drawn = sorted(
        (sorted(cluster) for cluster in clusters),
        key=lambda c: unit_interval("build", seed, min(members[i].task_id for i in c)),
    )
    count = sum(map(len, drawn))
    room = {name: round(count * share / sum(shares)) for name, share in zip(PART_NAMES, shares, strict=True)}
    if not shares[0]:
        room["test" if shares[1] else "eval"] = count
    sides: dict[int, str] = {}
    for cluster in drawn:
        name = next((n for n in ("eval", "test") if len(cluster) <= room[n]), "train")
        if name == "train" and not shares[0]:
            name = "test" if shares[1] else "eval"
        room[name] -= len(cluster)
        sides.update(dict.fromkeys(cluster, name))
    return sides


def of_statement(text: str) -> Hashes:
    """The hashes of a statement's three-word runs."""
    return _hashes(statement_shingles(text))


def of_code(text: str) -> Hashes:
    """The hashes of the five-token runs of Rust code without its line comments; none where it is short."""
    tokens = [token for token in _TOKEN.findall(text) if not token.startswith("//")]
    if len(tokens) < SMALLEST_CODE:
        return _hashes([])
    return _hashes(" ".join(tokens[i : i + 5]) for i in range(len(tokens) - 4))


def _hashes(shingles: Iterable[str]) -> Hashes:
    values = [int.from_bytes(hashlib.blake2b(s.encode(), digest_size=8).digest(), "big") for s in shingles]
    return np.unique(np.array(values, dtype=np.uint64) >> np.uint64(12))


RESULTS, DROPPED, MANIFEST, ALL = "results.jsonl", "dropped.jsonl", "manifest.json", "tasks.jsonl"
STAGES = (
    "prompt", "refused", "rewrite", "format", "build", "lint", "test", "strength", "task", "source", "near-duplicate"
)  # fmt: skip
"""Where a prompt can be dropped, in order."""


class Results:
    """Results of this build, those of its earlier runs included. Keeps places, not texts."""

    def __init__(self, path: Path, judge: str) -> None:
        """`judge` names the compiler; results by another one are made again. Raises UserError."""
        self._judge = judge
        self._places: dict[int, tuple[str, LinePlace]] = {}
        for place, line in scan(path):
            unpaid = line.get("stage") == "refused"  # so it may be asked again
            if line["judge"] == judge and not unpaid:
                self._places[line["n"]] = (line["key"], place)
        self._file = Appender(path, durable=False)
        self._reader = JournalReader(path)
        self.numbers: list[int] = []
        """Of the prompts of this run that have a result."""

    def known(self, prompt: SourcePrompt) -> bool:
        """Whether this very prompt has a result; then it is one of this run."""
        key, _ = self._places.get(prompt.number, ("", None))
        if key != prompt.key:
            return False
        self.numbers.append(prompt.number)
        return True

    def kept(self, number: int) -> bool:
        """Whether the result of that number is a task."""
        return "task" in self.line(number)

    def add(self, prompt: SourcePrompt, outcome: Task | NotKept) -> None:
        """Writes down a result."""
        line: dict[str, Any] = {"n": prompt.number, "key": prompt.key, "judge": self._judge, "id": prompt.id}
        if isinstance(outcome, Task):
            line["task"] = outcome.model_dump(mode="json")
        else:
            line |= {"where": prompt.where, "stage": outcome.stage, "reason": outcome.reason}
        self._places[prompt.number] = (prompt.key, self._file.append(line))
        self.numbers.append(prompt.number)

    def line(self, number: int) -> dict[str, Any]:
        """One result."""
        found: dict[str, Any] = self._reader.at(self._places[number][1])
        return found

    def lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(number, result) of this run in the order of the source, read as they are asked for."""
        for number in sorted(self.numbers):
            yield number, self.line(number)

    def close(self) -> None:
        """Closes the files."""
        self._file.close()
        self._reader.close()


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
    names = [*(f"{name}.jsonl" for name in PART_NAMES), ALL, DROPPED]
    with ExitStack() as stack:
        files = {name: HashedFile(stack.enter_context(atomic(path / name))) for name in names}
        for number, line in results.lines():
            at = position.get(number)
            if at is None:
                _drop(files[DROPPED], tally, line, line["stage"], line["reason"])
            elif at in doubled:
                reason = f"nearly the same exercise as {results.line(numbers[doubled[at]])['id']}"
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
    """What was made of what. Nothing in it depends on when, where, or in how many runs it was made.

    prompts  of the source; done: those that have a result; judge: names the compiler
    """
    prices = settings.connection().prices
    return {
        "format": 1,
        "build": settings.identity(source, questions.templates_hash()),
        "limit": settings.limit,
        "parts": dict(zip(PART_NAMES, settings.shares, strict=True)),
        "complete": done == prompts,
        "prompts": prompts,
        "unfinished": prompts - done,
        "kept": {"total": tally.kept.total(), **{n: tally.kept[n] for n in PART_NAMES}},
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
