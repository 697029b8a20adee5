"""Seeded edits for tests and benchmarks: files, an oracle's edit of them, and answers of every kind."""

import json
import random

from tests import needs

HOSTILE = [
    "=======", "```", "### a.py", "<<<<<<< SEARCH", ">>>>>>> REPLACE", "", " ", "<solution>",
    "</think>", "é\x0cz", "q\r",
    "\ud800", "x" * 300, "a", "SEARCH", "-a", "+b", "@@ -1 +1 @@", "diff --git a/a.py b/a.py",
    "\\ No newline", "\x85k",
]  # fmt: skip
CODE = [
    "def add(left, right):", "    return left + right", "    total = 0", "    for item in items:",
    "        total += item",
    "    if not items:", "        return None", "", "class Box:", "    def __init__(self, size):",
    "        self.size = size",
    "    x = 1", "    x = 10", "import os", "# a comment", "    raise ValueError(f'{size} is too small')",
]  # fmt: skip


def made_text(rng: random.Random, lines: int) -> str:
    """A text of up to so many lines, mostly code."""
    pool = CODE if rng.random() < 0.8 else CODE + HOSTILE
    text = "\n".join(rng.choice(pool) for _ in range(rng.randint(0, lines)))
    return text + rng.choice(["\n", "\n", "\n", "", "\r\n"])


def edited(rng: random.Random, text: str, changes: int = 3) -> str:
    """The text with some of its lines replaced, taken out, doubled or moved."""
    lines = text.split("\n")
    for _ in range(rng.randint(0, changes)):
        at = rng.randrange(len(lines))
        end = min(len(lines), at + rng.randint(0, 2))
        new = rng.choice(
            [[], [rng.choice(CODE)], [lines[at] + " # x"], [lines[at]] * 2, [rng.choice(HOSTILE)]]
        )
        lines[at:end] = new
        lines = lines or [""]
    return "\n".join(lines)


def block(path: str, search: str, replace: str, fence: str = "```python") -> str:
    """A block as SWE-RL asks for it."""
    return f"{fence}\n### {path}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"


def real_pairs() -> list[tuple[str, str]]:
    """(before, after) of the programs of QuixBugs and the functions of SVEN."""
    pairs = []
    for name, before, after in (("quixbugs", "buggy", "correct"), ("sven", "vulnerable", "fixed")):
        rows = map(json.loads, needs.data(f"{name}.jsonl").read_text().splitlines())
        pairs += [(row[before], row[after]) for row in rows]
    return pairs
