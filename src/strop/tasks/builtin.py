"""The built-in data sets, which `tasksets/` packs into one file.

A line is a task with its id and, instead of a split, `cluster`: the smallest id among its near-duplicates, which
decides its side for any held-out share. So loading the tasks needs no comparisons.
"""

import json
from pathlib import Path

import zstandard

from strop.tasks.splits import side_of
from strop_verify.core.task import Task

FILE = Path(__file__).with_name("builtin.jsonl.zst")


def load(language: str, held_out_fraction: float | None = None) -> list[Task]:
    """The built-in tasks of a language, in the order of their sources; without splits if no share is given."""
    mark = f'"language":"{language}"'.encode()
    rows = (json.loads(line) for line in lines().splitlines() if mark in line)
    return [_task(row, held_out_fraction) for row in rows if row["language"] == language]


def _task(row: dict[str, object], held_out_fraction: float | None) -> Task:
    cluster = str(row.pop("cluster"))
    split = None if held_out_fraction is None else side_of(cluster, held_out_fraction)
    return Task.model_validate({**row, "split": split})


def lines() -> bytes:
    """The content of the unpacked file."""
    return zstandard.ZstdDecompressor().decompress(FILE.read_bytes())
