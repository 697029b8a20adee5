"""How much the long tests do: a part of what they can, drawn by the commit, or all of it in a full run."""

import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def full() -> bool:
    """Whether this is a full run (`pytest --full`, `make test-full`)."""
    return os.environ.get("STROP_TEST_FULL", "0") not in ("", "0")


def seed() -> str:
    """What decides which part is drawn: STROP_TEST_SEED, else the commit's hash."""
    if given := os.environ.get("STROP_TEST_SEED"):
        return given
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "0"


def some(items: Sequence[T], count: int, salt: int = 0) -> list[T]:
    """`count` of the items in their order, drawn by the seed and the salt; all of them in a full run."""
    if full() or count >= len(items):
        return list(items)
    drawn = random.Random(f"{seed()} {salt}").sample(range(len(items)), count)
    return [items[index] for index in sorted(drawn)]


def most(number: int, short: int) -> int:
    """The number in a full run, else `short`."""
    return number if full() else short
