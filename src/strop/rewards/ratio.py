"""difflib's similarity ratio, the same number to the last bit, by compiled libraries.

`difflib.SequenceMatcher(None, a, b, autojunk=...).ratio()` is 2M / (len(a) + len(b)), where M counts the elements of
the matching blocks that a greedy search finds: the longest common block first (the earliest in a, then in b), then the
same left and right of it (docs.python.org/3/library/difflib.html; Ratcliff and Metzener, Dr. Dobb's, July 1988).
It depends on the order of the arguments, and it is neither an LCS nor an edit distance. With autojunk, elements that
make up more than 1 % of a b of 200 elements or more start no block. What is promised in that number is computed as:

1. characters without autojunk by `difflib_fast` (a suffix automaton in Rust, linear where difflib is not);
2. characters with autojunk, lines, and text with lone surrogates, which Rust cannot hold, by `matching_blocks`. Equal
   texts need neither: their ratio is 1 with autojunk too, for the first block found stands at the same place in both
   and grows over everything.

No common prefix or suffix is trimmed first, for that changes the number: "aaa" against "abaa" matches two characters,
but three when the common "a" in front is set aside.
"""

from collections.abc import Sequence
from functools import lru_cache

import cydifflib
import difflib_fast

from strop.rewards.matching_blocks import matching_characters, matching_lines

CONTEXT = 3
"""Lines around each change in a unified diff."""


def ratio(a: str, b: str, *, autojunk: bool = True) -> float:
    """`difflib.SequenceMatcher(None, a, b, autojunk).ratio()` of two texts by characters, in [0, 1].

    Time grows with len(a) * len(b) at worst (two long runs of one character: four seconds for 32,000 each).
    """
    if a == b:
        return 1.0
    if not autojunk:
        try:
            return difflib_fast.ratio(a, b)
        except UnicodeEncodeError:
            pass
    return 2.0 * matching_characters(a, b, autojunk) / (len(a) + len(b))


def lines_ratio(a: str, b: str, *, autojunk: bool = True) -> float:
    """`difflib.SequenceMatcher(None, a.splitlines(), b.splitlines(), autojunk).ratio()`, in [0, 1]."""
    if a == b:
        return 1.0
    matched, lines = matching_lines(a, b, autojunk)
    return 2.0 * matched / lines


def changed_lines(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """(first of a, end of a, first of b, end of b) of each run of lines in which b differs from a, in order."""
    codes = cydifflib.SequenceMatcher(None, a, b).get_opcodes()
    return [(i, j, k, m) for tag, i, j, k, m in codes if tag != "equal"]


@lru_cache(maxsize=128)
def unified_diff(before: str, after: str, context: int = CONTEXT) -> str:
    """`difflib.unified_diff` of two texts without its two header lines; "" when no line differs.

    Lines are what `str.splitlines` gives, joined by newlines: line ends and a missing last one do not show.
    Results are kept, for the rollouts of a group share their oracle.
    """
    lines = cydifflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=context)
    return "\n".join(list(lines)[2:])
