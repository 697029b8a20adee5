"""The smallest edit between two versions of a tree: new, deleted, renamed and changed files, and the changed
lines."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from strop_verify.edits.changes import Create, Delete, EditError, Files, Rename
from strop_verify.edits.line_matching import FileLines
from strop_verify.edits.lines import opcodes, split
from strop_verify.edits.paths import check_path

_MOST_PAIRS = 10_000
"""Maximum pairs of deleted and new files to compare for renames."""
_ALIKE = 0.5
"""Minimum share of common lines of a renamed file; git's limit."""
_MOST_HUNKS = 1_000
"""In one file; with more, its changed part is one hunk."""


class Hunk(NamedTuple):
    """Lines of the old text that become lines of the new: from 0, the end not included."""

    first: int
    last: int
    new_first: int
    new_last: int


Moved = Create | Delete | Rename


def compare(before: Files, after: Files) -> tuple[list[Moved], list[tuple[str, str, str]]]:
    """New, deleted and renamed files, and (path in the new tree, old text, new text) of changed ones, in the order of
    paths. EditError `no-change`, or `bad-path` for a path that no edit may name.
    """
    gone = sorted(before.keys() - after.keys())
    new = sorted(after.keys() - before.keys())
    renames = _renames({p: before[p] for p in gone}, {p: after[p] for p in new})
    moved: list[Moved] = []
    changed = [(p, before[p], after[p]) for p in before.keys() & after.keys() if before[p] != after[p]]
    for old, name in renames.items():
        moved.append(Rename(old, name))
        if before[old] != after[name]:
            changed.append((name, before[old], after[name]))
    moved += [Delete(path, before[path]) for path in gone if path not in renames]
    moved += [Create(path, after[path]) for path in new if path not in renames.values()]
    if not moved and not changed:
        raise EditError("no-change", "the two versions are equal: there is nothing to edit")
    for change in moved:
        check_path(change.path)
        if isinstance(change, Rename):
            check_path(change.to)
    for path, _, _ in changed:
        check_path(path)
    return sorted(moved, key=lambda c: c.path), sorted(changed)


def _renames(gone: Files, new: Files) -> dict[str, str]:
    """Old name -> new name: of equal text first, then of the most common lines; empty files are not renamed."""
    found: dict[str, str] = {}
    by_text: dict[str, list[str]] = {}
    for path in sorted(new, reverse=True):
        by_text.setdefault(new[path], []).append(path)
    for path in sorted(gone):
        if gone[path] and by_text.get(gone[path]):
            found[path] = by_text[gone[path]].pop()
    left, free = gone.keys() - found.keys(), new.keys() - set(found.values())
    if len(left) * len(free) > _MOST_PAIRS:
        return found
    lines = {path: Counter(split(text)) for path, text in [*gone.items(), *new.items()]}
    pairs = sorted((-_likeness(lines[a], lines[b]), a, b) for a in left for b in free)
    for likeness, a, b in pairs:
        if -likeness >= _ALIKE and a not in found and b not in found.values():
            found[a] = b
    return found


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0


def hunks(before: str, after: str, *, context: int = 0, gap: int = 0) -> list[Hunk]:
    """Where two texts differ, with up to `context` lines around; at most `gap` lines apart, two hunks are one."""
    a, b = split(before), split(after)
    found: list[Hunk] = []
    for equal, i, j, k, m in opcodes(a, b):
        if not equal:
            above, below = min(context, i), min(context, len(a) - j)
            found.append(Hunk(i - above, j + below, k - above, m + below))
    if len(found) > _MOST_HUNKS:
        found = [Hunk(found[0].first, found[-1].last, found[0].new_first, found[-1].new_last)]
    return merged(found, gap)


def merged(found: list[Hunk], gap: int = 0) -> list[Hunk]:
    """Hunks in order; those that overlap, touch or have at most `gap` lines between them are joined."""
    out: list[Hunk] = []
    for hunk in found:
        if out and hunk.first <= out[-1].last + gap:
            out[-1] = Hunk(out[-1].first, hunk.last, out[-1].new_first, hunk.new_last)
        else:
            out.append(hunk)
    return out


def unique_hunks(before: str, after: str, gap: int) -> list[Hunk]:
    """The hunks, grown above and below alike, then cut back from above first, just enough that each one's old lines are
    unique in the old text and that it has an old and a new line, if there is one.
    """
    source = FileLines(before)
    found = [_grown(hunk, source) for hunk in hunks(before, after, gap=gap)]
    while (joined := merged(sorted(found), gap)) != found:
        found = joined
    return found


def _grown(hunk: Hunk, source: FileLines) -> Hunk:
    count = len(source.lines)

    def around(above: int, below: int) -> Hunk:
        above, below = min(above, hunk.first), min(below, count - hunk.last)
        return Hunk(hunk.first - above, hunk.last + below, hunk.new_first - above, hunk.new_last + below)

    def enough(above: int, below: int) -> bool:
        wider = around(above, below)
        filled = wider.first < wider.last and wider.new_first < wider.new_last
        return filled and source.is_unique(wider.first, wider.last)

    if not count:
        return hunk
    most = max(hunk.first, count - hunk.last)
    both = _least(most, lambda k: enough(k, k))
    above = _least(both, lambda k: enough(k, both))
    below = _least(both, lambda k: enough(above, k))
    return around(above, below)


def _least(most: int, enough: Callable[[int], bool]) -> int:
    """The smallest number up to `most` that is enough; `enough` is monotonic, and `most` is enough."""
    step, low = 1, 0
    if enough(0):
        return 0
    while low + step < most and not enough(low + step):
        low, step = low + step, step * 2
    high = min(low + step, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
