"""difflib's similarity ratio, bit for bit, computed by the libraries of the extra `similarity`.

`difflib.SequenceMatcher(None, a, b, autojunk=...).ratio()` is 2M / (len(a) + len(b)), where M counts the elements of
the matching blocks that a greedy search finds: the longest common block first (the earliest in a, then in b), then the
same left and right of it (docs.python.org/3/library/difflib.html; Ratcliff and Metzener, Dr. Dobb's, July 1988).
It depends on the order of the arguments, and it is neither an LCS nor an edit distance. With autojunk, if b has 200
elements or more, those that make up over 1 % of it cannot start a block. It is computed by:

1. `difflib_fast` (a suffix automaton in Rust, linear where difflib is not) for characters, if autojunk is off or b is
   too short for it;
2. `cydifflib` (difflib's own search in Cython) for characters with autojunk, lines, and text with lone surrogates,
   which Rust cannot hold. Equal texts need neither: their ratio is 1 even with autojunk, since the first block found
   starts at the same place in both and extends over everything.

No common prefix or suffix is trimmed first, since that changes the number: "aaa" against "abaa" matches two characters,
but three if the common first "a" is set aside.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from strop_verify.core.optional_packages import require

CONTEXT = 3
"""Lines around each change in a unified diff."""
AUTOJUNK = 200
"""Number of elements of b from which autojunk applies."""
PACKAGES = {"cydifflib": "cydifflib", "difflib_fast": "difflib-fast", "unidiff": "unidiff"}
"""Module -> package, of the extra `similarity`."""


@cache
def library(module: str, purpose: str = "difflib's ratio") -> Any:
    """Imports a module of `PACKAGES`. Raises UserError if it is not installed."""
    return require(module, package=PACKAGES[module], extra="similarity", purpose=purpose)


def ratio(a: str, b: str, *, autojunk: bool = True) -> float:
    """`difflib.SequenceMatcher(None, a, b, autojunk).ratio()` of two texts by characters, in [0, 1].

    Time grows with len(a) * len(b) at worst (two long runs of one character: four seconds for 32,000 each).
    """
    if a == b:
        return 1.0
    if not autojunk or len(b) < AUTOJUNK:
        try:
            return float(library("difflib_fast").ratio(a, b))
        except UnicodeEncodeError:
            pass
    return float(library("cydifflib").SequenceMatcher(None, a, b, autojunk=autojunk).ratio())


def lines_ratio(a: str, b: str, *, autojunk: bool = True) -> float:
    """`difflib.SequenceMatcher(None, a.splitlines(), b.splitlines(), autojunk).ratio()`, in [0, 1]."""
    if a == b:
        return 1.0
    matcher = library("cydifflib").SequenceMatcher(None, a.splitlines(), b.splitlines(), autojunk=autojunk)
    return float(matcher.ratio())


def changed_lines(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """(first of a, end of a, first of b, end of b) of each run of lines in which b differs from a, in order."""
    codes = library("cydifflib").SequenceMatcher(None, a, b).get_opcodes()
    return [(i, j, k, m) for tag, i, j, k, m in codes if tag != "equal"]


@lru_cache(maxsize=128)
def unified_diff(before: str, after: str, context: int = CONTEXT) -> str:
    """`difflib.unified_diff` of two texts without its two header lines; "" when no line differs.

    Lines are those of `str.splitlines`, joined by newlines, so line endings do not count. Results are cached, since a
    group's rollouts share one oracle.
    """
    diff = library("cydifflib").unified_diff
    lines = diff(before.splitlines(), after.splitlines(), lineterm="", n=context)
    return "\n".join(list(lines)[2:])
