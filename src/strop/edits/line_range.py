"""Line ranges: new text for numbered lines of the old file, `### path (lines 3-7)` or `(before line 3)`.

All numbers count lines of the file before the edit, so sections may come in any order. Only the number says
where a section belongs: a wrong one is detected only if it is outside the file.
"""

import re

from strop.edits.changes import Change, Files, ReplaceLines
from strop.edits.lines import split
from strop.edits.sectioned import Sectioned, moves, section
from strop.edits.smallest import compare, hunks

_RANGE = re.compile(r"lines? ([0-9]{1,9})(?: ?[-\u2013] ?([0-9]{1,9}))?")
_BEFORE = re.compile(r"before line ([0-9]{1,9})")
_GAP = 2
"""Equal lines between two hunks that cost less than the header and fences of another section."""


class LineRange(Sectioned):
    """Format `line-range`."""

    name = "line-range"

    def render(self, before: Files, after: Files) -> str:
        """One section for each run of lines that differs."""
        moved, changed = compare(before, after)
        alone = len(before) == 1 and not moved
        out = moves(moved, "new")
        for path, old, new in changed:
            lines = split(new)
            for first, last, new_first, new_last in hunks(old, new, gap=_GAP):
                note = _note(first + 1, last)
                out.append(section("" if alone else path, "".join(lines[new_first:new_last]), note))
        return "\n".join(out)

    def change(self, path: str, notes: tuple[str, ...], text: str, line: int) -> Change | str:
        """The lines of the range."""
        note = notes[0] if len(notes) == 1 else ""
        if match := _RANGE.fullmatch(note):
            return ReplaceLines(path, int(match[1]), int(match[2] or match[1]), text, at=line)
        if match := _BEFORE.fullmatch(note):
            return ReplaceLines(path, int(match[1]), int(match[1]) - 1, text, at=line)
        return "no range of lines: write (lines 3-7) or (before line 3) behind the path"


def _note(first: int, last: int) -> str:
    if last < first:
        return f"before line {first}"
    return f"line {first}" if first == last else f"lines {first}-{last}"
