"""The built-in data sets, which `tasksets/` packs into one file: a task a line, with its id and its default split."""

import json
from pathlib import Path

import zstandard

from strop.core.task import Task

FILE = Path(__file__).with_name("builtin.jsonl.zst")


def load(language: str) -> list[Task]:
    """The built-in tasks of a language, in the order of their sources; as from any source, without a split."""
    rows = map(json.loads, lines().splitlines())
    return [Task.model_validate({**row, "split": None}) for row in rows if row["language"] == language]


def lines() -> bytes:
    """The unpacked file."""
    return zstandard.ZstdDecompressor().decompress(FILE.read_bytes())
