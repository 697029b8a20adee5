"""How much the long tests do: a spread part of what they can, or all of it with STROP_TEST_ALL=1 (`make test-all`)."""

import os
from collections.abc import Sequence
from typing import TypeVar

ALL = os.environ.get("STROP_TEST_ALL", "0") not in ("", "0")
T = TypeVar("T")


def some(items: Sequence[T], count: int, start: int = 0) -> list[T]:
    """About `count` items, evenly spread, from `start` on; all of them in a full run."""
    return list(items) if ALL else list(items[start :: max(1, len(items) // count)])


def most(number: int, short: int) -> int:
    """The number in a full run, else `short`."""
    return number if ALL else short
