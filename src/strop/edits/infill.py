"""Fill in the middle: the text before and after a hole is known, and the answer fills it.

The hole is where the file says `<FILL>`, or at a span of lines and columns in the header. Without any fence the whole
answer fills it unchanged: this is how a prefix-suffix model completes (Bavarian et al., arXiv 2207.14255).
"""

import re

from strop.edits.apply import keeps_end
from strop.edits.changes import HOLE, Change, EditFault, Files, Fill, Parsed
from strop.edits.sectioned import Sectioned, moves, section
from strop.edits.smallest import compare

_SPAN = re.compile(r"([0-9]{1,9}):([0-9]{1,9}) ?[-\u2013] ?([0-9]{1,9}):([0-9]{1,9})")


class Infill(Sectioned):
    """Format `infill`."""

    name = "infill"

    def render(self, before: Files, after: Files) -> str:
        """One section for each file that differs: from its first to its last change, if it names no hole."""
        moved, changed = compare(before, after)
        alone = len(before) == 1 and not moved
        out = moves(moved, "new")
        for path, old, new in changed:
            prefix, suffix, notes = _hole(old, new)
            middle = new[len(prefix) : len(new) - len(suffix)]
            if not keeps_end(prefix, suffix):
                middle += "\n"
            out.append(section("" if alone else path, middle, *notes))
        return "\n".join(out)

    def parse(self, text: str) -> Parsed:
        """The sections; without any, the text itself."""
        parsed = super().parse(text)
        if parsed.changes or not text or any(fault.code != "no-edit" for fault in parsed.faults):
            return parsed
        fault = EditFault("no-fence", "the text stands in no fence and is taken as it is", 1)
        return Parsed((Fill("", text, literal=True, at=1),), (fault,))

    def change(self, path: str, notes: tuple[str, ...], text: str, line: int) -> Change | str:
        """What fills the hole."""
        if not notes:
            return Fill(path, text, at=line)
        match = _SPAN.fullmatch(notes[0])
        if match is None or len(notes) > 1:
            return "no hole: write (2:5-2:9), lines and columns from 1, behind the path"
        first, column, last, end = map(int, match.groups())
        return Fill(path, text, (first, column, last, end), at=line)


def _hole(old: str, new: str) -> tuple[str, str, tuple[str, ...]]:
    """What stands before and behind the hole, and the notes that say where it is; none if the file does."""
    if old.count(HOLE) == 1:
        before, _, behind = old.partition(HOLE)
        if len(new) >= len(before) + len(behind) and new.startswith(before) and new.endswith(behind):
            return before, behind, ()
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    behind = old[len(old) - end :] if end else ""
    span = "-".join(_place(old, offset) for offset in (start, len(old) - end))
    return old[:start], behind, (span,)


def _place(text: str, offset: int) -> str:
    line_start = text.rfind("\n", 0, offset) + 1
    return f"{text.count(chr(10), 0, offset) + 1}:{offset - line_start + 1}"


def _common(a: str, b: str) -> int:
    """How many characters two texts share at the front."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low
