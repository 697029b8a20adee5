"""Whole files: the new text of each file that changes, in a fence; the only file needs no header."""

from strop.edits.changes import Change, Files, Whole
from strop.edits.sectioned import Sectioned, moves, section
from strop.edits.smallest import compare


class WholeFile(Sectioned):
    """Format `whole-file`."""

    name = "whole-file"

    def render(self, before: Files, after: Files) -> str:
        """One section for each file that differs."""
        moved, changed = compare(before, after)
        alone = len(before) == 1 and not moved
        return "\n".join([*moves(moved), *(section("" if alone else path, new) for path, _, new in changed)])

    def change(self, path: str, notes: tuple[str, ...], text: str, line: int) -> Change | str:
        """The file's text."""
        return f"a whole file has no note {', '.join(notes)!r}" if notes else Whole(path, text, at=line)
