"""How much of the oracle's change an answer makes: the overlap of two changes of the same files, in [0, 1].

With B the files before, O after the oracle's edit, R after the answer's, and d a distance summed over the files,

    overlap = 1 - d(R, O) / (d(B, R) + d(B, O))

d counts the tokens to delete and insert (the LCS or Indel distance, a metric, from rapidfuzz), so by the
triangle inequality the overlap is never negative. It is Dice's coefficient of two changes (Dice 1945, Ecology 26): if
the changes do not touch, d(R, O) equals the denominator, and the overlap is 0. So
1. doing nothing scores 0, the oracle's result scores 1, whatever edits led to it and in whatever order;
2. an edit elsewhere scores 0, and lowers the score of one in the right place, in the same file or in another;
3. the right place with wrong text scores something for what was correctly removed.

Tokens are words, numbers and other characters one by one, the width of each line's indentation and its end. White space
inside lines and at their ends, blank lines and kinds of line ends do not count, unless the oracle changes nothing else:
then characters are counted. A file counts one token more than its text, so an empty file differs from no file.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from rapidfuzz.distance import Indel

MAX_CHARACTERS = 1_000_000
"""Characters of one file after an answer; with a longer one, the overlap is 0."""
TAB = 8

_THERE = "\0"
_TOKEN = re.compile(r"\w+|[^\w\s]")

Tokens = tuple[str, ...]
Files = Mapping[str, str]


def change_overlap(before: Files, after: Files, oracle: Files) -> float:
    """The overlap of two changes of `before`, in [0, 1], 0 when either changes nothing; `after`, `oracle`: all files.

    Time grows with the product of the lengths of changed files, 64 tokens at once.
    """
    paths = sorted(
        p for p in {*before, *after, *oracle} if not before.get(p) == after.get(p) == oracle.get(p)
    )
    if any(len(after.get(path, "")) > MAX_CHARACTERS for path in paths):
        return 0.0
    for by_characters in (False, True):
        wanted = sum(_known_distance(before.get(p), oracle.get(p), by_characters) for p in paths)
        if wanted:
            made = sum(_distance(before.get(p), after.get(p), by_characters) for p in paths)
            left = sum(_distance(after.get(p), oracle.get(p), by_characters) for p in paths)
            return 1 - left / (made + wanted)
    return 0.0


def tokens_of(text: str) -> Tokens:
    """What is counted of a text: each line's indentation, its tokens, and its end; nothing of a blank line."""
    found: list[str] = []
    for line in text.splitlines():
        if words := _TOKEN.findall(line):
            space = line[: len(line) - len(line.lstrip())].expandtabs(TAB)
            found += [f" {len(space)}", *words, "\n"]
    return tuple(found)


_known_tokens = lru_cache(maxsize=128)(tokens_of)
"""Kept, for the rollouts of a group share their files and their oracle."""


def _distance(a: str | None, b: str | None, by_characters: bool) -> int:
    if a == b:
        return 0
    if by_characters:
        return Indel.distance("" if a is None else _THERE + a, "" if b is None else _THERE + b)
    return Indel.distance(_counted(a), _counted(b))


_known_distance = lru_cache(maxsize=256)(_distance)


def _counted(text: str | None) -> Tokens:
    return () if text is None else (_THERE, *_known_tokens(text))
